"""The release behind the population yardstick: the held-out records as they are."""

import numpy as np

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer


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
