"""Memorization of an attack that names no target: are the records that its claims isolate members or control records?

Claims are made without knowing who is a member. So of the records that they isolate among n members and c control
records, the share of members is n/(n + c) on average, unless the release knows its members better.
"""

from dataclasses import replace

import numpy as np
import scipy

from synthrisk.metrics.intervals.distributions import t_quantile
from synthrisk.metrics.intervals.estimates import ONE_REPETITION, Estimate, variances
from synthrisk.metrics.intervals.proportions import clopper_pearson
from synthrisk.metrics.intervals.yardsticks import gain, limit_names

NO_CLAIM = "no claim was made"
NOBODY = "no claim isolates one of the members and control records together"
BY_CHANCE = "control"
"""The detail n/(n + c): the share of members among the isolated records if the release remembers nobody."""
_MEMORIZATION = ("memorization", "memorization_lower", "memorization_upper")
OF_ONE_RELEASE = ("isolated_share", "control_gain", "control_difference", *limit_names("control"), *_MEMORIZATION)
"""The details whose means over releases are not those of all releases together."""
_STEEPEST = 700.0  # logarithm of the largest odds ratio tried


def memorized(isolated: tuple[int, int], sizes: tuple[int, int], confidence: float = 0.95) -> Estimate:
    """Return how much more often than by chance the isolated records of one release are members.

    With k distinct records isolated of n members and c control records, x of them members, the gain is
    G = (x/k - n/(n + c))/(1 - n/(n + c)): 1 where all are members, 0 where as many are as by chance, -n/c where none
    are. If the release remembers nobody, x is hypergeometric. The limits are exact given k: those of the odds ratio of
    Fisher's noncentral hypergeometric distribution, from its two tails, each turned into the mean of x/k there
    (Cornfield 1956; what ``fisher.test`` of R inverts). They stay inside [-n/c, 1] and never cover less than asked.
    ``isolated`` are x and k - x, ``sizes`` n and c; G is NaN where nobody is isolated.

    Example:
        >>> found = memorized((18, 2), (80, 20))
        >>> round(found.value, 3), round(found.lower, 3), round(found.upper, 3)
        (0.5, -0.447, 0.937)
    """
    x, k = isolated[0], sum(isolated)
    n, total = sizes[0], sum(sizes)
    if not k or not all(sizes):
        return Estimate(float("nan"), float("nan"), float("nan"), "exact", NOBODY)
    least, most = max(0, k - sizes[1]), min(k, n)
    counts, tail = np.arange(least, most + 1), (1 - confidence) / 2
    chances = scipy.stats.hypergeom.logpmf(counts, total, n, k)

    def tilted(slope: float) -> np.ndarray:
        logs = chances + slope * (counts - x)
        return np.asarray(np.exp(logs - scipy.special.logsumexp(logs)))

    def mean_where(beyond: np.ndarray) -> float:
        """Return the mean share where the counts beyond have a chance of half of 1 - confidence."""
        slope = scipy.optimize.brentq(lambda s: tilted(s)[beyond].sum() - tail, -_STEEPEST, _STEEPEST)
        return float(tilted(slope) @ counts) / k

    low = mean_where(counts >= x) if x > least else least / k
    high = mean_where(counts <= x) if x < most else most / k
    own, shares = n / total, (x / k, low, high)
    if least == most:  # all are isolated, whatever the release knows
        shares = x / k, 0.0, 1.0
    value, lower, upper = (gain(share, own) for share in shares)
    return Estimate(value, lower, upper, "exact")


def per_claim(
    over: Estimate, isolated: float, claims: float, sizes: tuple[float, float], confidence: float
) -> Estimate:
    """Return how many more members than by chance each claim isolates: G k/claims, in people.

    Of 100 claims so many more isolate a member because members were used. k distinct records were isolated by so many
    ``claims``; ``over`` is G with its interval, which holds given k and is scaled likewise. Where nobody was isolated,
    the value is 0, and the limits are what so many claims would hardly have missed: a share u of claims that isolate a
    member with (1 - u)^claims = (1 - confidence)/2, and of control records, -u n/c. In [-1, 1]; NaN without claims.

    Example:
        >>> found = per_claim(memorized((18, 2), (80, 20)), 20, 100, (80, 20), 0.95)
        >>> round(found.value, 3), round(found.lower, 3), round(found.upper, 3)
        (0.1, -0.089, 0.187)
    """
    if not claims:
        return Estimate(float("nan"), float("nan"), float("nan"), over.method, NO_CLAIM)
    if not isolated and all(sizes):
        most = 1 - ((1 - confidence) / 2) ** (1 / claims)
        return Estimate(0.0, max(-most * sizes[0] / sizes[1], -1.0), most, "exact")
    scale = isolated / claims
    value, lower, upper = (min(max(end * scale, -1.0), 1.0) for end in (over.value, over.lower, over.upper))
    return replace(over, value=value, lower=lower, upper=upper)


