"""The reference generator ``near_copy``: the training records, each a little changed, as no ideal generator would."""

from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, check_range
from synthrisk.metrics.tables.kinds import is_temporal, kind
from synthrisk.tasks.synthesize.reference_generators import copied_positions
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer

JITTER, REDRAWN = 0.02, 0.1
_DAY = 86_400_000_000_000  # nanoseconds
_EXACT = 2.0**62  # a wider range of whole numbers or nanoseconds has differences that int64 may not hold


def near_copy(job: Job, *, jitter: float = JITTER, redrawn: float = REDRAWN) -> Release:
    """Release the training records with every number moved a little and some categorical cells drawn anew.

    A number x becomes x + u, u uniform in [-jitter, jitter] times the range of its column among the training records,
    and stays within that range; whole numbers stay whole, dates without a time stay so, missing cells stay missing. A
    categorical cell is replaced with probability ``redrawn`` by that of a training record drawn at random. If a whole
    record stays as it was, one cell of it takes another value. So no record equals the one that it was made from, and
    each is still known by its neighbourhood, which measures of equal records cannot see.

    Args:
        job: As for every synthesizer.
        jitter: Share of the range, in [0, 1].
        redrawn: Share of the categorical cells, in [0, 1].

    Raises:
        InputError: An option is out of its range, or there is no training record.
    """
    check_change(jitter, redrawn)
    if not len(job.train):
        raise InputError("near_copy needs a training record, got none")
    rng = np.random.default_rng(job.seed)
    source = copied_positions(len(job.train), job.rows, rng)
    copied = job.train.take(source).reset_index(drop=True)
    columns = [_changed(copied.iloc[:, c], job.train.iloc[:, c], jitter, redrawn, rng) for c in range(copied.shape[1])]
    same = np.arange(len(copied) if jitter + redrawn > 0 else 0)  # rows in which no column so far has changed
    for c, new in enumerate(columns):
        a, b = new.iloc[same], copied.iloc[same, c]
        same = same[(a == b).fillna(False).to_numpy(bool) | (a.isna() & b.isna()).to_numpy()]
    _change_one(columns, job.train, same, rng)
    synthetic = pd.DataFrame(dict(enumerate(columns)), copy=False)
    synthetic.columns = job.train.columns
    return Release(synthetic, links=source)


def _change_one(columns: list[pd.Series], train: pd.DataFrame, rows: np.ndarray, rng: np.random.Generator) -> None:
    """Change one cell of each of these rows: a number to the next one there is, a level to another that occurs."""
    if not len(rows):
        return
    known = [train.iloc[:, c].dropna().drop_duplicates() for c in range(train.shape[1])]
    several = [c for c, each in enumerate(known) if len(each) > 1]
    if not several:
        return
    chosen = np.array(several)[rng.integers(len(several), size=len(rows))]
    for c in several:
        own, values, numeric = rows[chosen == c], known[c], kind(train.iloc[:, c]) == "numeric"
        values = values.sort_values() if numeric else values
        place = pd.Index(values).get_indexer(pd.Index(columns[c].iloc[own]))
        by = np.where(place <= 0, 1, -1) if numeric else rng.integers(1, len(values), len(own))
        columns[c] = columns[c].copy()
        columns[c].iloc[own] = values.iloc[(place + by) % len(values)].to_numpy()


def _changed(column: pd.Series, train: pd.Series, jitter: float, redrawn: float, rng: np.random.Generator) -> pd.Series:
    if is_temporal(train) and train.dt.unit != "ns":  # what is added is counted in nanoseconds
        fine = _changed(column.dt.as_unit("ns"), train.dt.as_unit("ns"), jitter, redrawn, rng)
        return fine.dt.as_unit(train.dt.unit)
    drawn = train.take(rng.integers(len(train), size=len(column))).reset_index(drop=True)
    if kind(train) == "categorical":
        return column.where(rng.random(len(column)) >= redrawn, drawn)
    unit = rng.uniform(-jitter, jitter, len(column))
    known = train.dropna()
    if not len(known):
        return column
    low, high = known.min(), known.max()
    width = _ticks(high) - _ticks(low)
    if width >= _EXACT:
        return column.where(rng.random(len(column)) >= redrawn, drawn)
    column, own = column.copy(), column.dropna()
    cells = own.to_numpy(dtype="int64") if pd.api.types.is_integer_dtype(own.dtype) else own.to_numpy()
    by = _step(unit[own.index] * width, known)
    column[own.index] = cells + np.clip(by, (low - own).to_numpy(by.dtype), (high - own).to_numpy(by.dtype))
    return column


def _ticks(value: Any) -> float:
    return float(value.value) if isinstance(value, pd.Timestamp | pd.Timedelta) else float(value)


def _step(by: np.ndarray, known: pd.Series) -> np.ndarray:
    """Return what is added to cells: whole where all known cells are, and days where these are dates without a time."""
    if is_temporal(known):
        days = bool((known.astype("int64") % _DAY == 0).all())
        return (np.round(by / _DAY) * _DAY if days else by).astype("timedelta64[ns]")
    whole = pd.api.types.is_integer_dtype(known.dtype) or bool((known % 1 == 0).all())
    return np.round(by).astype("int64") if pd.api.types.is_integer_dtype(known.dtype) else np.round(by) if whole else by


def check_change(jitter: float = JITTER, redrawn: float = REDRAWN) -> None:
    """Refuse what are no shares."""
    check_range("jitter", jitter, 0, 1, "a share in [0, 1]")
    check_range("redrawn", redrawn, 0, 1, "a share in [0, 1]")


NEAR_COPY = Synthesizer(
    "near_copy", near_copy, check=check_change, packages=("numpy", "pandas"), trial="few", answer="near_copy"
)
