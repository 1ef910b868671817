"""Synthesizers whose privacy loss is bounded by construction, behind the extra ``private`` (OpenDP, MIT).

The mechanism is OpenDP's; here stands what it is told: which values are public, and how cells become their numbers.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf, isfinite, nextafter
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from synthrisk.metrics.errors import ABOVE_0, BELOW_1, InputError, check_range, check_whole, nearest
from synthrisk.metrics.release.columns import Problem
from synthrisk.metrics.tables.kinds import as_floats, is_temporal, kind
from synthrisk.tasks.synthesize.conform import with_missing
from synthrisk.tasks.synthesize.sdv import UNITS, cells_of, libraries
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer, side_by_side

EPSILON, DELTA = 1.0, 1e-6
_BINS = 20
_MOST_BINS = 1000
_SHOWN = 5  # names in a line
_MEASURE = 0.9  # share of the budget after the single columns that measures pairs; the rest chooses them
_Said = Mapping[str, Sequence[Any]] | None  # what the option ``public`` holds
_LARGEST = 100.0  # an epsilon above it promises nothing


@dataclass(frozen=True, eq=False)
class _Public:
    """What is public of one column: the edges of its bins, or its levels; neither where levels are found privately.

    Attributes:
        edges: Of a numeric column, b + 1 increasing edges of its b bins.
        levels: Of a categorical column, its levels as texts.
        missing: Whether missing cells are released.
    """

    edges: np.ndarray | None = None
    levels: tuple[str, ...] | None = None
    missing: bool = True

    @property
    def keys(self) -> list[int] | None:
        """The numbers that stand for the public bins or levels; None where levels are found privately."""
        if self.edges is not None:
            return list(range(len(self.edges) - 1))
        return None if self.levels is None else list(range(len(self.levels)))


def mst(
    job: Job,
    *,
    epsilon: float = EPSILON,
    delta: float = DELTA,
    public: Mapping[str, Sequence[Any]] | None = None,
    assume_public: bool = False,
    bins: int = _BINS,
    contributions: int = 1,
) -> Release:
    """Release rows of a model of noisy counts: (epsilon, delta)-differentially private (OpenDP's MST).

    Noise is added to the counts of each column and of as many pairs of columns as make a tree of them (McKenna, Miklau
    and Sheldon 2021, arXiv:2108.04978); rows are drawn from the Markov random field that fits these counts. The promise
    is for tables that differ in the records of one person, added or removed. Epsilon and delta become one budget of
    zero-concentrated differential privacy, by OpenDP's own conversion.

    Outside the promise, so taken as public: the names and types of the columns (with the levels of a categorical type,
    which Parquet files keep), the number of rows, and what ``public`` says. The noise comes from the operating system,
    as it must (whoever knows a seed could subtract it): the same seed gives another release each time it is made, and a
    study keeps the one that it made. Only the drawing of rows from the model follows the seed.

    Args:
        job: What to learn from, how many rows, and the seed.
        epsilon: The bound on the privacy loss, above 0 to 100.
        delta: The probability with which the bound may fail, above 0 and below 1; well below 1/rows.
        public: What anybody may know of each column before the release. Of numbers, dates and durations the lowest and
            the highest value, or the edges of all bins; values outside count as the ends. Of the other columns all
            levels; other values count as missing. None among them (``null``) says that cells may be missing; without it
            none are released. Numeric columns must be named, truth values need not, of others the levels are found with
            a part of the budget, and rare ones are released as missing.
        assume_public: Whether ranges and levels that ``public`` does not name are read from the training table and
            taken as public. That weakens the promise, and a note on the release says so.
        bins: Bins of equal width between a lowest and a highest value.
        contributions: Records that one person may have.

    Raises:
        InputError: The extra is not installed, an option is wrong, a numeric column has no public range, or fewer than
            two columns or no record are there.
    """
    _check(epsilon, delta, public, assume_public, bins, contributions)
    _fits(job.train, public=public, assume_public=assume_public, bins=bins)
    known = _known(job.train, public or {}, assume_public, bins)
    plain = {f"c{k}": _plain(job.train.iloc[:, k], each) for k, each in enumerate(known)}
    keys = {f"c{k}": each.keys for k, each in enumerate(known) if each.keys is not None}
    drawn = _drawn(plain, keys, job, (epsilon, delta), contributions)
    rng = np.random.default_rng(job.seed)
    cells = [_back(drawn[f"c{k}"], job.train.iloc[:, k], each, rng) for k, each in enumerate(known)]
    table = side_by_side(cells, job.train.columns, job.rows)
    return Release(table, told=_told(epsilon, delta, [str(c) for c in job.train.columns], public or {}, assume_public))


def _check(
    epsilon: float = EPSILON,
    delta: float = DELTA,
    public: _Said = None,
    assume_public: bool = False,
    bins: int = _BINS,
    contributions: int = 1,
) -> None:
    check_range("epsilon", epsilon, ABOVE_0, _LARGEST, f"a number above 0 and at most {_LARGEST:g}")
    check_range("delta", delta, ABOVE_0, BELOW_1, "a number above 0 and below 1")
    if not isinstance(assume_public, bool):
        raise InputError(f"assume_public must be true or false, got {assume_public!r}")
    check_whole("bins", bins, 1, _MOST_BINS, f"a whole number from 1 to {_MOST_BINS}")
    check_whole("contributions", contributions, 1)
    if public is not None and not isinstance(public, Mapping):
        raise InputError(f"public must name columns with their values, got {type(public).__name__}")
    for name, values in (public or {}).items():
        nested = isinstance(values, list | tuple) and any(isinstance(each, list | tuple | dict) for each in values)
        if not isinstance(values, list | tuple) or not values or nested:
            raise InputError(f"public of column {name!r} must be a list of values, got {values!r}")


def _fits(
    train: pd.DataFrame, *, public: _Said = None, assume_public: bool = False, bins: int = _BINS, **_others: Any
) -> None:
    if not len(train) or train.shape[1] < 2:
        raise InputError(f"mst needs 2 columns and 1 record, got {train.shape[1]} and {len(train)}")
    _known(train, public or {}, assume_public, bins)


def _known(train: pd.DataFrame, public: Mapping[str, Sequence[Any]], assume_public: bool, bins: int) -> list[_Public]:
    """Return what is public of each column, in their order."""
    names = [str(c) for c in train.columns]
    if unknown := [c for c in public if c not in names]:
        raise InputError(f"public must name columns of the table, got {unknown[0]!r}{nearest(unknown[0], names)}")
    return [_of_column(train[c], public.get(str(c)), assume_public, bins) for c in train.columns]


def _of_column(column: pd.Series, said: Sequence[Any] | None, assume_public: bool, bins: int) -> _Public:
    values = None if said is None else [each for each in said if not pd.isna(each)]
    missing = values is not None and len(values) < len(said or ())
    if values is None and assume_public:
        present = column.dropna()
        missing = bool(len(present) < len(column))
        numbers = as_floats(present) if kind(column) == "numeric" and len(present) else np.zeros(1)
        ends = [float(numbers.min()), float(numbers.max())]
        values = ends if kind(column) == "numeric" else list(dict.fromkeys(present))
    elif values is not None and kind(column) == "numeric":
        values = _numbers(column, values)
    if kind(column) == "numeric":
        if values is None:
            raise InputError(
                f"mst needs a public range of the numeric column {column.name!r} (public: {{{column.name}: [low, "
                "high]}), or assume_public: true, which reads it from the training table and weakens the promise"
            )
        return _Public(edges=_edges(column, values, bins), missing=missing)
    if values is None and types.is_bool_dtype(column.dtype):
        values, missing = [False, True], bool(types.is_extension_array_dtype(column.dtype))
    return _Public(
        levels=None if values is None else tuple(dict.fromkeys(map(str, values))), missing=missing or values is None
    )


def _numbers(column: pd.Series, values: Sequence[Any]) -> list[float]:
    """Return public values of a numeric column as floats; dates and durations in nanoseconds."""
    rule = f"public of the column {str(column.name)!r} must be {_kind_in_words(column)}s"
    try:
        if types.is_timedelta64_dtype(column.dtype):
            return [float(pd.Timedelta(each).value) for each in values]
        if is_temporal(column):
            zone = getattr(column.dtype, "tz", None)
            dates = [pd.Timestamp(each) for each in values]
            return [float((d.tz_localize(zone) if zone and d.tz is None else d).value) for d in dates]
        numbers = [float(each) for each in values if not isinstance(each, bool | str)]
    except (TypeError, ValueError):
        raise InputError(f"{rule}, got {list(values)!r}") from None
    if len(numbers) < len(values) or not all(map(isfinite, numbers)):
        raise InputError(f"{rule}, got {list(values)!r}")
    return numbers


def _kind_in_words(column: pd.Series) -> str:
    if not is_temporal(column):
        return "finite number"
    return "duration" if types.is_timedelta64_dtype(column.dtype) else "date"


def _edges(column: pd.Series, values: Sequence[float], bins: int) -> np.ndarray:
    """Return the edges of the bins; of whole numbers and times the last is one unit above the highest value."""
    if len(values) < 2 or any(b < a for a, b in pairwise(values)):
        raise InputError(f"public of the column {str(column.name)!r} must rise from the lowest to the highest value")
    step = _step(column, values)
    low, high = values[0], values[-1] + step
    if high <= low:  # a constant that is no whole number
        high = nextafter(low, inf)
    if len(values) > 2:
        return np.unique([*values[:-1], high])
    if step:
        count = int(min(bins, round((high - low) / step)))
        return np.asarray(low + step * np.unique(np.round(np.linspace(0, (high - low) / step, count + 1))))
    return np.unique(np.linspace(low, high, bins + 1))


def _step(column: pd.Series, values: Sequence[float]) -> float:
    """Return the unit of a column of whole numbers or times; 0 of floats."""
    if is_temporal(column):
        return float(next(unit for unit in UNITS if not any(int(v) % unit for v in values)))
    return 1.0 if types.is_integer_dtype(column.dtype) else 0.0


def _plain(column: pd.Series, known: _Public) -> list[int | str | None]:
    """Return a column as numbers of its public bins or levels, or as texts; None where it is missing or not among them.

    Each cell is coded by what is public and itself alone, so that one record changes its own cell and no other.
    """
    if known.edges is not None:
        values = as_floats(column)
        inner = np.searchsorted(known.edges[1:-1], values, side="right")
        return [None if np.isnan(v) else int(k) for v, k in zip(values, inner, strict=True)]
    texts: list[int | str | None]
    texts = [None if absent else str(cell) for cell, absent in zip(column, column.isna(), strict=True)]
    if known.levels is None:
        return texts
    places = {level: k for k, level in enumerate(known.levels)}
    return [None if each is None else places.get(str(each)) for each in texts]


def _drawn(
    plain: Mapping[str, list[int | str | None]],
    keys: Mapping[str, list[int]],
    job: Job,
    promise: tuple[float, float],
    contributions: int,
) -> pd.DataFrame:
    """Return rows of the noisy model, coded as ``plain``: the only place where counts of the table are looked at."""
    _, dp, pl = libraries("private", "mbi", "opendp.prelude", "polars")
    dtypes = {name: pl.Int64 if name in keys else pl.String for name in plain}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries, about themselves
        dp.enable_features("contrib")
        epsilon, delta = promise
        found = len(keys) < len(plain)  # levels that are found may fail with half of delta
        rho = _budget(dp, epsilon, delta / 2 if found else delta)
        loss = {"rho": rho, "delta": delta / 2} if found else {"rho": rho}
        data = pl.LazyFrame({name: pl.Series(name, cells, dtype=dtypes[name]) for name, cells in plain.items()})
        context = dp.Context.compositor(
            data=data, privacy_unit=dp.unit_of(contributions=contributions), privacy_loss=dp.loss_of(**loss)
        )
        algorithm = dp.mbi.MST(measure_split=_split(rho, len(plain) - 1))
        query = context.query(**loss).select(*plain).contingency_table(keys=dict(keys), algorithm=algorithm)
        model = query.release()
        state = np.random.get_state()  # noqa: NPY002
        np.random.seed(job.seed % 2**32)  # noqa: NPY002  # the library draws rows from the global generator
        try:
            return model.synthesize(rows=job.rows, method="sample").to_pandas()
        finally:
            np.random.set_state(state)  # noqa: NPY002


def _budget(dp: Any, epsilon: float, delta: float) -> float:
    """Return the largest rho whose zero-concentrated differential privacy is (epsilon, delta)-differential privacy."""
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)

    def noise(scale: float) -> Any:
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=scale)), delta)

    scale = dp.binary_search_param(noise, d_in=1.0, d_out=(epsilon, delta))
    return 1 / (2 * scale * scale)


def _split(rho: float, choices: int) -> float:
    """Return the share that measures pairs, such that equal parts of the rest add up to no more than the rest.

    MST spends a part on each choice of a pair; where the sum of the parts, rounded upwards, exceeds the whole by the
    last digit, OpenDP refuses it after it has spent the budget of the single columns. This looks at no data.
    """
    half = _below(_below(rho - rho * 0.5))
    for k in range(20_000):
        split = _MEASURE + k * 1e-6
        rest = _below(_below(half - half * split))
        if _adds_up(rest, choices):
            return split
    raise InputError(f"mst cannot share out the budget among {choices} pairs: change epsilon slightly")


def _below(number: float) -> float:
    return nextafter(number, -inf)


def _adds_up(whole: float, parts: int) -> bool:
    total, part = 0.0, _below(whole / parts)
    for _ in range(parts):
        exact = Fraction(total) + Fraction(part)
        total = float(exact) if Fraction(float(exact)) >= exact else nextafter(float(exact), inf)
    return total <= whole


def _back(drawn: pd.Series, like: pd.Series, known: _Public, rng: np.random.Generator) -> pd.Series:
    """Return a drawn column as cells of the training column's kind.

    Missing cells where none are public are drawn anew from the column's own released cells, or from all that is public
    where there are none.
    """
    absent = drawn.isna().to_numpy()
    if absent.any() and not known.missing:
        present = drawn[~absent].to_numpy()
        pool = present if len(present) else np.asarray(known.keys)
        drawn = drawn.mask(absent, pd.Series(rng.choice(pool, len(drawn)), index=drawn.index))
        absent = np.zeros(len(drawn), dtype=bool)
    if known.edges is not None:
        return _values(drawn[~absent].to_numpy(int), absent, like, known.edges, rng)
    cells = {str(cell): cell for cell in like.dropna().unique()}
    texts = drawn if known.levels is None else drawn.map(lambda k: None if pd.isna(k) else known.levels[int(k)])
    return _levels([None if gone else cells.get(t, t) for t, gone in zip(texts, absent, strict=True)], like, known)


def _values(
    which: np.ndarray, absent: np.ndarray, like: pd.Series, edges: np.ndarray, rng: np.random.Generator
) -> pd.Series:
    """Return numbers or times drawn evenly inside their bins."""
    values = rng.uniform(edges[which], edges[which + 1])
    step = _step(like, [*edges[:-1]])
    if not step:
        numbers = np.full(len(absent), np.nan)
        numbers[~absent] = values
        return pd.Series(numbers).astype(like.dtype)
    first = edges[which]
    whole = [int(a) + int(step) * int((v - a) // step) for a, v in zip(first, values, strict=True)]
    if not is_temporal(like) and isinstance(like.dtype, np.dtype):
        ends = np.iinfo(like.dtype.name)
        whole = [min(max(each, int(ends.min)), int(ends.max)) for each in whole]
    if not absent.any():
        return cells_of(whole, like)
    dtype = like.dtype if is_temporal(like) or not isinstance(like.dtype, np.dtype) else with_missing(like.dtype)
    full = pd.Series([pd.NaT if is_temporal(like) else pd.NA] * len(absent), dtype=dtype)
    full[~absent] = cells_of(whole, like).astype(dtype).array
    return full


def _levels(cells: list[Any], like: pd.Series, known: _Public) -> pd.Series:
    """Return levels as cells of a column like ``like``; a public level that it does not have becomes a category."""
    if isinstance(like.dtype, pd.CategoricalDtype):
        have = list(like.cat.categories)
        new = [c for c in dict.fromkeys(cells) if c is not None and c not in set(have)]
        return pd.Series(pd.Categorical(cells, categories=[*have, *new], ordered=like.dtype.ordered))
    if types.is_bool_dtype(like.dtype):
        truths = [None if c is None else str(c) == "True" for c in cells]
        return pd.Series(truths, dtype="boolean" if None in truths else like.dtype)
    return pd.Series(cells, dtype=like.dtype)


def _told(
    epsilon: float, delta: float, names: Sequence[str], public: Mapping[str, Any], assume_public: bool
) -> tuple[Problem, ...]:
    words = f"made with the promise of differential privacy, epsilon {epsilon:g} and delta {delta:g}, for one person"
    told = [Problem("promise", "", "note", f"{words} added or removed")]
    if assume_public and (read := [repr(c) for c in names if c not in public]):
        shown = ", ".join(read[:_SHOWN]) + (", ..." if len(read) > _SHOWN else "")
        beyond = "ranges and levels were read from the training table, which the promise of differential privacy leaves"
        told.append(Problem("promise", "assumed", "note", f"{beyond} out (assume_public): {shown}"))
    return tuple(told)


def _epsilon(epsilon: float = EPSILON, **_others: Any) -> float:
    return float(epsilon)


_PACKAGES = ("opendp", "mbi", "jax", "polars", "numpy", "pandas")
_MODULES = ("opendp", "mbi", "polars")
MST = Synthesizer("mst", mst, "private", _PACKAGES, modules=_MODULES, check=_check, fits=_fits, epsilon=_epsilon)
