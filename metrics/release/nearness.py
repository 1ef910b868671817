"""A screen for near copies, and for what was taken out: do members lie nearer to the release than strangers do?

How near real records are to a release where a disguise is taken off: by equal cells, and by order alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.intervals.proportions import expected_share, share_difference, share_gain
from synthrisk.metrics.neighbours.differing_cells import fewest_differing
from synthrisk.metrics.neighbours.distances import TIED, compared, tie_counts
from synthrisk.metrics.neighbours.nearest import nearest_distances
from synthrisk.metrics.release.matches import Verbatim, shared_columns, verbatim
from synthrisk.metrics.tables.order import canonical
from synthrisk.metrics.tables.tables import Tables

_PARTS = 20  # of a numeric column, as many records each


def by_cells(tables: Tables, rows: np.ndarray) -> np.ndarray:
    """Return the share of cells in which some real records differ from the released row most like each, (rows,).

    Numbers are cut into 20 parts of equal counts, so that cells are equal or not: a copy is found if one column was
    drawn anew or a third of its cells emptied. A missing cell equals a missing one.

    Args:
        tables: Real records, n, and the release.
        rows: Positions of the real records that are looked at.

    Example:
        >>> real, release = pd.DataFrame({"x": [1.0, 9.0], "y": ["a", "b"]}), pd.DataFrame({"x": [1.2], "y": ["a"]})
        >>> by_cells(Tables(real, release), np.arange(2)).tolist()
        [0.0, 1.0]
    """
    cells = [_codes(tables, column) for column in tables.columns]
    return fewest_differing([real[rows] for real, _ in cells], [released for _, released in cells]) / len(cells)


def by_order(tables: Tables, rows: np.ndarray) -> np.ndarray:
    """Return the ``gower`` distance of some real records to the nearest released row, by ranks alone, (rows,).

    Numbers are ranked by size within each table, levels by how many records have them: numbers that were moved or
    stretched keep their order, and levels that were renamed keep their counts.

    Args:
        tables: Real records, n, and the release.
        rows: Positions of the real records that are looked at.

    Example:
        >>> real, release = pd.DataFrame({"x": [1.0, 2.0], "y": "a"}), pd.DataFrame({"x": [7, 9], "y": "b"})
        >>> by_order(Tables(real, release), np.arange(2)).tolist()
        [0.0, 0.0]
    """
    sides: list[list[pd.Series]] = [[], []]
    for column in tables.columns:
        if tables.kind(column) == "numeric":
            for side, values in zip(sides, tables.floats(column), strict=True):
                side.append(pd.Series(values).rank(pct=True))
        else:
            for side, codes in zip(sides, tables.codes([column]).tables, strict=True):
                counts = np.bincount(codes)
                order = np.unique(-counts[counts > 0])  # of equally frequent levels none comes first
                side.append(pd.Series(np.searchsorted(order, -counts[codes]).astype(str), dtype=object))
    real, released = (pd.concat(side, axis=1).set_axis(tables.columns, axis=1) for side in sides)
    return nearest_distances(Tables(real.iloc[rows], released), "real_to_synthetic", "gower")[:, 0]


def by_deviations(tables: Tables, rows: np.ndarray) -> np.ndarray:
    """Return the ``euclid`` distance of some real records to the nearest released row, (rows,).

    Numbers are in standard deviations, levels are standardised: what most filters by distance measure, so that the
    rows that one has left out are missing here rather than in ``gower``.

    Args:
        tables: Real records, n, and the release.
        rows: Positions of the real records that are looked at.

    Example:
        >>> real, release = pd.DataFrame({"x": [1.0, 2.0, 3.0]}), pd.DataFrame({"x": [1.0, 3.0]})
        >>> by_deviations(Tables(real, release), np.arange(3)).round(3).tolist()
        [0.0, 1.225, 0.0]
    """
    part = Tables(tables.real.iloc[rows], tables.synthetic)
    return nearest_distances(part, "real_to_synthetic", "euclid")[:, 0]


def by_numbers(tables: Tables, rows: np.ndarray) -> np.ndarray | None:
    """Return ``by_deviations`` over the numeric columns alone, (rows,); None where all columns are numeric, or none is.

    Example:
        >>> real, release = pd.DataFrame({"x": [1.0, 3.0], "y": ["a", "b"]}), pd.DataFrame({"x": [1.0], "y": ["c"]})
        >>> by_numbers(Tables(real, release), np.arange(2)).tolist()
        [0.0, 2.0]
    """
    numeric = [c for c in tables.columns if tables.kind(c) == "numeric"]
    if not 0 < len(numeric) < len(tables.columns):
        return None
    return by_deviations(Tables(tables.real[numeric], tables.synthetic[numeric]), rows)


def _codes(tables: Tables, column: str) -> tuple[np.ndarray, np.ndarray]:  # of each table; missing is the last
    if tables.kind(column) != "numeric":
        real, released = tables.codes([column]).tables
        return real, released
    floats = tables.floats(column)
    known = floats[0][~np.isnan(floats[0])]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, _PARTS + 1)[1:-1])) if len(known) else np.empty(0)
    real, released = (np.where(np.isnan(each), len(edges) + 1, edges.searchsorted(each, "right")) for each in floats)
    return real, released


_FEWEST = 20
_ANCHORS = 10  # control records below the lowest quantile
_LOWEST = 0.01
_NEAREST, _NEAREST_ANCHORS = 0.1, 20  # the higher quantile, and control records below it
_LEAST = 0.005  # one person in 200: a smaller difference is shown and is not suspicious
_PAIRED = 0.15
_MANY = 4  # rows a member: of strangers then so many are near that 0.15 above what is expected cannot be reached
_BESIDE_TWINS = 0.25
_LOOKS = 20  # three at each of six distances, and two at equal rows
CONFIDENCE = 1 - 0.01 / _LOOKS  # of each: looks at a release of strangers stand out at most once in 100 times
_DISGUISES: tuple[tuple[str, Callable[[Tables, np.ndarray], np.ndarray | None]], ...] = (
    ("have as many cells in common with a released row as {} of the control records", by_cells),
    ("are as near to the release by ranks as {} of the control records", by_order),
    ("are as near to the release in standard deviations as {} of the control records", by_deviations),
    ("are as near to the release in standard deviations of the numbers alone as {} of the control records", by_numbers),
)
_AS_THEY_ARE = "occur in the release as they are"
_BUT_FOR_OWN = f"{_AS_THEY_ARE}, but for columns in which most have a value of their own"
_FAR_NEARER, _HALF = 4, 0.5  # times, and share of the control records
_FEWEST_DISGUISED = 100  # members
_MOST_PAIRS = 2 * 10**10  # pairs of a record and a row that are looked at through a disguise
_MANY_RECORDS = 20_000  # so many records are looked at in any case
ALONE = "fewer than two members: none has another member to compare with"
NO_STRANGERS = f"fewer than {_FEWEST} control records to compare with"
MISSING = "members are told by what is missing"
"""What is said where members stand out because they, and what is like them, are met less often than other people."""


@dataclass(frozen=True)
class Look:
    """One comparison of members with people whom the release never saw."""

    what: str  # what a record has to show, in words
    members: Estimate  # share of the members that show it
    expected: float  # share that would, if the release held other people
    # what is compared with ``limit``, with its interval: members in excess, as a share of all of them. Above 0 the gain
    # (x - s)/(1 - s): 1 for a copy; below 0 the difference x - s
    above: Estimate
    limit: float = 0.0  # what ``above`` has to exceed with its lower limit, for the look to be suspicious
    both: bool = False  # whether members that show it less often are as suspicious as those that show it more often

    @property
    def more(self) -> bool:
        """Whether members show it more often than chance explains."""
        return bool(self.above.lower > self.limit and self.above.value >= _LEAST)

    @property
    def less(self) -> bool:
        """Whether members show it less often than chance explains, where that counts."""
        return bool(self.both and self.above.upper < 0 and self.above.value <= -_LEAST)

    @property
    def suspicious(self) -> bool:
        """Whether members stand out."""
        return self.more or self.less

    @property
    def words(self) -> str:
        """What was seen, in a phrase."""
        seen = f"{self.members.value:.1%} of the members {self.what}, {self.expected:.1%} expected"
        return f"{MISSING}: {seen}" if self.less else seen

    @property
    def place(self) -> tuple[bool, bool, float]:
        """Its place among what was seen: whole records come first, which need no explanation, then the largest."""
        return self.what != _AS_THEY_ARE, self.what != _BUT_FOR_OWN, -abs(self.above.value)

    @property
    def strength(self) -> float:
        """|above| in units of its distance to the end of its interval that is nearer to 0: above 1, it is no chance."""
        own = self.above
        half = own.value - own.lower if own.value > 0 else own.upper - own.value
        return abs(own.value) / half if half > 0 else 0.0


@dataclass(frozen=True)
class Nearness:
    """Whether members lie nearer to the release than chance explains, or less near."""

    nearer_members: Estimate  # share of the members that are nearer to the release than expected, with its interval
    expected: float  # what that share would be if the release held other people
    reason: str  # why there is no such share; empty where there is one
    suspicious: str  # what a near copy of the members was seen by, in words; empty where nothing stands out
    # members in excess, as a share of all of them, by the look that shows most, with an interval that holds for all
    # looks together; below 0: members that are missing from where strangers are. NaN without enough control records
    excess: Estimate
    blind: str = ""  # why a near copy could not have been seen, in words; empty where it could

    @property
    def excess_words(self) -> str:
        """What the excess amounts to, in a phrase; empty where there is none or chance explains it."""
        return excess_in_words(self.excess)


def first_signs(seen: str, most: int) -> str:
    """Return the first signs of a near copy of the members, and how many more there are.

    Example:
        >>> first_signs("6 of 6 releases: a; b; c; d", 2), first_signs("a; b; c", 2)
        ('6 of 6 releases: a; b; 2 more signs are in the report', 'a; b; c')
    """
    signs = seen.split("; ")
    more = len(signs) - most
    return seen if more < 2 else "; ".join([*signs[:most], f"{more} more signs are in the report"])


def excess_in_words(excess: Estimate) -> str:
    """Return what an excess of members amounts to; empty where its interval holds 0, or there is none.

    Example:
        >>> excess_in_words(Estimate(0.012, 0.004, 0.02)), excess_in_words(Estimate(0.012, -0.004, 0.03))
        ('as if 12 of 1,000 people had been copied', '')
        >>> excess_in_words(Estimate(-0.094, -0.1, -0.08))
        'members are told by what is missing: as if rows near to 94 of 1,000 people had been taken out'
    """
    if not (excess.lower > 0 or excess.upper < 0):
        return ""
    people = f"{1000 * abs(excess.value):,.0f} of 1,000 people"
    if excess.value > 0:
        return f"as if {people} had been copied"
    return f"{MISSING}: as if rows near to {people} had been taken out"


def nearness(tables: Tables, found: Verbatim | None = None) -> Nearness:
    """Look whether the release holds members, or records made from single members, or keeps away from members.

    Distances are ``gower`` over all columns, d(record) = distance to the nearest released row, e(record) = distance to
    the nearest other real record, member or not. Members and control records are compared, which are strangers alike if
    the release holds other people: so any difference beyond chance is suspicious, from one person in 200 on. **Fewer**
    members than expected are as suspicious as more: rows that lie near to members were taken out, so that members are
    told by what is missing. With at least 20 control records there are these looks, each at such a confidence
    (``CONFIDENCE``) that one of strangers stands out in 1 release of 100:

    - ``nearer_members``: the share of members with d below the f-quantile of the control records' d,
      f = min(max(0.01, 10/c), 0.5) of c control records; expected f.
    - the same of d/e, at f = min(10/c, 0.5): a person who is far from all others, and near to a released row.
    - both at f = min(max(0.1, 20/c), 0.5), and both below the nearest member: how many control records are nearer to
      the release than every member is. A filter by distance leaves no row within its radius of any member, whatever
      the radius was: of strangers k control records come first with the chance c!(n + c - k)!/((c - k)!(n + c)!).
    - from 100 members on, all of d again with equal cells only (``nearness.by_cells``), which finds a copy with
      shuffled columns or emptied cells, by ranks within each table (``nearness.by_order``), which finds a copy with
      moved numbers or renamed levels, and in standard deviations of all columns (``nearness.by_deviations``) and of
      the numbers alone (``nearness.by_numbers``), which finds what a filter by such distances has left out. Of large
      tables members and control records are drawn for it, by a fixed seed and in an order that is not that of the
      rows: of each at most so many that there are 2e10 pairs with released rows, or 20,000 records.
    - members that occur in the release as they are, beside control records that do; more or fewer of them.
    - the same but for columns of which most values are one record's own (a weight, an amount to the cent), where there
      are such: in them nobody equals anybody, so that a release without anyone's equal would look like any other.

    Of these ``excess`` is the one that shows most: if some are beyond chance the one whose interval is furthest from 0,
    otherwise the one that comes nearest to it.

    With fewer control records nothing but members can be compared with, so that margins are needed: the share of
    members that have a released row nearer than any other member, expected m/(m + n - 1) for m rows and n members,
    suspicious above that by 0.15 (CART lies at 0.12 on Adult); the share with d below the f-quantile of the members'
    distances to the nearest other member, if m <= n (more strangers lie nearer), suspicious above f by 0.1 at the
    lowest quantile and by 0.25 at the median; and the members that occur in the release, beside the share that twins
    explain (``Verbatim.members_thinned``), suspicious where the gain is above 0.25. Nothing is said of what is missing.

    Ties count by expectation. A quantile is itself uncertain, so that the intervals (Newcombe, MOVER) are those of a
    difference or a gain of two shares. Where people have several records, evidence is counted in people: shares have
    the intervals of (sum s)^2/(sum s^2) records, s the number of records of each person (Kish 1965).

    Args:
        tables: Real records with ``groups``, and the release; ``entities`` say whose each record is.
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
    nothing = Estimate(np.nan, np.nan, np.nan, note=NO_STRANGERS)
    if controls >= _FEWEST or alone is None:
        sizes = _people(tables.entities, groups == 1), _people(tables.entities, groups == 0)
        looks = [*_beside_controls(tables, groups, sizes), _equal(found, sizes, _AS_THEY_ARE)]
        shared = shared_columns(tables)
        if 0 < len(shared) < len(tables.columns):
            looks.append(_equal(verbatim(tables, shared), sizes, _BUT_FOR_OWN))
        reason, excess = "", _shows_most(looks).above
    else:
        looks, reason, excess = _beside_members(alone), "" if len(alone.real) > 1 else ALONE, nothing
    none = replace(nothing, note=reason)
    first = looks[0] if looks else Look("", none, float("nan"), none)
    every = (*looks, *([] if controls >= _FEWEST else [_thinned(found)]))
    seen = [look.words for look in sorted(every, key=lambda each: each.place) if look.suspicious]
    many = controls < _FEWEST and len(tables.synthetic) > _MANY * len(groups[groups == 1])
    blind = f"without {_FEWEST} control records, more than {_MANY} rows a member hide a near copy" if many else ""
    return Nearness(first.members, first.expected, reason, "; ".join(dict.fromkeys(seen)), excess, blind)


