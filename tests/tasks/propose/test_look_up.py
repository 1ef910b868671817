"""Keys that can be looked up, beside a plain count of who is alone."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from synthrisk.tasks.propose.measures import ALONE, look_up, singled_out


def people(rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows).astype(float),
            "sex": pd.Categorical(rng.choice(["m", "w"], rows)),
            "zip": pd.Categorical([f"{z:05d}" for z in rng.integers(1000, 9000, rows)]),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, rows), unit="D"),
        }
    )


@pytest.mark.parametrize("keys", [["sex"], ["age", "sex"], ["zip"], ["age", "sex", "zip", "born"]])
def test_who_is_alone_is_counted_as_by_a_plain_loop(keys):
    table = people()
    rows = [tuple(row) for row in table[keys].astype(str).to_numpy()]
    counts = Counter(rows)
    assert singled_out(table, keys, {}) == pytest.approx(np.mean([counts[row] == 1 for row in rows]))


def test_coarse_keys_hold_together_at_least_half_of_the_records():
    table = people()
    known = ["age", "sex", "zip", "born"]
    assert singled_out(table, known, {}) > 0.95
    found = look_up(table, known)
    assert singled_out(table, list(found.columns), found.bins) <= ALONE
    assert "sex" not in found.bins  # it is coarse enough as it is


def test_keys_that_are_coarse_already_stay_as_they_are():
    table = people().assign(age=lambda t: t["age"] // 30)
    found = look_up(table, ["age", "sex"])
    assert (found.columns, found.bins) == (("age", "sex"), {})


def test_columns_are_left_out_where_coarsening_does_not_do():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({f"c{i}": pd.Categorical(rng.integers(0, 6, 200).astype(str)) for i in range(12)})
    found = look_up(table, list(table))
    assert 0 < len(found.columns) < 12
    assert singled_out(table, list(found.columns), found.bins) <= ALONE


def test_one_key_that_all_differ_in_is_returned_all_the_same():
    table = pd.DataFrame({"x": pd.Categorical([str(i) for i in range(3)])})
    assert look_up(table, ["x"]).columns == ("x",)


def test_without_keys_nobody_is_singled_out():
    assert singled_out(people(), [], {}) == 0
