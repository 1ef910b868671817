"""Reference generators: synthesizers with a known answer, by which a study checks itself.

``copy`` leaks everything and ``leaky`` a known share; ``fresh`` is what an ideal generator would release, new
records of the same population, and ``real_identifiers`` these with the members' names beside them;
``marginals`` keeps no link between columns. More leaks with a dose: ``leaks``.

``near_copy`` changes each member a little; ``nonmembers`` is the release behind the
population yardstick: the held-out records as they are.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, check_range
from synthrisk.metrics.plugins import Answer
from synthrisk.metrics.tables.codes import plain_texts
from synthrisk.metrics.tables.kinds import is_temporal, kind
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer, side_by_side

LEAKY_SHARE = 0.1


def copy(job: Job) -> Release:
    """Release the training records as they are.

    Where the release has another size than the training table it holds whole copies of it, and of the last
    one a sample without replacement.
    """
    if not len(job.train):
        raise InputError("copy needs a training record, got none")
    positions = copied_positions(len(job.train), job.rows, np.random.default_rng(job.seed))
    return Release(job.train.take(positions).reset_index(drop=True), links=positions)


def copied_positions(size: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return which of so many records a copy of so many rows holds: all as often as they fit, and a sample besides."""
    rest = rng.permutation(size)[: rows % size]
    return np.concatenate([np.tile(np.arange(size), rows // size), np.sort(rest)])


def fresh(job: Job) -> Release:
    """Release a resample, with replacement, of one half A of the held-out records, drawn at random.

    ``used`` holds the positions of A (the smaller half): they are no control records any more. Where an entity
    has several records, all of them are in A or none.

    Raises:
        InputError: Fewer than two records, or entities, are held out.
    """
    half, drawn = fresh_draw(job)
    return Release(job.held_out.take(drawn).reset_index(drop=True), half)


def leaky(job: Job, *, share: float = LEAKY_SHARE) -> Release:
    """Release what ``fresh`` would, with a share of the rows replaced by training records, and shuffled.

    Args:
        job: As for every synthesizer.
        share: Share f in [0, 1]: round(f rows) rows are training records, drawn without replacement as long
            as there are enough of them.

    Raises:
        InputError: The share is out of its range, or fewer than two records, or entities, are held out.
    """
    check_share(share)
    count = round(share * job.rows)
    return among_fresh(job, "leaky", count, lambda count, rng: job.train.take(drawn_members(job, count, rng)))


def drawn_members(job: Job, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return the positions of training records drawn without replacement as long as there are enough of them."""
    return rng.choice(len(job.train), count, replace=count > len(job.train))


def among_fresh(
    job: Job, name: str, count: int, planted: Callable[[int, np.random.Generator], pd.DataFrame]
) -> Release:
    """Return what ``fresh`` would release, with so many of the rows replaced by planted ones, and shuffled.

    Args:
        job: As for every synthesizer.
        name: Name of the generator, for errors.
        count: How many rows are planted.
        planted: ``planted(count, rng)`` returns so many rows with the columns and dtypes of ``job.train``.

    Raises:
        InputError: There is no training record, or fewer than two records, or entities, are held out.
    """
    if not len(job.train):
        raise InputError(f"{name} needs a training record, got none")
    half, drawn = fresh_draw(job, name)
    rng = np.random.default_rng(np.random.SeedSequence([job.seed, 1]))
    rows = pd.concat([planted(count, rng), job.held_out.take(drawn[count:])], ignore_index=True)
    return Release(rows.take(rng.permutation(len(rows))).reset_index(drop=True), half)


def check_share(share: float = LEAKY_SHARE) -> None:
    """Refuse what is no share."""
    check_range("share", share, 0, 1, "a share in [0, 1]")


def real_identifiers(job: Job, *, share: float = 1.0) -> Release:
    """Release what ``fresh`` would, and beside a share of the rows the identifiers of training records drawn at random.

    Identifiers are the column that names entities and the columns that the study leaves out. No attack looks at them,
    so that every measure says what it says of ``fresh``; the look at whose values are released must not.

    Args:
        job: As for every synthesizer.
        share: Share f in [0, 1]: round(f rows) rows carry identifiers, those of the others are missing.

    Raises:
        InputError: The share is out of its range, the study has no such column, or fewer than two records, or
            entities, are held out.
    """
    check_share(share)
    if job.unattacked is None or not job.unattacked.shape[1]:
        raise InputError("real_identifiers needs an identifier or a column that is left out, got neither")
    half, drawn = fresh_draw(job, "real_identifiers")
    rng = np.random.default_rng(np.random.SeedSequence([job.seed, 2]))
    whose = rng.permutation(np.resize(rng.permutation(len(job.unattacked)), job.rows))
    beside = job.unattacked.take(whose).reset_index(drop=True)
    texts = pd.DataFrame({name: plain_texts(beside[name]).array for name in beside.columns}, copy=False)
    texts[round(share * len(texts)) :] = None
    return Release(job.held_out.take(drawn).reset_index(drop=True), half, texts)


def marginals(job: Job) -> Release:
    """Release each column drawn with replacement from the training values, independently of the others."""
    if not len(job.train):
        raise InputError("marginals needs a training record, got none")
    rng = np.random.default_rng(job.seed)
    drawn = [
        job.train.iloc[:, c].take(rng.integers(len(job.train), size=job.rows)).reset_index(drop=True)
        for c in range(job.train.shape[1])
    ]
    return Release(side_by_side(drawn, job.train.columns, job.rows))


def fresh_draw(job: Job, name: str = "fresh") -> tuple[np.ndarray, np.ndarray]:
    """Return the positions among the held-out records that ``fresh`` draws from, and that of each row it releases."""
    size = len(job.held_out)
    if size < 2:
        raise InputError(f"{name} needs at least 2 held-out records, got {size}")
    whose = np.arange(size) if job.held_out_entities is None else job.held_out_entities
    _, own, records = np.unique(whose, return_inverse=True, return_counts=True)
    if len(records) < 2:
        raise InputError(f"{name} needs held-out records of at least 2 entities, got 1")
    rng = np.random.default_rng(job.seed)
    order = rng.permutation(len(records))
    up_to = np.cumsum(records[order])
    half = np.flatnonzero(np.isin(own, order[up_to <= max(size // 2, up_to[0])]))
    return half, half[rng.integers(len(half), size=job.rows)]


def _reference(function: Callable[..., Release], answer: Answer, **facts: Any) -> Synthesizer:
    return Synthesizer(function.__name__, function, packages=("numpy", "pandas"), trial="few", answer=answer, **facts)


def share_of(share: float = LEAKY_SHARE) -> float:
    """Return the dose of a leak whose dose is a share."""
    return share


COPY = _reference(copy, "copy")
LEAKY = _reference(leaky, "leak", check=check_share, leaked=share_of, dose=share_of)
FRESH = _reference(fresh, "ideal")
REAL_IDENTIFIERS = replace(
    _reference(real_identifiers, "identifiers", check=check_share, dose=share_of), trial="none", unattacked=True
)
MARGINALS = _reference(marginals, "independent")

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
    return Release(side_by_side(columns, job.train.columns, job.rows), links=source)


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


NEAR_COPY = _reference(near_copy, "near_copy", check=check_change)


def nonmembers(job: Job) -> Release:
    """Release the held-out records: who attacks members with them has learned from real non-members.

    It is no synthesizer and no reference generator, but what a study compares them with. All held-out records are
    ``used``, so that each record attacked is a member. There are as many rows as held-out records: fewer than a
    synthesizer releases, and what they teach is as much less as they are fewer.

    Raises:
        InputError: No record is held out.
    """
    size = len(job.held_out)
    if not size:
        raise InputError("nonmembers needs a held-out record, got none")
    return Release(job.held_out.reset_index(drop=True), np.arange(size))


NON_MEMBERS = Synthesizer("nonmembers", nonmembers, packages=("numpy", "pandas"), trial="few", any_size=True)
