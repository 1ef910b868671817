"""Unique exact matches, against plain loops over records."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS, Tables

UNIQUE = METRICS["unique_exact_matches"]


def drawn(seed, n):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.choice([20.0, 30.0, 40.0, np.nan], n),
            "city": rng.choice(["a", "b", "c", None], n),
            "born": pd.to_datetime(rng.choice(["1960-01-01", "1970-02-02", "NaT"], n)),
        }
    )


def rows(table):
    return [tuple("missing" if pd.isna(v) else v for v in row) for row in table.itertuples(index=False)]


def loop(real, release, entities=None):
    own, held = rows(real), rows(release)
    owner = list(range(len(own))) if entities is None else list(entities)
    unique = [len({e for e, other in zip(owner, own, strict=True) if other == row}) == 1 for row in own]
    return np.array(unique), np.array([u and row in held for u, row in zip(unique, own, strict=True)], dtype=float)


@pytest.mark.parametrize("seed", range(5))
def test_brute_force(seed):
    real, release = drawn(seed, 60), drawn(seed + 100, 40)
    unique, matched = loop(real, release)
    assert 0 < matched.sum() < unique.sum() < 60
    score = UNIQUE(real, release)
    assert score.records["score"].tolist() == matched.tolist()
    assert score.records["unique"].tolist() == unique.tolist()
    assert score.value == matched.mean()
    assert score.published == pytest.approx(100 * matched.sum() / unique.sum())
    assert score.details["unique_share"] == unique.mean()
    assert score.details["matched"] == matched.sum()


@pytest.mark.parametrize("seed", range(3))
def test_a_record_is_unique_where_no_other_entity_equals_it(seed):
    real, release = drawn(seed, 60), drawn(seed + 100, 40)
    entities = np.random.default_rng(seed).integers(2, size=60)
    _, matched = loop(real, release, entities)
    assert matched.sum() > loop(real, release)[1].sum()
    score = UNIQUE(real.assign(who=entities), release, identifier="who")
    assert score.records["score"].tolist() == matched.tolist()


def test_a_twin_among_the_control_records_takes_uniqueness_away():
    real = pd.DataFrame({"x": [1, 2, 3]})
    score = UNIQUE(real, real, control=pd.DataFrame({"x": [3, 4]}))
    assert score.records["score"].tolist() == [1, 1, 0]
    assert score.details["control"] == 0


def test_without_unique_records_there_is_nothing_to_match():
    real = pd.DataFrame({"x": [1, 1, 2, 2]})
    score = UNIQUE(real, real)
    assert score.value == 0
    assert np.isnan(score.published)
    assert np.isnan(score.details["matched_share"])


def test_more_copies_of_a_record_in_the_release_are_one_match():
    real = pd.DataFrame({"x": [1, 2]})
    assert UNIQUE(real, pd.DataFrame({"x": [1, 1, 1]})).value == 0.5


def test_a_copy_beats_a_fresh_sample_and_a_fresh_sample_tells_nobody_apart():
    """Members and control records of one population, a release that knows neither: the same share, in the mean."""
    differences, copies = [], []
    for seed in range(40):
        people, release = drawn(seed, 80), drawn(seed + 1000, 50)
        groups = np.repeat([1, 0], [50, 30])
        for made, kept in ((release, differences), (people[:50], copies)):
            scores = UNIQUE.score(Tables(people, made, groups=groups)).records["score"].to_numpy()
            kept.append(scores[:50].mean() - scores[50:].mean())
    assert abs(np.mean(differences)) < 3 * np.std(differences) / np.sqrt(40)
    assert np.mean(copies) > 0.1 > np.mean(differences) + 0.05
