"""What each record adds to the findings of a study, so that two studies of one table can be compared record by record.

A finding's value is the mean of its contributions, over records and then over repetitions. The difference of two
studies has a paired interval where both know what the same records contribute, which share their salted hash.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from mlflow import MlflowClient

from synthrisk.metrics.study.contributions import Contributions, Isolations, Kept
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import holds_for
from synthrisk.tasks.tracking.names import Names
from synthrisk.tasks.workspace.contributions import kept_contributions
from synthrisk.tasks.workspace.handed import Found
from synthrisk.tasks.workspace.record_tables import write_records

FILE = "contributions.parquet"
QUANTITIES = ("risk", "memorization")


def log_contributions(
    client: MlflowClient, run_id: str, result: StudyResult, found: Sequence[Found], names: Names
) -> None:
    """Write the contributions to the findings of the judged generators to the study's run."""
    table = contributions_table(result, found, names)
    if len(table):
        with TemporaryDirectory() as place:
            path = Path(place) / FILE
            write_records(table, path)
            client.log_artifact(run_id, str(path))


def contributions_table(result: StudyResult, found: Sequence[Found], names: Names) -> pa.Table:
    """Return contributions, a row a synthesizer, record and repetition, a column a quantity and measure.

    Columns: ``synthesizer``, ``record`` (its salted hash), ``entity`` (the hash of the first record of its entity,
    where one has several records), ``repetition``, and ``<quantity>/<measure>`` of each measure that has a threshold,
    or of all where none has; missing where a record contributes nothing. Measures that score no records are not in it.
    Rows are in the order of the columns.
    """
    parts = {each.name: _of_one(result, each, names) for each in found if each.generator.role == "synthesizer"}
    known = {name: part for name, part in parts.items() if len(part)}
    if not known:
        return pa.table({})
    columns = dict.fromkeys(c for part in known.values() for c in part.column_names)
    return pa.concat_tables([known[name] for name in sorted(known)], promote_options="default").select([*columns])


def _of_one(result: StudyResult, found: Found, names: Names) -> pa.Table:
    arrays = _judged(result, found, len(names))
    if not arrays:
        return pa.table({})
    repetitions = len(next(iter(arrays.values())))
    # in the order of the names: the order of the table would name the records
    rows, repetition = np.repeat(names.order, repetitions), np.tile(np.arange(repetitions), len(names))
    own: dict[str, pa.Array] = {
        "synthesizer": pa.array([found.name]).dictionary_encode().take(pa.array(np.zeros(len(rows), np.int8))),
        "record": names.texts.take(pa.array(rows)),
    }
    entities = found.sample.entities()
    if entities is not None:
        own["entity"] = names.texts.take(pa.array(_first(entities)[rows]))
    own["repetition"] = pa.array(repetition)
    for name, array in arrays.items():
        own[name] = pa.array(array[:, names.order].ravel("F"), from_pandas=True)
    known = np.any([own[name].is_valid() for name in arrays], axis=0)
    return pa.table(own) if known.all() else pa.table(own).filter(pa.array(known))


def _judged(result: StudyResult, found: Found, records: int) -> dict[str, np.ndarray]:
    """Return the arrays (R, n) of all quantities of a generator that are judged."""
    measures = {p.measure.key: p.measure for p in found.planned}
    judged = [key for key, m in measures.items() if any(holds_for(name, m) for name in result.limits)] or list(measures)
    kept = kept_contributions(found.contributions)
    return {
        f"{quantity}/{key}": array
        for key in judged
        if key in kept
        for quantity, array in _by_record(kept[key]).items()
        if array.shape[1] == records
    }


def _by_record(kept: Kept) -> dict[str, np.ndarray]:
    """Return the arrays (R, n) of what is kept of a measure."""
    if isinstance(kept, Contributions | Isolations):
        return {name: getattr(kept, name) for name in QUANTITIES if hasattr(kept, name)}
    return {}


def _first(entities: np.ndarray) -> np.ndarray:
    """Return the position of the first record of each record's entity."""
    _, first, inverse = np.unique(entities, return_index=True, return_inverse=True)
    return np.asarray(first[inverse])
