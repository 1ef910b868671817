"""The measures of a first study are such as its table can be attacked with."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.conf.plan import plan
from synthrisk.conf.study import Data
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.verdicts import check_limits
from synthrisk.tasks.attack import attack
from synthrisk.tasks.propose.measures import also_needed, limits, measures
from synthrisk.tasks.sample import sample
from synthrisk.tasks.synthesize.task import synthesize


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, 150),
            "sex": rng.choice(["m", "w"], 150),
            "salary": rng.lognormal(8, 0.5, 150).round(2),
            "smokes": rng.choice([True, False], 150),
            "ill": rng.choice(list("abc"), 150),
        }
    )


def of(**roles: list[str]) -> Data:
    return Data(source="people.csv", **roles)


def test_every_measure_can_be_taken(table, tmp_path):
    data = of(quasi_identifiers=["age", "sex"], sensitive=["salary", "ill", "smokes"])
    chosen = measures(table, data)
    cut = sample.fn(table, data.quasi_identifiers, data.sensitive, folds=2, workspace=str(tmp_path))
    planned = plan(chosen, cut.columns, data.quasi_identifiers, data.sensitive)
    ledger = attack.fn(synthesize.fn(cut, "cart"), chosen)
    assert [p.measure.key for p in ledger.planned] == [p.measure.key for p in planned]
    keys = {p.measure.key for p in planned}
    assert {f"{name}.{column}" for name in ("zero_cap", "rapid") for column in data.sensitive} <= keys
    assert {"singling_out", "common_rows_proportion", "membership", "distance_to_closest_record", "accuracy"} <= keys
    check_limits(list(limits([p.measure for p in planned], 0.05, 99)), [p.measure for p in planned])


def test_numbers_that_are_guessed_are_looked_up_in_parts(table):
    first = measures(table, of(quasi_identifiers=["age", "sex"], sensitive=["salary", "ill"]))[0]
    assert first["name"] == "zero_cap"
    assert set(first["bins"]) == {"age", "salary"}


def test_coarse_keys_need_no_parts(table):
    first = measures(table, of(quasi_identifiers=["sex"], sensitive=["ill"]))[0]
    assert first == {"name": "zero_cap"}


def test_limits_are_set_where_one_number_means_the_same():
    guessed = [Measure(name, name, column) for name in ("zero_cap", "rapid") for column in ("a", "b")]
    others = [Measure(name, name) for name in ("membership", "distance_to_closest_record", "accuracy")]
    variant = Measure("zero_cap-without-age", "zero_cap", "a", variant_of="zero_cap")
    found = limits([*guessed, variant, *others], 0.1, 1000)
    assert found == {
        "control_gain/zero_cap.a": 0.1,
        "control_gain/zero_cap.b": 0.1,
        "control_gain/rapid.a": 0.1,
        "control_gain/rapid.b": 0.1,
        "tpr/membership": pytest.approx(0.11),
    }


def test_without_a_thousand_control_records_membership_is_limited_as_a_difference():
    assert limits([Measure("membership", "membership")], 0.1, 999) == {"memorization/membership": 0.1}


def test_with_few_control_records_a_measure_that_sees_near_copies_is_added(table):
    data = of(quasi_identifiers=["age", "sex"], sensitive=["ill"])
    assert also_needed(table, data, 5000) == []
    assert also_needed(table, data, 450) == ["hitting_rate"]


def test_without_an_atlas_nothing_is_added(table, monkeypatch):
    monkeypatch.setattr("synthrisk.tasks.propose.measures.shipped", lambda: None)
    assert also_needed(table, of(quasi_identifiers=["age"], sensitive=["ill"]), 450) == []
