"""The reference generator ``known_epsilon``: a mechanism whose differential privacy is known by its construction."""

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import check_range
from synthrisk.metrics.neighbours.nearest import synthetic_to_real
from synthrisk.metrics.tables.tables import Tables
from synthrisk.tasks.synthesize.reference_generators import among_fresh, fresh_half
from synthrisk.tasks.synthesize.synthesizer import Job, Release, Synthesizer

EPSILON = 1.0
_LARGEST = 700.0  # of which e is still a float


def known_epsilon(job: Job, *, epsilon: float = EPSILON) -> Release:
    """Release other people by randomised response: what a row says of the member behind it is bounded by epsilon.

    Public are the m records of the half A of the held-out records that ``fresh`` would draw from. Each training record
    has one row of the release: with probability e^epsilon/(e^epsilon + m - 1) the public record nearest to it (gower,
    ranges of A alone, the first of equally near ones), otherwise another public one, drawn evenly. So each row, and as
    each record has one, the release is epsilon-differentially private (delta = 0) for tables that differ in one record
    exchanged for another. No training record is ever released as it is. Where there are fewer rows than training
    records, a random sample of these has them; further rows are drawn from A as in ``fresh``. Epsilon 0 is ``fresh`` in
    distribution.

    Args:
        job: As for every synthesizer.
        epsilon: The dose, from 0 to 700.

    Raises:
        InputError: Epsilon is out of its range, there is no training record, or fewer than two records, or entities,
            are held out.
    """
    _check(epsilon)

    def planted(count: int, rng: np.random.Generator) -> pd.DataFrame:
        public = job.held_out.take(fresh_half(job, "known_epsilon")).reset_index(drop=True)
        own = nearest_public(public, job.train.take(rng.permutation(len(job.train))[:count]).reset_index(drop=True))
        kept = rng.random(count) < 1 / (1 + (len(public) - 1) * np.exp(-epsilon))
        other = (own + rng.integers(1, max(len(public), 2), count)) % len(public)
        return public.take(np.where(kept, own, other))

    return among_fresh(job, "known_epsilon", min(job.rows, len(job.train)), planted)


def nearest_public(public: pd.DataFrame, members: pd.DataFrame) -> np.ndarray:
    """Return the position of the public record nearest to each member, which no other member decides."""
    if not len(members):
        return np.empty(0, dtype=np.int64)
    return synthetic_to_real(Tables(public, members), "gower", ranges="reference").rows[:, 0]


def _check(epsilon: float = EPSILON) -> None:
    check_range("epsilon", epsilon, 0, _LARGEST, f"a number from 0 to {_LARGEST:g}")


def _dose(epsilon: float = EPSILON) -> float:
    return epsilon


KNOWN_EPSILON = Synthesizer(
    "known_epsilon", known_epsilon, check=_check, trial="few", answer="part", dose=_dose, epsilon=_dose
)
