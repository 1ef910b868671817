from collections import Counter

import numpy as np
import pandas as pd
import pytest

from synthrisk.conf.plan import plan
from synthrisk.conf.study import Data
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.limits import check_limits
from synthrisk.tasks.attack import attack
from synthrisk.tasks.propose.measures import ALONE, also_needed, limits, look_up, measures, singled_out
from synthrisk.tasks.sample import sample
from synthrisk.tasks.synthesize.task import synthesize


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame({
        "age": rng.integers(18, 80, 150), "sex": rng.choice(["m", "w"], 150),
        "salary": rng.lognormal(8, 0.5, 150).round(2), "smokes": rng.choice([True, False], 150),
        "ill": rng.choice(list("abc"), 150),
    })  # fmt: skip


def of(quasi_identifiers=("age", "sex"), sensitive=("ill",), **roles) -> Data:
    return Data(source="people.csv", quasi_identifiers=list(quasi_identifiers), sensitive=list(sensitive), **roles)


def measured(*names, of=None) -> list[Measure]:
    return [Measure(name, name, of) for name in names]


def test_every_measure_can_be_taken(table, tmp_path):
    data = of(sensitive=["salary", "ill", "smokes"])
    chosen = measures(table, data)
    cut = sample.fn(table.head(60), data.quasi_identifiers, data.sensitive, folds=2, workspace=str(tmp_path))
    planned = plan(chosen, cut.columns, data.quasi_identifiers, data.sensitive)
    ledger = attack.fn(synthesize.fn(cut, "cart"), chosen)
    assert [p.measure.key for p in ledger.planned] == [p.measure.key for p in planned]
    keys = {p.measure.key for p in planned}
    assert {f"{name}.{column}" for name in ("zero_cap", "rapid") for column in data.sensitive} <= keys
    assert {"singling_out", "common_rows_proportion", "membership", "distance_to_closest_record", "accuracy"} <= keys
    check_limits(list(limits([p.measure for p in planned], 0.05, 99, 99).values), [p.measure for p in planned])


def test_numbers_that_are_guessed_are_looked_up_in_parts_and_coarse_keys_as_they_are(table):
    first = measures(table, of(sensitive=["salary", "ill"]))[0]
    assert (first["name"], set(first["bins"])) == ("zero_cap", {"age", "salary"})
    assert measures(table, of(["sex"]))[0] == {"name": "zero_cap"}


def test_where_single_people_have_levels_of_their_own_these_are_looked_at_and_limited(table):
    for alone, recommended in ((0, False), (1, False), (2, True)):
        wider = table.assign(job=[f"job {i}" if i < alone else "clerk" for i in range(150)])
        chosen = [[each["name"] for each in measures(wider, data)] for data in (of(), of(drop=["job"]))]
        assert ["one_person_values" in names for names in chosen] == [recommended, False]
    found = limits(measured("one_person_values"), 0.05, 99, 99).values
    assert found == {"memorization/one_person_values": 0.05}
    check_limits(list(found), measured("one_person_values"))


def test_limits_are_set_where_one_number_means_the_same_and_without_a_thousand_controls_membership_is_a_difference():
    guessed = [Measure(name, name, column) for name in ("zero_cap", "rapid") for column in ("a", "b")]
    others = measured("membership", "distance_to_closest_record", "accuracy")
    variant = Measure("zero_cap-without-age", "zero_cap", "a", variant_of="zero_cap")
    found = limits([*guessed, variant, *others], 0.1, 1000, 1000, groups=False).values
    gains = dict.fromkeys((f"control_gain/{name}" for name in ("zero_cap.a", "zero_cap.b", "rapid.a", "rapid.b")), 0.1)
    assert found == gains | {"tpr/membership": pytest.approx(0.11)}
    found = limits(measured("membership"), 0.1, 999, 999, groups=False)
    assert found == ({"memorization/membership": 0.1}, "")


