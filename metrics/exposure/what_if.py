"""Preview of a mitigation: the same release and attack, by an attacker who knows less.

A column as few named bands: rounded parts of numbers and dates, the commonest values of others and the rest.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import ABOVE_0, InputError, check_range, check_whole, nearest
from synthrisk.metrics.intervals.estimates import difference
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.tables.codes import MISSING, column_levels, finite_floats
from synthrisk.metrics.tables.kinds import NANOSECONDS_A_DAY, is_temporal, kind, value_texts
from synthrisk.metrics.tables.tables import Tables

_YEAR = r"(?:1[7-9]|20)\d\d"
_MONTH = r"(?:\d{1,2}|[^\W\d_]{3,12})"
_DATE = re.compile(rf"\d{{1,2}}\.?[-./ ]+{_MONTH}[-./, ]+({_YEAR})|({_YEAR})[-./ ]+{_MONTH}[-./ ]+\d{{1,2}}(?:\D.*)?")


def bands(column: pd.Series, parts: int = 5, most: int = 12, fewest: int = 10) -> pd.Series:
    """Return a column as an ordered category of few bands, of which no name tells the value of few records.

    A number or a date of more than ``most`` values is cut near its quantiles, at round numbers, years, months or days.
    Of any other column, and of few numbers, the commonest ``most`` values are kept that ``fewest`` records have or
    more; all others are one band, which says how many values it holds. Text of which every value is a date is taken
    by its year. Missing cells are a band of their own, the last.

    Args:
        column: (n,) values.
        parts: Parts of a number or a date, 2 or more.
        most: Most values that are bands of their own.
        fewest: Fewest records of a band that is named by a value.

    Raises:
        InputError: A number breaks its rule, or the column holds an infinity or a container.

    Example:
        >>> bands(pd.Series([3, 17, 21, 35, 41, 64] * 5), parts=3, most=3).cat.categories.tolist()
        ['under 20', '20 to under 40', '40 and more']
        >>> bands(pd.Series(["a"] * 12 + ["b", "c"]), fewest=10).cat.categories.tolist()
        ['a', 'all others (2 values)']
    """
    for name, number, least in (("parts", parts, 2), ("most", most, 1), ("fewest", fewest, 1)):
        check_whole(name, number, least)
    if kind(column) == "numeric" and column.nunique() > most:
        return _cut(column, parts, fewest)
    years = None if kind(column) == "numeric" else _years(column, most)
    if years is not None:
        return _cut(years, parts, fewest)
    return _commonest(column, most, fewest)


def rounded(column: pd.Series, most: int = 12) -> pd.Series:
    """Return a number of more than ``most`` values rounded, so that none of its values tells that of one record.

    The unit is the power of ten at or below a twentieth of the middle nine tenths; of a date it is the year where these
    are longer than 15 years, the month above one year, else the day. Other columns stay as they are.

    Example:
        >>> rounded(pd.Series([1234.5, 2345.6, 8765.4] * 5), most=2).unique().tolist()
        [1200.0, 2300.0, 8800.0]
    """
    if kind(column) != "numeric" or column.nunique() <= most:
        return column
    values = finite_floats(column)
    there = values[~np.isnan(values)]
    spread = float(np.subtract(*np.quantile(there, [0.95, 0.05]))) or float(np.ptp(there))
    if types.is_datetime64_any_dtype(column.dtype):
        years = spread / NANOSECONDS_A_DAY / 365
        unit = "Y" if years > 15 else "M" if years > 1 else "D"
        moments = column.dt.tz_localize(None).to_numpy().astype(f"datetime64[{unit}]")
        return pd.Series(moments.astype("datetime64[ns]"), index=column.index, name=column.name)
    scale = NANOSECONDS_A_DAY if is_temporal(column) else 1.0
    power = int(np.floor(np.log10(spread / scale / 20)))
    if power <= 0 and bool((there / scale == np.round(there / scale)).all()):
        return column
    found = np.round(np.round(values / scale / 10.0**power) * 10.0**power, max(0, -power)) + 0.0
    made = pd.Series(found, index=column.index, name=column.name)
    return pd.to_timedelta(made, unit="D") if is_temporal(column) else made


def names_none(banded: pd.Series) -> bool:
    """Tell whether a column fell into a single band, so that it tells no records apart."""
    return len([name for name in banded.cat.categories if name != MISSING]) < 2


def _years(column: pd.Series, most: int) -> pd.Series | None:
    """Return the year of each cell where all texts are dates, of which there are many."""
    values = pd.Series(column.unique()).dropna()
    if len(values) <= most or not all(isinstance(v, str) for v in values):
        return None
    found = {value: _DATE.fullmatch(value.strip()) for value in values}
    if not all(found.values()):
        return None
    year = {value: pd.Timestamp(int(match[1] or match[2]), 1, 1) for value, match in found.items() if match}
    texts = pd.Series(column.astype(object).to_numpy())
    return pd.Series(pd.to_datetime(texts.map(year)).to_numpy(), name=column.name)


def _commonest(column: pd.Series, most: int, fewest: int) -> pd.Series:
    levels = column_levels(column, None)
    counts = np.bincount(levels.codes, minlength=len(levels.names))
    missing = bool(column.isna().any())
    own = np.arange(len(counts) - missing)
    order = own[np.lexsort((own, -counts[own]))]
    kept = sorted(int(code) for code in order[:most] if counts[code] >= fewest)
    names = [levels.names[code] for code in kept]
    rest = len(own) - len(kept)
    if rest:
        words = f"all others ({rest:,} value{'s' * (rest > 1)})" if kept else f"all values ({rest:,})"
        while words in (*names, MISSING):
            words = f"({words})"
        names.append(words)
    place = np.full(len(counts), len(kept))
    place[kept] = np.arange(len(kept))
    if missing:
        place[-1] = len(names)
        names.append(levels.names[-1])
    return _named(place[levels.codes], names, column)


def _cut(column: pd.Series, parts: int, fewest: int) -> pd.Series:
    """Return parts of nearly equal counts, each of ``fewest`` records or more where there are as many."""
    values = finite_floats(column)
    there = np.sort(values[~np.isnan(values)])
    edges, texts = _edges(column, there, parts, fewest)
    if len(edges):
        below, last = ("before", "from {}") if types.is_datetime64_any_dtype(column.dtype) else ("under", "{} and more")
        inner = [f"{low} to {below} {high}" for low, high in pairwise(texts)]
        names = [f"{below} {texts[0]}", *inner, last.format(texts[-1])]
    else:
        names = ["all values"]
    codes = np.searchsorted(edges, values, side="right")
    if len(there) < len(values):
        codes, names = np.where(np.isnan(values), len(names), codes), [*names, MISSING]
    return _named(codes, names, column)


def _edges(column: pd.Series, there: np.ndarray, parts: int, fewest: int) -> tuple[np.ndarray, Sequence[str]]:
    """Return where parts begin, and the texts of these places: the roundest that leave the parts about as they are."""
    edges = _between(there, parts)
    while len(edges) and (counts := _counts(there, edges)).min() < fewest:
        least = int(counts.argmin())  # it joins the smaller of its neighbours
        left = least > 0 and (least == len(counts) - 1 or counts[least - 1] <= counts[least + 1])
        edges = np.delete(edges, least - 1 if left else least)
    if not len(edges):
        return edges, []
    wanted = np.maximum(_counts(there, edges) // 2, fewest)
    for rounded, texts in _rounded(column, edges, there):
        apart = len(np.unique(rounded)) == len(edges) == len(set(texts))
        if apart and (_counts(there, rounded) >= wanted).all():
            return rounded, texts
    return edges, value_texts(column, edges)


def _between(there: np.ndarray, parts: int) -> np.ndarray:
    """Return the places halfway between each quantile and the next larger value; below the quantile if none is."""
    seen = np.unique(there)
    if len(seen) < 2:
        return np.empty(0)
    at = np.searchsorted(seen, np.quantile(there, np.arange(1, parts) / parts, method="inverted_cdf"))
    at = np.unique(np.minimum(at, len(seen) - 2))
    places = seen[at] + (seen[at + 1] - seen[at]) / 2
    return np.ceil(places) if (seen == np.round(seen)).all() else places


def _counts(there: np.ndarray, edges: np.ndarray) -> np.ndarray:
    places = np.searchsorted(there, edges)  # of a sorted column: an edge belongs to the part that it begins
    return np.diff(np.concatenate([[0], places, [len(there)]]))


def _rounded(column: pd.Series, edges: np.ndarray, there: np.ndarray) -> Iterator[tuple[np.ndarray, list[str]]]:
    """Yield the edges rounded to ever smaller units, with their texts."""
    if types.is_datetime64_any_dtype(column.dtype):
        yield from _round_dates(edges)
        return
    scale = NANOSECONDS_A_DAY if is_temporal(column) else 1.0  # durations are told in days
    whole = bool((there / scale == np.round(there / scale)).all())
    largest = int(np.floor(np.log10((there[-1] - there[0]) / scale)))
    for power in range(largest, largest - 9, -1):
        for unit in (5.0 * 10.0**power, 2.0 * 10.0**power, 10.0**power):
            if whole and unit < 1:
                return
            rounded = np.round(np.round(edges / scale / unit) * unit, max(0, -power)) + 0.0
            if not np.isfinite(rounded).all():
                continue
            yield rounded * scale, value_texts(column, rounded * scale)


def _round_dates(edges: np.ndarray) -> Iterator[tuple[np.ndarray, list[str]]]:
    moments = edges.astype(np.int64).astype("datetime64[ns]")
    steps: list[tuple[str, int]] = [("Y", 10), ("Y", 5), ("Y", 2), ("Y", 1), ("M", 3), ("M", 1), ("D", 1)]
    for unit, count in steps:
        places = moments.astype(f"datetime64[{unit}]").astype(np.int64)
        offset = 1970 if unit == "Y" else 0
        rounded = ((places + offset) // count * count - offset).astype(f"datetime64[{unit}]")
        floats = rounded.astype("datetime64[ns]").astype(np.int64).astype(float)
        yield floats, [str(each) for each in rounded]


def _named(codes: np.ndarray, names: Sequence[str], column: pd.Series) -> pd.Series:
    used = np.bincount(codes, minlength=len(names)) > 0
    kept = [name for name, has_records in zip(names, used, strict=True) if has_records]
    place = np.cumsum(used) - 1
    found = pd.Categorical.from_codes(place[codes], dtype=pd.CategoricalDtype(kept, ordered=True))
    return pd.Series(found, name=column.name)


CHANGES_NOTHING = "what_if must name columns under drop, bins, noise or merge, got none"


_TO = {"drop": "to leave out", "bins": "to coarsen", "noise": "for noise", "merge": "to merge levels of"}


@dataclass(frozen=True)
class Change:
    """A change of what an attacker knows of the quasi-identifiers, or noise on what is released (``coarsen.binned``).

    ``merge`` is of categorical columns: named groups of levels, or so many with the rare ones put together.
    """

    drop: Sequence[str] = ()  # columns that he does not know
    bins: Mapping[str, int] = field(default_factory=dict)  # columns that he knows in so many parts
    binning: str = "quantile"  # how numeric ones are cut
    noise: Mapping[str, float] = field(default_factory=dict)  # of the range of numeric ones; sensitive: on the release
    merge: Mapping[str, int | Mapping[str, Sequence[Any]]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name in labels and tables: ``without-age``, ``hours-in-4``; of levels only how many groups they make."""
        parts = {**self.bins, **{c: n for c, n in self.merge.items() if not isinstance(n, Mapping)}}
        words = [f"without-{c}" for c in self.drop] + [f"{c}-in-{n}" for c, n in parts.items()]
        words += [f"{c}-noise-{100 * share:g}-percent" for c, share in self.noise.items()]
        words += [f"{c}-merged-{len(n)}" for c, n in self.merge.items() if isinstance(n, Mapping)]
        return re.sub(r"[^A-Za-z0-9_\-]", "_", "-".join(words))

    def options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a metric as they are after the change.

        Raises:
            InputError: A column is no quasi-identifier, none is left, or nothing is changed.
        """
        known, hidden = list(options["quasi_identifiers"]), options.get("sensitive") or []
        noisy = [*known, *([hidden] if isinstance(hidden, str) else hidden)]
        roles = {"drop": self.drop, "bins": self.bins, "noise": self.noise, "merge": self.merge}
        named = [column for columns in roles.values() for column in columns]
        if not named:
            raise InputError(CHANGES_NOTHING)
        for role, columns in roles.items():
            for column in columns:
                allowed = noisy if role == "noise" else known
                if column not in allowed:
                    what = "quasi-identifiers" + (" or the sensitive column" if role == "noise" else "")
                    hint = nearest(str(column), allowed)
                    raise InputError(f"what_if: columns {_TO[role]} must be {what}, got {column!r}{hint}")
        twice = [column for column in named if named.count(column) > 1]
        if twice:
            raise InputError(f"what_if must change each quasi-identifier in one way, got {twice[0]!r} in several")
        for column, share in self.noise.items():
            check_range(f"noise of {column!r}", share, ABOVE_0, 1, "a number above 0 and at most 1")
        changes = {**self.bins, **self.merge, **{c: float(share) for c, share in self.noise.items()}}
        left = [c for c in known if c not in self.drop]
        if not left:
            raise InputError(f"what_if must leave a quasi-identifier, got all dropped: {list(self.drop)!r}")
        own = options.get("bins")
        if isinstance(own, int) and changes:
            raise InputError("what_if cannot name bins where bins is one number for all columns: name them there too")
        bins = {c: n for c, n in {**(own if isinstance(own, Mapping) else {}), **changes}.items() if c not in self.drop}
        changed = {**options, "quasi_identifiers": left}
        return {**changed, "bins": bins, "binning": self.binning} if bins else changed


def what_if(
    metric: Metric,
    real: pd.DataFrame,
    synthetic: pd.DataFrame,
    changes: Sequence[Change],
    confidence: float = 0.95,
    **options: Any,
) -> pd.DataFrame:
    """Score a release as it is and after each change of the quasi-identifiers, in both tables alike.

    The synthesizer is not fitted again: this is a preview of what fewer or coarser quasi-identifiers would do to the
    risk, and what noise on the sensitive column of the release would (section 6.3 of the RAPID paper).

    Args:
        metric: A metric with a score a real record that takes ``quasi_identifiers``.
        real: The records attacked.
        synthetic: The release.
        changes: What to try, each on its own.
        confidence: Confidence level.
        **options: The metric's arguments.

    Returns:
        One row as it is and one a change: change, value, difference to the first, and its interval over the
        records (paired: the same records, the same seed).

    Raises:
        InputError: A change breaks a rule, or the metric does not fit.

    Example:
        >>> from synthrisk.metrics import METRICS
        >>> real = pd.DataFrame({"age": [30, 31, 40, 41], "sex": list("fmfm"), "vote": list("abab")})
        >>> tried = what_if(METRICS["zero_cap"], real, real, [Change(drop=["age"]), Change(bins={"age": 2})],
        ...                 quasi_identifiers=["age"], sensitive="vote")
        Traceback (most recent call last):
        ...
        synthrisk.metrics.errors.InputError: what_if must leave a quasi-identifier, got all dropped: ['age']
        >>> what_if(METRICS["zero_cap"], real, real, [Change(bins={"age": 2})],
        ...         quasi_identifiers=["age"], sensitive="vote")["value"].tolist()
        [1.0, 0.5]
    """
    if metric.records.reduce is None or "quasi_identifiers" not in metric.needs:
        raise InputError(f"what_if needs a metric with quasi_identifiers and a score a real record, got {metric.name}")
    metric.check(options)
    if options.pop("control", None) is not None:
        raise InputError("what_if compares scores on real: call it on the control records for theirs, got control")
    tables = Tables.identified(real, synthetic, identifier=options.pop("identifier", None))
    tried = [("as it is", options), *((c.name, c.options(options)) for c in changes)]
    scores = [(name, metric.score(tables, **own)) for name, own in tried]
    first, rows = _cube(scores[0][1].records), []
    for name, score in scores:
        change = difference(first, _cube(score.records), confidence, entities=tables.entities)
        rows.append((name, score.value, change.value, change.lower, change.upper))
    return pd.DataFrame(rows, columns=["change", "value", "difference", "lower", "upper"])


def _cube(records: pd.DataFrame | None) -> np.ndarray:
    assert records is not None  # noqa: S101 - a metric with a reduction has records
    return records["score"].to_numpy(dtype=float)[None, None, :]
