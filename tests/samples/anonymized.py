"""People, and a release of them as anonymization leaves it: bands, prefixes, years, withheld cells, no cells."""

import numpy as np
import pandas as pd


def people(n: int, seed: int) -> pd.DataFrame:
    """Return people with an age, a zip code, a day of birth, a job, a body height and two answers."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    smokes = rng.random(n) < np.where(age > 50, 0.7, 0.2)
    return pd.DataFrame(
        {
            "age": age,
            "zip": [f"{code}" for code in 10_000 + 7 * rng.integers(0, 600, n)],
            "born": pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 25_000, n), unit="D"),
            "job": rng.choice(["cook", "nurse", "teacher", "driver", "clerk"], n),
            "height": np.round(rng.normal(170, 10, n), 1),
            "smokes": np.where(smokes, "yes", "no"),
            "voted": rng.choice(["left", "right", "none"], n),
        }
    )


def anonymized(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with ages in bands, prefixes of zip codes, years of dates, jobs suppressed and no heights."""
    decade = table["age"] // 10 * 10
    coarse = table.assign(
        age=[f"{low}-{low + 9}" if low < 80 else "80+" for low in decade],
        zip=[f"{code[:3]}**" for code in table["zip"]],
        born=table["born"].dt.year,
        job="*",
    )
    return coarse.drop(columns="height")
