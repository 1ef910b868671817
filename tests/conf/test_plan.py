"""The plan: one measure a metric, sensitive attribute and attacker."""

import pytest

from synthrisk.conf import load
from synthrisk.conf.plan import plan, with_changes
from synthrisk.metrics import InputError
from synthrisk.metrics.exposure.what_if import Change

COLUMNS = ["age", "city", "sex", "income", "ill"]


def study_of(metrics, known=("age", "city"), hidden=("income", "ill"), **others):
    data = {"source": "a.csv", "quasi_identifiers": known, "sensitive": list(hidden)}
    return load({"name": "x", "data": data, "synthesizers": ["cart"], "metrics": metrics, **others})


def planned(metrics, columns=COLUMNS, **roles):
    study = study_of(metrics, **roles)
    return plan(study.metrics, columns, study.data.quasi_identifiers, study.data.sensitive)


def test_one_measure_a_sensitive_attribute_and_attacker():
    models = ["logistic", "random_forest"]
    found = planned([{"name": "rapid", "attackers": models, "threshold": 0.5}])
    told = [(p.measure.key, p.measure.attacker) for p in found]
    assert told == [(f"rapid-{a}.{column}", a) for a in models for column in ("income", "ill")]
    own = {"sensitive": "income", "quasi_identifiers": ["age", "city"]}
    assert found[0].options == {"threshold": 0.5, "attacker": "logistic", **own}


def test_columns_in_brackets_are_guessed_at_once():
    rich = {"name": "zero_cap", "quasi_identifiers": "*", "bins": {"age": 4, "income": 3, "ill": 2}}
    alone, both = planned([rich], hidden=["income", ["ill", "city"]])
    assert (alone.measure.key, alone.measure.joint, alone.measure.targets) == ("zero_cap.income", (), ("income",))
    assert (both.measure.key, both.measure.targets) == ("zero_cap.ill and city", ("ill", "city"))
    bins = {"age": 4, "income": 3, "ill": 2}
    assert both.options == {"bins": bins, "sensitive": ["ill", "city"], "quasi_identifiers": ["age", "sex", "income"]}
    narrow = {"name": "zero_cap", "quasi_identifiers": ["age"], "bins": bins}
    told = [p.options["bins"] for p in planned([narrow], hidden=["income", ["ill", "city"]])]
    assert told == [{"age": 4, "income": 3}, {"age": 4, "ill": 2}]
    (air,) = planned([{"name": "attribute_inference_risk", "sensitive": [["income", "ill"]]}])
    assert air.measure.targets == ("income", "ill")


def test_a_column_called_as_two_guessed_at_once_is_refused():
    with pytest.raises(InputError, match="no column may be called as those guessed at once, got 'a and b'"):
        plan([{"name": "zero_cap", "sensitive": [["a", "b"]]}], ["a", "b", "a and b"], ["a and b"], ["a"])


def test_several_attackers_together_are_measures_beside_those_of_each():
    models, together = ["logistic", "cart"], ["max", "mean", "record"]
    asked = {"name": "rapid", "attackers": models, "envelope": together, "threshold": 0.5}
    found = planned([{**asked, "what_if": [{"drop": ["city"]}]}], hidden=["ill"])
    keys = [p.measure.key for p in found if not p.measure.variant_of]
    assert keys == [f"rapid{name}.ill" for name in ("-logistic", "-cart", "_max", "_mean", "_envelope")]
    largest, varied = (found[keys.index("rapid_max.ill") * 2 + place] for place in (0, 1))
    assert (largest.options["attacker"], varied.measure.variant_of) == (["logistic", "cart"], "rapid_max")
    for of_all, of_each in ((largest, (found[0], found[2])), (varied, (found[1], found[3]))):
        assert [p.measure.attacker for p in of_all.apart] == ["logistic", "cart"]
        assert [(p.words, p.options) for p in of_all.apart] == [(p.words, p.options) for p in of_each]
    assert found[0].apart == []


