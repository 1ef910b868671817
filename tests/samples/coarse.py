"""People, and releases of which some cells stand for sets of values; what each cell may be, said plainly."""

import numpy as np
import pandas as pd

from synthrisk.metrics.tables.tables import ValueSet, ValueSets

KEYS = ["age", "zip", "job"]
BANDS = {24.5: (18, 30), 34.5: (31, 40), 60.5: (41, 90), 30.5: (25, 36)}  # the last overlaps two others
STARTS = {"10***": "10", "11***": "11", "110**": "110"}


def tables(seed: int, hidden: str = "exact") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return people, and a release whose cells are exact or coarse, by chance."""
    rng = np.random.default_rng(seed)

    def drawn(n: int) -> pd.DataFrame:
        return pd.DataFrame({
            "age": rng.integers(18, 91, n).astype(float),
            "zip": rng.choice(["10001", "10002", "11001", "11011", "11501", "12345"], n),
            "job": rng.choice(["cook", "nurse", None], n), "pay": rng.choice([1.0, 2.0, 3.0, 4.0], n),
        })  # fmt: skip

    real, release = drawn(40), drawn(60)
    coarse = rng.random((60, 4)) < [0.6, 0.6, 0.5, 0.5]
    release.loc[coarse[:, 0], "age"] = rng.choice(list(BANDS), coarse[:, 0].sum())
    release.loc[coarse[:, 1], "zip"] = rng.choice(list(STARTS), coarse[:, 1].sum())
    release.loc[coarse[:, 2], "job"] = None
    sets: dict = {
        "age": {value: ValueSet(*ends) for value, ends in BANDS.items()},
        "zip": {text: ValueSet(prefix=start) for text, start in STARTS.items()},
    }
    if hidden == "coarse":
        release.loc[coarse[:, 3], "pay"] = rng.choice([1.5, 3.5], coarse[:, 3].sum())
        sets["pay"] = {1.5: ValueSet(1, 2), 3.5: ValueSet(2, 4)}
    return real, ValueSets(sets, frozenset(["job"])).beside(release)


def may_be(column: str, released: object, real: object) -> bool:
    if column == "age" and released in BANDS:
        return BANDS[released][0] <= real <= BANDS[released][1]
    if column == "zip" and released in STARTS:
        return str(real).startswith(STARTS[released])
    return (column == "job" and bool(pd.isna(released))) or released == real


def said(released: float, truth: float, pays: list[float]) -> float:
    low, high = {1.5: (1, 2), 3.5: (2, 4)}.get(released, (released, released))
    held = [pay for pay in pays if low <= pay <= high]
    return held.count(truth) / len(held) if low <= truth <= high else 0.0
