"""Inference claims: by hand, against a loop that shares no code, and what a foreign attack may and may not do."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from samples import coarse
from samples.cells import same
from synthrisk.metrics import METRICS, Attack, InputError
from synthrisk.metrics.tables.tables import ValueSet, ValueSets
from synthrisk.metrics.tables.tolerance import share_close

INFERENCE = METRICS["inference"]
KNOWN = ["age", "job"]
ROLES = {"quasi_identifiers": KNOWN, "sensitive": "vote"}


def tables(seed, n=60, m=50, secret="vote"):
    rng = np.random.default_rng(seed)

    def table(rows):
        ages, jobs = rng.integers(20, 30, rows), rng.choice(["a", "b", "c", None], rows, p=[0.4, 0.3, 0.2, 0.1])
        wages = rng.choice([-3.0, 0.0, 0.5, 10.0, 10.4, 100.0, np.nan], rows)
        votes = rng.choice(["x", "y", "z", None], rows, p=[0.5, 0.3, 0.1, 0.1])
        return pd.DataFrame({"age": ages, "job": jobs, "wage": wages, "vote": votes})[[*KNOWN, secret]]

    return table(n), table(m)


def gower(a, b, ages):
    return (abs(a.age - b.age) / (max(ages) - min(ages)) + (not same(a.job, b.job))) / 2


def brute(real, release, secret, neighbours, tolerance):
    """Return right, claimed and baseline of each record, by plain loops."""
    ages, known = [*real.age, *release.age], [v for v in real[secret] if not pd.isna(v)]
    scale = np.std(known) if secret == "wage" else None

    def right(guess, truth):
        return guess == truth if scale is None else abs(guess - truth) <= tolerance * max(abs(truth), scale)

    overall, rows = Counter(release[secret].dropna()), []
    for target in real.itertuples():
        truth = getattr(target, secret)
        distances = [gower(target, s, ages) for s in release.itertuples()]
        limit = sorted(distances)[neighbours - 1] + 1e-12
        votes = [v for v, d in zip(release[secret], distances, strict=True) if d <= limit and not pd.isna(v)]
        if pd.isna(truth) or not votes:
            rows.append((np.nan, False, np.nan))
            continue
        if secret == "wage":
            guess = sorted(votes)[(len(votes) - 1) // 2]
        else:
            guess = max(set(votes), key=lambda v: (votes.count(v), overall[v]))
        rows.append((float(right(guess, truth)), True, np.mean([right(guess, v) for v in known])))
    return pd.DataFrame(rows, columns=["score", "claim", "baseline"], index=real.index)


@pytest.mark.parametrize("secret", ["wage", "vote"])
@pytest.mark.parametrize("neighbours", [1, 2, 5])
@pytest.mark.parametrize("seed", range(2))
def test_nearest_record_equals_plain_loops(secret, neighbours, seed):
    real, release = tables(seed, secret=secret)
    found = INFERENCE(real, release, quasi_identifiers=KNOWN, sensitive=secret, neighbours=neighbours)
    expected = brute(real, release, secret, neighbours, 0.05)
    for column in expected:
        np.testing.assert_allclose(found.records[column].astype(float), expected[column].astype(float), atol=1e-12)
    claims, attempts = expected[expected.claim], real[secret].notna().sum()
    c, s = claims.score.mean(), claims.baseline.mean()
    assert found.value == found.published == pytest.approx(c)
    due = {"claims": len(claims), "correct": claims.score.sum(), "attempts": attempts, "statistical_confidence": s}
    due |= {"guess": s, "confidence_improvement": (c - s) / (1 - s), "claim_probability": len(claims) / attempts}
    due |= {"susceptibility": attempts / len(real), "prior_knowledge": 2 * attempts / len(claims)}
    due |= {"work": release.size / len(claims)}
    assert {name: found.details[name] for name in due} == pytest.approx(due)


def of_letters(truths, released, letters="abcd"):
    """Return a function that gives the records of one guess a person, under some options."""
    real, release = (pd.DataFrame({"k": list(letters), "s": s}) for s in (truths, released))
    return lambda **options: INFERENCE(real, release, quasi_identifiers=["k"], sensitive="s", **options).records


def test_key_class_abstains_where_the_key_is_unseen():
    real = pd.DataFrame({"k": ["a", "a", "b", "c"], "s": ["x", "y", "x", "x"]})
    release = pd.DataFrame({"k": ["a", "a", "a", "b"], "s": ["x", "x", "y", "y"]})
    found = INFERENCE(real, release, quasi_identifiers=["k"], sensitive="s", attacker="key_class")
    due = {"claim": [1, 1, 1, 0], "score": [1, 0, 0, np.nan], "confidence": [2 / 3, 2 / 3, 1, np.nan]}
    for name, own in (due | {"baseline": [0.75, 0.75, 0.25, np.nan]}).items():
        np.testing.assert_allclose(found.records[name].astype(float), own)
    assert (found.value, found.details["constant_guess"]) == (pytest.approx(1 / 3), 0.75)


def test_a_model_claims_for_everybody():
    real, release = tables(3)
    found = INFERENCE(real, release, **ROLES, model=DecisionTreeClassifier(max_depth=2, random_state=0))
    assert (found.details["claim_probability"], found.settings["attacker"]) == (1, "DecisionTreeClassifier")
    assert INFERENCE(real, release, **ROLES, attacker="cart", seed=4).settings["attacker"] == "cart"


def test_tolerance_is_of_the_truth_and_not_of_a_signed_guess():
    found = of_letters([-100.0, -100.0, 100.0, 0.0], [-104.9, -105.1, 95.1, 0.01])
    assert found(scale=0.0)["score"].tolist() == [1, 0, 1, 0]
    assert found(scale=1.0)["score"].tolist() == found()["score"].tolist() == [1, 0, 1, 1]
    assert found()["baseline"].tolist() == [0.5, 0.0, 0.25, 0.25]


def test_dates_are_compared_on_a_scale_of_their_own():
    days = pd.to_datetime(["2020-01-01", "2020-01-11", "2020-01-21"])
    found = of_letters(days, days + pd.to_timedelta([9, 11, 0], unit="h"), "abc")
    for options in ({}, {"scale": 86400.0 * 20}):  # 10 % of the 10 days between quartiles
        assert found(**options)["score"].tolist() == [1, 1, 1]
    for tolerance in (0.04, "10 hours"):  # 9.6 hours
        assert found(tolerance=tolerance)["score"].tolist() == [1, 0, 1]


def test_a_sample_of_targets_is_the_same_in_any_order():
    real, release = tables(5)
    options = ROLES | {"attempts": 20, "seed": 7}
    first = INFERENCE(real, release, **options)
    second = INFERENCE(real.iloc[np.random.default_rng(1).permutation(len(real))], release, **options)
    assert (first.details["attempts"], first.value) == (20, second.value)
    assert first.details == pytest.approx(second.details, rel=1e-12, nan_ok=True)
    assert INFERENCE(real, release, **(options | {"attempts": 10**6})).details["attempts"] == real.vote.notna().sum()


def by(function, seed=1):
    """Return the score of an attack of one's own."""
    real, release = tables(seed)
    return INFERENCE(real, release, **ROLES, attacker=Attack("own", "inference", function))