def _shows_most(looks: Sequence[Look]) -> Look:
    """Return the look that is furthest beyond chance; where all may be chance, the one that comes nearest to it."""
    beyond = [look for look in looks if look.suspicious]
    if beyond:
        return max(beyond, key=lambda look: max(look.above.lower, -look.above.upper))
    return max(looks, key=lambda look: look.strength)


def _people(entities: np.ndarray | None, own: np.ndarray) -> float:
    """Return for how many independent records some records count."""
    if entities is None:
        return float(own.sum())
    counts = np.unique(entities[own], return_counts=True)[1].astype(float)
    return float(counts.sum() ** 2 / (counts**2).sum()) if len(counts) else 0.0


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


def _beside_controls(tables: Tables, groups: np.ndarray, sizes: tuple[float, float]) -> list[Look]:
    distance = nearest_distances(tables, "real_to_synthetic", "gower")[:, 0]
    low = min(max(_LOWEST, _ANCHORS / sizes[1]), 0.5)
    lowest = min(_ANCHORS / sizes[1], 0.5)
    near = "are as near to the release as {} of the control records"
    alone = "are as near to the release, for how far they are from all other people, as {} of the control records"
    looks = _at_quantiles(distance, groups, sizes, near, low)
    looks += _at_quantiles(_for_its_distance(tables, distance), groups, sizes, alone, lowest)
    if (groups == 1).sum() < _FEWEST_DISGUISED:
        return looks
    rows = _drawn(tables, groups)
    shares = [float((groups[rows] == group).sum() / (groups == group).sum()) for group in (1, 0)]
    drawn = sizes[0] * shares[0], sizes[1] * shares[1]
    for what, seen in _DISGUISES:
        if (distances := seen(tables, rows)) is not None:
            looks += _at_quantiles(distances, groups[rows], drawn, what, low)
    return looks


