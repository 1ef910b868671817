"""The plan: one measure a metric, sensitive attribute and attacker."""

import pytest

from synthrisk.conf import load
from synthrisk.conf.plan import plan, with_changes
from synthrisk.metrics import InputError
from synthrisk.metrics.exposure.what_if import Change

COLUMNS = ["age", "city", "sex", "income", "ill"]


def planned(metrics, known=("age", "city"), hidden=("income", "ill")):
    study = load(
        {
            "name": "x",
            "data": {"source": "a.csv", "quasi_identifiers": known, "sensitive": list(hidden)},
            "synthesizers": ["cart"],
            "metrics": metrics,
        }
    )
    return plan(study.metrics, COLUMNS, study.data.quasi_identifiers, study.data.sensitive)


def test_one_measure_a_sensitive_attribute_and_attacker():
    found = planned([{"name": "rapid", "attackers": ["logistic", "random_forest"], "threshold": 0.5}])
    assert [(p.measure.key, p.measure.attacker) for p in found] == [
        ("rapid-logistic.income", "logistic"),
        ("rapid-logistic.ill", "logistic"),
        ("rapid-random_forest.income", "random_forest"),
        ("rapid-random_forest.ill", "random_forest"),
    ]
    assert found[0].options == {
        "threshold": 0.5,
        "attacker": "logistic",
        "sensitive": "income",
        "quasi_identifiers": ["age", "city"],
    }


def test_columns_in_brackets_are_guessed_at_once():
    """The attacker who is after both knows neither, and bins of other targets are not asked of them."""
    rich = {"name": "zero_cap", "quasi_identifiers": "*", "bins": {"age": 4, "income": 3, "ill": 2}}
    alone, both = planned([rich], hidden=["income", ["ill", "city"]])
    assert (alone.measure.key, alone.measure.joint, alone.measure.targets) == ("zero_cap.income", (), ("income",))
    assert (both.measure.key, both.measure.targets) == ("zero_cap.ill and city", ("ill", "city"))
    assert both.options == {
        "bins": {"age": 4, "income": 3, "ill": 2},
        "sensitive": ["ill", "city"],
        "quasi_identifiers": ["age", "sex", "income"],
    }
    narrow = {"name": "zero_cap", "quasi_identifiers": ["age"], "bins": {"age": 4, "income": 3, "ill": 2}}
    assert [p.options["bins"] for p in planned([narrow], hidden=["income", ["ill", "city"]])] == [
        {"age": 4, "income": 3},
        {"age": 4, "ill": 2},
    ]
    (air,) = planned([{"name": "attribute_inference_risk", "sensitive": [["income", "ill"]]}])
    assert air.measure.targets == ("income", "ill")


def test_a_column_called_as_two_guessed_at_once_is_refused():
    with pytest.raises(InputError, match="no column may be called as those guessed at once, got 'a and b'"):
        plan([{"name": "zero_cap", "sensitive": [["a", "b"]]}], ["a", "b", "a and b"], ["a and b"], ["a"])


@pytest.mark.parametrize("name", ["rapid", "inference", "group_inference", "train_synthetic_test_real"])
def test_measures_of_one_column_refuse_two_at_once(name):
    with pytest.raises(InputError, match=f"sensitive of metric {name} must be one column at a time"):
        planned([name], hidden=[["income", "ill"]])


def test_several_attackers_together_are_measures_beside_those_of_each():
    asked = {
        "name": "rapid",
        "attackers": ["logistic", "cart"],
        "envelope": ["max", "mean", "record"],
        "threshold": 0.5,
    }
    found = planned([{**asked, "what_if": [{"drop": ["city"]}]}], hidden=["ill"])
    keys = [p.measure.key for p in found if not p.measure.variant_of]
    assert keys == [f"rapid{name}.ill" for name in ("-logistic", "-cart", "_max", "_mean", "_envelope")]
    largest, varied = (found[keys.index("rapid_max.ill") * 2 + place] for place in (0, 1))
    assert largest.options["attacker"] == ["logistic", "cart"]
    assert varied.measure.variant_of == "rapid_max"
    for of_all, of_each in ((largest, (found[0], found[2])), (varied, (found[1], found[3]))):
        assert [p.measure.attacker for p in of_all.apart] == ["logistic", "cart"]
        assert [(p.words, p.options) for p in of_all.apart] == [(p.words, p.options) for p in of_each]
    assert found[0].apart == []


def test_one_attacker_is_not_in_the_name():
    (found,) = planned([{"name": "rapid", "attackers": ["logistic"]}], hidden=["ill"])
    assert (found.measure.key, found.measure.metric, found.options["attacker"]) == ("rapid.ill", "rapid", "logistic")


