"""Who is at risk: the risk of the records of each level of a column, and of each joint subgroup.

Templ, Thees and Mueller, "RAPID: Risk of Attribute Prediction-Induced Disclosure in Synthetic Microdata", sections
5.5 and 6.3: the same table serves classes of the sensitive attribute, levels of a quasi-identifier and subgroups.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api import types
from scipy import stats

from synthrisk.metrics.encode import Codes, pack
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.kinds import as_floats, is_temporal, kind
from synthrisk.metrics.tables import Tables

MISSING = "missing"
NANOSECONDS_A_DAY = 86_400e9


class Scored(NamedTuple):
    """The records that have a score."""

    scores: np.ndarray  # (n,) float64 in [0, 1]
    records: pd.DataFrame  # (n, p)
    columns: list[str]  # in order of their names
    kept: np.ndarray  # which records of the table these are


class Levels(NamedTuple):
    """A column as places in a list of named levels."""

    codes: np.ndarray  # (n,) int64
    names: list[str]  # in level order, the missing level last; each occurs in the column


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
    _check_count("bins", bins, 2)
    parts = []
    for name in known.columns:
        levels = column_levels(known.records[name], bins)
        means = _means(known.scores, levels.codes, len(levels.names), confidence)
        means.insert(0, "level", levels.names)
        means.insert(0, "column", [name] * len(means))
        parts.append(means)
    return pd.concat(parts, ignore_index=True)


def risk_in(
    scores: Any,
    table: pd.DataFrame,
    columns: Sequence[str] | str,
    bins: int = 5,
    confidence: float = 0.95,
    minimum: int = 10,
) -> pd.DataFrame:
    """Return the mean score in each joint subgroup of several columns, worst first.

    Args:
        scores: As in ``risk_by``.
        table: As in ``risk_by``.
        columns: Columns whose levels are crossed.
        bins: As in ``risk_by``.
        confidence: Confidence level of the intervals.
        minimum: Smallest number of scored records of a subgroup that is shown.

    Returns:
        ``records``, ``risk``, ``lower``, ``upper``, indexed by the levels of the columns (in order of their names):
        one row a combination that occurs ``minimum`` times or more; highest risk first, then most records.

    Raises:
        InputError: An argument breaks its rule, or no record is scored.

    Example:
        >>> people = pd.DataFrame({"sex": list("ffmm") * 5, "old": [True, False] * 10})
        >>> found = risk_in([1, 0, 0, 0] * 5, people, ["sex", "old"], minimum=5)
        >>> found.index[0], int(found["records"].iloc[0]), float(found["risk"].iloc[0])
        (('True', 'f'), 5, 1.0)
    """
    known = scored(scores, table, columns, "columns", confidence)
    _check_count("bins", bins, 2)
    _check_count("minimum", minimum, 1)
    levels = [column_levels(known.records[name], bins) for name in known.columns]
    packed = pack([Codes((each.codes,), len(each.names)) for each in levels]).tables[0]
    _, first, codes = np.unique(packed, return_index=True, return_inverse=True)
    places = np.column_stack([each.codes[first] for each in levels])
    means = _means(known.scores, codes, len(first), confidence)
    order = np.lexsort((*places.T[::-1], -means["records"], -means["risk"]))
    order = order[(means["records"] >= minimum).to_numpy()[order]]
    texts = [[each.names[code] for code in places[order, i]] for i, each in enumerate(levels)]
    means = means.iloc[order]
    means.index = pd.MultiIndex.from_arrays(texts, names=known.columns)
    return means


def scored(scores: Any, table: pd.DataFrame, columns: Sequence[str] | str, argument: str, confidence: float) -> Scored:
    """Return the scores that are there and the records they belong to, all arguments checked."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise InputError(f"confidence must be a number in (0, 1), got {confidence!r}")
    if not isinstance(table, pd.DataFrame):
        raise InputError(f"table must be a pandas DataFrame, got {type(table).__name__}")
    if not table.columns.is_unique or not len(table.columns):
        raise InputError(f"table must have columns with distinct names, got {len(table.columns)} columns")
    x = _floats(scores)
    if len(x) != len(table):
        raise InputError(f"scores must hold one number a record, got {len(x)} for {len(table)} records")
    kept = ~np.isnan(x)
    if not kept.any():
        raise InputError(f"scores must hold at least one scored record, got none of {len(x)}")
    if x[kept].min() < 0 or x[kept].max() > 1:
        raise InputError(f"scores must lie in [0, 1], got {x[kept].min():g} to {x[kept].max():g}")
    names = Tables(table, table).check_columns(argument, columns)
    return Scored(x[kept], table.loc[:, names][kept], sorted(names, key=str), kept)


