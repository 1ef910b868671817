"""What single records contribute: ledgers and the most exposed, under salted hashes."""

from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from mlflow import MlflowClient

from synthrisk.tasks.workspace.handed import Found
from synthrisk.tasks.workspace.kept import there
from synthrisk.tasks.workspace.references import LEDGER

TOP = 100
_REVEALING = ["guessed", "truth", "confidence", "baseline", "gain"]  # a class's share, its baseline, tells the class


def log_records(
    client: MlflowClient, run_id: str, found: Found, page: str | None, hashes: np.ndarray, mode: str
) -> None:
    """Write the ledger and the exposed records of one generator to its run, records named as ``mode`` says."""
    with TemporaryDirectory() as place:
        folder, names, parts = Path(place), _Names(hashes, mode), []
        for each in found.ledgers:
            part = _without_empty(names.read(there(each.path) / LEDGER))
            of_cell = {"repetition": each.cell.repetition, "fold": each.cell.fold}
            for name, number in of_cell.items():
                part = part.append_column(name, pa.array(np.full(len(part), number)))
            parts.append(part)
        if not any(len(part) for part in parts):
            return  # no measure of the study scores records
        _write(names.given_to(pa.concat_tables(parts, promote_options="default")), folder / "ledger.parquet")
        exposed = names.read(there(found.exposed))
        if len(exposed):
            exposed = names.given_to(exposed)
            _write(exposed, folder / "memorization.parquet")
        client.log_artifacts(run_id, place, "records")
        if page and mode == "full":  # it holds values of the real table
            client.log_artifact(run_id, page, "records")
        if not len(exposed):
            return  # claims say nothing of single records
        amounts = pd.DataFrame({"memorization": exposed["memorization"].to_numpy()})
        top = _as_texts(exposed.take(amounts.nlargest(TOP, "memorization").index.to_numpy())).to_pandas()
        if len(top):
            client.log_table(run_id, top, "records/most_exposed.json")


def _write(table: pa.Table, path: Path) -> None:
    """Write a table whose codes are read back as texts by whoever reads it."""
    with pq.ParquetWriter(path, table.schema, compression="zstd", store_schema=False) as writer:
        writer.add_key_value_metadata(table.schema.metadata or {})  # what pandas knows of its types
        writer.write_table(table)


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)  # the latter is pandas 3's


def _as_texts(table: pa.Table) -> pa.Table:
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table[field.name].cast(pa.string()))
    return table


def _without_empty(table: pa.Table) -> pa.Table:
    """Return the columns that hold a value."""
    return table.select([name for name in table.column_names if table[name].null_count < len(table)])


class _Names:
    """The names of records, and the order in which records stand under them."""

    def __init__(self, hashes: np.ndarray, mode: str):
        self._hashes, self._mode = hashes, mode
        self._texts = pa.array(hashes, pa.string())

    def read(self, path: Path) -> pa.Table:
        """Return a table of records, texts as codes; unless ``mode`` is ``full`` without what reveals values."""
        schema, left_out = pq.read_schema(path), () if self._mode == "full" else _REVEALING
        texts = [field.name for field in schema if _is_text(field.type)]
        return pq.read_table(path, columns=[c for c in schema.names if c not in left_out], read_dictionary=texts)

    def given_to(self, records: pa.Table) -> pa.Table:
        """Return the rows with names in place of positions; unless ``mode`` is ``full`` not in the table's order."""
        rows, place = records["record"].to_numpy(), records.column_names.index("record")
        if self._mode == "full":
            kept = records.append_column("row", records["record"])
        else:
            order = _ordered(rows, self._places)
            kept, rows = records.take(order), rows[order]
        return kept.set_column(place, "record", self._texts.take(pa.array(rows)))

    @cached_property
    def _places(self) -> np.ndarray:
        """Positions in the order of the hashes: the order of the table would name the records."""
        numbers = np.frombuffer(bytes.fromhex("".join(self._hashes)), dtype=">u8").astype(np.uint64)
        return np.argsort(numbers, kind="stable")


def _ordered(rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the order in which records stand as ``places`` has them, those of one record as they stood."""
    n = len(places)
    if len(rows) % n == 0 and (rows.reshape(-1, n) == np.arange(n)).all():  # every record in every block
        return np.asarray((places[:, None] + n * np.arange(len(rows) // n)).ravel())
    rank = np.empty(n, dtype=np.int64)
    rank[places] = np.arange(n)
    return np.argsort(rank[rows], kind="stable")