def memorized_in_study(
    flags: np.ndarray,
    member: np.ndarray,
    control: np.ndarray,
    entities: np.ndarray | None = None,
    confidence: float = 0.95,
) -> tuple[Estimate, np.ndarray]:
    """Return the same over the releases of a study, and what each record contributes to it.

    G = 1 - B/E: B control records were isolated over all releases; E = sum over releases of k c/(n + c) would be if
    nobody were remembered. One release: as ``memorized``. Several: records (or entities) are the units, since one
    record is isolated in many releases. The contributions e_ri = G - N (R/E) (b_ri - (B/E) eps_ri) have the mean G and
    the crossed variance of ``estimates``; b_ri is how often record i was isolated as a control record in repetition r,
    eps_ri the sum of c/(n + c) over the releases that isolated it. That variance gives the effective number of
    independent isolations, at most k (Korn and Graubard 1998, Survey Methodology 24, 193-201); where it is 0, the
    number of distinct records. The limits are Clopper and Pearson's at that number, inside [1 - k/E, 1].

    Args:
        flags: (R, K, N) 1 where a claim isolated the record, 0 where none did, NaN where it is in neither group. Of an
            entity one record is flagged.
        member: (R, K, N) members.
        control: (R, K, N) control records.
        entities: (N,) entity of each record, where one has several.
        confidence: Confidence level.

    Returns:
        The estimate and the contributions, (R, N); no columns where nobody is isolated.
    """
    hit = np.nan_to_num(flags) * (member | control)
    sizes = np.stack([_counted(group, entities) for group in (member, control)])
    # a release without control records cannot tell: no share of its isolations is of theirs
    expected = np.divide(sizes[1], sizes.sum(axis=0), out=np.zeros(sizes[1].shape), where=sizes.min(axis=0) > 0)
    hit = hit * (expected > 0)[:, :, None]
    by_chance, as_control = (hit * expected[:, :, None]).sum(axis=1), (hit * control).sum(axis=1)
    e, b, k = float(by_chance.sum()), float(as_control.sum()), float(hit.sum())
    if not k:
        return Estimate(float("nan"), float("nan"), float("nan"), "exact", NOBODY), np.empty((len(flags), 0))
    value, records = 1 - b / e, flags.shape[2]
    contributions = value - records * len(flags) / e * (as_control - b / e * by_chance)
    if flags.shape[:2] == (1, 1):
        of_groups = int(sizes[0, 0, 0]), int(sizes[1, 0, 0])
        return memorized((int(k - b), int(b)), of_groups, confidence), contributions
    distinct = float(_counted(hit.any(axis=(0, 1)), entities))
    low, high = _share_limits(b / k, k, distinct, contributions * e / k, entities, confidence)
    note = ONE_REPETITION if len(flags) == 1 else ""
    return Estimate(value, 1 - high * k / e, 1 - low * k / e, "korn_graubard", note), contributions


def _counted(chosen: np.ndarray, entities: np.ndarray | None) -> np.ndarray:  # (..., N) to (...)
    if entities is None:
        return np.asarray(chosen.sum(axis=-1))
    order = np.argsort(entities, kind="stable")
    starts = np.unique(entities[order], return_index=True)[1]
    return np.asarray(np.logical_or.reduceat(chosen[..., order], starts, axis=-1).sum(axis=-1))


def _share_limits(
    share: float, k: float, distinct: float, spread: np.ndarray, entities: np.ndarray | None, confidence: float
) -> tuple[float, float]:
    """Return Clopper and Pearson's limits of a share at the number of isolations that are independent."""
    parts, tail = variances(spread, entities), (1 - confidence) / 2
    number = distinct
    if parts is not None and parts.spread > 0 and 0 < share < 1:
        quantiles = scipy.stats.norm.ppf(tail) / t_quantile(tail, parts.freedom)
        number = min(share * (1 - share) / parts.spread**2 * quantiles**2, k)
    found = clopper_pearson(share, number, confidence)
    return found.lower, found.upper


def isolation_details(isolated: tuple[int, int], sizes: tuple[int, int], claims: int) -> dict[str, float]:
    """Return what the isolated records of one release come to, as named details.

    Returns:
        ``isolated`` and ``isolated_members`` (distinct records, or entities); ``isolated_share`` x/k; ``control`` =
        n/(n + c), its value if the release remembers nobody; ``control_gain`` G with ``control_gain_lower`` and
        ``control_gain_upper``; ``control_difference`` = x/k - n/(n + c) with ``control_lower`` and ``control_upper``;
        ``memorization`` of ``per_claim`` with ``memorization_lower`` and ``memorization_upper``.
    """
    found, k = memorized(isolated, sizes), sum(isolated)
    own, each = sizes[0] / sum(sizes), per_claim(found, k, claims, sizes, 0.95)
    return {
        "isolated": float(k),
        "isolated_members": float(isolated[0]),
        "isolated_share": isolated[0] / k if k else float("nan"),
        BY_CHANCE: own,
        "control_gain": found.value,
        "control_gain_lower": found.lower,
        "control_gain_upper": found.upper,
        "control_difference": found.value * (1 - own),
        "control_lower": found.lower * (1 - own),
        "control_upper": found.upper * (1 - own),
        **dict(zip(_MEMORIZATION, (each.value, each.lower, each.upper), strict=True)),
    }
