"""The measures of a first study are such as its table can be attacked with."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.conf.plan import plan
from synthrisk.conf.study import Data
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.verdicts import check_limits
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
    check_limits(list(limits([p.measure for p in planned], 0.05, 99, 99).values), [p.measure for p in planned])


def test_numbers_that_are_guessed_are_looked_up_in_parts(table):
    first = measures(table, of(quasi_identifiers=["age", "sex"], sensitive=["salary", "ill"]))[0]
    assert first["name"] == "zero_cap"
    assert set(first["bins"]) == {"age", "salary"}


def test_coarse_keys_need_no_parts(table):
    first = measures(table, of(quasi_identifiers=["sex"], sensitive=["ill"]))[0]
    assert first == {"name": "zero_cap"}


def test_where_single_people_have_levels_of_their_own_these_are_looked_at_and_limited(table):
    data = of(quasi_identifiers=["age", "sex"], sensitive=["ill"])
    assert "one_person_values" not in [each["name"] for each in measures(table, data)]
    for alone, recommended in ((1, False), (2, True)):
        job = pd.Series([f"job {i}" if i < alone else "clerk" for i in range(150)])
        chosen = [each["name"] for each in measures(table.assign(job=job), data)]
        assert ("one_person_values" in chosen) == recommended
        dropped = of(quasi_identifiers=["age", "sex"], sensitive=["ill"], drop=["job"])
        assert "one_person_values" not in [each["name"] for each in measures(table.assign(job=job), dropped)]
    found = limits([Measure("one_person_values", "one_person_values")], 0.05, 99, 99).values
    assert found == {"memorization/one_person_values": 0.05}
    check_limits(list(found), [Measure("one_person_values", "one_person_values")])


def test_limits_are_set_where_one_number_means_the_same():
    guessed = [Measure(name, name, column) for name in ("zero_cap", "rapid") for column in ("a", "b")]
    others = [Measure(name, name) for name in ("membership", "distance_to_closest_record", "accuracy")]
    variant = Measure("zero_cap-without-age", "zero_cap", "a", variant_of="zero_cap")
    found = limits([*guessed, variant, *others], 0.1, 1000, 1000, groups=False).values
    assert found == {
        "control_gain/zero_cap.a": 0.1,
        "control_gain/zero_cap.b": 0.1,
        "control_gain/rapid.a": 0.1,
        "control_gain/rapid.b": 0.1,
        "tpr/membership": pytest.approx(0.11),
    }


def test_without_a_thousand_control_records_membership_is_limited_as_a_difference():
    found = limits([Measure("membership", "membership")], 0.1, 999, 999, groups=False)
    assert found == ({"memorization/membership": 0.1}, "")


def test_the_same_limit_is_set_on_the_most_exposed_where_it_could_decide():
    """A limit for all is a limit for the few: 5 % of 3,000 are 150 people, whose noise is 4.5 times as large."""
    measured = [Measure("common_rows_proportion", "common_rows_proportion"), Measure("membership", "membership")]
    measured.append(Measure("zero_cap", "zero_cap", "a"))
    found = limits(measured, 0.05, 3000, 3000)
    assert found.values == {
        "memorization/common_rows_proportion": 0.05,
        "memorization/common_rows_proportion@outliers": 0.05,
        "memorization/common_rows_proportion@rare_keys": 0.05,
        "tpr/membership": pytest.approx(0.06),
        "tpr/membership@outliers": pytest.approx(0.06),
        "tpr/membership@rare_keys": pytest.approx(0.06),
        "control_gain/zero_cap.a": 0.05,
    }
    assert found.left_out == (
        "too few records for a limit on control_gain/zero_cap.a@outliers, control_gain/zero_cap.a@rare_keys "
        "(from about 24,000 members and as many control records on)"
    )
    check_limits(list(found.values), measured)
    assert "control_gain/zero_cap.a@outliers" in limits(measured, 0.05, 24_000, 24_000).values


def test_a_limit_on_each_group_of_the_most_exposed_stays_in_a_small_table_and_will_say_that_it_cannot_tell():
    """Without it the word would speak of everybody, and 15 of 300 people might all be copied."""
    measured = [Measure("common_rows_proportion", "common_rows_proportion"), Measure("zero_cap", "zero_cap", "a")]
    found = limits(measured, 0.1, 314, 314)
    assert list(found.values) == [
        "memorization/common_rows_proportion",
        "memorization/common_rows_proportion@outliers",
        "memorization/common_rows_proportion@rare_keys",
        "control_gain/zero_cap.a",
    ]
    assert "control_gain/zero_cap.a@rare_keys" in found.left_out
    assert "memorization/common_rows_proportion@outliers" not in limits(measured, 0.1, 314, 314, groups=False).values


def test_where_no_limit_could_decide_all_are_set_and_say_so_themselves():
    found = limits([Measure("zero_cap", "zero_cap", "a")], 0.05, 100, 100)
    assert list(found.values) == ["control_gain/zero_cap.a"]
    assert found.left_out


def test_with_few_control_records_a_measure_that_sees_near_copies_is_added():
    data, names = of(quasi_identifiers=["age", "sex"], sensitive=["ill"]), ("age", "sex", "ill", *"abcdef")
    numbers = pd.DataFrame({name: np.arange(50.0) for name in names})
    assert also_needed(numbers, data, 5000) == []
    assert also_needed(numbers, data, 450) == ["hitting_rate"]


def test_without_an_atlas_nothing_is_added(table, monkeypatch):
    monkeypatch.setattr("synthrisk.tasks.propose.measures.shipped", lambda: None)
    assert also_needed(table, of(quasi_identifiers=["age"], sensitive=["ill"]), 450) == []
