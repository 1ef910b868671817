"""The same attack by someone who knows less, against calling the metric with the changed columns."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.what_if import Change, what_if

RNG = np.random.default_rng(3)
REAL = pd.DataFrame(
    {
        "age": RNG.integers(20, 60, 300),
        "job": RNG.choice(["nurse", "cook", "pilot"], 300),
        "vote": RNG.choice(["a", "b"], 300),
    }
)
RELEASE = REAL.sample(200, replace=True, random_state=1).reset_index(drop=True)
ROLES = {"quasi_identifiers": ["age", "job"], "sensitive": "vote"}
CHANGES = [Change(drop=["age"]), Change(bins={"age": 3}), Change(drop=["job"], bins={"age": 2}, binning="width")]


def test_each_row_is_the_metric_called_with_the_changed_columns():
    found = what_if(METRICS["zero_cap"], REAL, RELEASE, CHANGES, **ROLES)
    by_hand = [
        METRICS["zero_cap"](REAL, RELEASE, **ROLES),
        METRICS["zero_cap"](REAL, RELEASE, **{**ROLES, "quasi_identifiers": ["job"]}),
        METRICS["zero_cap"](REAL, RELEASE, **ROLES, bins={"age": 3}),
        METRICS["zero_cap"](REAL, RELEASE, **{**ROLES, "quasi_identifiers": ["age"]}, bins={"age": 2}, binning="width"),
    ]
    assert found["change"].tolist() == ["as it is", "without-age", "age-in-3", "without-job-age-in-2"]
    assert found["value"].tolist() == [s.value for s in by_hand]
    for row, score in zip(found.itertuples(), by_hand, strict=True):
        gaps = score.records["score"] - by_hand[0].records["score"]
        assert row.difference == pytest.approx(gaps.mean(), abs=1e-12)
        half = stats.t.ppf(0.975, len(gaps) - 1) * gaps.std() / np.sqrt(len(gaps))
        assert (row.lower, row.upper) == pytest.approx((gaps.mean() - half, gaps.mean() + half))


def test_a_forest_is_compared_under_one_seed():
    found = what_if(METRICS["rapid"], REAL, RELEASE, [Change(drop=["job"])], **ROLES, attacker="cart", seed=5)
    alone = METRICS["rapid"](REAL, RELEASE, **{**ROLES, "quasi_identifiers": ["age"]}, attacker="cart", seed=5)
    assert found["value"].iloc[1] == alone.value


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change(), "what_if must drop or coarsen"),
        (Change(drop=["aeg"]), r"drop must name quasi-identifiers, got 'aeg' \(did you mean 'age'\?\)"),
        (Change(bins={"vote": 2}), "bins must name quasi-identifiers, got 'vote'"),
        (Change(drop=["age", "job"]), "must leave a quasi-identifier"),
        (Change(bins={"age": 1}), "bins must be a whole number of at least 2"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(change, said):
    with pytest.raises(InputError, match=said):
        what_if(METRICS["zero_cap"], REAL, RELEASE, [change], **ROLES)


def test_a_metric_without_quasi_identifiers_is_refused():
    with pytest.raises(InputError, match="what_if needs a metric with quasi_identifiers"):
        what_if(METRICS["distance_to_closest_record"], REAL, RELEASE, CHANGES)


def test_names_fit_into_labels():
    assert Change(drop=["net pay (€)"], bins={"a.b": 3}).name == "without-net_pay____-a_b-in-3"
