"""CAP where released cells stand for sets of values, against plain loops over pairs of records."""

import math
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from samples.coarse import KEYS, may_be, said, tables
from synthrisk.metrics import METRICS
from synthrisk.metrics.tables.tables import ValueSet, ValueSets

CAP = ["categorical_cap", "zero_cap", "generalized_cap"]
CLAIMS = ["targeted_cap", "attribute_disclosure"]


def cap(name, real, release, keys=KEYS, sensitive="pay"):
    return METRICS[name](real, release, quasi_identifiers=keys, sensitive=sensitive)


def pools_by_loops(real: pd.DataFrame, release: pd.DataFrame) -> list[tuple[int, list[float]]]:
    """Return the distance of each real record, and the released pays at it."""
    found = []
    for person in real.to_dict("records"):
        apart = [sum(not may_be(c, row[c], person[c]) for c in KEYS) for row in release.to_dict("records")]
        found.append((min(apart), [p for d, p in zip(apart, release["pay"], strict=True) if d == min(apart)]))
    return found


@pytest.mark.parametrize("hidden", ["exact", "coarse"])
@pytest.mark.parametrize("seed", range(4))
def test_cap_matches_each_value_that_a_cell_stands_for(seed: int, hidden: str):
    real, release = tables(seed, hidden)
    pays, due = real["pay"].tolist(), {"categorical_cap": [], "zero_cap": [], "generalized_cap": []}
    for (distance, pool), truth in zip(pools_by_loops(real, release), pays, strict=True):
        credit = sum(said(each, truth, pays) for each in pool) / len(pool)
        due["categorical_cap"].append(credit if distance == 0 else math.nan)
        due["zero_cap"].append(credit if distance == 0 else 0.0)
        due["generalized_cap"].append(credit)
    for name, credits in due.items():
        score = cap(name, real, release)
        np.testing.assert_allclose(score.records["score"].to_numpy(float), credits, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("seed", range(4))
def test_claims_of_whole_classes_are_made_where_all_who_may_have_the_key_say_one_value(seed: int):
    real, release = tables(seed, "coarse")
    release = release[release["age"] < 60].reset_index(drop=True)
    due, shares = [], []
    for (distance, pool), truth in zip(pools_by_loops(real, release), real["pay"], strict=True):
        claim = distance == 0 and len(set(pool)) == 1 and pool[0] in (1, 2, 3, 4)
        due.append(float(pool[0] == truth) if claim else math.nan)
        shares.append(claim and pool[0] == truth)
    assert not all(map(math.isnan, due))
    for name, expected in zip(CLAIMS, (due, shares), strict=True):
        np.testing.assert_array_equal(cap(name, real, release).records["score"], expected)


@pytest.mark.filterwarnings("ignore:.*of the keys are unseen")
@pytest.mark.parametrize("name", CAP)
def test_a_secret_that_is_not_released_has_no_credit_and_a_suppressed_cell_that_of_a_guess(name):
    real, release = tables(0)
    hidden = release.assign(pay=np.nan, age=real["age"][0], zip="10001", job="cook")
    sets = ValueSets({}, frozenset(["pay"]))
    score = cap(name, real, sets.beside(hidden))
    assert np.isnan(score.value)
    if score.records["seen"].any():
        assert score.reason == "the release shows nothing of what is guessed"
    assert np.isnan(cap(name, real, sets.beside(hidden), ["age", "zip"], ["job", "pay"]).value)
    told = hidden["pay"].astype(object)
    told.iloc[0] = real["pay"][0]
    near = cap("generalized_cap", real, sets.beside(hidden.assign(pay=told)))
    shares = real["pay"].value_counts(normalize=True)
    by_chance, n = real["pay"].map(shares), len(hidden)
    right = (real["pay"] == real["pay"][0]).to_numpy()
    np.testing.assert_allclose(near.records["score"], (by_chance * (n - 1) + right) / n)


@pytest.mark.filterwarnings("ignore:.*of the keys are unseen")
def test_sets_that_hold_one_value_are_that_value():
    real, release = tables(1)
    exact = release.assign(age=real["age"].iloc[0], zip="10001", job="cook")
    sets = ValueSets({"age": {real["age"].iloc[0]: ValueSet(*[real["age"].iloc[0]] * 2)}})
    for name in (*CAP[1:], *CLAIMS):
        plain, coarse = (cap(name, real, each) for each in (ValueSets().beside(exact), sets.beside(exact)))
        pd.testing.assert_frame_equal(plain.records, coarse.records, check_dtype=False)


@pytest.mark.parametrize("lost", [["age"], ["age", "zip"], KEYS, ["pay"], ["pay", "age"]])
@pytest.mark.parametrize("name", [*CAP, *CLAIMS])
def test_columns_of_which_nothing_is_shown_are_compared_as_if_each_cell_was_a_set(name: str, lost: list[str]):
    real, release = tables(3)
    ages, zips = (real[c].sample(60, replace=True, random_state=i).to_numpy() for i, c in ((1, "age"), (2, "zip")))
    release = release.assign(age=ages, zip=zips, job="cook")
    release = ValueSets({}, frozenset(lost)).beside(release.assign(**dict.fromkeys(lost)))
    quick = cap(name, real, release).records
    with patch("synthrisk.metrics.tables.tables.shown", lambda _, columns: list(columns)):
        slow = cap(name, real, release).records
    pd.testing.assert_frame_equal(quick, slow)
