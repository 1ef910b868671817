"""Reference generators: synthesizers with a known answer, by which a study checks itself.

``copy`` leaks everything and ``leaky`` a known share; ``fresh`` is what an ideal generator would release, new
records of the same population, and ``real_identifiers`` these with the members' names beside them;
``marginals`` keeps no link between columns. More leaks with a dose: ``leaks``.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, check_range
from synthrisk.metrics.release.identifiers import plain_texts
from synthrisk.metrics.study.answer import Answer
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer

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
    half, drawn = _fresh(job, "fresh")
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

    def members(count: int, rng: np.random.Generator) -> pd.DataFrame:
        return job.train.take(rng.choice(len(job.train), count, replace=count > len(job.train)))

    return among_fresh(job, "leaky", round(share * job.rows), members)


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
    half, drawn = _fresh(job, name)
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
    half, drawn = _fresh(job, "real_identifiers")
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
    synthetic = pd.concat(drawn, axis=1)
    synthetic.columns = job.train.columns
    return Release(synthetic)


def fresh_half(job: Job, name: str = "fresh") -> np.ndarray:
    """Return the positions among the held-out records that ``fresh`` draws from."""
    return _fresh(job, name)[0]


def fresh_rows(job: Job, name: str = "fresh") -> np.ndarray:
    """Return the position among the held-out records of each row that ``fresh`` releases."""
    return _fresh(job, name)[1]


def _fresh(job: Job, name: str) -> tuple[np.ndarray, np.ndarray]:
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
