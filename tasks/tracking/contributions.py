"""What each record adds to the findings of a study, so that two studies of one table can be compared record by record.

A finding's value is the mean of its contributions, over records and then over repetitions. The difference of two
studies has a paired interval where both know what the same records contribute, which share their salted hash.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from mlflow import MlflowClient

from synthrisk.metrics.study.contributions import Contributions, Isolations, Kept
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import holds_for
from synthrisk.tasks.workspace.contributions import kept_contributions
from synthrisk.tasks.workspace.handed import Found

FILE = "contributions.parquet"
QUANTITIES = ("risk", "memorization")


def log_contributions(
    client: MlflowClient, run_id: str, result: StudyResult, found: Sequence[Found], hashes: np.ndarray
) -> None:
    """Write the contributions to the findings of the judged generators to the study's run."""
    table = contributions_table(result, found, hashes)
    if len(table):
        with TemporaryDirectory() as place:
            path = Path(place) / FILE
            table.to_parquet(path, compression="zstd", index=False)
            client.log_artifact(run_id, str(path))


def contributions_table(result: StudyResult, found: Sequence[Found], hashes: np.ndarray) -> pd.DataFrame:
    """Return contributions, a row a synthesizer, record and repetition, a column a quantity and measure.

    Columns: ``synthesizer``, ``record`` (its salted hash), ``entity`` (the hash of the first record of its entity,
    where one has several records), ``repetition``, and ``<quantity>/<measure>`` of each measure that has a threshold,
    or of all where none has; NaN where a record contributes nothing. Measures that score no records are not in it.
    """
    parts = [_of_one(result, each, hashes) for each in found if each.generator.role == "synthesizer"]
    known = [part for part in parts if len(part)]
    if not known:
        return pd.DataFrame()
    # in the order of the hashes: the order of the table would name the records
    table = pd.concat(known, ignore_index=True)
    names, records = (pd.factorize(table[c], sort=c == "synthesizer") for c in ("synthesizer", "record"))
    rank = np.argsort(np.argsort(np.asarray(records[1], dtype=np.str_)))  # texts are compared once a record
    order = np.lexsort((table["repetition"], rank[records[0]], names[0]))
    return table.iloc[order].reset_index(drop=True)


def _of_one(result: StudyResult, found: Found, hashes: np.ndarray) -> pd.DataFrame:
    measures = {p.measure.key: p.measure for p in found.planned}
    judged = [key for key, m in measures.items() if any(holds_for(name, m) for name in result.limits)] or list(measures)
    kept = kept_contributions(found.contributions)
    arrays = {
        f"{quantity}/{key}": array
        for key in judged
        if key in kept
        for quantity, array in _by_record(kept[key]).items()
        if array.shape[1] == len(hashes)
    }
    if not arrays:
        return pd.DataFrame()
    repetitions = len(next(iter(arrays.values())))
    entities = found.sample.entities()
    own = {"synthesizer": found.name, "record": np.tile(hashes, repetitions)}
    if entities is not None:
        own["entity"] = np.tile(hashes[_first(entities)], repetitions)
    own["repetition"] = np.repeat(np.arange(repetitions), len(hashes))
    table = pd.DataFrame(own | {name: array.ravel() for name, array in arrays.items()})
    return table.dropna(how="all", subset=list(arrays))


def _by_record(kept: Kept) -> dict[str, np.ndarray]:
    """Return the arrays (R, n) of what is kept of a measure."""
    if isinstance(kept, Contributions | Isolations):
        return {name: getattr(kept, name) for name in QUANTITIES if hasattr(kept, name)}
    return {}


def _first(entities: np.ndarray) -> np.ndarray:
    """Return the position of the first record of each record's entity."""
    _, first, inverse = np.unique(entities, return_index=True, return_inverse=True)
    return np.asarray(first[inverse])
