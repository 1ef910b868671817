"""Several attackers: each alone, their mean, and the best of them for each record, by plain loops."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from samples.attacked import ill_and_paid
from synthrisk.metrics import METRICS, InputError

RNG = np.random.default_rng(3)
REAL, RELEASE = ill_and_paid(RNG, 120), ill_and_paid(RNG, 150)
CLASSES, NUMBERS = ("gradient_boosting", "logistic", "cart"), ("cart", "linear", "gradient_boosting")


@cache  # one model, or several
def score(sensitive, attacker, **options):
    attacker = list(attacker) if isinstance(attacker, tuple) else attacker
    return METRICS["rapid"](
        REAL, RELEASE, quasi_identifiers=["age", "sex"], sensitive=sensitive, attacker=attacker, seed=5, **options
    )


KINDS = pytest.mark.parametrize(("sensitive", "attackers"), [("ill", CLASSES), ("pay", NUMBERS)])


def shares(sensitive, attackers):
    """Return the value of each attacker model, and of the best of them for each record, by plain loops."""
    alone = {a: score(sensitive, a).records for a in attackers}
    values = {a: sum(records["score"]) / len(REAL) for a, records in alone.items()}
    best = sum(max(records["score"].iloc[row] for records in alone.values()) for row in range(len(REAL)))
    return values, best / len(REAL)


@KINDS
@pytest.mark.parametrize("envelope", ["max", "mean", "record"])
def test_largest_mean_and_envelope_have_their_own_names(sensitive, attackers, envelope):
    values, best = shares(sensitive, attackers)
    found = score(sensitive, attackers, envelope=envelope)
    expected = {"max": max(values.values()), "mean": sum(values.values()) / len(values), "record": best}
    assert found.value == pytest.approx(expected[envelope], abs=1e-12)
    assert found.records["score"].mean() == pytest.approx(found.value, abs=1e-12)
    assert {a: found.details[f"value_{a}"] for a in attackers} == pytest.approx(values, abs=1e-12)
    named = [found.details[f"rapid_{name}"] for name in ("max", "mean", "envelope")]
    assert named == pytest.approx(list(expected.values()), abs=1e-12)
    assert not {"max", "mean"} & set(found.details)  # which of the two maxima would not be known
    assert best > max(values.values())  # or the names could not be told apart


@KINDS
def test_the_largest_value_is_that_of_one_model(sensitive, attackers):
    values, _ = shares(sensitive, attackers)
    found = score(sensitive, attackers)
    largest = max(values, key=values.get)
    assert found.settings["largest"] == largest
    own, evidence = score(sensitive, largest), "gain" if sensitive == "ill" else "error"
    pd.testing.assert_frame_equal(found.records[own.records.columns.tolist()], own.records)
    for a in attackers:
        assert found.records[f"{evidence}_{a}"].tolist() == score(sensitive, a).records[evidence].tolist()


@KINDS
def test_record_takes_each_records_best_attacker(sensitive, attackers):
    alone = {a: score(sensitive, a) for a in attackers}
    found = score(sensitive, attackers, envelope="record")
    column, better = ("gain", max) if sensitive == "ill" else ("error", min)
    for row in range(len(REAL)):
        expected = better(s.records[column].iloc[row] for s in alone.values())
        assert found.records[column].iloc[row] == expected
        assert found.records["score"].iloc[row] == max(s.records["score"].iloc[row] for s in alone.values())


def test_the_null_of_several_is_the_largest_or_the_mean_of_theirs():
    nulls = [score("ill", a).details["null_real_mean"] for a in CLASSES]
    assert score("ill", CLASSES).details["null_real_mean"] == max(nulls)
    assert score("ill", CLASSES, envelope="mean").details["null_real_mean"] == pytest.approx(sum(nulls) / 3)
    assert "null_real_mean" not in score("ill", CLASSES, envelope="record").details  # that of none of them


def test_one_in_a_list_is_that_one():
    assert score("ill", ("cart",)).value == score("ill", "cart").value


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"attacker": ()}, "at least one"),
        ({"attacker": ("cart", "cart")}, "each once"),
        ({"attacker": ("cart", "lgoistic")}, "did you mean 'logistic'"),
        ({"attacker": CLASSES, "envelope": "min"}, "envelope must be max, mean or record"),
        ({"attacker": ("cart", "linear")}, "categorical attribute, got 'linear'"),
    ],
)
def test_wrong_lists(options, sentence):
    with pytest.raises(InputError, match=sentence):
        score("ill", **options)
