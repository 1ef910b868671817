"""Coverage: against values counted by hand and by plain loops."""

import math

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS

COVERAGE = METRICS["coverage"]


def plain(real, release):
    """Return coverage by plain loops over cells."""
    shares = []
    for column in real.columns:
        own, other = ([v for v in t[column].tolist() if not pd.isna(v)] for t in (real, release))
        if pd.api.types.is_numeric_dtype(real[column].dtype) and not pd.api.types.is_bool_dtype(real[column].dtype):
            if own:
                shares.append(min(1.0, (len(other) / len(release)) / (len(own) / len(real))))
            continue
        common = [v for v in set(own) if own.count(v) >= 2]
        if common:
            shares.append(sum(v in other for v in common) / len(common))
    return sum(shares) / len(shares)


def draw(rng, n):
    place, flag = rng.choice([f"p{i}" for i in range(12)], n), rng.random(n) < 0.1
    table = pd.DataFrame({"place": place, "flag": flag})
    table["x"] = np.where(rng.random(n) < rng.random(), np.nan, rng.normal(size=n))
    table["name"] = [f"{rng.integers(10**9)}" for _ in range(n)]
    return table.assign(place=table["place"].where(rng.random(n) > 0.2))


@pytest.mark.parametrize("seed", range(8))
def test_it_is_what_plain_loops_count(seed):
    rng = np.random.default_rng(seed)
    real, release = draw(rng, 40), draw(rng, 15)
    assert COVERAGE(real, release).value == pytest.approx(plain(real, release), abs=1e-12)


def test_numbers_and_dates_are_covered_by_their_share_of_values():
    days = pd.to_datetime(["2020-01-01", "2020-02-01", None, "2020-03-01"])
    real = pd.DataFrame({"x": [1.0, -2.0, np.nan, 4.0], "day": days})
    release = pd.DataFrame({"x": [9.0, np.nan], "day": pd.to_datetime(["1999-01-01", "1999-01-02"])})
    score = COVERAGE(real, release)
    assert score.details["coverage_x"] == pytest.approx(0.5 / 0.75)
    assert score.details["coverage_day"] == 1  # more than the real table has is not more than all
    assert score.value == pytest.approx((0.5 / 0.75 + 1) / 2)


def test_a_suppressed_column_is_not_covered_and_one_without_anything_to_cover_left_out():
    real = pd.DataFrame({"a": [True, True, False, False], "x": [1.0, 2.0, 3.0, 4.0], "c": list("uuvv")})
    found = COVERAGE(real, real.assign(c=None, x=np.nan)).details
    assert found == {"coverage_a": 1.0, "coverage_x": 0.0, "coverage_c": 0.0, "columns": 3.0}
    real = pd.DataFrame({"id": ["u", "v", "w"], "empty": [np.nan] * 3, "one": [7, 7, 7]})
    assert COVERAGE(real, real).details == {"coverage_one": 1.0, "columns": 1.0}
    undefined = COVERAGE(real[["id", "empty"]], real[["id", "empty"]])
    assert math.isnan(undefined.value)
    assert "no column" in undefined.reason


def test_control_gives_the_ceiling_at_its_own_size_and_a_larger_one_is_thinned_to_the_release():
    letters = list("abcdefghij")
    real, release, control = (pd.DataFrame({"c": own}) for own in (letters * 2, letters, list("abcaa")))
    score = COVERAGE(real, release, control=control)
    assert score.value == 1
    assert score.details["ceiling"] == score.details["ceiling_coverage_c"] == pytest.approx(0.3)
    assert (score.details["thinned"], score.details["ceiling_rows"]) == (0.5, 5)
    score = COVERAGE(real, release[:4], control=real)
    assert score.details["thinned"] == score.value == pytest.approx(0.4)
    assert 0.1 <= score.details["ceiling"] <= 0.4
    assert score.details["ceiling_rows"] == 4
