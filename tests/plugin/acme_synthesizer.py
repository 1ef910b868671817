"""A synthesizer: whole rows of the training table, drawn with replacement."""

import numpy as np

from synthrisk.tasks.synthesize import Job, Release, Synthesizer


def rows(job: Job) -> Release:
    """Release rows of the training table, drawn with replacement."""
    chosen = np.random.default_rng(job.seed).integers(len(job.train), size=job.rows)
    return Release(job.train.iloc[chosen].reset_index(drop=True))


ROWS = Synthesizer("acme_rows", rows)
