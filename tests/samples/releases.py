"""Pairs of small tables of all types, for Hypothesis."""

import numpy as np
import pandas as pd
from hypothesis import strategies as st

POOLS = {
    "float64": [0.0, 1.5, -2.25, 100.0, np.nan], "float": [0.1, 0.2, 0.30000000000000004, 1e3],
    "int64": [0, 1, 2, 30, 60], "Int64": [0, 3, pd.NA], "object": ["a", "b", "ü", None, np.nan], "bool": [True, False],
    "category": ["p", "q", None], "datetime64[ns]": [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-03-01"), pd.NaT],
}  # fmt: skip


@st.composite
def releases(draw, kinds=tuple(POOLS), least=(1, 1), rows=7, columns=4):
    """Two tables of few values, so that duplicates, constant columns and unseen levels are common."""
    n, m = draw(st.integers(least[0], rows)), draw(st.integers(least[1], rows))
    real, synthetic = {}, {}
    for j in range(draw(st.integers(1, columns))):
        dtype = draw(st.sampled_from(kinds))
        values = st.sampled_from(draw(st.lists(st.sampled_from(POOLS[dtype]), min_size=1, max_size=4)))
        shared, unseen = draw(values), st.sampled_from(POOLS[dtype])  # shared: the values of a column overlap
        real[f"c{j}"] = pd.Series([shared, *(draw(values) for _ in range(n - 1))], dtype=dtype)
        synthetic[f"c{j}"] = pd.Series([*(draw(unseen) for _ in range(m - 1)), shared], dtype=dtype)
    return pd.DataFrame(real), pd.DataFrame(synthetic)
