"""What single records contribute: ledgers and the most exposed, under salted hashes."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from mlflow import MlflowClient

from synthrisk.tasks.workspace.handed import Found

TOP = 100
_REVEALING = ["guessed", "truth", "confidence", "baseline", "gain"]  # a class's share, its baseline, tells the class


def log_records(
    client: MlflowClient, run_id: str, found: Found, page: str | None, hashes: np.ndarray, mode: str
) -> None:
    """Write the ledger and the exposed records of one generator to its run, records named as ``mode`` says."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        parts = []
        for each in found.ledgers:
            part = each.ledger().dropna(axis="columns", how="all")
            parts.append(part.assign(repetition=each.cell.repetition, fold=each.cell.fold))
        if not any(len(part) for part in parts):
            return  # no measure of the study scores records
        ledger = _named(pd.concat(parts, ignore_index=True), hashes, mode)
        ledger.to_parquet(folder / "ledger.parquet", compression="zstd")
        exposed = _named(pd.read_parquet(found.exposed), hashes, mode)
        exposed.to_parquet(folder / "memorization.parquet", compression="zstd")
        client.log_artifacts(run_id, place, "records")
        if page and mode == "full":  # it holds values of the real table
            client.log_artifact(run_id, page, "records")
        top = exposed.nlargest(TOP, "memorization").reset_index(drop=True)
        if len(top):
            client.log_table(run_id, top, "records/most_exposed.json")


def _named(records: pd.DataFrame, hashes: np.ndarray, mode: str) -> pd.DataFrame:
    named = records.assign(record=hashes[records["record"].to_numpy()])
    if mode == "full":
        return named.assign(row=records["record"])
    # in the order of the hashes: the order of the table would name the records
    return named.drop(columns=_REVEALING, errors="ignore").sort_values("record", kind="stable", ignore_index=True)
