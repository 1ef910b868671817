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


def drawn(seed, n, levels=("no", "yes", None), p=(0.6, 0.3, 0.1)):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 8, n).astype(float),
            "ill": rng.choice(np.array(levels, dtype=object), n, p=list(p)),
            "city": rng.choice(["a", "b", None], n),
        }
    )


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
    scores, shares = [np.nan] * len(own), [np.nan] * len(own)
    right = nobody = 0
    luck = []
    claims = unanimous(release)
    for key, (value, _) in claims.items():
        people = [i for i in range(len(own)) if own[i] == key and mine[i] is not None]
        true = all(value in has[owner[i]] for i in people)
        share = sum(value in has[e] for e in known) / len(known)
        luck.append(share)
        for i in people:
            scores[i], shares[i] = float(true), share
        right += bool(people) and true
        nobody += not people
    return np.array(scores), np.array(shares), right, len(claims), nobody, np.mean(luck)


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
    people = real.assign(who=entities) if per_entity else real
    score = GROUP(people, release, **ROLES, **given)
    np.testing.assert_array_equal(score.records["score"].astype(float), scores)
    np.testing.assert_allclose(score.records["baseline"].astype(float), shares)
    assert score.value == pytest.approx(np.nanmean(scores))
    told = score.details
    counts = [told[f"group_{name}"] for name in ("claims", "correct", "empty")]
    assert counts == pytest.approx([claims, right, nobody])
    assert score.published == told["group_confidence"] == pytest.approx(right / claims)
    assert told["group_statistical_confidence"] == pytest.approx(luck)
    improvement = (right / claims - luck) / (1 - luck)
    assert told["group_confidence_improvement"] == pytest.approx(improvement)
    assert told["statistical_confidence"] == pytest.approx(np.nanmean(shares))


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
        real = pd.DataFrame({"age": [1, 1, 2, 3], "ill": ill})
        score = GROUP(real, real, quasi_identifiers=["age"], sensitive="ill")
        assert score.records["score"].tolist() == [1, 1, 1, 1]
        moved = real.assign(ill=real["ill"].to_numpy()[[0, 0, 3, 3]])
        assert GROUP(real, moved, quasi_identifiers=["age"], sensitive="ill").records["score"].tolist() == [1, 1, 0, 1]


def test_bins_make_numbers_groups():
    real = pd.DataFrame({"age": [1.0, 2, 3, 4] * 3, "ill": np.arange(12.0)})
    score = GROUP(real, real, quasi_identifiers=["age"], sensitive="ill", bins={"ill": 2})
    assert np.isnan(score.value)  # each age holds low and high values
    assert GROUP(real, real, quasi_identifiers=["age"], sensitive="ill", bins={"age": 2, "ill": 2}).reason
    sorted_ = real.assign(ill=real["age"] * 10)
    assert GROUP(sorted_, sorted_, quasi_identifiers=["age"], sensitive="ill", bins=2).value == 1


def test_one_record_that_differs_refutes_the_claim_for_all():
    real = pd.DataFrame({"age": [1] * 5 + [2], "ill": [*"aaaab", None]})
    release = pd.DataFrame({"age": [1, 1, 2], "ill": [*"aaa"]})
    score = GROUP(real, release, quasi_identifiers=["age"], sensitive="ill")
    assert score.records["score"].tolist()[:5] == [0] * 5
    assert np.isnan(score.records["score"].iloc[5])  # nobody can check the claim about one without a value
    assert score.details["group_empty"] == pytest.approx(1)


def test_claims_about_nobody_alone_have_no_value_but_count_as_wrong():
    real, release = pd.DataFrame({"age": [1, 2], "ill": [*"ab"]}), pd.DataFrame({"age": [3, 4], "ill": [*"ab"]})
    score = GROUP(real, release, quasi_identifiers=["age"], sensitive="ill")
    assert np.isnan(score.value)
    assert (score.reason, score.published) == ("no claim is about a real record", 0)
    divided = pd.DataFrame({"age": [1, 1], "ill": [*"ab"]})
    assert GROUP(real, divided, quasi_identifiers=["age"], sensitive="ill").reason == "the attack made no claim"


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

    real = pd.DataFrame({"age": [1, 2, 3], "ill": [*"aab"]})
    release = pd.DataFrame({"age": [3, 3, 4], "ill": [*"aab"]})
    GROUP(real, release, quasi_identifiers=["age"], sensitive="ill", attacker=Attack("spy", "inference", spy))
    assert seen == [({3, 4}, False)]


def test_two_sensitive_columns_or_none_with_a_value_are_refused():
    real = drawn(1, 20)
    with pytest.raises(InputError, match="sensitive must be one column"):
        GROUP(real, real, quasi_identifiers=["age"], sensitive=["ill", "city"])
    with pytest.raises(InputError, match="sensitive must have values"):
        GROUP(real.assign(ill=None), real.assign(ill=None), **ROLES)


def test_a_copy_beats_fresh_and_fresh_does_not_make_control_records_look_easier():
    joint, apart, copied = [], [], []
    for seed in range(20):
        people = drawn(seed, 150, levels=("no", "yes"), p=(0.85, 0.15))
        release = drawn(seed + 1000, 100, levels=("no", "yes"), p=(0.85, 0.15))
        groups = np.repeat([1, 0], [110, 40])
        tables = Tables(people, release, groups=groups)
        for made, kept in ((tables, joint), (Tables(people, people[:110], groups=groups), copied)):
            scores = GROUP.score(made, **ROLES).records["score"].to_numpy(dtype=float)
            kept.append(np.nanmean(scores[:110]) - np.nanmean(scores[110:]))
        own = [GROUP.score(tables.of(np.flatnonzero(groups == g)), **ROLES).value for g in (1, 0)]
        apart.append(own[0] - own[1])
    error = {name: np.std(each) / np.sqrt(20) for name, each in (("joint", joint), ("apart", apart))}
    assert abs(np.mean(joint)) < 3 * error["joint"]
    assert np.mean(apart) < -3 * error["apart"]
    assert np.mean(copied) > 5 * error["joint"]