def test_the_same_limit_is_set_on_the_most_exposed_where_it_could_decide():
    chosen = [*measured("common_rows_proportion", "membership"), *measured("zero_cap", of="a")]
    found = limits(chosen, 0.05, 3000, 3000)
    due = {"memorization/common_rows_proportion": 0.05, "tpr/membership": pytest.approx(0.06)}
    of_groups = {f"{name}@{group}": limit for name, limit in due.items() for group in ("outliers", "rare_keys")}
    assert found.values == due | of_groups | {"control_gain/zero_cap.a": 0.05}
    assert found.left_out == (
        "too few records for a limit on control_gain/zero_cap.a@outliers, control_gain/zero_cap.a@rare_keys "
        "(from about 24,000 members and as many control records on)"
    )
    check_limits(list(found.values), chosen)
    assert "control_gain/zero_cap.a@outliers" in limits(chosen, 0.05, 24_000, 24_000).values


def test_a_limit_on_each_group_of_the_most_exposed_stays_in_a_small_table_and_where_none_could_decide_all_say_so():
    chosen = [*measured("common_rows_proportion"), *measured("zero_cap", of="a")]
    name = "memorization/common_rows_proportion"
    found = limits(chosen, 0.1, 314, 314)
    assert list(found.values) == [name, f"{name}@outliers", f"{name}@rare_keys", "control_gain/zero_cap.a"]
    assert "control_gain/zero_cap.a@rare_keys" in found.left_out
    assert f"{name}@outliers" not in limits(chosen, 0.1, 314, 314, groups=False).values
    found = limits(measured("zero_cap", of="a"), 0.05, 100, 100)
    assert list(found.values) == ["control_gain/zero_cap.a"]
    assert found.left_out


def test_with_few_control_records_a_measure_that_sees_near_copies_is_added_where_the_atlas_is_there(monkeypatch):
    numbers = pd.DataFrame({name: np.arange(50.0) for name in ("age", "sex", "ill", *"abcdef")})
    assert [also_needed(numbers, of(), controls) for controls in (5000, 450)] == [[], ["hitting_rate"]]
    monkeypatch.setattr("synthrisk.tasks.propose.measures.shipped", lambda: None)
    assert also_needed(numbers, of(), 450) == []


def people(rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame({
        "age": rng.integers(18, 90, rows).astype(float), "sex": pd.Categorical(rng.choice(["m", "w"], rows)),
        "zip": pd.Categorical([f"{z:05d}" for z in rng.integers(1000, 9000, rows)]),
        "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, rows), unit="D"),
    })  # fmt: skip


@pytest.mark.parametrize("keys", [["sex"], ["age", "sex"], ["zip"], ["age", "sex", "zip", "born"]])
def test_who_is_alone_is_counted_as_by_a_plain_loop(keys):
    table = people()
    rows = [tuple(row) for row in table[keys].astype(str).to_numpy()]
    counts = Counter(rows)
    assert singled_out(table, keys, {}) == pytest.approx(np.mean([counts[row] == 1 for row in rows]))


def test_coarse_keys_hold_together_half_of_the_records_and_stay_as_they_are_where_they_do():
    table = people()
    known = ["age", "sex", "zip", "born"]
    assert singled_out(table, known, {}) > 0.95
    found = look_up(table, known)
    assert singled_out(table, list(found.columns), found.bins) <= ALONE
    assert "sex" not in found.bins  # it is coarse enough as it is
    table = people().assign(age=lambda t: t["age"] // 30)
    found = look_up(table, ["age", "sex"])
    assert (found.columns, found.bins, singled_out(people(), [], {})) == (("age", "sex"), {}, 0)


def test_columns_are_left_out_where_coarsening_does_not_do_but_the_last():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({f"c{i}": pd.Categorical(rng.integers(0, 6, 200).astype(str)) for i in range(12)})
    found = look_up(table, list(table))
    assert 0 < len(found.columns) < 12
    assert singled_out(table, list(found.columns), found.bins) <= ALONE
    table = pd.DataFrame({"x": pd.Categorical([str(i) for i in range(3)])})
    assert look_up(table, ["x"]).columns == ("x",)
