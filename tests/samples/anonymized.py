"""People, and a release of them as anonymization leaves it: bands, prefixes, years, withheld cells, no cells."""

import numpy as np
import pandas as pd


def people(n: int, seed: int) -> pd.DataFrame:
    """Return people with an age, a zip code, a day of birth, a job, a body height and two answers."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    smokes = rng.random(n) < np.where(age > 50, 0.7, 0.2)
    return pd.DataFrame({
        "age": age, "zip": [f"{code}" for code in 10_000 + 7 * rng.integers(0, 600, n)],
        "born": pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 25_000, n), unit="D"),
        "job": rng.choice(["cook", "nurse", "teacher", "driver", "clerk"], n),
        "height": np.round(rng.normal(170, 10, n), 1), "smokes": np.where(smokes, "yes", "no"),
        "voted": rng.choice(["left", "right", "none"], n),
    })  # fmt: skip


def anonymized(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with ages in bands, prefixes of zip codes, years of dates, jobs suppressed and no heights."""
    decade = table["age"] // 10 * 10
    coarse = table.assign(
        age=[f"{low}-{low + 9}" if low < 80 else "80+" for low in decade],
        zip=[f"{code[:3]}**" for code in table["zip"]], born=table["born"].dt.year, job="*",
    )  # fmt: skip
    return coarse.drop(columns="height")


def locally_anonymized(table: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Return a table of which each cell is exact, in a narrow set, in a wide one or withheld, by chance."""
    rng = np.random.default_rng(seed)
    wide = anonymized(table)
    five, month = table["age"] // 5 * 5, table["born"].dt.strftime("%Y-%m")
    narrow = table.assign(
        age=[f"[{low}, {low + 5})" for low in five], zip=[f"{code[:4]}*" for code in table["zip"]], born=month
    )
    wide = wide.assign(
        job=[job if job in ("driver", "clerk") else "{cook, nurse, teacher}" for job in table["job"]],
        height=[f"{low:.0f}-{low + 10:.0f}" for low in table["height"] // 10 * 10],
    )
    exact = table.assign(born=table["born"].dt.strftime("%Y-%m-%d")).astype(object)
    cells = {}
    for name in table.columns[:5]:
        ways = np.column_stack([exact[name], narrow[name].astype(str), wide[name].astype(str), ["*"] * len(table)])
        cells[name] = ways[np.arange(len(table)), rng.choice(4, len(table), p=[0.3, 0.3, 0.3, 0.1])]
    return exact.assign(**cells)
