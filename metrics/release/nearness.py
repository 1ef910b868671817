"""A screen for near copies: do members lie nearer to the release than people whom it never saw?"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.intervals.proportions import expected_share, share_difference, share_gain
from synthrisk.metrics.neighbours.closer import compared
from synthrisk.metrics.neighbours.nearest import real_to_real, real_to_synthetic
from synthrisk.metrics.neighbours.ties import TIED, tie_counts
from synthrisk.metrics.release.disguises import by_cells, by_order
from synthrisk.metrics.release.verbatim import Verbatim, verbatim
from synthrisk.metrics.tables.row_order import canonical
from synthrisk.metrics.tables.tables import Tables

_FEWEST = 20
_ANCHORS = 10  # control records below the lowest quantile
_LOWEST = 0.01
_PAIRED = 0.15
_MANY = 4  # rows a member: of strangers then so many are near that 0.15 above what is expected cannot be reached
_BESIDE_CONTROLS = 0.05
_BESIDE_TWINS = 0.25
CONFIDENCE = 0.998  # of each look: seven looks at a release of strangers stand out at most once in 100 times
_DISGUISES: tuple[tuple[str, Callable[[Tables, np.ndarray], np.ndarray]], ...] = (
    ("have as many cells in common with a released row as {} of the control records", by_cells),
    ("are as near to the release by ranks as {} of the control records", by_order),
)
_FEWEST_DISGUISED = 100  # members
_MOST_PAIRS = 2 * 10**10  # pairs of a record and a row that are looked at through a disguise
_MANY_RECORDS = 20_000  # so many records are looked at in any case
ALONE = "fewer than two members: none has another member to compare with"


@dataclass(frozen=True)
class Look:
    """One comparison of members with people whom the release never saw."""

    what: str  # what a record has to show, in words
    members: Estimate  # share of the members that show it
    expected: float  # share that would, if the release held other people
    above: Estimate  # what is compared with ``limit``, with its interval: the difference, or the gain (x - s)/(1 - s)
    limit: float  # what ``above`` has to exceed with its lower limit, for the look to be suspicious

    @property
    def suspicious(self) -> bool:
        """Whether members stand out."""
        return bool(self.above.lower > self.limit)

    @property
    def words(self) -> str:
        """What was seen, in a phrase."""
        return f"{self.members.value:.1%} of the members {self.what}, {self.expected:.1%} expected"


@dataclass(frozen=True)
class Nearness:
    """Whether members lie nearer to the release than chance explains."""

    nearer_members: Estimate  # share of the members that are nearer to the release than expected, with its interval
    expected: float  # what that share would be if the release held other people
    reason: str  # why there is no such share; empty where there is one
    suspicious: str  # what a near copy of the members was seen by, in words; empty where nothing stands out
    blind: str = ""  # why a near copy could not have been seen, in words; empty where it could


def nearness(tables: Tables, found: Verbatim | None = None) -> Nearness:
    """Look whether the release holds the members, or records that were made from single members.

    Distances are ``gower`` over all columns, d(record) = distance to the nearest released row. With at least 20 control
    records there are these looks, each with a margin, and each at a confidence of 99.8 %:

    - ``nearer_members``: the share of members with d below the f-quantile of the control records' d,
      f = min(max(0.01, 10/c), 0.5) of c control records; expected f; suspicious where the lower limit is above f + 0.1.
    - the same at the median; suspicious above 0.75: halfway between strangers (0.5) and a full copy (1).
    - from 100 members on, both again with equal cells only (``disguises.by_cells``), which finds a copy with shuffled
      columns or emptied cells, and by ranks within each table (``disguises.by_order``), which finds a copy with moved
      numbers or renamed levels. Of large tables members and control records are drawn for it, by a fixed seed and in an
      order that is not that of the rows: of each at most so many that there are 2e10 pairs with released rows, or
      20,000 records.
    - members that occur in the release as they are, beside control records that do; suspicious where the gain over
      these is above 0.05. It finds a copy of a table in which many people are alike.

    With fewer control records: the share of members that have a released row nearer than any other member, expected
    m/(m + n - 1) for m rows and n members, suspicious above that by 0.15 (CART lies at 0.12 on Adult); the first two
    looks with the members' distances to the nearest other member in place of the control records', if m <= n (more
    strangers lie nearer); and the members that occur in the release, beside the share that twins explain
    (``Verbatim.members_thinned``), suspicious where the gain is above 0.25.

    Ties count by expectation. A quantile is itself uncertain, so that the intervals (Newcombe, MOVER) are those of a
    difference or a gain of two shares.

    Args:
        tables: Real records with ``groups``, and the release.
        found: ``verbatim(tables)``, where it is there already.

    Returns:
        A ``Nearness``. It is a screen, not a risk: what passes it may still leak.

    Example:
        >>> import pandas as pd
        >>> people = pd.DataFrame({"x": np.random.default_rng(1).normal(size=200)})
        >>> groups = np.repeat([1, 0], 100)
        >>> round(nearness(Tables(people, people[:100] + 0.0001, groups=groups)).nearer_members.value, 2)
        1.0
    """
    found = verbatim(tables) if found is None else found
    groups = np.ones(len(tables.real), dtype=int) if tables.groups is None else tables.groups
    controls = int((groups == 0).sum())
    alone = tables.part(1)
    if controls >= _FEWEST or alone is None:
        looks, reason = _beside_controls(tables, groups), ""
    else:
        looks, reason = _beside_members(alone), "" if len(alone.real) > 1 else ALONE
    nothing = Estimate(float("nan"), float("nan"), float("nan"), note=reason)
    first = looks[0] if looks else Look("", nothing, float("nan"), nothing, 0.0)
    seen = [look.words for look in (*looks, *_equal(found, controls)) if look.suspicious]
    many = controls < _FEWEST and len(tables.synthetic) > _MANY * len(groups[groups == 1])
    blind = f"without {_FEWEST} control records, more than {_MANY} rows a member hide a near copy" if many else ""
    return Nearness(first.members, first.expected, reason, "; ".join(seen), blind)


def below_quantile(distances: np.ndarray, controls: np.ndarray, f: float) -> float:
    """Return how many distances are below the f-quantile of those of control records, ties by expectation.

    Of c control records, k = f c lie below the quantile t. Distances strictly below t are counted, and of those at t
    the share that brings the control records to exactly k: so a table compared with itself gives f.

    Example:
        >>> below_quantile(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0, 2.0]), 0.5)  # two thirds of the ties
        1.3333333333333333
    """
    k = f * len(controls)
    t = np.sort(controls)[max(int(np.ceil(k - 1e-9)), 1) - 1]
    low, high = t * (1 - TIED), t * (1 + TIED)
    below, tied = (controls < low).sum(), ((controls >= low) & (controls <= high)).sum()
    share = (k - below) / tied
    return float((distances < low).sum() + share * ((distances >= low) & (distances <= high)).sum())


def _beside_controls(tables: Tables, groups: np.ndarray) -> list[Look]:
    distance = real_to_synthetic(tables, "gower").distances[:, 0]
    what = "are as near to the release as {} of the control records"
    looks = _below_quantiles(distance[groups == 1], distance[groups == 0], what)
    if (groups == 1).sum() < _FEWEST_DISGUISED:
        return looks
    rows = _drawn(tables, groups)
    for what, seen in _DISGUISES:
        distance = seen(tables, rows)
        looks += _below_quantiles(distance[groups[rows] == 1], distance[groups[rows] == 0], what)
    return looks


def _drawn(tables: Tables, groups: np.ndarray) -> np.ndarray:
    """Return the positions of members and control records, of so many that all can be looked at."""
    most = max(_MANY_RECORDS, _MOST_PAIRS // len(tables.synthetic))
    sides = [np.flatnonzero(groups == group) for group in (1, 0)]
    if sum(map(len, sides)) > most:
        rng, rank = np.random.default_rng(0), canonical(tables).real
        ordered = [own[np.argsort(rank[own], kind="stable")] for own in sides]
        sides = [rng.choice(own, min(len(own), most // 2), replace=False) for own in ordered]
    return np.sort(np.concatenate(sides))


def _below_quantiles(members: np.ndarray, strangers: np.ndarray, what: str) -> list[Look]:
    f = min(max(_LOWEST, _ANCHORS / len(strangers)), 0.5)
    looks = []
    for share, limit, whom in ((f, 0.1, f"the nearest {f:.1%}"), (0.5, 0.25, "half")):
        own = expected_share(below_quantile(members, strangers, share), len(members), CONFIDENCE)
        above = share_difference(own, expected_share(share * len(strangers), len(strangers), CONFIDENCE))
        looks.append(Look(what.format(whom), own, share, above, limit))
    return looks


def _beside_members(tables: Tables) -> list[Look]:
    n, m = len(tables.real), len(tables.synthetic)
    if n < 2:
        return []
    released = real_to_synthetic(tables, "gower").distances[:, 0]
    other = real_to_real(tables, "gower").distances[:, 0]
    hits, tied = compared(released, other)
    scores, of_tied = hits.astype(float), np.flatnonzero(tied)
    if len(of_tied):
        ours, others = (
            tie_counts(tables, way, "gower", queries=of_tied) for way in ("real_to_synthetic", "real_to_real")
        )
        scores[of_tied] = ours / (ours + others)
    own, expected = expected_share(float(scores.sum()), n, CONFIDENCE), m / (m + n - 1)
    above = share_difference(own, Estimate(expected, expected, expected))
    paired = Look("are nearer to the release than to any other member", own, expected, above, _PAIRED)
    what = "are as near to the release as {} of the members to another member"
    return [paired, *(_below_quantiles(released, other, what) if _FEWEST <= n >= m else [])]


def _equal(found: Verbatim, controls: int) -> list[Look]:
    if controls >= _FEWEST:
        own = expected_share(found.members.count, found.members.of, CONFIDENCE)
        other, limit = expected_share(found.controls.count, controls, CONFIDENCE), _BESIDE_CONTROLS
    else:
        own = expected_share(found.members_thinned.count, found.members_thinned.of, CONFIDENCE)
        other = expected_share(found.members_thinned.expected, found.members_thinned.of, CONFIDENCE)
        limit = _BESIDE_TWINS
    return [Look("occur in the release as they are", own, other.value, share_gain(own, other), limit)]
