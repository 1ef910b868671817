"""A table: people with a job, an age and a vote."""

import numpy as np
import pandas as pd


def people(rows: int = 300) -> pd.DataFrame:
    """Return so many people."""
    rng = np.random.default_rng(7)
    job = rng.choice(["baker", "nurse", "smith"], rows)
    vote = np.where(rng.random(rows) < np.where(job == "smith", 0.8, 0.3), "left", "right")
    return pd.DataFrame({"age": rng.integers(18, 90, rows), "job": job, "vote": vote})
