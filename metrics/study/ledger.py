"""The ledger of a release: what every attack did to every real record. Everything reported derives from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa

from synthrisk.metrics.metric import Score
from synthrisk.metrics.tables.codes import factorized, joint_codes, pack

_CLAIM = ("record", "member", "metric", "attacker", "sensitive", "claim", "guessed", "truth")
_JUDGED = ("confidence", "score", "baseline")
_BESIDE = ("gain", "error", "distance", "risk", "weight", "placement")
COLUMNS = (*_CLAIM, *_JUDGED, "at_risk", *_BESIDE)


@dataclass(frozen=True)
class Measure:
    """One column of results: a metric as a study uses it, on one sensitive attribute."""

    label: str
    metric: str
    sensitive: str | None = None  # its name; of several columns that are guessed at once: see ``name_of``
    attacker: str | None = None  # name of the attacker model or of the attack, where there is one
    variant_of: str | None = None  # label of the measure that this one is a what-if of
    envelope: str = ""  # how it puts several attacker models together: ``max``, ``mean`` or ``record``
    together: tuple[str, ...] = ()  # labels of the measures of these models, each on its own
    joint: tuple[str, ...] = ()  # the columns that are guessed at once, where they are several

    @property
    def key(self) -> str:
        """``<label>`` or ``<label>.<sensitive>``: the measure's name in thresholds, tables and MLflow."""
        return self.label if self.sensitive is None else f"{self.label}.{self.sensitive}"

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns that are guessed; none where nothing is."""
        return self.joint or (() if self.sensitive is None else (self.sensitive,))


_TEXT: Final = "string[pyarrow]"
_TYPES: Final[Mapping[str, str]] = {  # that columns have in pandas, those of floats aside
    "record": "int64",
    "claim": "bool",
    **dict.fromkeys(("member", "at_risk"), "boolean"),
    **dict.fromkeys(("metric", "attacker", "sensitive", "guessed", "truth"), _TEXT),
}


def ledger_rows(
    score: Score,
    measure: Measure,
    member: pd.api.extensions.ExtensionArray,
    truth: pd.Series | None,
    kept: Sequence[str] = (),
) -> pa.Table:
    """Return the rows of one measure.

    Args:
        score: Score of all real records against the release, one row a record, in the table's order.
        measure: What was measured.
        member: Nullable booleans: True member, False control, NA neither (a reference's release was drawn from it).
        truth: The sensitive column of the real table (of several: see ``joint_values``), or None where nothing is
            guessed.
        kept: Numeric columns of the records that a study needs besides (``Metric.columns``).

    Returns:
        A table with ``COLUMNS``, and those of ``kept`` that are not among them: ``record`` is the position in the real
        table; ``claim`` says whether the record was attacked with an answer; guessed and truth are text. Texts are
        codes: most columns hold one text a million times, or none.
    """
    records = score.records
    if records is None:
        raise ValueError(f"{score.metric} has no per-record form")
    n, others = len(records), [c for c in kept if c not in COLUMNS]
    absent = pa.nulls(n, pa.float64())

    def plain(columns: Sequence[str]) -> dict[str, pa.Array]:
        return {
            c: pa.array(records[c].to_numpy(dtype=float), from_pandas=True) if c in records else absent for c in columns
        }

    judged = plain(_JUDGED)
    columns = {
        "record": pa.array(np.arange(n, dtype=np.int64)),
        "member": pa.array(member),
        "metric": _same(measure.label, n),
        "attacker": _same(measure.attacker, n),
        "sensitive": _same(measure.sensitive, n),
        "claim": judged["score"].is_valid(),
        "guessed": _text(records.get("guessed"), n),
        "truth": _text(truth, n),
        **judged,
        "at_risk": _flags(records.get("at_risk"), n),
        **plain(_BESIDE),
        **plain(others),
    }
    return pa.table(columns)


def joint_values(real: pd.DataFrame, columns: Sequence[str]) -> pd.Series | None:
    """Return the sensitive values of each record: a column as it is, of several their texts with a bar between them.

    None where there is no column. Missing is a value like others of several columns.

    Example:
        >>> joint_values(pd.DataFrame({"a": [1, 2, 1], "b": ["x", None, "x"]}), ["a", "b"]).tolist()
        ['1 | x', '2 | nan', '1 | x']
    """
    if len(columns) < 2:
        return real[columns[0]] if columns else None
    (codes,), _ = pack([joint_codes([real[column]])[0] for column in columns])
    _, first, own = np.unique(codes, return_index=True, return_inverse=True)
    firsts = real[list(columns)].iloc[first].astype(object)
    texts = [" | ".join("nan" if pd.isna(cell) else str(cell) for cell in row) for row in firsts.to_numpy()]
    return pd.Series(pd.Categorical(texts).take(own), index=real.index)


def ledger_of(rows: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of all measures as one ledger, which knows the types that its columns have in pandas."""
    ledger = pa.concat_tables(rows, promote_options="default") if rows else _typed(COLUMNS).empty_table()
    return ledger.replace_schema_metadata(_typed(ledger.column_names).metadata)


def as_frame(ledger: pa.Table) -> pd.DataFrame:
    """Return a ledger as pandas has it."""
    texts = [c for c in ledger.column_names if _TYPES.get(c) == _TEXT]
    for name in texts:
        ledger = ledger.set_column(ledger.column_names.index(name), name, ledger[name].cast(pa.string()))
    return ledger.to_pandas().astype(dict.fromkeys(texts, _TEXT))


def _typed(columns: Sequence[str]) -> pa.Schema:
    empty = {c: pd.Series(dtype=_TYPES.get(c, "float64")) for c in columns}
    return pa.Schema.from_pandas(pd.DataFrame(empty), preserve_index=False)


def _flags(values: pd.Series | None, n: int) -> pa.Array:
    return pa.nulls(n, pa.bool_()) if values is None else pa.array(values.astype("boolean").array)


def _same(text: str | None, n: int) -> pa.Array:
    return _levels([text]).take(pa.array(np.zeros(n, dtype=np.int8)))


def _text(values: pd.Series | None, n: int) -> pa.Array:
    """Return the cells as texts; each level of a category, or of texts, is written once."""
    if values is None:
        return _same(None, n)
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes, levels = values.cat.codes.to_numpy(), values.cat.categories.to_series().astype(object)
    elif values.dtype == object and pd.api.types.infer_dtype(values, skipna=True) == "string":
        codes, found = factorized(values.to_numpy())
        levels = pd.Series(found[pd.notna(found)], dtype=object)
    else:
        texts = values.astype(object)
        return _levels(texts.where(texts.isna(), texts.astype(str)))
    return _levels([*map(str, levels)]).take(pa.array(codes, mask=codes < 0))


def _levels(texts: Sequence[str | None] | pd.Series) -> pa.Array:
    return pa.array(texts, pa.string(), from_pandas=True).dictionary_encode()


@dataclass(frozen=True)
class Cell:
    """One release of a study: a synthesizer in one repetition and fold."""

    synthesizer: str
    repetition: int
    fold: int

    @property
    def name(self) -> str:
        """Name in files and messages."""
        return f"{self.synthesizer}-r{self.repetition}-f{self.fold}"

    def in_words(self, folds: int) -> str:
        """Return the release in words, counted from 1; where a repetition has one release, no fold is named.

        Example:
            >>> Cell("cart", 0, 1).in_words(5), Cell("cart", 2, 0).in_words(1)
            ('cart, repetition 1, fold 2', 'cart, repetition 3')
        """
        return f"{self.synthesizer}, repetition {self.repetition + 1}" + (
            f", fold {self.fold + 1}" if folds > 1 else ""
        )