def test_a_second_attacker_moves_no_seed_of_the_first():
    (alone,) = planned([{"name": "rapid", "attackers": ["logistic"]}], hidden=["ill"])
    first, _ = planned([{"name": "rapid", "attackers": ["logistic", "random_forest"]}], hidden=["ill"])
    assert alone.words == first.words


def test_no_attacker_leaves_the_metrics_default():
    (found,) = planned(["rapid"], hidden=["ill"])
    assert found.measure.attacker == "random_forest"


def test_options_of_claims_are_what_a_study_gives():
    own = {"columns_a": ["age", "sex"], "columns_b": ["ill"], "neighbours": 2}
    linked, single = planned(
        [{"name": "linkability"} | own, {"name": "singling_out", "mode": "univariate", "columns": ["age"]}]
    )
    assert linked.measure.key == "linkability"
    assert linked.options == own | {"attacker": "shared_neighbour"}
    assert single.options == {"mode": "univariate", "columns": ["age"]}
    assert single.measure.attacker is None


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ({"name": "linkability", "columns_a": ["age"]}, "linkability needs the options columns_b, got none"),
        ({"name": "linkability", "columns_a": ["agee"], "columns_b": "sex"}, "columns_a of metric linkability"),
        ({"name": "singling_out", "columns": ["nobody"]}, "columns of metric singling_out must be columns"),
        ({"name": "rapid", "mode": "holdout"}, "a study runs all modes at once"),
    ],
)
def test_options_of_claims_are_checked(metric, says):
    with pytest.raises(InputError, match=says):
        planned([metric])


def test_label_names_the_measure():
    found = planned([{"name": "zero_cap", "label": "cap"}])
    assert [(p.measure.key, p.measure.metric) for p in found] == [("cap.income", "zero_cap"), ("cap.ill", "zero_cap")]


def test_all_others_are_all_but_the_sensitive_one():
    found = planned(["zero_cap"], known="*")
    assert [p.options["quasi_identifiers"] for p in found] == [
        ["age", "city", "sex", "ill"],
        ["age", "city", "sex", "income"],
    ]


def test_sensitive_column_among_several_is_known_when_another_is_guessed():
    found = planned(["zero_cap"], known=["age", "income"])
    assert {p.measure.sensitive: p.options["quasi_identifiers"] for p in found} == {
        "income": ["age"],
        "ill": ["age", "income"],
    }


def test_metric_has_roles_of_its_own():
    found = planned([{"name": "zero_cap", "sensitive": ["sex"], "quasi_identifiers": ["city"]}])
    assert [(p.measure.key, p.options["quasi_identifiers"]) for p in found] == [("zero_cap.sex", ["city"])]
    (found,) = planned([{"name": "zero_cap", "sensitive": ["sex"], "quasi_identifiers": "*"}])
    assert found.options["quasi_identifiers"] == ["age", "city", "income", "ill"]


def test_metric_that_guesses_nothing_is_measured_once():
    (found,) = planned(["distance_to_closest_record"])
    assert (found.measure.key, found.measure.sensitive, found.options) == ("distance_to_closest_record", None, {})


def test_order_is_that_of_the_study():
    keys = [p.measure.key for p in planned(["distance_to_closest_record", "zero_cap"], hidden=["ill"])]
    assert keys == ["distance_to_closest_record", "zero_cap.ill"]


def test_a_what_if_is_a_measure_of_its_own_drawn_as_the_one_it_varies():
    changes = [{"drop": ["age"]}, {"bins": {"age": 4}, "binning": "width"}]
    found = planned([{"name": "rapid", "attackers": ["cart", "logistic"], "what_if": changes}], hidden=["ill"])
    labels = [p.measure.label for p in found]
    assert labels[:3] == ["rapid-cart", "rapid-cart-without-age", "rapid-cart-age-in-4"]
    assert [p.measure.variant_of for p in found[:3]] == [None, "rapid-cart", "rapid-cart"]
    assert found[0].words == found[1].words == found[2].words != found[3].words
    assert found[1].options["quasi_identifiers"] == ["city"]
    assert (found[2].options["bins"], found[2].options["binning"]) == ({"age": 4}, "width")


def test_noise_on_one_guessed_column_changes_the_measures_that_guess_it():
    changes = [{"noise": {"ill": 0.2}}, {"noise": {"ill": 0.2, "age": 0.1}}]
    own = plan([{"name": "zero_cap", "what_if": changes}], COLUMNS, ["age", "sex"], ["ill", "city"])
    assert [p.measure.key for p in own] == [
        "zero_cap.ill",
        "zero_cap-ill-noise-20-percent.ill",
        "zero_cap-ill-noise-20-percent-age-noise-10-percent.ill",
        "zero_cap.city",
        "zero_cap-age-noise-10-percent.city",
    ]
    with pytest.raises(InputError, match="noise must name quasi-identifiers or the sensitive column, got 'il'"):
        plan([{"name": "zero_cap", "what_if": [{"noise": {"il": 0.2}}]}], COLUMNS, ["age", "sex"], ["ill", "city"])


