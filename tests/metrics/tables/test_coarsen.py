"""Coarser columns against pandas' own cutting, and by hand."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS, InputError, Tables
from synthrisk.metrics.tables.coarsen import OTHER, binned

RNG = np.random.default_rng(4)
REAL = pd.DataFrame({"pay": RNG.lognormal(8, 1, 200).round(2)})
REAL["job"] = RNG.choice(["nurse", "cook", "Müller's", "<b>"], 200, p=[0.4, 0.3, 0.2, 0.1])
REAL["born"] = pd.Timestamp("1980-01-01") + pd.to_timedelta(RNG.integers(0, 9000, 200), unit="D")
REAL["vote"] = RNG.choice(["a", "b"], 200)
RELEASE = REAL.sample(80, replace=True, random_state=1).reset_index(drop=True)
RELEASE.loc[:3, "pay"] *= 1000  # beyond the real range
KNOWN = ["pay", "job", "born"]


def coarse(real=REAL, release=RELEASE, bins=4, binning="quantile", known=KNOWN, hidden=("vote",)):
    return binned(Tables(real, release), known, hidden, bins, binning)


def test_parts_of_numbers_and_dates_are_those_of_pandas():
    found = coarse()
    expected, edges = pd.qcut(REAL["pay"], 4, labels=False, retbins=True)
    assert found.real["pay"].tolist() == expected.tolist()
    edges[[0, -1]] = -np.inf, np.inf  # what lies outside goes to the end parts
    assert found.synthetic["pay"].tolist() == pd.cut(RELEASE["pay"], edges, labels=False).tolist()
    assert coarse(binning="width").real["pay"].tolist() == pd.cut(REAL["pay"], 4, labels=False).tolist()
    assert found.real["born"].tolist() == pd.qcut(REAL["born"], 4, labels=False).tolist()
    assert found.real["job"].equals(REAL["job"])


def test_the_most_frequent_levels_stay_and_all_where_there_are_no_more():
    found = coarse(bins={"job": 3})
    expected = REAL["job"].where(REAL["job"].isin(["nurse", "cook"]), OTHER)
    assert found.real["job"].tolist() == expected.tolist()
    assert found.real["pay"].equals(REAL["pay"])
    assert set(found.synthetic["job"]) <= {"nurse", "cook", OTHER}
    assert coarse(bins={"job": 4}).real["job"].tolist() == REAL["job"].tolist()
    unseen = coarse(release=RELEASE.assign(job="pilot"), bins={"job": 2})
    assert set(unseen.synthetic["job"]) == {OTHER}


def test_missing_cells_stay_missing_and_a_constant_column_is_one_part():
    real = REAL.assign(pay=REAL["pay"].where(REAL.index > 9), job=REAL["job"].where(REAL.index > 9))
    found = coarse(real, bins={"pay": 4, "job": 2})
    assert found.real[["pay", "job"]].isna().sum().tolist() == [10, 10]
    assert set(coarse(REAL.assign(pay=5.0)).real["pay"]) == {0}


def test_a_numeric_secret_becomes_a_category_without_its_values():
    roles = {"quasi_identifiers": ["job"], "sensitive": "pay"}
    score = METRICS["rapid"](REAL, RELEASE, **roles, attacker="cart", bins={"pay": 3})
    assert set(score.records["truth"]) == {"1 of 3", "2 of 3", "3 of 3"}
    assert "gain" in score.records


def test_binning_is_the_same_as_cutting_beforehand():
    real, release = REAL.copy(), RELEASE.copy()
    edges = np.quantile(REAL["pay"], [0.25, 0.5, 0.75])
    for table in (real, release):
        table["pay"] = np.searchsorted(edges, table["pay"], side="left")
    roles = {"quasi_identifiers": ["pay", "job"], "sensitive": "vote"}
    for name in ("zero_cap", "generalized_cap", "targeted_cap", "attribute_disclosure"):
        assert METRICS[name](REAL, RELEASE, **roles, bins=4).value == METRICS[name](real, release, **roles).value


@pytest.mark.parametrize("bins", [1, 0, -3, 2.5, True, "four", {"pay": 1}, {"pay": None}, {"pay": "x"}])
def test_a_number_of_parts_that_is_none_is_refused(bins):
    with pytest.raises(InputError, match=r"bins must be a whole number of at least 2.*got"):
        METRICS["zero_cap"](REAL, RELEASE, quasi_identifiers=["job"], sensitive="vote", bins=bins)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bins": 3, "binning": "log"}, "binning must be quantile or width, got 'log'"),
        ({"bins": {"pai": 3}}, r"bins must name .*'pai' \(did you mean 'pay'\?\)"),
        ({"real": REAL.assign(pay=np.nan), "bins": 3}, "missing cells only in 'pay'"),
    ],
)
def test_other_bad_arguments_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        METRICS["zero_cap"](
            **{"real": REAL, "synthetic": RELEASE, "quasi_identifiers": ["pay"], "sensitive": "vote"} | options
        )
    with pytest.raises(InputError, match="takes no argument 'bins'"):
        METRICS["distance_to_closest_record"](REAL, RELEASE, bins=3)