def column_levels(column: pd.Series, bins: int | None) -> Levels:
    """Return a column as levels: quantile bins of a numeric one (unless ``bins`` is None), values of any other."""
    return _binned(column, bins) if bins is not None and kind(column) == "numeric" else _named(column)


def finite_floats(column: pd.Series) -> np.ndarray:
    """Return a numeric column as floats, NaN where missing.

    Raises:
        InputError: The column holds an infinity.
    """
    values = as_floats(column)
    if np.isinf(values).any():
        raise InputError(f"column {column.name!r} must hold finite numbers, got an infinity")
    return values


def value_texts(column: pd.Series, values: np.ndarray) -> list[str]:
    """Return short texts for numbers (or dates, as floats) of a column: distinct wherever the numbers are.

    Example:
        >>> value_texts(pd.Series([1.5, 2.25]), np.array([1.0, 2.25, 2.2504]))
        ['1', '2.25', '2.2504']
    """
    wanted = len(np.unique(values))
    texts = pd.Series(values).map(str)
    for texts in _date_texts(column, values) if is_temporal(column) else _number_texts(values):
        if texts.nunique() == wanted:
            break
    return [str(each) for each in texts]


def _number_texts(values: np.ndarray) -> Iterator[pd.Series]:
    for digits in (4, 6, 9, 12, 17):
        yield pd.Series([_number(v, digits) for v in values], dtype=object)


def _number(value: float, digits: int) -> str:
    if value != 0 and not 1e-5 <= abs(value) < 1e15:
        return f"{value:.{digits}g}"
    if value == np.round(value):
        return str(int(value))
    return np.format_float_positional(value, precision=digits, unique=False, fractional=False, trim="-")


def _date_texts(column: pd.Series, values: np.ndarray) -> Iterator[pd.Series]:
    if types.is_timedelta64_dtype(column.dtype):
        for numbers in _number_texts(values / NANOSECONDS_A_DAY):
            yield numbers + " days"
        return
    times = pd.Series(pd.to_datetime(np.round(values).astype(np.int64), utc=True)).dt.round("us")
    zone = getattr(column.dtype, "tz", None)
    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"):
        yield (times if zone is None else times.dt.tz_convert(zone)).dt.strftime(form)


def _floats(scores: Any) -> np.ndarray:
    try:
        return as_floats(pd.Series(scores, name="scores"))
    except (TypeError, ValueError):
        raise InputError("scores must be numbers, one a record, got values of another kind") from None


def _check_count(argument: str, value: object, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise InputError(f"{argument} must be a whole number of at least {low}, got {value!r}")


def _means(x: np.ndarray, codes: np.ndarray, size: int, confidence: float) -> pd.DataFrame:
    """Return records, risk and its limits for each code; each occurs."""
    order = np.lexsort((x, codes))  # sums in one order, whatever that of the rows
    n = np.bincount(codes, minlength=size)
    starts = np.cumsum(n) - n
    mean = np.add.reduceat(x[order], starts) / n
    squares = np.add.reduceat((x[order] - mean[codes[order]]) ** 2, starts)
    lower, upper = _wilson(mean, n, confidence)
    spread = (n > 1) & (squares > 0) & ~np.isin(x, (0, 1)).all()
    t = stats.t.ppf(0.5 + confidence / 2, np.maximum(n - 1, 1))
    half = t * np.sqrt(squares / np.maximum(n - 1, 1) / n)
    lower = np.where(spread, np.maximum(mean - half, 0), lower)
    upper = np.where(spread, np.minimum(mean + half, 1), upper)
    return pd.DataFrame({"records": n, "risk": mean, "lower": lower, "upper": upper})


def _wilson(share: np.ndarray, n: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
    z2 = stats.norm.ppf(0.5 + confidence / 2) ** 2
    middle = share + z2 / (2 * n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2)))
    lower, upper = (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)
    return np.where(share <= 0, 0.0, np.maximum(lower, 0)), np.where(share >= 1, 1.0, np.minimum(upper, 1))


