"""Reference generators: synthesizers with a known answer, by which a study checks itself.

``copy`` leaks everything and ``leaky`` a known share; ``fresh`` is what an ideal generator would release, new
records of the same population; ``marginals`` keeps no link between columns.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, check_range
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
    return Release(job.train.take(positions).reset_index(drop=True))


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
    _check_share(share)
    half, drawn = _fresh(job, "leaky")
    rng = np.random.default_rng(np.random.SeedSequence([job.seed, 1]))
    leaked = round(share * job.rows)
    members = rng.choice(len(job.train), leaked, replace=leaked > len(job.train))
    rows = pd.concat([job.train.take(members), job.held_out.take(drawn[leaked:])], ignore_index=True)
    return Release(rows.take(rng.permutation(len(rows))).reset_index(drop=True), half)


def _check_share(share: float = LEAKY_SHARE) -> None:
    check_range("share", share, 0, 1, "a share in [0, 1]")


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


COPY = _reference(copy, "copy")
LEAKY = _reference(leaky, "leak", check=_check_share, leaked=lambda share=LEAKY_SHARE: share)
FRESH = _reference(fresh, "ideal")
MARGINALS = _reference(marginals, "independent")
