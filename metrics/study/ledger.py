"""The ledger of a release: what every attack did to every real record. Everything reported derives from it.

What a measure says of one release beside the scores of its records: four kinds, and their plain JSON.

What is kept of a measure on one synthesizer, for all statistics that pair it: of records, or of releases.

A measure of a study with the options that its metric is called with.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from synthrisk.metrics.score import Ceiling, Score
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
        fold = f", fold {self.fold + 1}" if folds > 1 else ""
        return f"{self.synthesizer}, repetition {self.repetition + 1}{fold}"


@dataclass(frozen=True)
class Reasons:
    """Why there is no value of members, none of control records and no difference of the two, or empty strings."""

    members: str = ""
    controls: str = ""
    difference: str = ""


NO_REASONS = Reasons()


@dataclass(frozen=True)
class OfRecords:
    """Of a measure that scores single real records: its scores stand in the ledger."""

    all: dict[str, float]  # what it says of all real records together, as named numbers
    # what it says of the members alone; empty where there are none
    members: dict[str, float] = field(default_factory=dict)
    controls: dict[str, float] = field(default_factory=dict)  # what it says of the control records alone
    gains: bool = False  # whether the ledger holds normalised gains, of which a threshold curve is drawn
    reasons: Reasons = NO_REASONS  # why there is no value
    warning: str = ""  # what makes the value hard to read, or an empty string
    errors: bool = False  # whether it holds errors of numbers, of which a curve over the tolerance is drawn


@dataclass(frozen=True)
class OfRelease:
    """Of a measure that has one value a release: see ``ledger.ReleasedValues``."""

    value: float  # the value on all members
    control: float  # the value on all control records
    members: float  # the value against as many members as control records
    controls: float  # the value against these control records
    details: dict[str, float] = field(default_factory=dict)  # what else it says of members, as named numbers
    reasons: Reasons = NO_REASONS  # why there is no value


@dataclass(frozen=True)
class OfIsolation:
    """Of claims that name no target: the records that they isolate stand in the ledger."""

    value: float  # the value on all members
    details: dict[str, float]  # what else it says, as named numbers
    reasons: Reasons = NO_REASONS  # why there is no value


@dataclass(frozen=True)
class OfUtility:
    """Of a measure of utility."""

    value: float  # the utility of the release
    details: dict[str, float] = field(default_factory=dict)  # what else it says of the release, as named numbers
    ceiling: Ceiling | None = None  # what control records reach in place of the release; None without control records
    reason: str = ""  # why there is no value, or an empty string


Said = OfRecords | OfRelease | OfIsolation | OfUtility
_KINDS: dict[str, type[Said]] = {kind.__name__: kind for kind in (OfRecords, OfRelease, OfIsolation, OfUtility)}
_PARTS = {"reasons": Reasons, "ceiling": Ceiling}


def values_as_plain(values: Mapping[str, Said]) -> dict[str, dict[str, Any]]:
    """Return what each measure says, by key, as plain JSON with its kind.

    Example:
        >>> values = {"coverage": OfUtility(0.5, {"coverage_age": 0.25})}
        >>> values_as_plain(values)["coverage"]["kind"], values_from_plain(values_as_plain(values)) == values
        ('OfUtility', True)
    """
    return {key: {"kind": type(each).__name__, **asdict(each)} for key, each in values.items()}


def values_from_plain(plain: Mapping[str, Mapping[str, Any]]) -> dict[str, Said]:
    """Return what each measure says, by key, from its plain JSON."""
    return {key: _read(**each) for key, each in plain.items()}


def _read(kind: str, **parts: Any) -> Said:
    return _KINDS[kind](**{name: _PARTS[name](**p) if name in _PARTS and p else p for name, p in parts.items()})


@dataclass(frozen=True, eq=False)
class Contributions:
    """The contributions of records to the quantities of one measure on one synthesizer, each (R, n).

    Their mean over records is a repetition's value, their mean over both the study's; columns of records that
    contribute nothing are NaN, and an array has no columns where the quantity is not estimable.
    """

    risk: np.ndarray
    control: np.ndarray
    memorization: np.ndarray


@dataclass(frozen=True, eq=False)
class ReleasedValues:
    """The values of the releases, of a measure that has no score a real record, each (R, K)."""

    value: np.ndarray  # on all members
    control: np.ndarray  # on all control records
    members: np.ndarray  # against as many members as control records
    controls: np.ndarray  # against these control records

    @property
    def difference(self) -> np.ndarray:
        """The difference of members and control records, on groups of one size."""
        return self.members - self.controls


@dataclass(frozen=True, eq=False)
class Isolations:
    """Of claims that name no target: values of the releases, and what the records add to memorization."""

    value: np.ndarray  # (R, K) on all members
    memorization: np.ndarray  # (R, n) as in ``Contributions``; no columns where nobody is isolated


KeptValues = Contributions | ReleasedValues | Isolations

TOGETHER = {"max": "max", "mean": "mean", "record": "envelope"}
"""What is added to a label where several attacker models make one measure: ``rapid_max``, ``rapid_mean`` ..."""


def label_of(label: str, attacker: str = "", envelope: str = "") -> str:
    """Return the label of a measure: of one attacker model of several, or of the envelope of all of them.

    Example:
        >>> label_of("rapid", "cart"), label_of("rapid", envelope="max")
        ('rapid-cart', 'rapid_max')
    """
    return f"{label}_{TOGETHER[envelope]}" if envelope else f"{label}-{attacker}"


@dataclass(frozen=True)
class Planned:
    """A measure and the options its metric is called with."""

    measure: Measure
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def apart(self) -> "list[Planned]":
        """The measures of its attacker models, where it is of several together (option ``envelope``); else none."""
        if "envelope" not in self.options:
            return []
        label = self.measure.variant_of or self.measure.label
        base = label.removesuffix(label_of("", envelope=self.options["envelope"]))
        others = {k: v for k, v in self.options.items() if k not in ("attacker", "envelope")}
        metric, sensitive = self.measure.metric, self.measure.sensitive
        return [
            Planned(Measure(label_of(base, a), metric, sensitive, a), others | {"attacker": a})
            for a in self.options["attacker"]
        ]

    @property
    def words(self) -> tuple[str, str, str]:
        """What its seed is drawn from: name, attacker, attribute; a second attacker moves no number of the first.

        A what-if draws as the measure that it varies, so that the two differ in nothing else.
        """
        attacker = self.measure.attacker or ""
        label = self.measure.variant_of or self.measure.label
        return label.removesuffix(f"-{attacker}"), attacker, self.measure.sensitive or ""

    @property
    def family(self) -> tuple[str, str]:
        """What the measures of other ``attackers`` share with it: metric, and all options but ``attacker``."""
        options = {k: v for k, v in self.options.items() if k != "attacker"}
        return self.measure.metric, json.dumps(options, sort_keys=True, default=str)