def test_noise_and_groups_of_levels_are_what_ifs_too():
    groups = {"south": ["Ulm", "Bonn"]}
    changes = [{"noise": {"age": 0.05}}, {"merge": {"city": groups}}, {"merge": {"city": 3}, "drop": ["age"]}]
    found = planned([{"name": "zero_cap", "what_if": changes}], hidden=["ill"])
    labels = [p.measure.label for p in found]
    assert labels == [
        "zero_cap",
        "zero_cap-age-noise-5-percent",
        "zero_cap-city-merged-1",
        "zero_cap-without-age-city-in-3",
    ]
    assert [p.options.get("bins") for p in found] == [None, {"age": 0.05}, {"city": groups}, {"city": 3}]


@pytest.mark.parametrize(
    ("what_if", "said"),
    [
        ([{}], "must name columns under drop, bins, noise or merge, got none"),
        ([{"drop": ["sex"]}], "drop must name quasi-identifiers, got 'sex'"),
        ([{"bins": {"age": 1}}], "must be at least 2"),
        ([{"noise": {"age": 0}}], "must be above 0"),
        ([{"merge": {"city": 1}}], "must be at least 2"),
        ([{"drop": ["age"]}, {"drop": ["age"]}], "distinct names, got 'zero_cap-without-age.ill' twice"),
    ],
)
def test_what_ifs_that_make_no_sense_are_refused(what_if, said):
    with pytest.raises(InputError, match=said):
        planned([{"name": "zero_cap", "what_if": what_if}])


def test_a_metric_without_quasi_identifiers_has_no_what_if():
    with pytest.raises(InputError, match="distance_to_closest_record does not use"):
        planned([{"name": "distance_to_closest_record", "what_if": [{"drop": ["age"]}]}])


def test_attackers_that_differ_in_nothing_else_are_a_family():
    """Their best success on the population is one yardstick; another threshold is another question."""
    from synthrisk.conf import load
    from synthrisk.conf.plan import plan

    study = load(
        {
            "name": "families",
            "data": {"source": "x.csv", "quasi_identifiers": ["a", "b"], "sensitive": ["c"]},
            "synthesizers": ["cart"],
            "metrics": [
                {"name": "rapid", "attackers": ["random_forest", "lasso"], "what_if": [{"drop": ["a"]}]},
                {"name": "rapid", "label": "strict", "threshold": 0.9},
                {"name": "rapid", "label": "cart", "attackers": ["cart"]},
                "distance_to_closest_record",
            ],
        }
    )
    roles = study.data.quasi_identifiers, study.data.sensitive
    planned = {p.measure.label: p for p in plan(study.metrics, ["a", "b", "c"], *roles)}
    families = {label: p.family for label, p in planned.items()}
    assert families["rapid-random_forest"] == families["rapid-lasso"] == families["cart"]
    assert families["rapid-random_forest-without-a"] == families["rapid-lasso-without-a"]
    assert len(set(families.values())) == 4


def test_changes_to_try_stand_beside_all_that_a_study_has():
    study = load(
        {
            "name": "x",
            "data": {"source": "a.csv", "quasi_identifiers": ["age", "city"], "sensitive": ["income"]},
            "synthesizers": ["cart"],
            "metrics": [
                {"name": "zero_cap", "bins": {"age": 5}, "what_if": [{"drop": ["city"]}]},
                {"name": "rapid", "quasi_identifiers": ["sex", "age"]},
                "membership",
            ],
            "limits": {"memorization/zero_cap.income": 0.05},
        }
    )
    made = with_changes(study, [{"drop": ["city"]}, {"bins": {"age": 3}}], COLUMNS)
    assert [[w.name for w in map(change_of, m.what_if)] for m in made.metrics] == [
        ["without-city", "age-in-3"],
        ["age-in-3"],
        [],
    ]
    assert made.thresholds == study.thresholds
    assert made.metrics[0].options == {"bins": {"age": 5}}
    keys = [p.measure.key for p in plan(made.metrics, COLUMNS, ["age", "city"], ["income"])]
    assert keys[:3] == ["zero_cap.income", "zero_cap-without-city.income", "zero_cap-age-in-3.income"]
    with pytest.raises(InputError, match="a column to try must be one that a metric of the study knows, got ill"):
        with_changes(study, [{"drop": ["ill"]}], COLUMNS)
    noisy = with_changes(study, [{"noise": {"income": 0.2}}], COLUMNS)  # on what is guessed
    assert [len(m.what_if) for m in noisy.metrics] == [2, 1, 0]
    with pytest.raises(InputError, match="that a metric of the study knows or guesses, got ill"):
        with_changes(study, [{"noise": {"ill": 0.2}}], COLUMNS)


def change_of(what_if):
    return Change(**dict(what_if))
