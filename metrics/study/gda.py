"""The GDA view of a study: each attack on each synthesizer, column by column and put together, and its grade.

It is a convention, not a measurement: read the two quantities first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy

from synthrisk.metrics.errors import InputError, is_whole
from synthrisk.metrics.intervals.yardsticks import gain
from synthrisk.metrics.score import mean_of_known
from synthrisk.metrics.study.findings import Finding

_IMPROVEMENT = (0.0, 0.5, 0.75, 0.9, 0.95, 1.0)
_LOG_PROBABILITY = (-5.0, -4.0, -3.0, -2.0, 0.0)
_DEFENSE = np.array(
    [
        [1.0, 1.0, 1.0, 1.0, 1.0],
        [1.0, 1.0, 1.0, 0.95, 0.95],
        [1.0, 1.0, 0.95, 0.9, 0.7],
        [1.0, 0.9, 0.8, 0.6, 0.3],
        [1.0, 0.8, 0.7, 0.3, 0.1],
        [1.0, 0.7, 0.3, 0.1, 0.0],
    ]
)  # gda-score-code 2.5.4, scores/gdaScore.py: its grid; its interpolation is not monotone (reference/gda)
_SUSCEPTIBILITY = (0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1.0)
_FLOOR = (1.0, 0.99, 0.9, 0.7, 0.4, 0.1, 0.05, 0.0)


def grade(improvement: float, probability: float) -> float:
    """Return the defense in [0, 1], 1 = nothing is learned.

    Bilinear in (CI, log10 claim probability) between the nodes of the original grid, whose rows and columns fall, so
    that more confidence or more claims never raise it. An improvement below 0 counts as 0, a probability below 1e-5
    as 1e-5; without claims there is nothing to defend against: 1.

    Args:
        improvement: Confidence improvement (C - S)/(1 - S), at most 1; NaN where it is not defined gives NaN, unless
            no claim was made.
        probability: Claims / attempts, in [0, 1].

    Example:
        >>> grade(0.2, 1.0), grade(1.0, 0.001), round(grade(0.875, 1.0), 3)
        (0.98, 0.3, 0.367)
    """
    if probability == 0:
        return 1.0
    if np.isnan(improvement) or np.isnan(probability):
        return float("nan")
    return float(_bilinear()((np.clip(improvement, 0, 1), np.clip(np.log10(probability), -5, 0))))


def susceptibility_floor(susceptibility: float) -> float:
    """Return the defense that a data set has because only this share of its cells can be attacked.

    Example:
        >>> susceptibility_floor(1.0), round(susceptibility_floor(0.5), 4), susceptibility_floor(0.0)
        (0.0, 0.0253, 1.0)
    """
    return float(np.interp(susceptibility, _SUSCEPTIBILITY, _FLOOR))


@cache
def _bilinear() -> Callable[[tuple[float, float]], float]:
    return scipy.interpolate.RegularGridInterpolator((_IMPROVEMENT, _LOG_PROBABILITY), _DEFENSE)


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
    susceptibility = sum(c.susceptibility for c in ordered) / of
    return GdaScore(
        tuple(c.column for c in ordered),
        mean_of_known([c.confidence_improvement for c in ordered]),
        float(np.mean([c.claim_probability for c in ordered])),
        susceptibility,
        claims,
        sum(c.cells_known for c in ordered) / claims if claims else float("nan"),
        sum(c.cells_read for c in ordered) / claims if claims else float("nan"),
        max(float(np.mean([c.grade for c in ordered])), susceptibility_floor(susceptibility)),
    )


def _or(value: float, instead: float) -> float:
    return instead if np.isnan(value) else value


WHOLE = "whole record"  # what is learned where no single column is
OF_CLAIMS = ("attempts", "claims", "correct", "statistical_confidence", "susceptibility", "prior_knowledge", "work")
"""The details that each metric of claims (``Metric.claims``) gives."""


@dataclass(frozen=True)
class AttackView:
    """What one attack did to the releases of one synthesizer; counts are means over releases."""

    synthesizer: str
    role: str  # ``synthesizer`` or ``reference``
    attack: str  # label of the measure
    columns: tuple[ColumnScore, ...]  # a score a column attacked
    of: int  # columns of the data set; of whole records 1
    overall: GdaScore  # over all of them
    weakest: Mapping[int | None, GdaScore]  # over the k weakest of them, by k; None all

    def susceptibility(self, column: ColumnScore) -> float:
        """Return the share of all cells of the data set for which an attempt can be made in one column.

        Those of the columns add up to that of all of them: ``GdaScore.susceptibility``, as the source counts it.
        """
        return column.susceptibility / self.of


def gda_view(findings: Sequence[Finding], of: int, weakest: Sequence[int | None] = (None, 1)) -> list[AttackView]:
    """Return the view of every attack that makes claims, on members, in the order of the findings.

    Findings without claims, and what-ifs, are passed over. Susceptibility is a share of the ``of`` columns of the
    table; claims about whole records count as one column of one. ``weakest``: see ``AttackView``.
    """
    columns: dict[tuple[str, str, str], list[ColumnScore]] = {}
    for f in findings:
        if f.is_of_claims and f.details.get("attempts", (0.0,))[0] and not f.measure.variant_of:
            key = (f.synthesizer, f.role, f.measure.label)
            columns.setdefault(key, []).append(column_score(f))
    return [_view(key, each, of, weakest) for key, each in columns.items()]


def _view(
    key: tuple[str, str, str], columns: Sequence[ColumnScore], of: int, weakest: Sequence[int | None]
) -> AttackView:
    of = 1 if columns[0].column == WHOLE else of
    scores = {k: gda_score(columns, of, k) for k in weakest}
    return AttackView(*key, tuple(columns), of, gda_score(columns, of), scores)


def column_score(finding: Finding) -> ColumnScore:
    """Return the score of one column from what a finding says of members."""
    attempts, claims, *others, known, read = (finding.details[name][0] for name in OF_CLAIMS)
    cells = [each * claims if claims else 0.0 for each in (known, read)]
    return ColumnScore(finding.measure.sensitive or WHOLE, attempts, claims, *others, *cells)