def _binned(column: pd.Series, bins: int) -> Levels:
    values = finite_floats(column)
    missing = np.isnan(values)
    seen = np.unique(values[~missing])
    if len(seen) <= bins:
        codes, names = np.searchsorted(seen, values), value_texts(column, seen)
    else:
        edges = np.quantile(values[~missing], np.arange(1, bins) / bins, method="inverted_cdf")
        edges = np.unique(np.minimum(edges, seen[-2]))  # so that the last bin, (last edge, largest], is not empty
        codes, names = np.searchsorted(edges, values), _bin_names(column, seen, edges)
    if not missing.any():
        return Levels(codes.astype(np.int64), names)
    return Levels(np.where(missing, len(names), codes).astype(np.int64), [*names, MISSING])


def _bin_names(column: pd.Series, seen: np.ndarray, edges: np.ndarray) -> list[str]:
    texts = value_texts(column, edges)
    inner = [f"({low}, {high}]" for low, high in pairwise(texts)]
    names = [f"≤ {texts[0]}", *inner, f"> {texts[-1]}"]
    parts = np.split(seen, np.searchsorted(seen, edges, side="right"))
    return [value_texts(column, part)[0] if len(part) == 1 else name for part, name in zip(parts, names, strict=True)]


def _named(column: pd.Series) -> Levels:
    codes, values = _values(column)
    order = [int(code) for code in np.unique(codes[codes >= 0])]
    if not (isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered):
        order.sort(key=lambda code: _sort_key(values[code]))
    rank = np.full(len(values) + 1, len(order), dtype=np.int64)  # the last place, which -1 picks, is the missing level
    rank[order] = np.arange(len(order))
    booleans = types.infer_dtype(values, skipna=True) == "boolean" and _is_boolean(column)
    return Levels(rank[codes], _names([values[code] for code in order], booleans, bool((codes < 0).any())))


def _values(column: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return codes (-1 = missing) and the values behind them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy().astype(np.int64), np.asarray(column.cat.categories.astype(object))
    try:
        codes, values = pd.factorize(column.astype(object))
    except TypeError:
        raise InputError(f"column {column.name!r} must hold single values, got lists or other containers") from None
    return codes, np.asarray(values)


def _is_boolean(column: pd.Series) -> bool:
    return types.infer_dtype(column.astype(object), skipna=True) == "boolean"  # 1 and True are one level, named 1


def _names(values: list[Any], booleans: bool, has_missing: bool) -> list[str]:
    """Return one text a value; where two would be the same (1 and '1'), text is quoted."""
    last = [MISSING] if has_missing else []
    names = [str(v) if booleans else _text(v) for v in values]
    if len({*names, *last}) < len(names) + len(last):
        names = [_text(v) if _is_number(v) else repr(v) for v in values]
    return names + last


def _text(value: Any) -> str:
    """Return a value as text; equal numbers have equal texts, whatever their type."""
    fraction = isinstance(value, float | Decimal) and not (np.isfinite(float(value)) and value == int(value))
    return str(int(value)) if _is_number(value) and not fraction else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real | Decimal | np.bool_)


def _sort_key(value: object) -> tuple[bool, str, object]:
    if _is_number(value):
        return (False, "", value)
    return (True, "" if isinstance(value, str) else type(value).__name__, str(value))
