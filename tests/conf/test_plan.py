"""The plan: one measure a metric, sensitive attribute and attacker."""

from synthrisk.conf import load
from synthrisk.conf.plan import plan

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
    return plan(study, COLUMNS)


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