def made_of_control(tables: Tables) -> str:
    """Return that a release was made from the control records too, in words; empty where it was not.

    So it is where more than half of them, with a lower limit as of one of ``nearness``'s looks, have a released row
    four times nearer (``gower``) than any other real record: then they are no strangers to it, and no measure tells
    members from them. Such a one is a copy of all records, with noise or not; strangers have so near a row by chance in
    few columns only, and rows that are means of people lie at half the distance of these.

    Example:
        >>> real, groups = pd.DataFrame({"x": np.arange(400.0) ** 2, "y": np.arange(400.0)}), np.repeat([1, 0], 200)
        >>> made_of_control(Tables(real, real + 0.01, groups=groups))[:40]
        '200 of 200 control records have a releas'
        >>> made_of_control(Tables(real, real[:200] + 0.01, groups=groups))
        ''
    """
    groups = tables.groups
    if groups is None or (controls := int((groups == 0).sum())) < _FEWEST:
        return ""
    released, other = (nearest_distances(tables, way, "gower")[:, 0] for way in ("real_to_synthetic", "real_to_real"))
    near = int((_FAR_NEARER * released < other)[groups == 0].sum())
    if expected_share(near, controls, CONFIDENCE).lower <= _HALF:
        return ""
    own = f"{near:,} of {controls:,} control records have a released row four times nearer than any other person"
    return f"{own}: the release was made from them too, and nobody is left to compare with"


