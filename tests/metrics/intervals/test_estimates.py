"""Estimates against plain loops, hand-made quantiles and simulated studies with a known truth."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from samples.estimates import ENDS, crossed_by_hand, resampled_means
from samples.findings import folds
from synthrisk.metrics.intervals.estimates import METHODS, across_repetitions, effects, estimate

sys.path.append(str(Path(__file__).parents[3]))

from benchmarks.interval_coverage import Design, coverage, findings


def cut(rng, R, K, n, kind):
    if kind == "folds":
        return folds(rng, R, K, n)
    return np.stack([rng.permutation(n) < max(1, n // 4) for _ in range(R)])[:, None, :]


def effects_by_hand(x, chosen):
    """Return e_ri in loops: each scored pair carries n/N of its distance from the repetition's mean."""
    R, K, n = x.shape
    use = chosen & ~np.isnan(x)
    ever = [any(use[r, k, i] for r in range(R) for k in range(K)) for i in range(n)]
    e = np.full((R, n), np.nan)
    for r in range(R):
        pairs = [x[r, k, i] for k in range(K) for i in range(n) if use[r, k, i]]
        if not pairs:
            return None
        mean = sum(pairs) / len(pairs)
        for i in range(n):
            if ever[i]:
                own = sum(x[r, k, i] - mean for k in range(K) if use[r, k, i])
                e[r, i] = mean + sum(ever) * own / len(pairs)
    return e


SEEDS, FEW = st.integers(0, 10**6), st.integers(1, 4)


@given(
    SEEDS,
    FEW,
    st.integers(2, 4),
    st.integers(4, 25),
    st.sampled_from(["folds", "holdout"]),
    st.floats(0, 0.7),
    st.booleans(),
)
def test_missing_scores_and_excluded_records_keep_the_pooled_mean(seed, R, K, n, kind, missing, fresh):
    rng = np.random.default_rng(seed)
    held_out = cut(rng, R, K, n, kind)
    x = rng.normal(size=held_out.shape)
    x[rng.random(x.shape) < missing] = np.nan
    control = held_out & (rng.random(x.shape) < 0.5) if fresh else held_out
    for chosen in (~held_out, control):
        found, expected = effects(x, chosen), effects_by_hand(x, chosen)
        if expected is None:
            assert found.shape == (R, 0)
            continue
        np.testing.assert_allclose(found, expected, atol=1e-10)
        for r in range(R):
            np.testing.assert_allclose(np.nanmean(found[r]), np.nanmean(x[r][chosen[r]]), atol=1e-10)


@given(SEEDS, st.integers(1, 5), st.integers(2, 40), st.floats(0, 3), st.sampled_from([0.8, 0.95, 0.99]))
def test_crossed_is_the_formula(seed, R, n, drift, confidence):
    rng = np.random.default_rng(seed)
    e = rng.normal(size=n) + rng.normal(size=(R, n)) + drift * rng.normal(size=(R, 1))
    expected = crossed_by_hand(e.tolist(), confidence)[:3]
    np.testing.assert_allclose(ENDS(estimate(e, confidence)), expected, rtol=1e-9, atol=1e-12)


def test_crossed_reads_no_seed_and_the_others_are_determined_by_theirs():
    e = np.random.default_rng(0).normal(size=(3, 50))
    for method in METHODS:
        first, again, other = (estimate(e, method=method, resamples=100, seed=s) for s in (1, 1, 2))
        assert first == again
        if method != "repetitions":  # few different resamples of three
            assert (first == other) == (method == "crossed")


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("method", ["crossed_bootstrap", "records", "pigeonhole"])
def test_each_bootstrap_agrees_with_another_resampling(method, clustered):
    rng = np.random.default_rng(7)
    entity = np.repeat(np.arange(12), [1, 2, 3, 4] * 3) if clustered else np.arange(30)
    e = rng.normal(size=30)[entity] + rng.normal(size=(4, 30)) + 0.4 * rng.normal(size=(4, 1))
    if clustered and method == "crossed_bootstrap":
        e -= e.mean(axis=1, keepdims=True)  # no repetition effect: only the resampling of entities is compared
    found = estimate(e, method=method, resamples=4000, seed=3, entities=entity if clustered else None)
    second = max(0.0, e.mean(axis=1).var(ddof=1) - e.var(axis=0, ddof=1).mean() / 30) / 4
    draws = resampled_means(e, method, rng, entity, math.sqrt(second), 3000)
    (lower, upper), spread = np.quantile(draws, [0.025, 0.975]), draws.std()
    assert abs(found.lower - lower) < 0.25 * spread
    assert abs(found.upper - upper) < 0.25 * spread
    assert found.value == pytest.approx(e.mean())


def test_repetitions_that_agree_too_well_are_clipped_and_resampled_ones_span_the_extremes_of_three():
    e = np.array([[0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]])  # between repetitions 0, within 1/2
    assert ENDS(estimate(e)) == (0.5, 0.5, 0.5)
    e = np.random.default_rng(1).normal(size=(3, 20))
    found = estimate(e, method="repetitions", resamples=2000)
    assert (found.lower, found.upper) == (pytest.approx(e.mean(axis=1).min()), pytest.approx(e.mean(axis=1).max()))


