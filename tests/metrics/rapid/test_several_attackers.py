"""Several attackers: each alone, their mean, and the best of them for each record, by plain loops."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS, InputError

RNG = np.random.default_rng(3)


def table(rows):
    age, sex = RNG.integers(20, 60, rows), RNG.choice(["f", "m"], rows)
    ill = np.where((age > 40) ^ (RNG.random(rows) < 0.2), "yes", "no")
    pay = 1000 + 20 * age + 300 * (sex == "m") + RNG.normal(0, 200, rows)
    return pd.DataFrame({"age": age, "sex": sex, "ill": ill, "pay": pay})


REAL, RELEASE = table(120), table(150)
CLASSES, NUMBERS = ["random_forest", "logistic", "cart"], ["random_forest", "linear", "gradient_boosting"]


def score(sensitive, attacker, **options):
    return METRICS["rapid"](
        REAL, RELEASE, quasi_identifiers=["age", "sex"], sensitive=sensitive, attacker=attacker, seed=5, **options
    )


@pytest.mark.parametrize(("sensitive", "attackers"), [("ill", CLASSES), ("pay", NUMBERS)])
def test_max_takes_each_records_best_attacker(sensitive, attackers):
    alone = {a: score(sensitive, a) for a in attackers}
    found = score(sensitive, attackers)
    column, better = ("gain", max) if sensitive == "ill" else ("error", min)
    for row in range(len(REAL)):
        expected = better(s.records[column].iloc[row] for s in alone.values())
        assert found.records[column].iloc[row] == expected
        assert found.records["score"].iloc[row] == max(s.records["score"].iloc[row] for s in alone.values())
    assert found.value == found.details["max"] == pytest.approx(found.records["score"].mean())
    assert found.value >= max(s.value for s in alone.values())
    assert {a: found.details[f"value_{a}"] for a in attackers} == {a: s.value for a, s in alone.items()}


@pytest.mark.parametrize(("sensitive", "attackers"), [("ill", CLASSES), ("pay", NUMBERS)])
def test_mean_is_the_mean_of_the_values(sensitive, attackers):
    found = score(sensitive, attackers, envelope="mean")
    assert found.value == pytest.approx(np.mean([score(sensitive, a).value for a in attackers]))
    assert found.details["mean"] == pytest.approx(found.value)
    assert found.value == pytest.approx(found.records["score"].mean())


def test_one_in_a_list_is_that_one():
    assert score("ill", ["cart"]).value == score("ill", "cart").value


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"attacker": []}, "at least one"),
        ({"attacker": ["cart", "cart"]}, "each once"),
        ({"attacker": ["cart", "lgoistic"]}, "did you mean 'logistic'"),
        ({"attacker": CLASSES, "envelope": "min"}, "envelope must be max or mean"),
        ({"attacker": ["cart", "linear"]}, "categorical attribute, got 'linear'"),
    ],
)
def test_wrong_lists(options, sentence):
    with pytest.raises(InputError, match=sentence):
        score("ill", **options)
