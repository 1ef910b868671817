"""Groups of records by one or two columns: their risk, beside guess, control and what their presence adds.

The guess is whom somebody is right about who gives the same answer about everybody, and has seen no release.

Who is at risk: the risk of the records of each level of a column, and of each joint subgroup.

Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic Microdata", 5.5 and 6.3.

And which columns tell most of the differences, each looked at alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, check_whole
from synthrisk.metrics.exposure.risk_terms import scored
from synthrisk.metrics.intervals.distributions import t_quantile
from synthrisk.metrics.intervals.proportions import wilson
from synthrisk.metrics.rapid.prediction_error import near_best_constant
from synthrisk.metrics.tables.codes import column_levels
from synthrisk.metrics.tables.kinds import kind
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.tolerance import numeric_target


def risk_by(
    scores: Any, table: pd.DataFrame, columns: Sequence[str] | str, bins: int = 5, confidence: float = 0.95
) -> pd.DataFrame:
    """Return the mean score of the records of each level of each column, with its interval.

    Scores that are all 0 or 1: Wilson's interval. Shares: mean +- t s/sqrt(n), cut to [0, 1]; where a level has no
    spread (one record, or equal scores), Wilson's with the mean as the share: no scores with that mean vary more.

    Args:
        scores: (n,) score of each record in [0, 1]: 0/1, or a share of releases; NaN = not scored, left out.
        table: (n, p) the records, in the order of the scores; index labels are not read.
        columns: Columns to look at: quasi-identifiers, or a sensitive attribute for the risk of each class.
        bins: Parts of a numeric column or a date with more distinct values, cut at quantiles of the scored records.
        confidence: Confidence level of the intervals.

    Returns:
        ``column``, ``level``, ``records`` (scored), ``risk``, ``lower``, ``upper``: columns in order of their names,
        levels in level order (numbers by value, then text; an ordered category as it declares), "missing" last.

    Raises:
        InputError: An argument breaks its rule, or no record is scored.

    Example:
        >>> people = pd.DataFrame({"sex": ["f", "m", "f", "m", None]})
        >>> risk_by([1, 0, 1, 1, 0], people, ["sex"]).round(2)[["level", "records", "risk", "lower", "upper"]]
             level  records  risk  lower  upper
        0        f        2   1.0   0.34   1.00
        1        m        2   0.5   0.09   0.91
        2  missing        1   0.0   0.00   0.79
    """
    known = scored(scores, table, columns, "columns", confidence)
    check_whole("bins", bins, 2)
    parts = []
    for name in known.columns:
        levels = column_levels(known.records[name], bins)
        means = means_of(known.scores)(levels.codes, len(levels.names), confidence)
        names = {"column": name, "level": levels.names}
        parts.append(pd.DataFrame(names | dict(zip(MEANS, means, strict=True))))
    return pd.concat(parts, ignore_index=True)


MEANS = ("records", "risk", "lower", "upper")
Means = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def means_of(x: np.ndarray) -> Callable[[np.ndarray, int, float], Means]:
    """Return the function from the group of each value, the number of groups and a confidence to ``MEANS`` of each.

    Where many tables are made of the same values, they are put in order once; zeros and ones never.
    """
    if ((x == 0) | (x == 1)).all():
        return partial(_shares, x)
    ascending = np.argsort(x, kind="stable")
    return partial(_means, x[ascending], ascending)


def _shares(x: np.ndarray, codes: np.ndarray, size: int, confidence: float) -> Means:
    n = np.bincount(codes, minlength=size)
    mean = np.bincount(codes, x, size) / n
    return n, mean, *wilson(mean, n, confidence)


def _means(x: np.ndarray, ascending: np.ndarray, codes: np.ndarray, size: int, confidence: float) -> Means:
    narrow = codes.astype(np.min_scalar_type(max(size - 1, 0)))[ascending]  # short numbers are sorted by digits
    own = x[np.argsort(narrow, kind="stable")]  # group by group, sums in one order, whatever that of the rows
    n = np.bincount(codes, minlength=size)
    starts = np.cumsum(n) - n
    mean = np.add.reduceat(own, starts) / n
    own -= np.repeat(mean, n)
    own *= own
    squares = np.add.reduceat(own, starts)
    lower, upper = wilson(mean, n, confidence)
    spread = (n > 1) & (squares > 0)
    t = t_quantile(0.5 + confidence / 2, np.maximum(n - 1, 1))
    half = t * np.sqrt(squares / np.maximum(n - 1, 1) / n)
    lower = np.where(spread, np.maximum(mean - half, 0), lower)
    upper = np.where(spread, np.minimum(mean + half, 1), upper)
    return n, mean, lower, upper


def strongest_columns(scores: np.ndarray, banded: pd.DataFrame, most: int) -> list[str]:
    """Return the ``most`` columns whose bands differ most in risk, in the order of the table.

    A column's strength is the variance of the scores between its bands, divided by what chance alone would give (the F
    statistic), so that many bands are no advantage. Columns of one band are never taken.

    Args:
        scores: (n,) floats, NaN where not scored.
        banded: (n, p) categories without missing cells.
        most: Most columns to return.

    Example:
        >>> table = pd.DataFrame({"a": list("xxyy"), "b": list("xyxy"), "c": list("xxxx")}, dtype="category")
        >>> strongest_columns(np.array([1.0, 0.9, 0.0, 0.1]), table, 1)
        ['a']
    """
    known = ~np.isnan(scores)
    y = scores[known]
    strengths: dict[str, float] = {}
    for column in banded:
        _, codes = np.unique(banded[column].cat.codes.to_numpy()[known], return_inverse=True)
        counts = np.bincount(codes)
        if len(counts) < 2:
            continue
        means = np.bincount(codes, y) / counts
        between = float(counts @ (means - y.mean()) ** 2) / (len(counts) - 1)
        within = float(((y - means[codes]) ** 2).sum()) / max(len(y) - len(counts), 1)
        strengths[str(column)] = between / within if within > 0 else (np.inf if between > 0 else 0.0)
    chosen = sorted(strengths, key=lambda c: -strengths[c])[:most]
    return [str(c) for c in banded if str(c) in chosen]


COLUMNS = 24
"""Most columns of which all pairs are looked at."""
_NUMBERS = ["risk", "lower", "upper", "guess", "control", "adds", "adds_lower", "adds_upper"]


@dataclass(frozen=True, eq=False)
class Reached:
    """What an attack reached on each record: (n,) floats, NaN where not known."""

    as_member: np.ndarray  # mean score over the releases that were made with the record
    as_control: np.ndarray  # the same over those made without it
    guess: np.ndarray  # whether somebody without a release is right about it: ``constant_guess``

    @property
    def adds(self) -> np.ndarray:
        """What its presence adds to its own risk: as member minus as control."""
        return self.as_member - self.as_control

    @cached_property
    def scored(self) -> "_Scored":
        """The records that the attack scored as members, put in order for all tables."""
        return _Scored(self)


class Groups(NamedTuple):
    """A table of groups, and how many there are.

    ``rows`` holds ``group`` (its columns with their bands, a tuple of pairs), ``records`` (scored), ``risk``,
    ``lower``, ``upper``, ``guess``, ``control``, ``adds``, ``adds_lower``, ``adds_upper``; NaN where not known.
    """

    rows: pd.DataFrame
    looked_at: int


def groups(
    reached: Reached,
    banded: pd.DataFrame,
    crossed: int = 1,
    *,
    confidence: float = 0.95,
    fewest: int = 10,
    simultaneous: bool = True,
    entities: np.ndarray | None = None,
) -> Groups:
    """Return the groups of ``fewest`` or more records that each column makes, or each pair of columns.

    Intervals are those of ``groups.risk_by``, given these records. Where ``simultaneous`` they are widened for all
    groups and both quantities (Bonferroni), so that the highest of many may be picked. Guess and control are means over
    the same records, those that have one. Of more than ``COLUMNS`` columns the pairs are those of the ones with the
    highest lower limits.

    Args:
        reached: What the attack reached, n records.
        banded: (n, p) ordered categories without missing cells, as ``bands`` makes them.
        crossed: 1 or 2 columns at a time.
        confidence: Confidence level.
        fewest: Fewest records of a group; where there are ``entities``, fewest of these.
        simultaneous: Whether intervals are widened.
        entities: (n,) number of the entity of each record.

    Example:
        >>> table = pd.DataFrame({"sex": list("fm") * 10}, dtype="category")
        >>> reached = Reached(np.tile([1.0, 0.0], 10), np.tile([0.5, 0.0], 10), np.ones(20))
        >>> found = groups(reached, table)
        >>> found.rows[["group", "records", "risk", "guess", "control", "adds"]].to_dict("records")[0]
        {'group': (('sex', 'f'),), 'records': 10, 'risk': 1.0, 'guess': 1.0, 'control': 0.5, 'adds': 0.5}
    """
    parts = reached.scored
    own = banded.iloc[parts.rows]
    people = None if entities is None else entities[parts.rows]
    columns = [str(c) for c in banded.columns]
    if crossed == 2:
        columns = _strongest(reached, banded, confidence, fewest, entities)
    sets = [_Partition.of(own, names, fewest, people) for names in combinations(columns, crossed)]
    looked_at = sum(len(each.places) for each in sets)
    share = (1 - confidence) / max(2 * looked_at, 1) if simultaneous else 1 - confidence
    tables = [each.table(parts, 1 - share) for each in sets if len(each.places)]
    empty = pd.DataFrame(columns=["group", "records", *_NUMBERS])
    return Groups(pd.concat(tables, ignore_index=True) if tables else empty, looked_at)


def all_records(reached: Reached, confidence: float = 0.95) -> pd.Series:
    """Return the row of all scored records together, as in the table of groups."""
    everybody = pd.DataFrame({"": pd.Categorical(np.zeros(len(reached.as_member), dtype=int))})
    return groups(reached, everybody, confidence=confidence, fewest=1, simultaneous=False).rows.iloc[0]


def _strongest(
    reached: Reached, banded: pd.DataFrame, confidence: float, fewest: int, entities: np.ndarray | None
) -> list[str]:
    """Return the columns that have a group at risk, or one whose presence adds, by the lower limits: half of each."""
    columns = [str(c) for c in banded.columns]
    if len(columns) <= COLUMNS:
        return columns
    rows = groups(reached, banded, confidence=confidence, fewest=fewest, entities=entities).rows
    column = rows["group"].map(lambda group: group[0][0])
    chosen: list[str] = []
    for quantity in ("adds_lower", "lower"):
        best = rows[quantity].groupby(column).max().dropna().sort_values(ascending=False, kind="stable").index
        chosen += [str(c) for c in best if c not in chosen][: COLUMNS // 2]
    return [c for c in columns if c in chosen]


class _Scored:
    """The scored records from the lowest risk up: their values and the order of these, by quantity."""

    def __init__(self, reached: Reached):
        rows = np.argsort(reached.as_member)  # those that are missing come last
        self.rows = rows[: np.count_nonzero(~np.isnan(reached.as_member))]
        adds = (reached.adds + 1) / 2  # a mean of scores in [0, 1], and back
        quantities = {"risk": reached.as_member, "adds": adds, "guess": reached.guess, "control": reached.as_control}
        self.ordered = {name: _Ordered(values[self.rows]) for name, values in quantities.items()}


class _Ordered:
    """Values of records, put in order once; those that are missing left out."""

    def __init__(self, values: np.ndarray):
        self._there = np.flatnonzero(~np.isnan(values))
        self._means = means_of(values[self._there])

    def means(self, codes: np.ndarray, size: int, confidence: float) -> dict[str, np.ndarray]:
        """Return ``MEANS`` of the values that are there, (size,) each; NaN where there are none."""
        if len(self._there) == len(codes):  # so that no group is without values
            return dict(zip(MEANS, self._means(codes, size, confidence), strict=True))
        own = codes[self._there]
        kept = np.flatnonzero(np.bincount(own, minlength=size))
        found = {name: np.full(size, np.nan) for name in MEANS} | {"records": np.zeros(size)}
        if len(kept):
            rank = np.zeros(size, dtype=np.int64)
            rank[kept] = np.arange(len(kept))
            made = self._means(rank[own], len(kept), confidence)
            for name, each in zip(MEANS, made, strict=True):
                found[name][kept] = each
        return found


class _Partition(NamedTuple):
    """The groups that some columns make of the records."""

    names: Sequence[tuple[tuple[str, str], ...]]  # of each group
    places: np.ndarray  # the groups with enough records
    codes: np.ndarray  # (n,) group of each record

    @classmethod
    def of(cls, banded: pd.DataFrame, columns: Sequence[str], fewest: int, entities: np.ndarray | None) -> "_Partition":
        packed, sizes = np.zeros(len(banded), dtype=np.int64), []
        for column in columns:
            sizes.append(len(banded[column].cat.categories))
            packed *= sizes[-1]
            packed += banded[column].cat.codes.to_numpy()
        values, codes, counts = _distinct(packed, int(np.prod(sizes)))
        if entities is not None:
            _, units = np.unique(entities, return_inverse=True)
            pairs = np.unique(codes * (int(units.max(initial=0)) + 1) + units)
            counts = np.bincount(pairs // (int(units.max(initial=0)) + 1), minlength=len(values))
        levels = np.unravel_index(values, sizes)
        texts = [banded[c].cat.categories[place] for c, place in zip(columns, levels, strict=True)]
        names = [tuple(zip(columns, map(str, each), strict=True)) for each in zip(*texts, strict=True)]
        return cls(names, np.flatnonzero(counts >= fewest), codes)

    def table(self, scored: _Scored, confidence: float) -> pd.DataFrame:
        at, size = self.places, len(self.names)
        of = {quantity: own.means(self.codes, size, confidence) for quantity, own in scored.ordered.items()}
        risk, adds = of["risk"], of["adds"]
        found = {"records": risk["records"].astype(int), **{c: risk[c] for c in MEANS[1:]}}
        found |= {"guess": of["guess"]["risk"], "control": of["control"]["risk"]}
        found |= {name: 2 * adds[c] - 1 for name, c in zip(_NUMBERS[-3:], MEANS[1:], strict=True)}
        return pd.DataFrame({"group": [self.names[i] for i in at], **{c: v[at] for c, v in found.items()}})


def _distinct(packed: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct numbers below ``most``, where each record has its own among them, and their counts."""
    if most > 4 * len(packed) + 1024:
        return np.unique(packed, return_inverse=True, return_counts=True)
    counts = np.bincount(packed, minlength=most)
    values = np.flatnonzero(counts)
    rank = np.zeros(most, dtype=np.int64)
    rank[values] = np.arange(len(values))
    return values, rank[packed], counts[values]