def _for_its_distance(tables: Tables, distance: np.ndarray) -> np.ndarray:
    """Return d/e of each real record, as ``nearness`` says; 1 where the record has a twin among both."""
    if len(tables.real) < 2:
        return np.ones(1)
    other = nearest_distances(tables, "real_to_real", "gower")[:, 0]
    return np.where(other > 0, distance / np.where(other > 0, other, 1.0), np.where(distance > 0, np.inf, 1.0))


def _at_quantiles(
    distance: np.ndarray, groups: np.ndarray, sizes: tuple[float, float], what: str, low: float
) -> list[Look]:
    """Return the looks at the lowest quantile, at the higher one, and below the nearest member."""
    high = min(max(_NEAREST, _NEAREST_ANCHORS / sizes[1]), 0.5)
    members, strangers = distance[groups == 1], distance[groups == 0]
    looks = []
    for f in dict.fromkeys((low, high)):
        share = float(below_quantile(members, strangers, f)) / len(members)
        own, other = (expected_share(x * size, size, CONFIDENCE) for x, size in zip((share, f), sizes, strict=True))
        whom = "half" if f == 0.5 else f"the nearest {f:.2%}" if f < _LOWEST else f"the nearest {f:.1%}"
        above = _no_chance(_excess(own, other), share, f, sizes)
        looks.append(Look(what.format(whom), own, f, above, both=True))
    return [*looks, _below_members(members, strangers, sizes, what)]