def test_an_attack_sees_the_declared_columns_once_each_in_an_order_that_says_nothing():
    real, release = tables(1)
    real, shown = real.assign(age=real.age.iloc[0]), []

    def spy(release, known, secret, rng):
        shown.append(known)
        guessed = release[secret].mode()[0]
        return pd.DataFrame({"guessed": guessed, "confidence": rng.random(len(known))}, index=known.index)

    attack = Attack("spy", "inference", spy)
    found = INFERENCE(real, release, **ROLES, attacker=attack)
    distinct = len(real[real.vote.notna()][KNOWN].drop_duplicates())
    assert (shown[0].columns.tolist(), shown[0].index.tolist()) == (KNOWN, list(range(distinct)))
    INFERENCE(real.assign(vote=real.vote.to_numpy()[::-1]), release, **ROLES, attacker=attack)
    one, other = (set(map(tuple, known.astype(str).to_numpy())) for known in shown)
    assert one >= other
    same_key = found.records.assign(key=real[KNOWN].map(str).agg("|".join, axis=1)).query("claim")
    assert same_key.groupby("key")["confidence"].nunique().eq(1).all()


def test_a_foreign_attack_is_checked():
    with pytest.raises(InputError, match="finite"):
        by(lambda release, known, *_: pd.DataFrame({"guessed": "x", "confidence": np.inf}, known.index))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"attacker": "nearest"}, "attacker must be one of key_class, nearest_record, "),
        ({"attacker": 3}, "attacker must be an attack of the kind inference, got int"),
        ({"attacker": "key_class", "neighbours": 2}, "attack key_class takes no option 'neighbours'"),
        ({"neighbours": 0}, "neighbours must be a whole number"),
        ({"neighbours": 51}, "neighbours must be a whole number, 1 to the number of synthetic records, 50"),
        ({"tolerance": 1}, r"tolerance must be a number in \[0, 1\)"),
        *(({name: each}, f"{name} must be") for name, each in (("neighbours", True), ("tolerance", np.nan))),
        *(({name: each}, f"{name} must be") for name, each in (("scale", -1), ("attempts", 0), ("attempts", 2.5))),
        ({"model": "tree"}, "attacker must be one of"),
        ({"sensitive": ["vote", "age"], "quasi_identifiers": ["job"]}, "sensitive must be one column"),
        ({"real": tables(1)[0].assign(vote=None)}, "sensitive must have values"),
    ],
)
def test_bad_options(options, says):
    real, release = tables(1)
    with pytest.raises(InputError, match=says):
        INFERENCE(**{"real": real, "synthetic": release} | ROLES | options)


