"""The GDA score of an attack: its columns, and the k weakest of them put together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from synthrisk.metrics.errors import InputError, is_whole
from synthrisk.metrics.intervals.yardsticks import gain
from synthrisk.metrics.study.grade import grade, susceptibility_floor


@dataclass(frozen=True)
class ColumnScore:
    """What an attack did to one column; counts may be means over releases."""

    column: str  # the column learned
    attempts: float
    claims: float  # attempts that ended in a claim
    correct: float  # claims that were right
    statistical_confidence: float  # S: mean over the claims of the share of entities that the claimed value holds for
    susceptibility: float = 1.0  # share of the column's own cells for which an attempt can be made
    cells_known: float = 0.0  # cells of prior knowledge that all attempts used
    cells_read: float = 0.0  # cells of the release that all attempts read

    @property
    def confidence(self) -> float:
        """C = right claims / claims; NaN without claims."""
        return self.correct / self.claims if self.claims else float("nan")

    @property
    def confidence_improvement(self) -> float:
        """CI = (C - S)/(1 - S), unclipped; NaN without claims and at S = 1."""
        return gain(self.confidence, self.statistical_confidence)

    @property
    def claim_probability(self) -> float:
        """Claims / attempts; NaN without attempts."""
        return self.claims / self.attempts if self.attempts else float("nan")

    @property
    def prior_knowledge(self) -> float:
        """Cells known / cells learned, which are the claims; NaN without claims."""
        return self.cells_known / self.claims if self.claims else float("nan")

    @property
    def work(self) -> float:
        """Cells read / cells learned; NaN without claims."""
        return self.cells_read / self.claims if self.claims else float("nan")

    @property
    def grade(self) -> float:
        """The derived grade of the column."""
        return grade(self.confidence_improvement, self.claim_probability)


@dataclass(frozen=True)
class GdaScore:
    """The score of an attack on a data set, over its k weakest columns."""

    columns: tuple[str, ...]  # names of those columns, the weakest first
    confidence_improvement: float  # mean over the columns where it is defined: one without claims has none
    claim_probability: float  # mean over the columns
    susceptibility: float  # share of all cells of the data set for which an attempt can be made
    claims: float
    prior_knowledge: float  # cells known / cells learned
    work: float  # cells read / cells learned
    grade: float  # derived: mean of the columns' grades, but not below what the susceptibility leaves


def gda_score(columns: Sequence[ColumnScore], of: int, k: int | None = None) -> GdaScore:
    """Return the score over the k weakest columns that were attempted.

    Weakest = of the lowest grade; of equal ones that with the higher confidence improvement. Means are plain. ``of`` is
    the number of columns of the data set, ``k`` how many of them count: None all, 1 the worst case.

    Raises:
        InputError: ``k`` is not a whole number of at least 1, ``of`` is smaller than the number of columns, or there
            is no column with attempts.

    Example:
        >>> attacked = [ColumnScore("a", 50, 50, 45, 0.2), ColumnScore("b", 50, 25, 10, 0.4)]
        >>> score = gda_score(attacked, of=4, k=1)
        >>> score.columns, round(score.confidence_improvement, 3), score.susceptibility, round(score.grade, 3)
        (('a',), 0.875, 0.25, 0.367)
    """
    tried = [c for c in columns if c.attempts]
    if not tried:
        raise InputError("columns must hold a column with attempts, got none")
    if k is not None and not is_whole(k, 1):
        raise InputError(f"k must be a whole number of at least 1, or None for all, got {k!r}")
    if of < len(columns):
        raise InputError(f"of must be the number of columns of the data set, at least {len(columns)}, got {of!r}")
    ordered = sorted(tried, key=lambda c: (_or(c.grade, 2.0), -_or(c.confidence_improvement, -np.inf)))[:k]
    claims = sum(c.claims for c in ordered)
    improvements = [c.confidence_improvement for c in ordered if not np.isnan(c.confidence_improvement)]
    susceptibility = sum(c.susceptibility for c in ordered) / of
    return GdaScore(
        tuple(c.column for c in ordered),
        float(np.mean(improvements)) if improvements else float("nan"),
        float(np.mean([c.claim_probability for c in ordered])),
        susceptibility,
        claims,
        sum(c.cells_known for c in ordered) / claims if claims else float("nan"),
        sum(c.cells_read for c in ordered) / claims if claims else float("nan"),
        max(float(np.mean([c.grade for c in ordered])), susceptibility_floor(susceptibility)),
    )


def _or(value: float, instead: float) -> float:
    return instead if np.isnan(value) else value
