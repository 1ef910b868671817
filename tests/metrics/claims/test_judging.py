"""The selective curve: by hand, against loops that share no code, and flat where confidence says nothing."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from synthrisk.metrics import METRICS
from synthrisk.metrics.claims.judging import SHARES, claim_rule, halves, selective_curve, selective_details
from synthrisk.metrics.tables.tables import Tables

INFERENCE = METRICS["inference"]
ENDS = ("", "_lower", "_upper", "_baseline")


def brute(surety, right, baseline, half, share):
    """Return claims, precision and baseline by loops over every attempt and every order of the tied."""
    claims = good = expected = 0.0
    for own in (0, 1):
        chosen = sorted((s for s, h in zip(surety, half, strict=True) if h == own and not math.isnan(s)), reverse=True)
        wanted = share * sum(h == own for h in half)
        if wanted > len(chosen) + 1e-9 or wanted <= 0:
            return None
        left, chances = wanted, {}
        for level in dict.fromkeys(chosen):
            tied = chosen.count(level)
            chances[level] = min(1.0, max(0.0, left) / tied)
            left -= tied
        levels = [level for level, chance in chances.items() if chance > 1e-12]
        for s, r, b, h in zip(surety, right, baseline, half, strict=True):
            if h == own or math.isnan(s):
                continue
            weight = chances[s] if s in levels else float(s > min(levels))
            claims, good, expected = claims + weight, good + weight * r, expected + weight * b
    return claims, good / claims if claims else math.nan, expected / claims if claims else math.nan


ROWS = st.tuples(st.sampled_from([0.1, 0.2, 0.5, 0.9, 1.0, math.nan, -math.inf]), st.booleans(), st.booleans())


@given(st.lists(ROWS, min_size=2, max_size=90))
def test_curve_equals_plain_loops_and_claims_without_confidence_come_last(rows):
    surety, right, half = (np.array(c, dtype=float) for c in zip(*rows, strict=True))
    baseline = np.linspace(0, 1, len(rows))
    own = {"attempt": True, "claim": ~np.isnan(surety), "confidence": np.where(np.isinf(surety), np.nan, surety)}
    records = pd.DataFrame(own | {"score": right, "baseline": baseline, "half": half})
    details = selective_details(pd.concat([records, records.assign(attempt=False)]))
    for point in selective_curve(surety, right, baseline, half):
        named = [details[f"selective_{point.share:g}{end}"] for end in ENDS]
        np.testing.assert_array_equal(named, point[1:])
        found = brute(surety, right, baseline, half, point.share)
        if found is None or not found[0] or point.share * len(rows) < 10 - 1e-9:
            assert all(math.isnan(v) for v in point[1:])
        else:
            assert (point.precision, point.baseline) == (pytest.approx(found[1]), pytest.approx(found[2]))
            assert 0 <= point.lower <= point.precision + 1e-12
            assert point.precision - 1e-12 <= point.upper <= 1


def test_by_hand_with_ties():
    surety = np.tile(np.repeat([0.9, 0.4], 10), 2)
    right = np.tile(np.r_[np.ones(6), np.zeros(4), np.ones(1), np.zeros(9)], 2)
    point, everyone = selective_curve(surety, right, np.full(40, 0.3), np.repeat([0, 1], 20), shares=[0.25, 1.0])
    expected = binomtest(6, 10).proportion_ci(method="wilson")
    assert (point.precision, point.lower, point.upper) == pytest.approx((0.6, expected.low, expected.high))
    assert everyone.precision == pytest.approx(14 / 40)


def test_the_threshold_is_not_chosen_on_the_claims_it_judges():
    surety = np.r_[np.arange(100.0), np.arange(100.0) + 1000]
    half = np.repeat([0, 1], 100)
    (point,) = selective_curve(surety, half * 1.0, np.zeros(200), half, shares=[0.1])
    assert point.precision == 1.0  # all of the second half lies above the first's threshold, none the other way
    assert point.upper - point.lower < 0.04  # over 100 claims


def test_confidence_without_information_makes_a_flat_curve():
    rng = np.random.default_rng(0)
    curves = []
    for _ in range(300):
        right = (rng.random(400) < 0.3).astype(float)
        half = rng.permutation(400) % 2
        curves.append([p.precision for p in selective_curve(rng.random(400), right, right, half)])
    means, errors = np.mean(curves, axis=0), np.std(curves, axis=0) / math.sqrt(300)
    assert np.isnan(means).tolist() == [True] * 5 + [False] * 5  # 0.4 to 8 claims
    assert (np.abs(means - 0.3)[5:] < 3.5 * errors[5:]).all()


def test_confidence_with_information_rises_towards_its_top():
    rng = np.random.default_rng(1)
    chance = rng.random(5000)
    points = selective_curve(chance, (rng.random(5000) < chance).astype(float), chance, rng.integers(0, 2, 5000))
    values = [p.precision for p in points if p.share >= 0.01]  # of 50 claims and more
    assert values[2:] == sorted(values[2:], reverse=True)
    assert values[0] > 0.95
    assert values[-1] == pytest.approx(0.5, abs=0.03)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.floats(0.01, 1))
def test_a_cut_takes_exactly_the_share(values, share):
    ordered = np.sort(np.array(values, dtype=float))[::-1]
    where = claim_rule(ordered, share * len(ordered))
    total = np.where(ordered > where.threshold, 1, np.where(ordered == where.threshold, where.at, 0)).sum()
    assert total == pytest.approx(share * len(ordered))


def test_halves_hold_equal_records_together_and_do_not_know_positions():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.integers(0, 60, 200), "c": rng.choice(["a", None], 200)})
    first = pd.Series(halves(Tables(table, table), 5), index=table.index)
    order = rng.permutation(200)
    again = pd.Series(halves(Tables(table.iloc[order], table), 5), index=order).sort_index()
    pd.testing.assert_series_equal(first, again)
    assert first.groupby([table.x, table.c.fillna("?")]).nunique().max() == 1
    assert abs(first.mean() - 0.5) < 0.1
    assert (halves(Tables(table, table), 6) != first).any()


def tables(seed, n):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n)
    vote = np.where(rng.random(n) < 0.7, np.where(age > 40, "x", "y"), rng.choice(["x", "y", "z"], n))
    return pd.DataFrame({"age": age, "job": rng.choice([*"abc"], n), "vote": vote})


def test_inference_reports_it_for_members_and_control():
    real, release, control = tables(0, 400), tables(1, 300), tables(2, 200)
    roles = {"quasi_identifiers": ["age", "job"], "sensitive": "vote"}
    found = INFERENCE(real, release, control=control, neighbours=9, **roles)
    d = found.details
    names = {f"{group}selective_{s:g}{end}" for group in ("", "control_") for s in SHARES for end in ENDS}
    assert names <= set(d)
    assert (d["selective_1"], d["selective_1_baseline"]) == pytest.approx((found.value, d["statistical_confidence"]))
    assert d["selective_0.2"] > d["selective_1"]
    assert math.isnan(d["control_selective_0.01"])
    order = np.random.default_rng(5).permutation(400)
    moved = INFERENCE(real.iloc[order], release, control=control, neighbours=9, **roles).details
    assert {k: pytest.approx(v, nan_ok=True) for k, v in d.items()} == moved
