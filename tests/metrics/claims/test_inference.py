"""Inference claims: by hand, against a loop that shares no code, and what a foreign attack may and may not do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from samples.cells import same
from synthrisk.metrics import METRICS, Attack, InputError
from synthrisk.metrics.tables.tolerance import share_close

INFERENCE = METRICS["inference"]
KNOWN = ["age", "job"]


def tables(seed, n=60, m=50, secret="wage"):
    rng = np.random.default_rng(seed)

    def table(rows):
        frame = pd.DataFrame(
            {
                "age": rng.integers(20, 30, rows),
                "job": rng.choice(["a", "b", "c", None], rows, p=[0.4, 0.3, 0.2, 0.1]),
                "wage": rng.choice([-3.0, 0.0, 0.5, 10.0, 10.4, 100.0, np.nan], rows),
                "vote": rng.choice(["x", "y", "z", None], rows, p=[0.5, 0.3, 0.1, 0.1]),
            }
        )
        return frame[[*KNOWN, secret]]

    return table(n), table(m)


def gower(a, b, ages):
    return (abs(a.age - b.age) / (max(ages) - min(ages)) + (not same(a.job, b.job))) / 2


def brute(real, release, secret, neighbours, tolerance):
    """Return right, claimed and baseline of each record, by plain loops."""
    ages = [*real.age, *release.age]
    numbers = [v for v in real[secret] if not pd.isna(v)] if secret == "wage" else []
    scale = np.std(numbers) if numbers else None

    def right(guess, truth):
        if secret == "wage":
            return abs(guess - truth) <= tolerance * max(abs(truth), scale)
        return guess == truth

    overall = {}
    for value in release[secret]:
        if not pd.isna(value):
            overall[value] = overall.get(value, 0) + 1
    rows = []
    for target in real.itertuples():
        truth = getattr(target, secret)
        if pd.isna(truth):
            rows.append((np.nan, False, np.nan, np.nan))
            continue
        distances = [gower(target, s, ages) for s in release.itertuples()]
        limit = sorted(distances)[neighbours - 1] + 1e-12
        votes = [v for v, d in zip(release[secret], distances, strict=True) if d <= limit and not pd.isna(v)]
        if not votes:
            rows.append((np.nan, False, np.nan, np.nan))
            continue
        if secret == "wage":
            guess = sorted(votes)[(len(votes) - 1) // 2]
        else:
            guess = max(set(votes), key=lambda v: (votes.count(v), overall[v]))
        others = [v for v in real[secret] if not pd.isna(v)]
        share = np.mean([right(guess, v) for v in others])
        rows.append((float(right(guess, truth)), True, share, guess))
    return pd.DataFrame(rows, columns=["score", "claim", "baseline", "guessed"], index=real.index)


@pytest.mark.parametrize("secret", ["wage", "vote"])
@pytest.mark.parametrize("neighbours", [1, 2, 5])
@pytest.mark.parametrize("seed", range(2))
def test_nearest_record_equals_plain_loops(secret, neighbours, seed):
    real, release = tables(seed, secret=secret)
    found = INFERENCE(real, release, quasi_identifiers=KNOWN, sensitive=secret, neighbours=neighbours)
    expected = brute(real, release, secret, neighbours, 0.05)
    for column in ("score", "claim", "baseline"):
        np.testing.assert_allclose(found.records[column].astype(float), expected[column].astype(float), atol=1e-12)
    claims = expected[expected.claim]
    c, s = claims.score.mean(), claims.baseline.mean()
    d = found.details
    assert found.value == found.published == pytest.approx(c)
    assert (d["claims"], d["correct"]) == (len(claims), claims.score.sum())
    assert d["attempts"] == real[secret].notna().sum()
    assert d["statistical_confidence"] == d["guess"] == pytest.approx(s)
    assert d["confidence_improvement"] == pytest.approx((c - s) / (1 - s))
    assert d["claim_probability"] == pytest.approx(len(claims) / real[secret].notna().sum())
    assert d["susceptibility"] == pytest.approx(real[secret].notna().mean())
    assert d["prior_knowledge"] == pytest.approx(2 * d["attempts"] / len(claims))
    assert d["work"] == pytest.approx(release.size / len(claims))


def test_key_class_abstains_where_the_key_is_unseen():
    real = pd.DataFrame({"k": ["a", "a", "b", "c"], "s": ["x", "y", "x", "x"]})
    release = pd.DataFrame({"k": ["a", "a", "a", "b"], "s": ["x", "x", "y", "y"]})
    found = INFERENCE(real, release, quasi_identifiers=["k"], sensitive="s", attacker="key_class")
    assert found.records["claim"].tolist() == [True, True, True, False]
    assert found.records["score"].tolist()[:3] == [1, 0, 0]
    assert found.records["confidence"].tolist()[:3] == pytest.approx([2 / 3, 2 / 3, 1])
    assert (found.records["baseline"].tolist()[:3], found.value) == ([0.75, 0.75, 0.25], pytest.approx(1 / 3))
    assert found.details["constant_guess"] == 0.75


def test_a_model_claims_for_everybody():
    real, release = tables(3, secret="vote")
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    found = INFERENCE(real, release, quasi_identifiers=KNOWN, sensitive="vote", model=model)
    assert (found.details["claim_probability"], found.settings["attacker"]) == (1, "DecisionTreeClassifier")
    named = INFERENCE(real, release, quasi_identifiers=KNOWN, sensitive="vote", attacker="cart", seed=4)
    assert named.settings["attacker"] == "cart"


def test_tolerance_is_of_the_truth_and_not_of_a_signed_guess():
    real = pd.DataFrame({"k": list("abcd"), "s": [-100.0, -100.0, 100.0, 0.0]})
    release = pd.DataFrame({"k": list("abcd"), "s": [-104.9, -105.1, 95.1, 0.01]})
    found = INFERENCE(real, release, quasi_identifiers=["k"], sensitive="s", scale=0.0)
    assert found.records["score"].tolist() == [1, 0, 1, 0]
    found = INFERENCE(real, release, quasi_identifiers=["k"], sensitive="s", scale=1.0)
    assert found.records["score"].tolist() == [1, 0, 1, 1]
    with_sd = INFERENCE(real, release, quasi_identifiers=["k"], sensitive="s")
    assert with_sd.records["score"].tolist() == [1, 0, 1, 1]
    assert with_sd.records["baseline"].tolist() == [0.5, 0.0, 0.25, 0.25]


def test_dates_are_compared_on_a_scale_of_their_own():
    days = pd.to_datetime(["2020-01-01", "2020-01-11", "2020-01-21"])
    real = pd.DataFrame({"k": list("abc"), "s": days})
    release = pd.DataFrame({"k": list("abc"), "s": days + pd.to_timedelta([9, 11, 0], unit="h")})
    found = INFERENCE(real, release, quasi_identifiers=["k"], sensitive="s")  # 10 % of the 10 days between quartiles
    assert found.records["score"].tolist() == [1, 1, 1]
    found = INFERENCE(real, release, quasi_identifiers=["k"], sensitive="s", tolerance=0.04)  # 9.6 hours
    assert found.records["score"].tolist() == [1, 0, 1]
    found = INFERENCE(real, release, quasi_identifiers=["k"], sensitive="s", tolerance="10 hours")
    assert found.records["score"].tolist() == [1, 0, 1]
    found = INFERENCE(real, release, quasi_identifiers=["k"], sensitive="s", scale=86400.0 * 20)
    assert found.records["score"].tolist() == [1, 1, 1]


def test_a_sample_of_targets_is_the_same_in_any_order():
    real, release = tables(5, secret="vote")
    options = {"quasi_identifiers": KNOWN, "sensitive": "vote", "attempts": 20, "seed": 7}
    first = INFERENCE(real, release, **options)
    order = np.random.default_rng(1).permutation(len(real))
    second = INFERENCE(real.iloc[order], release, **options)
    assert (first.details["attempts"], first.value) == (20, second.value)
    assert first.details == pytest.approx(second.details, rel=1e-12, nan_ok=True)
    assert INFERENCE(real, release, **(options | {"attempts": 10**6})).details["attempts"] == real.vote.notna().sum()


SEEN = {}


def spy(release, known, secret, rng):
    SEEN.update(release=release, known=known)
    return pd.DataFrame({"guessed": release[secret].mode()[0], "confidence": rng.random(len(known))}, index=known.index)


def test_an_attack_sees_the_declared_columns_once_each_in_an_order_that_says_nothing():
    real, release = tables(1, secret="vote")
    real = real.assign(age=real.age.iloc[0])
    found = INFERENCE(
        real, release, quasi_identifiers=KNOWN, sensitive="vote", attacker=Attack("spy", "inference", spy)
    )
    assert SEEN["known"].columns.tolist() == KNOWN
    assert len(SEEN["known"]) == len(real[real.vote.notna()][KNOWN].drop_duplicates())
    assert SEEN["known"].index.tolist() == list(range(len(SEEN["known"])))
    shown = SEEN["known"].copy()
    by_secret = real.assign(vote=real.vote.to_numpy()[::-1])
    INFERENCE(by_secret, release, quasi_identifiers=KNOWN, sensitive="vote", attacker=Attack("spy", "inference", spy))
    assert set(map(tuple, shown.astype(str).to_numpy())) >= set(map(tuple, SEEN["known"].astype(str).to_numpy()))
    same_key = found.records.assign(key=real[KNOWN].map(str).agg("|".join, axis=1)).query("claim")
    assert same_key.groupby("key")["confidence"].nunique().eq(1).all()


BAD = {
    "no frame": (lambda release, known, secret, rng: [1], "DataFrame"),
    "no guess": (lambda release, known, secret, rng: pd.DataFrame({"confidence": 1.0}, index=known.index), "'guessed'"),
    "no confidence": (
        lambda release, known, secret, rng: pd.DataFrame({"guessed": 1}, index=known.index),
        "confidence",
    ),
    "fewer rows": (
        lambda release, known, secret, rng: pd.DataFrame({"guessed": ["x"], "confidence": [1.0]}),
        "the index that it was handed",
    ),
    "infinite": (
        lambda release, known, secret, rng: pd.DataFrame({"guessed": "x", "confidence": np.inf}, index=known.index),
        "finite",
    ),
}


@pytest.mark.parametrize(("function", "says"), BAD.values(), ids=BAD)
def test_a_foreign_attack_is_checked(function, says):
    real, release = tables(1, secret="vote")
    with pytest.raises(InputError, match=says):
        INFERENCE(
            real, release, quasi_identifiers=KNOWN, sensitive="vote", attacker=Attack("bad", "inference", function)
        )


def test_an_attack_that_abstains_has_no_value():
    real, release = tables(1, secret="vote")

    def silent(release, known, secret, rng):
        return pd.DataFrame({"guessed": None, "confidence": np.nan}, index=known.index)

    found = INFERENCE(
        real, release, quasi_identifiers=KNOWN, sensitive="vote", attacker=Attack("silent", "inference", silent)
    )
    assert np.isnan(found.value)
    assert (found.reason, found.details["claim_probability"]) == ("the attack made no claim", 0)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"attacker": "nearest"}, "attacker must be one of key_class, nearest_record, "),
        ({"attacker": 3}, "attacker must be an attack of the kind inference, got int"),
        ({"attacker": "key_class", "neighbours": 2}, "attack key_class takes no option 'neighbours'"),
        ({"neighbours": 0}, "neighbours must be a whole number"),
        ({"neighbours": 51}, "neighbours must be a whole number, 1 to the number of synthetic records, 50"),
        ({"neighbours": True}, "neighbours must be"),
        ({"tolerance": 1}, r"tolerance must be a number in \[0, 1\)"),
        ({"tolerance": np.nan}, "tolerance must be"),
        ({"scale": -1}, "scale must be"),
        ({"attempts": 0}, "attempts must be"),
        ({"attempts": 2.5}, "attempts must be"),
        ({"model": "tree"}, "attacker must be one of"),
        ({"sensitive": ["vote", "age"], "quasi_identifiers": ["job"]}, "sensitive must be one column"),
    ],
)
def test_bad_options(options, says):
    real, release = tables(1, secret="vote")
    with pytest.raises(InputError, match=says):
        INFERENCE(real, release, **({"quasi_identifiers": KNOWN, "sensitive": "vote"} | options))


def test_nobody_has_a_value():
    real, release = tables(1, secret="vote")
    with pytest.raises(InputError, match="sensitive must have values"):
        INFERENCE(real.assign(vote=None), release, quasi_identifiers=KNOWN, sensitive="vote")


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
