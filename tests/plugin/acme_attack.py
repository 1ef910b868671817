"""An attack: whoever has the same job in the release tells the secret."""

import pandas as pd

from synthrisk.metrics.attack import Attack


def same_job(release, known, secret, rng):
    """Guess the commonest secret among the released rows of the same job; abstain where there is none."""
    commonest = release.groupby("job", observed=True)[secret].agg(lambda cells: cells.mode().iloc[0])
    guess = known["job"].astype(object).map(commonest.to_dict())
    return pd.DataFrame({"guessed": guess, "confidence": 1.0}, index=known.index)


SAME_JOB = Attack("acme_same_job", "inference", same_job)
