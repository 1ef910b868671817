"""How many members an attack finds at a low false-positive rate, over all releases of a study at once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy

from synthrisk.metrics.errors import ABOVE_0, BELOW_1, check_range
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate, Interval
from synthrisk.metrics.intervals.proportions import clopper_pearson

POOLED_RATES = (0.01, 0.001)
"""False-positive rates at which a study reports the pooled true-positive rate."""
RATE = POOLED_RATES[0]
"""The one at which a limit is set and a chart drawn."""
METHOD = "effective_number"

_FALSE_POSITIVES = 10  # expected at a rate, for it to be estimable
_SPARE = 50  # control scores kept beyond twice the rate: no resample has its threshold below these
_BLOCK = 50  # resamples whose weights are in memory at once
_ROUNDING = 1 + 1e-12  # a rate that whole control records reach exactly is reached


class _Cells(NamedTuple):
    """How often each unit (record or entity) scores at each place: sparse (units, places), from the highest place down.

    The kept control scores are the first T places of ``controls``; T is the place of all lower ones. Of ``members``
    2p + 1 is tied with the control place p, and 2p lies above it.
    """

    controls: "scipy.sparse.csr_array"
    members: "scipy.sparse.csr_array"


def pooled_rates(
    scores: np.ndarray,
    member: np.ndarray,
    control: np.ndarray,
    interval: Interval | None = None,
    entities: np.ndarray | None = None,
    rates: Sequence[float] = POOLED_RATES,
) -> Mapping[float, Estimate]:
    """Return the true-positive rate at low false-positive rates, all releases of a study pooled.

    The control scores of all folds and repetitions set one threshold, and member scores are compared with it. Ties at
    the threshold are resolved by expectation: the share of them that makes the false-positive rate exact is called
    member. The mean difference of members and control records can hide a small leak; this quantity looks only where
    the attack is surest.

    The interval resamples records (or entities) with all their scores, and each resample sets its own threshold. The
    variance V of the resamples gives the effective number of members n* = p(1 - p)/V, at most the number of member
    scores. The limits are Clopper and Pearson's at p n* successes of n* (as in Korn and Graubard 1998, Survey
    Methodology 24, 193-201); the resamples' own limits would have no width at p = 0. Where p is 0 or 1, V is 0 and
    1/n* = 1/(units with member scores) + 1/(units with control scores). What other seeds of the generator would add is
    not in the interval.

    Args:
        scores: (R, K, n), higher for suspected members; NaN = not a target, -inf = the attack abstains.
        member: (R, K, n) booleans.
        control: (R, K, n) booleans.
        interval: Confidence, resamples and seed; those of a study unless given.
        entities: (n,) entity of each record, where one entity has several records.
        rates: False-positive rates f in (0, 1).

    Returns:
        An ``Estimate`` in [0, 1] by rate; NaN, with the reason as its note, with fewer than 10/f control scores.

    Raises:
        InputError: A rate is out of its range.

    Example:
        >>> scores = np.arange(4000.0).reshape(1, 1, -1) % 2000
        >>> member = np.arange(4000).reshape(1, 1, -1) < 2000
        >>> found = pooled_rates(scores, member, ~member)
        >>> round(found[0.01].value, 3), found[0.001].note
        (0.01, 'fewer than 10000 control scores')
    """
    for rate in rates:
        check_range("rates", rate, ABOVE_0, BELOW_1, "numbers in (0, 1)")
    scored = ~np.isnan(scores)
    member, control = member & scored, control & scored
    needed = {rate: int(np.ceil(_FALSE_POSITIVES / rate)) for rate in rates}
    known = [rate for rate in rates if member.any() and control.sum() >= needed[rate]]
    found = {rate: replace(NOT_ESTIMABLE, note=_reason(member, control, needed[rate])) for rate in rates}
    if known:
        cells = _cells(scores, member, control, entities, max(known))
        found |= _estimated(cells, known, Interval() if interval is None else interval)
    return found


def _reason(member: np.ndarray, control: np.ndarray, needed: int) -> str:
    if not member.any() or not control.any():
        return "no members" if control.any() else "no control records"
    return f"fewer than {needed} control scores"


def _cells(
    scores: np.ndarray, member: np.ndarray, control: np.ndarray, entities: np.ndarray | None, rate: float
) -> _Cells:
    n = scores.shape[2]
    units = np.arange(n) if entities is None else np.unique(entities, return_inverse=True)[1]
    own = np.broadcast_to(units, scores.shape)
    ordered = np.sort(scores[control])[::-1]
    levels = np.unique(ordered[: int(2 * rate * len(ordered)) + _SPARE])
    size, top = int(units.max()) + 1, len(levels)
    controls = top - np.searchsorted(levels, scores[control], "right")
    among = [np.searchsorted(levels, scores[member], side) for side in ("left", "right")]
    members = 2 * top - among[0] - among[1]
    members[members == 2 * top] += 1  # below all levels: beside the other control scores
    return _Cells(
        _counted(own[control], controls, (size, top + 1)), _counted(own[member], members, (size, 2 * top + 2))
    )


def _counted(units: np.ndarray, places: np.ndarray, shape: tuple[int, int]) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array((np.ones(len(units), dtype=np.int64), (units, places)), shape=shape)


def _ordered(cells: _Cells) -> _Cells:
    """Return the units ordered by what they hold, so that draws do not depend on the order of rows."""
    both = scipy.sparse.hstack([cells.controls, cells.members], format="csr")
    marks = np.random.default_rng(0).integers(2**62, size=both.shape[1])  # sums that wrap, equal for equal units alone
    order = np.argsort(both @ marks, kind="stable")
    return _Cells(cells.controls[order], cells.members[order])


def _estimated(cells: _Cells, rates: Sequence[float], interval: Interval) -> dict[float, Estimate]:
    size = cells.members.shape[0]
    values = _true_positive_rates(cells, np.ones((1, size), dtype=np.int64), rates)[:, 0]
    if size < 2:
        note = "one record: no interval"
        return {r: Estimate(float(v), np.nan, np.nan, METHOD, note) for r, v in zip(rates, values, strict=True)}
    rng, cells = np.random.default_rng(interval.seed), _ordered(cells)
    drawn = [
        _true_positive_rates(cells, _weights(rng, min(_BLOCK, interval.resamples - start), size), rates)
        for start in range(0, interval.resamples, _BLOCK)
    ]
    spread = np.nanvar(np.concatenate(drawn, axis=1), axis=1, ddof=1)
    held = [(each.sum(axis=1) > 0).sum() for each in cells]
    absent, found = 1 / (1 / held[0] + 1 / held[1]), {}
    for rate, p, variance in zip(rates, values.tolist(), spread.tolist(), strict=True):
        # the number of independent members that the estimate is worth
        worth = min(p * (1 - p) / variance, cells.members.sum()) if variance > 0 and 0 < p < 1 else absent
        found[rate] = replace(clopper_pearson(p, worth, interval.confidence), method=METHOD)
    return found


def _weights(rng: np.random.Generator, resamples: int, size: int) -> np.ndarray:  # (resamples, units)
    picked = rng.integers(size, size=(resamples, size)) + size * np.arange(resamples)[:, None]
    return np.bincount(picked.ravel(), minlength=resamples * size).reshape(resamples, size)


def _true_positive_rates(cells: _Cells, weights: np.ndarray, rates: Sequence[float]) -> np.ndarray:
    controls, members = ((each.T @ weights.T).T for each in cells)
    false, true = controls.cumsum(axis=1), members.cumsum(axis=1)  # (resamples, places)
    # of few entities a group may be empty
    total = np.where((false[:, -1] > 0) & (true[:, -1] > 0), true[:, -1], np.nan)
    row, found = np.arange(len(weights)), []
    for rate in rates:
        allowed = rate * false[:, -1]
        place = (false > (allowed * _ROUNDING)[:, None]).argmax(axis=1)  # the first that holds too many control records
        tied = controls[row, place]
        share = np.clip((allowed - false[row, place] + tied) / np.maximum(tied, 1), 0, 1)
        found.append((true[row, 2 * place] + share * members[row, 2 * place + 1]) / total)
    return np.array(found)