def test_share_close_equals_plain_loops():
    rng = np.random.default_rng(0)
    for _ in range(1500):
        n, m = rng.integers(1, 9, 2)
        truths = rng.integers(-3, 4, m) * float(rng.choice([0.0, 1.0, 0.1]))
        guesses = rng.normal(size=n) * 3 if rng.random() < 0.5 else rng.choice(np.append(truths, 0.0), n)
        tolerance, scale = float(rng.choice([0, 0.05, 0.5, 0.9])), float(rng.choice([0, 1, 2.5]))
        relative = bool(rng.random() < 0.7)
        found = share_close(guesses, truths, tolerance, scale, relative=relative)
        for guess, share in zip(guesses, found, strict=True):
            allowed = [tolerance * (max(abs(t), scale) if relative else scale) for t in truths]
            assert share == np.mean([abs(guess - t) <= a for t, a in zip(truths, allowed, strict=True)])


VOTES = {"*": None, "left": ("left",), "right": ("right",), "not left": ("right", "none"), "none": ("none",)}


def voters(seed):
    """Return people with a vote, and a release that says of some only what they did not vote."""
    rng = np.random.default_rng(seed)
    real, release = coarse.tables(seed)
    sets = ValueSets.of(release)
    real = real.assign(vote=rng.choice(["left", "right", "none"], len(real))).drop(columns="pay")
    vote = pd.Series(rng.choice([*VOTES], len(release)), index=release.index, dtype=object)
    columns = {**sets.columns, "vote": {"not left": ValueSet(texts=("right", "none"))}}
    release = release.assign(vote=vote.where(vote != "*")).drop(columns="pay")
    return real, ValueSets(columns, sets.suppressed | {"vote"}).beside(release)


def gap(column, released, real, extent):
    """Return the distance of a real cell to the nearest value that a released one stands for."""
    if column != "age":
        return float(not coarse.may_be(column, released, real))
    low, high = coarse.BANDS.get(released, (released, released))
    return max(low - real, real - high, 0) / extent