def test_one_attacker_is_not_in_the_name_and_a_second_moves_no_seed_of_it():
    (alone,) = planned([{"name": "rapid", "attackers": ["logistic"]}], hidden=["ill"])
    assert (alone.measure.key, alone.measure.metric, alone.options["attacker"]) == ("rapid.ill", "rapid", "logistic")
    first, _ = planned([{"name": "rapid", "attackers": ["logistic", "random_forest"]}], hidden=["ill"])
    assert alone.words == first.words
    (default,) = planned(["rapid"], hidden=["ill"])
    assert default.measure.attacker == "random_forest"


def test_options_of_claims_are_what_a_study_gives_and_what_guesses_nothing_is_measured_once():
    own = {"columns_a": ["age", "sex"], "columns_b": ["ill"], "neighbours": 2}
    alone = {"mode": "univariate", "columns": ["age"]}
    linked, single = planned([{"name": "linkability", **own}, {"name": "singling_out", **alone}])
    assert (linked.measure.key, linked.options) == ("linkability", own | {"attacker": "shared_neighbour"})
    assert (single.options, single.measure.attacker) == (alone, None)
    (found,) = planned(["distance_to_closest_record"])
    assert (found.measure.sensitive, found.options) == (None, {})


@pytest.mark.parametrize(("metric", "says"), [
    ({"name": "linkability", "columns_a": ["age"]}, "linkability needs the options columns_b, got none"),
    ({"name": "singling_out", "columns": ["nobody"]}, "columns of metric singling_out must be columns"),
    ({"name": "rapid", "mode": "holdout"}, "a study runs all modes at once"),
    ({"name": "distance_to_closest_record", "what_if": [{"drop": ["age"]}]}, "closest_record does not use"),
    *(({"name": "zero_cap", "what_if": what_if}, says) for what_if, says in (
        ([{"drop": ["sex"]}], "columns to leave out must be quasi-identifiers, got 'sex'"),
        ([{"bins": {"age": 1}}], "must be at least 2"),
        ([{"noise": {"age": 0}}], "must be above 0"),
        ([{"merge": {"city": 1}}], "must be at least 2"),
        ([{"drop": ["age"]}, {"drop": ["age"]}], "distinct names, got 'zero_cap-without-age.ill' twice"),
        ([{"noise": {"il": 0.2}}], "columns for noise must be quasi-identifiers or the sensitive column, got 'il'"),
    )),
    *(({"name": name, "sensitive": [["income", "ill"]]}, f"sensitive of metric {name} must be one column at a time")
      for name in ("rapid", "inference", "group_inference", "train_synthetic_test_real")),
])  # fmt: skip
def test_options_roles_and_what_ifs_that_make_no_sense_are_refused(metric, says):
    with pytest.raises(InputError, match=says):
        planned([metric])


@pytest.mark.parametrize(("metrics", "roles", "keys", "known"), [
    ([{"name": "zero_cap", "label": "cap"}], {}, ["cap.income", "cap.ill"], [["age", "city"]] * 2),
    (["zero_cap"], {"known": "*"}, ["zero_cap.income", "zero_cap.ill"],
     [["age", "city", "sex", "ill"], ["age", "city", "sex", "income"]]),
    (["zero_cap"], {"known": ["age", "income"]}, ["zero_cap.income", "zero_cap.ill"], [["age"], ["age", "income"]]),
    ([{"name": "zero_cap", "sensitive": ["sex"], "quasi_identifiers": ["city"]}], {}, ["zero_cap.sex"], [["city"]]),
    ([{"name": "zero_cap", "sensitive": ["sex"], "quasi_identifiers": "*"}], {}, ["zero_cap.sex"],
     [["age", "city", "income", "ill"]]),
    (["distance_to_closest_record", "zero_cap"], {"hidden": ["ill"]}, ["distance_to_closest_record", "zero_cap.ill"],
     [None, ["age", "city"]]),
], ids=["label", "all others", "known beside another", "own roles", "own and all others", "in order"])  # fmt: skip
def test_measures_are_called_by_label_and_target_and_know_all_but_what_they_guess(metrics, roles, keys, known):
    found = planned(metrics, **roles)
    assert [p.measure.key for p in found] == keys
    assert [p.options.get("quasi_identifiers") for p in found] == known
    assert {p.measure.metric for p in found} == {m if isinstance(m, str) else m["name"] for m in metrics}


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
    own = planned([{"name": "zero_cap", "what_if": changes}], known=["age", "sex"], hidden=["ill", "city"])
    assert [p.measure.key.removeprefix("zero_cap") for p in own] == [
        *(".ill", "-ill-noise-20-percent.ill", "-ill-noise-20-percent-age-noise-10-percent.ill"),
        *(".city", "-age-noise-10-percent.city"),
    ]


