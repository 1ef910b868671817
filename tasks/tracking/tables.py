"""Tables of a study as artifacts: JSON that MLflow shows, Parquet for programs; of single records under salted hashes.

A finding's value is the mean of its contributions, over records and then over repetitions. The difference of two
studies has a paired interval where both know what the same records contribute, which share their salted hash.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from mlflow import MlflowClient

from synthrisk.metrics.release.validity import releases_table
from synthrisk.metrics.study.findings import utility_table
from synthrisk.metrics.verdicts.results import StudyResult, league, promised
from synthrisk.metrics.verdicts.tables import TABLES, details_table, interval_table, league_table
from synthrisk.metrics.verdicts.verdicts import holds_for
from synthrisk.tasks.workspace.folders import there
from synthrisk.tasks.workspace.records import EVIDENCE, kept_contributions, read_coded, repeated, write_records
from synthrisk.tasks.workspace.references import LEDGER, Found

_OF_GENERATORS = {"measures": "league", "limits": "limits", "yardsticks": "yardsticks"}
_NUMBERS = [f"{name}{end}" for name in ("memorization", "risk") for end in ("", "_lower", "_upper")]
_GUESSES = ["guess", "risk_gain", "control", "control_gain", "population", "population_gain"]
_FIRST = ["synthesizer", "measure", "verdict", *_NUMBERS, *_GUESSES, "role"]
"""What a league table starts with, for who looks at it on a page."""


def study_tables(result: StudyResult) -> dict[str, pd.DataFrame]:
    """Return the tables of a study by name; those without rows are left out."""
    every = {
        "league": judged_league(result),
        "utility": utility_table(result.utility),
        **{name: table_of(result) for name, table_of in TABLES.items()},
        "intervals": interval_table(result),
        "details": details_table(result),
        "releases": releases_table(result.releases) if result.releases else pd.DataFrame(),
        "release_values": release_values(result),
    }
    return {name: table for name, table in every.items() if len(table)}


def generator_tables(study: Mapping[str, pd.DataFrame], name: str) -> dict[str, pd.DataFrame]:
    """Return the tables of one generator, out of those of its study: measures with verdicts, limits, yardsticks."""
    every = {own: study[of] for own, of in _OF_GENERATORS.items() if of in study}
    own = {key: table[table["synthesizer"] == name] for key, table in every.items()}
    if "limits" in own:
        first = ["name", "word", "value", "lower", "upper", "limit", "reason"]
        own["limits"] = own["limits"][[*first, *(c for c in own["limits"] if c not in first)]]
    spare = ["synthesizer", "role"]
    return {key: table.drop(columns=spare).reset_index(drop=True) for key, table in own.items() if len(table)}


def judged_league(result: StudyResult) -> pd.DataFrame:
    """Return the league table with the verdict on each measure, or why there is none, among its first columns."""
    words = {(row.synthesizer, row.measure): row.verdict for rows in league(result).values() for row in rows}
    table = league_table(result)
    if not len(table):
        return table
    if epsilons := promised(result):
        table["epsilon"] = [epsilons.get(name, "") for name in table["synthesizer"]]
    table["verdict"] = [words[who] for who in zip(table["synthesizer"], table["measure"], strict=True)]
    return table[[*_FIRST, *(c for c in table if c not in _FIRST)]]


def release_values(result: StudyResult) -> pd.DataFrame:
    """Return the value of each release, a row a finding and release, numbered by repetition and fold."""
    rows = [
        {"synthesizer": f.synthesizer, "measure": f.measure.key, "release": number, "risk": value}
        for f in result.findings
        for number, value in enumerate(f.release_risk)
    ]
    return pd.DataFrame(rows)


def log_tables(client: MlflowClient, run_id: str, tables: Mapping[str, pd.DataFrame], *, parquet: bool = False) -> None:
    """Write tables to a run, each as ``<name>.json``, and with ``parquet`` in the folder ``tables`` too."""
    for name, table in tables.items():
        client.log_table(run_id, table, f"{name}.json")
    if parquet:
        with TemporaryDirectory() as place:
            for name, table in tables.items():  # Parquet takes one type a column
                mixed = [c for c in table if pd.api.types.infer_dtype(table[c], skipna=True).startswith("mixed")]
                table.astype(dict.fromkeys(mixed, str)).to_parquet(
                    Path(place) / f"{name}.parquet", compression="zstd", index=False
                )
            client.log_artifacts(run_id, place, "tables")


class Names:
    """The names of the records of a table, by their position in it.

    What is written of records stands in the order of their names: the order of the table would name them.
    """

    def __init__(self, hashes: np.ndarray):
        self._hashes = hashes
        self._placed = np.empty(0, np.int64), np.empty(0, np.int64), pa.array([], pa.string())

    def __len__(self) -> int:
        return len(self._hashes)

    @cached_property
    def texts(self) -> pa.Array:
        """The name of each record: 16 hexadecimal digits."""
        digits = self._hashes.astype(">u8").tobytes().hex().encode()
        return pa.array(np.frombuffer(digits, dtype="S16")).cast(pa.string())

    @cached_property
    def order(self) -> np.ndarray:
        """Positions in the order of the names."""
        return np.argsort(self._hashes, kind="stable")

    def placed(self, rows: np.ndarray) -> tuple[np.ndarray, pa.Array]:
        """Return the order in which rows of these records stand, and their names in it.

        They are kept for the next table, which mostly has the same rows.
        """
        if not np.array_equal(rows, self._placed[0]):
            order = ordered(rows, self.order)
            self._placed = rows, order, self.texts.take(pa.array(rows[order]))
        return self._placed[1:]


def ordered(rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the order in which records stand as ``places`` has them, those of one record as they stood."""
    n = len(places)
    if len(rows) % n == 0 and (rows.reshape(-1, n) == np.arange(n)).all():  # every record in every block
        return np.asarray((places[:, None] + n * np.arange(len(rows) // n)).ravel())
    rank = np.empty(n, dtype=np.int64)
    rank[places] = np.arange(n)
    return np.argsort(rank[rows], kind="stable")


TOP = 100
# a class's share, its baseline, tells the class; so does a gain, which is made of it
REVEALING = ["guessed", "truth", "confidence", "baseline", "gain", "gain_as_member", "gain_as_control"]


def log_records(client: MlflowClient, run_id: str, found: Found, page: str | None, names: Names, mode: str) -> None:
    """Write the ledger and the exposed records of one generator to its run, records named as ``mode`` says."""
    with TemporaryDirectory() as place:
        folder, parts, left_out = Path(place), [], () if mode == "full" else REVEALING
        for each in found.ledgers:
            part = _without_empty(read_coded(there(each.path) / LEDGER, left_out))
            for name in ("repetition", "fold"):
                part = part.append_column(name, repeated(getattr(each.cell, name), len(part)))
            parts.append(part)
        if not any(len(part) for part in parts):
            return  # no measure of the study scores records
        ledger = pa.concat_tables(parts, promote_options="default")
        write_records(given(names, ledger, mode), folder / "ledger.parquet")
        exposed = read_coded(there(found.exposed), left_out)
        bare = [c for c in EVIDENCE if c in exposed.column_names and exposed[c].null_count == len(exposed)]
        exposed = exposed.drop_columns(bare)
        if len(exposed):
            exposed = given(names, exposed, mode)
            write_records(exposed, folder / "memorization.parquet")
        client.log_artifacts(run_id, place, "records")
        if page and mode == "full":  # it holds values of the real table
            client.log_artifact(run_id, page, "records")
        if not len(exposed):
            return  # claims say nothing of single records
        top = _as_texts(_most_exposed(exposed)).to_pandas()
        if len(top):
            client.log_table(run_id, top, "records/most_exposed.json")


def given(names: Names, records: pa.Table, mode: str) -> pa.Table:
    """Return the rows with names in place of positions; unless ``mode`` is ``full`` not in the table's order."""
    rows, place = records["record"].to_numpy(), records.column_names.index("record")
    if mode == "full":
        kept = records.append_column("row", records["record"])
        return kept.set_column(place, "record", names.texts.take(pa.array(rows)))
    order, named = names.placed(rows)
    columns = {c: named if c == "record" else _taken(records[c], order) for c in records.column_names}
    return pa.table(columns).replace_schema_metadata(records.schema.metadata)


def _taken(column: pa.ChunkedArray, order: np.ndarray) -> pa.ChunkedArray:
    """Return the cells in another order, which is the same where all of them are the same."""
    return column if _is_one(column) else column.take(order)


def _is_one(column: pa.ChunkedArray) -> bool:
    if column.null_count or not (pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)):
        return column.null_count == len(column)
    ends = pc.min_max(column)
    return bool(ends["min"] == ends["max"])


def _most_exposed(exposed: pa.Table) -> pa.Table:
    if exposed["memorization"].null_count == len(exposed):
        return exposed.slice(0, TOP)  # what the following returns, in a moment
    amounts = pd.DataFrame({"memorization": exposed["memorization"].to_numpy()})
    return exposed.take(amounts.nlargest(TOP, "memorization").index.to_numpy())


def _as_texts(table: pa.Table) -> pa.Table:
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field.name, table[field.name].cast(pa.string()))
    return table


def _without_empty(table: pa.Table) -> pa.Table:
    """Return the columns that hold a value."""
    return table.select([name for name in table.column_names if table[name].null_count < len(table)])


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
        for quantity in QUANTITIES  # what is kept of whole releases has none of them
        if (array := getattr(kept.get(key), quantity, None)) is not None and array.shape[1] == records
    }


def _first(entities: np.ndarray) -> np.ndarray:
    """Return the position of the first record of each record's entity."""
    _, first, inverse = np.unique(entities, return_index=True, return_inverse=True)
    return np.asarray(first[inverse])
