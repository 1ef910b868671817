"""No row of a near copy equals the record that it was made from, whatever the columns are."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.tasks.synthesize import Job
from synthrisk.tasks.synthesize.reference_generators import near_copy

RNG = np.random.default_rng(3)
TABLES = {
    "few whole numbers": pd.DataFrame({"age": RNG.integers(20, 40, 300), "sex": RNG.choice(["f", "m"], 300)}),
    "levels": pd.DataFrame({"a": RNG.choice(["x", "y"], 300), "b": RNG.choice(["u", "v", None], 300)}).astype(
        "category"
    ),
    "flags": pd.DataFrame({"a": RNG.random(300) < 0.5, "b": RNG.random(300) < 0.1}),
    "dates": pd.DataFrame({"day": pd.to_datetime("2020-01-01") + pd.to_timedelta(RNG.integers(0, 9, 300), "D")}),
}


@pytest.mark.parametrize("name", TABLES)
def test_each_row_is_changed(name):
    table = TABLES[name]
    made = near_copy(Job(table, table.head(0), len(table), 5)).synthetic
    assert made.dtypes.equals(table.dtypes)
    same = ((made == table) | (made.isna() & table.isna())).all(axis=1)
    assert not same.any()


def test_a_table_of_one_value_stays():
    table = pd.DataFrame({"a": ["x"] * 5})
    assert near_copy(Job(table, table.head(0), 5, 5)).synthetic.equals(table)