def test_noise_and_groups_of_levels_are_what_ifs_too():
    groups = {"south": ["Ulm", "Bonn"]}
    changes = [{"noise": {"age": 0.05}}, {"merge": {"city": groups}}, {"merge": {"city": 3}, "drop": ["age"]}]
    found = planned([{"name": "zero_cap", "what_if": changes}], hidden=["ill"])
    labels = [p.measure.label.removeprefix("zero_cap") for p in found]
    assert labels == ["", "-age-noise-5-percent", "-city-merged-1", "-without-age-city-in-3"]
    assert [p.options.get("bins") for p in found] == [None, {"age": 0.05}, {"city": groups}, {"city": 3}]


def test_attackers_that_differ_in_nothing_else_are_a_family():
    metrics = [
        {"name": "rapid", "attackers": ["random_forest", "lasso"], "what_if": [{"drop": ["age"]}]},
        {"name": "rapid", "label": "strict", "threshold": 0.9},
        {"name": "rapid", "label": "cart", "attackers": ["cart"]},
        "distance_to_closest_record",
    ]
    families = {p.measure.label: p.family for p in planned(metrics, hidden=["income"])}
    assert families["rapid-random_forest"] == families["rapid-lasso"] == families["cart"]
    assert families["rapid-random_forest-without-age"] == families["rapid-lasso-without-age"]
    assert len(set(families.values())) == 4


def test_changes_to_try_stand_beside_all_that_a_study_has():
    metrics = [
        {"name": "zero_cap", "bins": {"age": 5}, "what_if": [{"drop": ["city"]}]},
        {"name": "rapid", "quasi_identifiers": ["sex", "age"]},
        "membership",
    ]
    study = study_of(metrics, hidden=["income"], limits={"memorization/zero_cap.income": 0.05})
    made = with_changes(study, [{"drop": ["city"]}, {"bins": {"age": 3}}], COLUMNS)
    names = [[Change(**dict(what_if)).name for what_if in m.what_if] for m in made.metrics]
    assert (names, made.thresholds) == ([["without-city", "age-in-3"], ["age-in-3"], []], study.thresholds)
    assert made.metrics[0].options == {"bins": {"age": 5}}
    keys = [p.measure.key for p in plan(made.metrics, COLUMNS, ["age", "city"], ["income"])]
    assert keys[:3] == ["zero_cap.income", "zero_cap-without-city.income", "zero_cap-age-in-3.income"]
    noisy = with_changes(study, [{"noise": {"income": 0.2}}], COLUMNS)  # on what is guessed
    assert [len(m.what_if) for m in noisy.metrics] == [2, 1, 0]
    for change, knows in (({"drop": ["ill"]}, "knows"), ({"noise": {"ill": 0.2}}, "knows or guesses")):
        told = f"a column to try must be one that a metric of the study {knows}, got ill"
        with pytest.raises(InputError, match=told):
            with_changes(study, [change], COLUMNS)
