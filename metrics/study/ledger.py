"""The ledger of a release: what every attack did to every real record. Everything reported derives from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from synthrisk.metrics.metric import Score
from synthrisk.metrics.tables.codes import factorized

_CLAIM = ("record", "member", "metric", "attacker", "sensitive", "claim", "guessed", "truth")
_JUDGED = ("confidence", "score", "baseline")
_BESIDE = ("gain", "error", "distance", "risk", "weight", "placement")
COLUMNS = (*_CLAIM, *_JUDGED, "at_risk", *_BESIDE)


@dataclass(frozen=True)
class Measure:
    """One column of results: a metric as a study uses it, on one sensitive attribute."""

    label: str
    metric: str
    sensitive: str | None = None
    attacker: str | None = None  # name of the attacker model or of the attack, where there is one
    variant_of: str | None = None  # label of the measure that this one is a what-if of

    @property
    def key(self) -> str:
        """``<label>`` or ``<label>.<sensitive>``: the measure's name in thresholds, tables and MLflow."""
        return self.label if self.sensitive is None else f"{self.label}.{self.sensitive}"


_TEXT: Final = "string[pyarrow]"  # columns of a million texts are joined and written in a tenth of the time of objects


def ledger_rows(
    score: Score,
    measure: Measure,
    member: pd.api.extensions.ExtensionArray,
    truth: pd.Series | None,
    kept: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the rows of one measure.

    Args:
        score: Score of all real records against the release, one row a record, in the table's order.
        measure: What was measured.
        member: Nullable booleans: True member, False control, NA neither (a reference's release was drawn from it).
        truth: The sensitive column of the real table, or None where nothing is guessed.
        kept: Numeric columns of the records that a study needs besides (``Metric.columns``).

    Returns:
        A frame with ``COLUMNS``, and those of ``kept`` that are not among them: ``record`` is the position in the real
        table; ``claim`` says whether the record was attacked with an answer; guessed and truth are text.
    """
    records = score.records
    if records is None:
        raise ValueError(f"{score.metric} has no per-record form")
    n, others = len(records), [c for c in kept if c not in COLUMNS]
    absent = np.full(n, np.nan)
    absent.flags.writeable = False  # columns share it

    def plain(columns: Sequence[str]) -> dict[str, np.ndarray]:
        return {c: records[c].to_numpy(dtype=float) if c in records else absent for c in columns}

    judged = plain(_JUDGED)
    columns = {
        "record": np.arange(n, dtype=np.int64),
        "member": member,
        "metric": _same(measure.label, n),
        "attacker": _same(measure.attacker, n),
        "sensitive": _same(measure.sensitive, n),
        "claim": ~np.isnan(judged["score"]),
        "guessed": _text(records.get("guessed"), n),
        "truth": _text(truth, n),
        **judged,
        "at_risk": _flags(records.get("at_risk"), n),
        **plain(_BESIDE),
        **plain(others),
    }
    return pd.DataFrame(columns, copy=False)


def _flags(values: pd.Series | None, n: int) -> pd.api.extensions.ExtensionArray:
    if values is None:
        return pd.arrays.BooleanArray(np.zeros(n, dtype=bool), np.ones(n, dtype=bool))
    return values.astype("boolean").array


def _same(text: str | None, n: int) -> pd.api.extensions.ExtensionArray:
    return pd.array([text], dtype=_TEXT).take(np.zeros(n, dtype=np.intp))


def _text(values: pd.Series | None, n: int) -> pd.api.extensions.ExtensionArray:
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
        return pd.array(texts.where(texts.isna(), texts.astype(str)).to_numpy(), dtype=_TEXT)
    return pd.array([*map(str, levels), None], dtype=_TEXT).take(codes)  # -1, the missing code, takes the last


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
