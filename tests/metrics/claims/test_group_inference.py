"""Claims about all people with a key, against plain loops over keys and records."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS, InputError, Tables
from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.inference import KEY_CLASS, UNANIMOUS_CLASS, model_attack
from synthrisk.metrics.models.attackers import ATTACKER_MODELS

GROUP = METRICS["group_inference"]
KEYS = ["age", "city"]
ROLES = {"quasi_identifiers": KEYS, "sensitive": "ill"}
ONE = {"quasi_identifiers": ["age"], "sensitive": "ill"}


def drawn(seed, n, levels=("no", "yes", None), p=(0.6, 0.3, 0.1)):
    rng = np.random.default_rng(seed)
    ages, ill = rng.integers(0, 8, n).astype(float), rng.choice(np.array(levels, dtype=object), n, p=list(p))
    return pd.DataFrame({"age": ages, "ill": ill, "city": rng.choice(["a", "b", None], n)})


def people(ages, ill):
    return pd.DataFrame({"age": ages, "ill": [*ill]})


def keys(table):
    return [tuple("missing" if pd.isna(v) else v for v in row) for row in table[KEYS].itertuples(index=False)]


def values(table):
    return [None if pd.isna(v) else v for v in table["ill"]]


def unanimous(release):
    """Return value and number of votes of each key whose votes agree."""
    votes = {}
    for key, value in zip(keys(release), values(release), strict=True):
        if value is not None:
            votes.setdefault(key, []).append(value)
    return {key: (own[0], len(own)) for key, own in votes.items() if len(set(own)) == 1}


def loop(real, release, entities=None):
    """Return scores, baselines, right claims, claims, and claims about nobody."""
    own, mine = keys(real), values(real)
    owner = list(range(len(own))) if entities is None else list(entities)
    has = {}
    for e, value in zip(owner, mine, strict=True):
        has.setdefault(e, set()).add(value)
    known = {e for e, value in zip(owner, mine, strict=True) if value is not None}
    scores, shares, right, nobody, luck = np.full(len(own), np.nan), np.full(len(own), np.nan), 0, 0, []
    claims = unanimous(release)
    for key, (value, _) in claims.items():
        held = [i for i in range(len(own)) if own[i] == key and mine[i] is not None]
        true = all(value in has[owner[i]] for i in held)
        luck.append(sum(value in has[e] for e in known) / len(known))
        scores[held], shares[held] = float(true), luck[-1]
        right += bool(held) and true
        nobody += not held
    return scores, shares, right, len(claims), nobody, np.mean(luck)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("per_entity", [False, True])
def test_brute_force(seed, per_entity):
    real, release = drawn(seed, 45), drawn(seed + 50, 40)
    release.loc[:3, "age"] = [50.0, 50.0, 51.0, 52.0]  # keys that nobody has
    entities = np.random.default_rng(seed).integers(36, size=45) if per_entity else None
    scores, shares, right, claims, nobody, luck = loop(real, release, entities)
    assert nobody
    assert np.nanmean(scores) > 0
    assert per_entity or np.nanmean(scores) < 1
    given = {"identifier": "who"} if per_entity else {}
    score = GROUP(real.assign(who=entities) if per_entity else real, release, **ROLES, **given)
    np.testing.assert_array_equal(score.records["score"].astype(float), scores)
    np.testing.assert_allclose(score.records["baseline"].astype(float), shares)
    c, told = right / claims, score.details
    assert (score.value, score.published) == pytest.approx((np.nanmean(scores), c))
    due = {"group_claims": claims, "group_correct": right, "group_empty": nobody, "group_confidence": c}
    due |= {"group_statistical_confidence": luck, "group_confidence_improvement": (c - luck) / (1 - luck)}
    due |= {"statistical_confidence": np.nanmean(shares)}
    assert {name: told[name] for name in due} == pytest.approx(due)


@pytest.mark.parametrize("seed", range(3))
def test_the_attack_guesses_what_all_with_the_key_have_and_is_surer_of_many(seed):
    real, release = drawn(seed, 45), drawn(seed + 50, 40)
    known = real[KEYS].drop_duplicates()
    found = UNANIMOUS_CLASS.claims(known.index, release, known, "ill", np.random.default_rng(0))
    expected = unanimous(release)
    for key, (guess, confidence) in zip(keys(known), found.to_numpy(), strict=True):
        value, votes = expected.get(key, (None, None))
        assert (None if pd.isna(guess) else guess) == value
        assert np.isnan(confidence) if value is None else confidence == (votes + 1) / (votes + 2)


def test_numbers_and_dates_are_unanimous_and_right_where_they_are_equal():
    for ill in ([1.5, 1.5, 2.0, 7.0], pd.to_datetime(["2020-01-01", "2020-01-01", "2021-01-01", "2000-01-01"])):
        real = people([1, 1, 2, 3], ill)
        moved = real.assign(ill=real["ill"].to_numpy()[[0, 0, 3, 3]])
        scores = [GROUP(real, release, **ONE).records["score"].tolist() for release in (real, moved)]
        assert scores == [[1, 1, 1, 1], [1, 1, 0, 1]]


def test_bins_make_numbers_groups():
    real = people([1.0, 2, 3, 4] * 3, np.arange(12.0))
    assert np.isnan(GROUP(real, real, **ONE, bins={"ill": 2}).value)  # each age holds low and high values
    assert GROUP(real, real, **ONE, bins={"age": 2, "ill": 2}).reason
    sorted_ = real.assign(ill=real["age"] * 10)
    assert GROUP(sorted_, sorted_, **ONE, bins=2).value == 1


def test_one_record_that_differs_refutes_the_claim_for_all_and_claims_about_nobody_count_as_wrong():
    score = GROUP(people([1] * 5 + [2], [*"aaaab", None]), people([1, 1, 2], "aaa"), **ONE)
    # nobody can check the claim about one without a value
    np.testing.assert_array_equal(score.records["score"].astype(float), [0] * 5 + [np.nan])
    assert score.details["group_empty"] == pytest.approx(1)
    real = people([1, 2], "ab")
    score = GROUP(real, people([3, 4], "ab"), **ONE)
    assert (np.isnan(score.value), score.reason, score.published) == (True, "no claim is about a real record", 0)
    assert GROUP(real, people([1, 1], "ab"), **ONE).reason == "the attack made no claim"


def test_any_attack_of_the_kind_inference_may_speak_of_groups():
    real, release = drawn(1, 60), drawn(2, 60)
    for attacker in (KEY_CLASS, "nearest_record", "cart", model_attack(ATTACKER_MODELS["cart"])):
        score = GROUP(real, release, **ROLES, attacker=attacker)
        assert score.details["group_claims"] > GROUP(real, release, **ROLES).details["group_claims"]
    with pytest.raises(InputError, match="attacker"):
        GROUP(real, release, **ROLES, attacker="unanimous")


def test_the_attack_is_shown_the_release_and_its_keys_alone():
    seen = []

    def spy(release, known, secret, rng):
        seen.append((set(release["age"]) | set(known["age"]), known.duplicated().any()))
        return pd.DataFrame({"guessed": "a", "confidence": 1.0}, index=known.index)

    GROUP(people([1, 2, 3], "aab"), people([3, 3, 4], "aab"), **ONE, attacker=Attack("spy", "inference", spy))
    assert seen == [({3, 4}, False)]


def test_two_sensitive_columns_or_none_with_a_value_are_refused():
    real = drawn(1, 20)
    bad = {"be one column": (real, ["ill", "city"]), "have values": (real.assign(ill=None), "ill")}
    for says, (table, secret) in bad.items():
        with pytest.raises(InputError, match=f"sensitive must {says}"):
            GROUP(table, table, quasi_identifiers=["age"], sensitive=secret)


def test_a_copy_beats_fresh_and_fresh_does_not_make_control_records_look_easier():
    joint, apart, copied = [], [], []
    for seed in range(20):
        real, release = (drawn(s, n, ("no", "yes"), (0.85, 0.15)) for s, n in ((seed, 150), (seed + 1000, 100)))
        groups = np.repeat([1, 0], [110, 40])
        tables = Tables(real, release, groups=groups)
        for made, kept in ((tables, joint), (Tables(real, real[:110], groups=groups), copied)):
            scores = GROUP.score(made, **ROLES).records["score"].to_numpy(dtype=float)
            kept.append(np.nanmean(scores[:110]) - np.nanmean(scores[110:]))
        apart.append(-np.diff([GROUP.score(tables.of(np.flatnonzero(groups == g)), **ROLES).value for g in (1, 0)]))
    error = np.std(joint) / np.sqrt(20)
    assert abs(np.mean(joint)) < 3 * error
    assert np.mean(apart) < -3 * np.std(apart) / np.sqrt(20)
    assert np.mean(copied) > 5 * error
