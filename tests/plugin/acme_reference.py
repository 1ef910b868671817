"""A reference generator: half of its rows are training rows, so it leaks half."""

import numpy as np
import pandas as pd

from synthrisk.tasks.synthesize import Job, Release, Synthesizer


def half(job: Job) -> Release:
    """Release as many training rows as new ones; the held-out records that these come from are told as used."""
    rng = np.random.default_rng(job.seed)
    leaked = job.rows // 2
    used = rng.permutation(len(job.held_out))[: len(job.held_out) // 2]
    new = job.held_out.iloc[rng.choice(used, job.rows - leaked)]
    members = job.train.iloc[rng.choice(len(job.train), leaked, replace=False)]
    return Release(pd.concat([members, new], ignore_index=True), used)


HALF = Synthesizer("acme_half", half, answer="leak", leaked=lambda: 0.5)