def _below_members(members: np.ndarray, strangers: np.ndarray, sizes: tuple[float, float], what: str) -> Look:
    """Return the look at the control records that are nearer to the release than every member."""
    share = float((strangers < members.min() * (1 - TIED)).mean())
    n, c = round(sizes[0]), round(sizes[1])
    k = min(int(share * sizes[1]), c)
    own, other = (expected_share(x, size, CONFIDENCE) for x, size in ((0.0, sizes[0]), (share * sizes[1], sizes[1])))
    # the first k of n + c in random order are all control records (hypergeometric)
    above = _unless(share_difference(own, other), lambda: scipy.stats.hypergeom.sf(k - 1, n + c, c, k))
    return Look(what.format(f"the nearest {share:.1%}"), own, share, above, both=True)


def _no_chance(above: Estimate, share: float, f: float, sizes: tuple[float, float]) -> Estimate:
    """Return an excess below 0 with an interval that holds 0 unless so few members are as rare by exact count too.

    Newcombe's interval is too narrow on this side where few control records lie below the quantile. Of n members and c
    control records in random order at most x members come before the k-th control record with the chance that k or
    more of the first x + k are control records (negative hypergeometric).
    """
    n, c = round(sizes[0]), round(sizes[1])
    k, x = max(int(f * c), 1), int(np.ceil(share * n))
    return _unless(above, lambda: scipy.stats.hypergeom.sf(k - 1, n + c, c, min(x + k, n + c)))