def test_entities_are_the_clusters_of_the_plain_formula_and_their_equal_records_one_record():
    rng = np.random.default_rng(2)
    entity = rng.integers(0, 9, 40)
    x = rng.normal(size=9)[entity] + rng.normal(size=40)
    mean, groups = x.mean(), sorted(set(entity.tolist()))
    squares, G = sum(sum(x[i] - mean for i in range(40) if entity[i] == g) ** 2 for g in groups), len(groups)
    half = t.ppf(0.975, G - 1) * math.sqrt(squares / 40**2 * G / (G - 1))
    assert ENDS(estimate(x[None], entities=entity)) == pytest.approx((mean, mean - half, mean + half), abs=1e-9)
    e = np.random.default_rng(3).normal(size=(3, 25))
    for entity in (np.random.default_rng(4).permutation(25), np.repeat(np.arange(25), 5)):
        found = estimate(e if len(entity) == 25 else e[:, entity], entities=entity)
        assert (found.lower, found.upper) == pytest.approx(ENDS(estimate(e))[1:], abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_degenerate_scores(method):
    one_record = estimate(np.array([[0.2], [0.4]]), method=method)
    assert (one_record.value, math.isnan(one_record.lower)) == (pytest.approx(0.3), True)
    assert "one record" in one_record.note
    assert ENDS(estimate(np.full((2, 5), 0.25), method=method)) == (0.25, 0.25, 0.25)
    for nothing in (np.full((3, 4), np.nan), np.empty((3, 0))):
        none = estimate(nothing, method=method)
        assert (math.isnan(none.value), none.note) == (True, "not scored")
    single = estimate(np.array([[0.0, 1.0, 1.0, 0.0]]), method=method)
    assert ("one repetition" in single.note, math.isnan(single.lower)) == (True, method == "repetitions")
    assert estimate(np.array([[0.0, 1, 1], [1, 1, 1]]), method=method).lower <= 5 / 6


@pytest.mark.parametrize(("R", "K"), [(1, 1), (1, 3), (3, 1), (4, 2)])
def test_a_record_that_is_never_scored_moves_no_bit(R, K):  # sums are taken in one order, with and without it
    scores = np.random.default_rng(R).random((R, K, 3001))
    alone = np.pad(scores, ((0, 0), (0, 0), (0, 1)), constant_values=np.nan)
    found, beside = (effects(x, np.ones(x.shape, dtype=bool)) for x in (scores, alone))
    assert found.tobytes() == np.ascontiguousarray(beside[:, :-1]).tobytes()
    assert np.isnan(beside[:, -1]).all()
    for method in METHODS:
        assert str(estimate(found, method=method)) == str(estimate(beside, method=method))


def test_values_of_releases_give_the_t_interval_of_the_repetitions():
    values = np.array([[0.1, 0.3], [0.4, 0.6], [0.2, 0.8]])
    found = across_repetitions(values)  # repetitions 0.2, 0.5, 0.5: variance 0.03
    half = 4.302652729696142 * math.sqrt(0.03 / 3)
    assert (found.value, found.lower, found.upper) == pytest.approx((0.4, 0.4 - half, 0.4 + half), abs=1e-9)
    assert math.isnan(across_repetitions(values[:1]).lower)
    assert math.isnan(across_repetitions(np.full((2, 2), np.nan)).value)
    assert across_repetitions(np.array([[0.1, np.nan], [0.3, 0.5]])).value == pytest.approx(0.25)


FOLDS = [{}, {"binary": False}, {"unscored": 0.4}, {"repetitions": 2, "folds": 2, "records": 300}]
FOLDS.append({"repetitions": 3, "folds": 5, "records": 1000})
UNEVEN = [{"folds": 1}, {"folds": 1, "repetitions": 2}, {"folds": 1, "repetitions": 1, "binary": False}]
UNEVEN += [{"fresh": True, "repetitions": 2}, {"fresh": True, "repetitions": 1}, {"folds": 1, "fresh": True}]


def covers(settings, memorization, studies=700):
    found = findings(Design(**settings, memorization=memorization), studies, 11)
    return coverage([f.memorization for f in found], memorization)[0]


@pytest.mark.slow
@pytest.mark.parametrize("memorization", [0.0, 0.15])
@pytest.mark.parametrize("settings", FOLDS, ids=str)
def test_folds_cover_the_truth(settings, memorization):
    assert 0.925 <= covers(settings, memorization) <= 0.985


@pytest.mark.slow
@pytest.mark.parametrize("memorization", [0.0, 0.15])
def test_a_holdout_and_exclusion_cover_the_truth(memorization):
    low = min(covers(settings, memorization, 400) for settings in UNEVEN)
    assert low >= 0.92
