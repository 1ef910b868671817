"""Records of columns of all kinds, two numbers that depend on each other among them."""

import numpy as np
import pandas as pd


def draw(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return records of two numbers, levels, flags and days, some cells missing."""
    x = rng.normal(size=n)
    y = np.where(rng.random(n) < 0.1, np.nan, (x + rng.normal(size=n)).round(2))
    levels = np.where(rng.random(n) < 0.1, None, rng.choice([*"abc"], n))
    flags, days = rng.random(n) < 0.5, pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    return pd.DataFrame({"x": x.round(2), "y": y, "c": levels, "flag": flags, "day": days})


def drawn(seed: int | list[int], *sizes: int) -> list[pd.DataFrame]:
    """Return tables of so many records, drawn one after the other."""
    rng = np.random.default_rng(seed)
    return [draw(rng, n) for n in sizes]


def large(seed: int, n: int) -> pd.DataFrame:
    """Return records of a number, a skewed one, a count and levels, some of them rare, some cells missing."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"x": rng.normal(size=n), "y": rng.lognormal(8, 1, n).round(), "k": rng.poisson(1, n)})
    table["c"] = rng.choice(list("abcdef"), n, p=[0.5, 0.3, 0.1, 0.05, 0.04, 0.01])
    table["d"] = rng.choice(["yes", "no", None], n)
    table.loc[rng.random(n) < 0.1, "x"] = np.nan
    return table
