"""Which of two synthesizers has the lower risk: paired on the same splits and seeds, and adjusted for many pairs."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby

import numpy as np
import scipy

from synthrisk.metrics.intervals.distributions import holm
from synthrisk.metrics.intervals.estimates import Estimate, paired, t_test, t_test_across_repetitions
from synthrisk.metrics.intervals.scale import DIFFERENCE
from synthrisk.metrics.study.contributions import Isolations, Kept, ReleasedValues
from synthrisk.metrics.study.ledger import Measure

COMPARED = ("risk", "memorization")


@dataclass(frozen=True)
class Comparison:
    """One pair of synthesizers in one quantity of one measure."""

    measure: Measure
    quantity: str  # ``risk`` (of members) or ``memorization``
    first: str  # name of A
    second: str  # name of B
    difference: Estimate  # A minus B, with the crossed interval, in [-1, 1] (not adjusted)
    p_value: float  # of the t test of that difference; NaN where there is no interval
    p_holm: float = float("nan")  # Holm's adjusted p-value over all pairs in this quantity of this measure
    # Benjamini and Hochberg's, over all pairs, quantities and measures of the study: for exploring
    p_fdr: float = float("nan")
    lower: str = ""  # name of the one that is lower, where ``p_holm`` is below 1 - confidence; else empty


def compare(
    found: Mapping[Measure, Mapping[str, Kept]],
    confidence: float = 0.95,
    entities: np.ndarray | None = None,
    same_differences: Container[str] = (),
) -> list[Comparison]:
    """Return all pairs of synthesizers, in each measure and quantity, in the order given.

    The difference is taken record by record and repetition by repetition, e_ri(A) - e_ri(B), so what the two have
    in common (how easy a record is, how a split fell) cancels; its interval and its t test have one variance. A
    metric without a score a real record is paired over repetitions.

    p-values are adjusted by Holm (1979) over all pairs of one quantity and measure: the chance that any pair
    which does not differ there is called different is at most 1 - confidence. Measures are not pooled, so a measure
    more changes no adjusted p-value of another; who reads many measures at once has ``p_fdr``.

    ``found`` is what is kept, for each measure, of each synthesizer by name, all of one kind. ``entities``, (n,), are
    given where one has several records; ``same_differences`` are keys of the measures of which the memorization is that
    of another measure, and not compared.
    """
    rows = []
    for measure, by_name in found.items():
        for quantity in ("risk",) if measure.key in same_differences else COMPARED:
            for first, second in combinations(by_name, 2):
                tested = _difference(by_name[first], by_name[second], quantity, confidence, entities)
                rows.append(Comparison(measure, quantity, first, second, *tested))
    return _adjusted(rows, 1 - confidence)


def _difference(
    first: Kept, second: Kept, quantity: str, confidence: float, entities: np.ndarray | None
) -> tuple[Estimate, float]:
    one, other = (_of_releases(each, quantity) for each in (first, second))
    if one is not None and other is not None:
        tested = t_test_across_repetitions(one - other, confidence, DIFFERENCE)
    else:
        tested = t_test(paired(getattr(first, quantity), getattr(second, quantity)), confidence, entities, DIFFERENCE)
    return tested.estimate, tested.p_value


def _of_releases(kept: Kept, quantity: str) -> np.ndarray | None:
    """Return a quantity that is a value of each release, (R, K); None where records contribute to it."""
    if isinstance(kept, ReleasedValues):
        return kept.value if quantity == "risk" else kept.difference
    return kept.value if isinstance(kept, Isolations) and quantity == "risk" else None


def _adjusted(rows: Sequence[Comparison], level: float) -> list[Comparison]:
    every = np.array([r.p_value for r in rows], dtype=float)
    known = ~np.isnan(every)
    fdr = np.full(len(rows), np.nan)
    if known.any():
        fdr[known] = scipy.stats.false_discovery_control(every[known])
    made: list[Comparison] = []
    for _, group in groupby(rows, key=lambda r: (r.measure, r.quantity)):
        own = list(group)
        for row, p in zip(own, holm([r.p_value for r in own]), strict=True):
            lower = "" if not p < level else (row.first if row.difference.value < 0 else row.second)
            made.append(replace(row, p_holm=float(p), p_fdr=float(fdr[len(made)]), lower=lower))
    return made