def claim(pool, everywhere):
    """Return what most of a pool say; of equally many what more say in the whole release."""
    told, overall = Counter(v for v in pool if v is not None), Counter(everywhere)
    best = [v for v, count in told.items() if count == max(told.values())]
    most = max((overall[v] for v in best), default=0)
    best = [v for v in best if overall[v] == most]
    return best[0] if len(best) == 1 else None  # ties are left to the order of the release


@pytest.mark.parametrize("attacker", ["nearest_record", "key_class"])
@pytest.mark.parametrize("seed", range(4))
def test_claims_of_sets_are_those_of_the_records_that_may_be_the_target(seed, attacker):
    real, release = voters(seed)
    keys = coarse.KEYS
    found = INFERENCE(real, release, quasi_identifiers=keys, sensitive="vote", attacker=attacker).records
    votes = [None if pd.isna(v) else v for v in release["vote"]]
    extent = max(real["age"].max(), release["age"].max()) - min(real["age"].min(), release["age"].min())
    judged, rows = 0, release.to_dict("records")
    for place, person in enumerate(real.to_dict("records")):
        far = [sum(gap(c, row[c], person[c], extent) for c in keys) / len(keys) for row in rows]
        near = 0.0 if attacker == "key_class" else min(far)
        pool = [vote for d, vote in zip(far, votes, strict=True) if abs(d - near) < 1e-9]
        due, own = claim(pool, votes), found.iloc[place]
        assert any(pool) or not own["claim"]
        if due is None:
            continue
        judged += 1
        assert (own["guessed"], own["score"]) == (due, person["vote"] in VOTES[due])
        share = sum(v == due for v in pool) / sum(v is not None for v in pool)
        told = real["vote"].isin(VOTES[due]).mean(), share * (1 - near)
        assert (own["baseline"], own["confidence"]) == pytest.approx(told)
    assert judged > 15


def test_a_band_of_numbers_that_is_claimed_is_right_where_it_holds_the_number():
    real = pd.DataFrame({"job": ["cook", "nurse", "clerk", "driver"], "pay": [10.0, 26.0, 31.0, 90.0]})
    release = pd.DataFrame({"job": real["job"], "pay": [15.0, 15.0, 60.0, 91.0]})
    sets = ValueSets({"pay": {15.0: ValueSet(10, 20), 60.0: ValueSet(30, 100)}})
    found = INFERENCE(real, sets.beside(release), quasi_identifiers=["job"], sensitive="pay").records
    assert (found["score"].tolist(), found["baseline"].tolist()) == ([1, 0, 1, 1], [0.25, 0.25, 0.5, 0.25])
    own = real.assign(who=[1, 1, 2, 3], job=[*"abcd"])  # of an entity where some of its records are in it
    release = pd.DataFrame({"job": ["b", "c"], "pay": [15.0, 15.0]})
    roles = {"quasi_identifiers": ["job"], "sensitive": "pay", "identifier": "who", "attacker": "key_class"}
    found = INFERENCE(own, sets.beside(release), **roles).records
    np.testing.assert_array_equal(found["score"], [math.nan, 1, 0, math.nan])
    np.testing.assert_allclose(found["baseline"], [math.nan, 1 / 3, 1 / 3, math.nan])


def test_an_attack_that_abstains_or_a_suppressed_secret_has_no_value():
    found = by(lambda release, known, *_: pd.DataFrame({"guessed": None, "confidence": np.nan}, known.index))
    assert (math.isnan(found.value), found.reason) == (True, "the attack made no claim")
    assert found.details["claim_probability"] == 0
    real, release = voters(0)
    score = INFERENCE(real, release.assign(vote=None), quasi_identifiers=coarse.KEYS, sensitive="vote")
    assert (math.isnan(score.value), score.reason) == (True, "the attack made no claim")