def _unless(above: Estimate, chance: Callable[[], float]) -> Estimate:
    """Return an excess with an interval that holds 0 where it is below 0, and chance makes so few members too often."""
    return replace(above, upper=0.0) if above.upper < 0 and chance() > (1 - CONFIDENCE) / 2 else above


def _excess(own: Estimate, other: Estimate) -> Estimate:
    """Return members in excess as a share of all: of those who need not show it, if positive."""
    return share_gain(own, other) if own.value > other.value else share_difference(own, other)


def _drawn(tables: Tables, groups: np.ndarray) -> np.ndarray:
    """Return the positions of members and control records, of so many that all can be looked at."""
    most = max(_MANY_RECORDS, _MOST_PAIRS // len(tables.synthetic))
    sides = [np.flatnonzero(groups == group) for group in (1, 0)]
    if sum(map(len, sides)) > most:
        rng, rank = np.random.default_rng(0), canonical(tables).real
        ordered = [own[np.argsort(rank[own], kind="stable")] for own in sides]
        sides = [rng.choice(own, min(len(own), most // 2), replace=False) for own in ordered]
    return np.sort(np.concatenate(sides))


def _beside_others(members: np.ndarray, others: np.ndarray) -> list[Look]:
    """Return the looks at distances to the release beside those to other members."""
    what, n = "are as near to the release as {} of the members to another member", len(members)
    f = min(max(_LOWEST, _ANCHORS / n), 0.5)
    looks = []
    for share, limit, whom in ((f, 0.1, f"the nearest {f:.1%}"), (0.5, 0.25, "half")):
        own = expected_share(below_quantile(members, others, share), n, CONFIDENCE)
        above = share_difference(own, expected_share(share * n, n, CONFIDENCE))
        looks.append(Look(what.format(whom), own, share, above, limit))
    return looks


def _beside_members(tables: Tables) -> list[Look]:
    n, m = len(tables.real), len(tables.synthetic)
    if n < 2:
        return []
    released = nearest_distances(tables, "real_to_synthetic", "gower")[:, 0]
    other = nearest_distances(tables, "real_to_real", "gower")[:, 0]
    hits, tied = compared(released, other)
    scores, of_tied = hits.astype(float), np.flatnonzero(tied)
    if len(of_tied):
        ours = tie_counts(tables, "real_to_synthetic", "gower", queries=of_tied)
        others = tie_counts(tables, "real_to_real", "gower", queries=of_tied)
        scores[of_tied] = ours / (ours + others)
    own, expected = expected_share(float(scores.sum()), n, CONFIDENCE), m / (m + n - 1)
    above = share_difference(own, Estimate(expected, expected, expected))
    paired = Look("are nearer to the release than to any other member", own, expected, above, _PAIRED)
    return [paired, *(_beside_others(released, other) if _FEWEST <= n >= m else [])]


def _equal(found: Verbatim, sizes: tuple[float, float], what: str) -> Look:
    own, other = (
        expected_share(each.share * size, size, CONFIDENCE)
        for each, size in zip((found.members, found.controls), sizes, strict=True)
    )
    met = found.members.share * sizes[0], found.controls.share * sizes[1]
    n, c, x, k = (round(each) for each in (*sizes, *met))
    # of the x + k people met so few are members by chance (hypergeometric)
    above = _unless(_excess(own, other), lambda: scipy.stats.hypergeom.cdf(x, n + c, n, x + k))
    return Look(what, own, other.value, above, both=True)


def _thinned(found: Verbatim) -> Look:
    thinned = found.members_thinned
    own, other = (expected_share(c, thinned.of, CONFIDENCE) for c in (thinned.count, thinned.expected))
    return Look(_AS_THEY_ARE, own, other.value, share_gain(own, other), _BESIDE_TWINS)
