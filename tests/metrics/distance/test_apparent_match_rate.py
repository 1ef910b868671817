"""Apparent matches, against plain loops over pairs of records."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.conf import load
from synthrisk.conf.plan import plan
from synthrisk.metrics import METRICS, InputError, Tables
from synthrisk.metrics.exposure.what_if import Change, what_if

RATE = METRICS["apparent_match_rate"]
KEYS = ["age", "city"]
OTHERS = ["born", "sex", "car"]


def drawn(seed, n):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "car": rng.choice(["x", "y", None], n),
            "age": rng.integers(0, 30, n).astype(float),
            "city": rng.choice(["a", "b", None], n),
            "born": pd.to_datetime(rng.choice(["1960-01-01", "1970-02-02", "NaT"], n)),
            "sex": pd.Categorical(rng.choice(["f", "m"], n)),
        }
    )


def cells(table, columns):
    return [tuple("missing" if pd.isna(v) else v for v in row) for row in table[columns].itertuples(index=False)]


def loop(real, release, entities=None):
    own, held = cells(real, KEYS), cells(release, KEYS)
    mine, others = cells(real, OTHERS), cells(release, OTHERS)
    owner = list(range(len(own))) if entities is None else list(entities)
    scores, matches = [], []
    for i, key in enumerate(own):
        holders = {e for e, other in zip(owner, own, strict=True) if other == key}
        found = [j for j, other in enumerate(held) if other == key]
        matches.append(len(holders) == 1 and len(found) == 1)
        equal = sum(a == b for a, b in zip(mine[i], others[found[0]], strict=True)) if matches[-1] else 0
        scores.append(equal / len(OTHERS))
    return np.array(scores), np.array(matches)


@pytest.mark.parametrize("seed", range(5))
def test_brute_force(seed):
    real, release = drawn(seed, 60), drawn(seed + 100, 50)
    scores, matches = loop(real, release)
    assert 3 < matches.sum() < 40
    score = RATE(real, release, quasi_identifiers=KEYS)
    assert score.records["score"].to_numpy() == pytest.approx(scores, abs=1e-12)
    assert score.records["match"].tolist() == matches.tolist()
    assert score.value == pytest.approx(scores.mean())
    assert score.published == pytest.approx(100 * scores[matches].mean())
    assert score.details["match_share"] == matches.mean()


@pytest.mark.parametrize("seed", range(2))
def test_a_key_is_unique_where_no_other_entity_has_it(seed):
    real, release = drawn(seed, 60), drawn(seed + 100, 50)
    entities = np.random.default_rng(seed).integers(2, size=60)
    scores, matches = loop(real, release, entities)
    assert matches.sum() > loop(real, release)[1].sum()
    found = RATE(real.assign(who=entities), release, identifier="who", quasi_identifiers=KEYS)
    assert found.records["score"].to_numpy() == pytest.approx(scores, abs=1e-12)


def test_without_a_match_nothing_is_given_away():
    score = RATE(drawn(1, 20), drawn(2, 20).assign(age=99.0), quasi_identifiers=KEYS)
    assert score.value == 0
    assert np.isnan(score.published)


def test_coarser_keys_match_fewer():
    real = drawn(4, 60)
    tried = what_if(RATE, real, real, [Change(drop=["age"]), Change(bins={"age": 3})], quasi_identifiers=KEYS)
    first, dropped, coarser = tried["value"]
    assert first > coarser >= dropped
    by_hand = real.assign(age=pd.qcut(real["age"], 3, labels=False))
    assert coarser == RATE(by_hand, by_hand, quasi_identifiers=KEYS).value


def test_a_copy_beats_a_fresh_sample_and_a_fresh_sample_tells_nobody_apart():
    differences, copies = [], []
    for seed in range(40):
        people, release = drawn(seed, 80), drawn(seed + 1000, 50)
        groups = np.repeat([1, 0], [50, 30])
        for made, kept in ((release, differences), (people[:50], copies)):
            found = RATE.score(Tables(people, made, groups=groups), quasi_identifiers=KEYS)
            scores = found.records["score"].to_numpy()
            kept.append(scores[:50].mean() - scores[50:].mean())
    assert abs(np.mean(differences)) < 3 * np.std(differences) / np.sqrt(40)
    assert np.mean(copies) > 0.1 > np.mean(differences) + 0.05


def test_keys_that_leave_no_column_are_refused_before_anything_is_computed():
    real = drawn(5, 10)
    with pytest.raises(InputError, match="quasi_identifiers must leave a column to compare, got all 5"):
        RATE(real, real, quasi_identifiers=list(real.columns))
    with pytest.raises(InputError, match="quasi_identifiers must leave a column"):
        RATE.check_options_on(real, {"quasi_identifiers": list(real.columns)})


@pytest.mark.parametrize(
    ("known", "expected"),
    [("*", ["age", "city", "born"]), (["age", "sex"], ["age", "sex"]), (["city"], ["city"])],
)
def test_a_study_gives_it_the_keys_though_it_guesses_nothing(known, expected):
    """All others are those that no attribute declared sensitive is among; keys that are named stay as they are."""
    study = load(
        {
            "name": "s",
            "data": {"source": "t.csv", "quasi_identifiers": known, "sensitive": ["sex", "car"]},
            "synthesizers": ["cart"],
            "metrics": [{"name": "apparent_match_rate", "what_if": [{"bins": {"age": 2}}] if "age" in known else []}],
        }
    )
    planned = plan(
        study.metrics, ["age", "city", "born", "sex", "car"], study.data.quasi_identifiers, study.data.sensitive
    )
    assert planned[0].options["quasi_identifiers"] == expected
    assert planned[0].measure.sensitive is None
    assert len(planned) == 1 + ("age" in known)