_EXACT = "cap"  # the group of the metrics that ask whether a number is equal
_NEAR = "rapid"  # that of those which ask whether it is near


def constant_guess(records: pd.DataFrame, sensitive: str, group: str, options: Mapping[str, Any]) -> np.ndarray:
    """Return whom the best constant answer is right about, (n,) of 0 and 1.

    The answer is the commonest value of the real table; of equally common ones the first in level order. Of a number
    that a metric of RAPID guesses it is the number that is near to most records, by the metric's own tolerance. NaN
    where the record has no value, and for all records where other metrics guess numbers.

    Args:
        records: (n, p) the real table.
        sensitive: The column guessed.
        group: The group of the metric (``Metric.group``).
        options: Options of the metric: ``tolerance``, ``error``, ``delta``.

    Example:
        >>> constant_guess(pd.DataFrame({"vote": ["a", "b", "a", None]}), "vote", "cap", {}).tolist()
        [1.0, 0.0, 1.0, nan]
    """
    column = records[sensitive]
    there = column.notna().to_numpy()
    right = np.full(len(column), np.nan)
    if not there.any():
        return right
    if kind(column) == "categorical" or group == _EXACT:
        codes = column_levels(column[there], None).codes
        right[there] = codes == np.bincount(codes).argmax()
    elif group == _NEAR:
        try:
            rule = options.get("tolerance"), options.get("error", "symmetric")
            target = numeric_target(Tables(records[[sensitive]], records[[sensitive]]), sensitive, *rule)
        except InputError:  # a tolerance that this column does not have: the measure says so itself
            return right
        right[there] = near_best_constant(target.truth[there], target.limit, target.error, options.get("delta", 0.01))
    return right
