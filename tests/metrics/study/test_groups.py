"""Groups of records: each as if it were alone, and the worst class against a plain loop and by simulation."""

from dataclasses import replace

import numpy as np
import pytest

from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.study.findings import Attacked, find
from synthrisk.metrics.study.groups import find_groups, with_rates, worst_class
from synthrisk.metrics.study.ledger import Measure

MEASURE = Measure("zero_cap", "zero_cap", "income")
R, K, N = 3, 2, 300


def attacked(rng, gap=0.0, n=N) -> Attacked:
    """Scores of n records; ``gap``: what a record adds to its own, a number or one a record."""
    held_out = np.stack([rng.permutation(n) % K for _ in range(R)])[:, None, :] == np.arange(K)[None, :, None]
    scores = rng.uniform(0.2, 0.5, n) + rng.normal(0, 0.1, held_out.shape) + gap * ~held_out
    return Attacked(scores, ~held_out, held_out)


def alone(made: Attacked, rows: np.ndarray, confidence: float = 0.95):
    own = Attacked(made.scores[..., rows], made.member[..., rows], made.control[..., rows])
    return find("cart", "synthesizer", MEASURE, own, Interval(confidence))


def test_a_group_is_estimated_as_if_it_were_alone_with_its_gain_over_control():
    made, rows = attacked(np.random.default_rng(0), 0.1), np.arange(N) < 40
    whole = find("cart", "synthesizer", MEASURE, made, Interval())
    found = find_groups(whole, made, {"outliers": rows}, Interval())["outliers"]
    due = alone(made, rows)
    assert (found.memorization, found.details["records"]) == (due.memorization, (40.0, 40.0))
    gain = found.yardsticks["control"].gain
    assert gain.value == pytest.approx((due.risk.value - due.risk_control.value) / (1 - due.risk_control.value))
    assert gain.lower < gain.value < gain.upper


def ranked(rng, copied=0.0, missing=False, n=2000, ties=False):
    """One release of n members and n control records; a share of the members among the outliers, 5 %, is copied."""
    scores = rng.normal(0, 1, 2 * n)
    member = np.arange(2 * n) < n
    outlier = np.tile(np.arange(n) < n // 20, 2)
    scores[outlier] += 0.5  # outliers score higher, members or not
    scores[np.flatnonzero(member & outlier)[: int(copied * n / 20)]] = -9 if missing else 9
    scores = np.round(scores, 1 if ties else 9)[None, None]
    return Attacked(scores, member[None, None], ~member[None, None], ranking=scores), outlier


def rate_of(made, outlier):
    whole = find("cart", "synthesizer", MEASURE, made, Interval(0.9))
    groups = {"outliers": outlier}
    found = with_rates(find_groups(whole, made, groups, Interval(0.9)), made, groups, Interval(0.9))
    return found["outliers"].tpr[0.01]


@pytest.mark.parametrize("ties", [False, True])
def test_the_rate_of_a_group_is_what_its_members_exceed_its_own_control_records_by(ties):
    made, outlier = ranked(np.random.default_rng(3), 0.4, ties=ties)
    scores, member = made.scores[0, 0], made.member[0, 0]
    descending = sorted(scores[~member], reverse=True)
    allowed, at = len(descending) // 100, descending[len(descending) // 100]
    above = sum(s > at for s in scores[~member])
    share = (allowed - above) / sum(s == at for s in scores[~member])
    hits = [1.0 if s > at else share if s == at else 0.0 for s in scores]
    kept = list(zip(hits, member, outlier, strict=True))
    own, other = (np.mean([h for h, m, o in kept if o and m == group]) for group in (True, False))
    rate = rate_of(made, outlier)
    assert rate.value == pytest.approx(0.01 + own - other)
    assert rate.lower < rate.value < rate.upper
    assert rate.value > 0.3


def test_the_rate_of_a_group_sees_what_is_missing_and_says_so():
    rate = rate_of(*ranked(np.random.default_rng(4), 0.4, missing=True))
    assert rate.lower > 0.06
    assert "missing" in rate.note


def test_the_rate_of_a_group_of_strangers_covers_one_in_a_hundred():
    lower = [rate_of(*ranked(np.random.default_rng(seed))).lower for seed in range(200)]
    assert np.mean(np.array(lower) <= 0.01) >= 0.9  # above it one time in 20 in each direction


def test_the_worst_class_against_a_plain_loop():
    rng = np.random.default_rng(1)
    classes = rng.permutation(np.repeat([0, 1, 2, 3, 4], [200, 60, 30, 6, 4]))
    made = attacked(rng, np.where(classes == 2, 0.3, 0.05))
    whole = find("cart", "synthesizer", MEASURE, made, Interval())
    found = worst_class(whole, made, classes, Interval())
    together = [classes == 0, classes == 1, classes == 2, classes >= 3]  # classes below ten records are put together
    plain, strict = ([alone(made, rows, c) for rows in together] for c in (0.95, 1 - 0.05 / 4))
    for quantity in ("risk", "risk_control", "memorization"):
        own, adjusted = ([getattr(f, quantity) for f in each] for each in (plain, strict))
        worst = getattr(found, quantity)
        assert (worst.value, worst.lower) == (max(e.value for e in own), max(e.lower for e in adjusted))
        assert worst.upper == max(e.upper for e in own)
    assert found.details == {"records": (10.0, 10.0), "classes": (4.0, 4.0)}
    assert found.memorization.value == pytest.approx(0.3, abs=0.06)
    assert found.yardsticks["control"].gain.lower > 0


def test_small_classes_are_put_together_until_they_are_ten():
    rng = np.random.default_rng(2)
    made, whole = attacked(rng), None
    whole = find("cart", "synthesizer", MEASURE, made, Interval())
    lonely = np.repeat([0, 1, 2], [250, 48, 2])  # two records: with the smallest other class
    found = worst_class(whole, made, lonely, Interval())
    assert found.details == {"records": (50.0, 50.0), "classes": (2.0, 2.0)}
    assert worst_class(whole, made, np.zeros(N, int), Interval()) is None
    assert worst_class(whole, made, np.repeat([0, 1], [297, 3]), Interval()) is None


def test_a_class_without_an_interval_leaves_the_worst_without():
    rng = np.random.default_rng(3)
    made = attacked(rng)
    whole = find("cart", "synthesizer", MEASURE, made, Interval())
    classes = np.repeat([0, 1], [200, 100])
    unscored = replace(made, scores=np.where(classes == 1, np.nan, made.scores))
    found = worst_class(whole, unscored, classes, Interval())
    assert not np.isnan(found.memorization.value)
    assert np.isnan(found.memorization.lower)


@pytest.mark.proof
def test_no_class_is_called_above_zero_too_often_where_nothing_is_learned():
    rng = np.random.default_rng(4)
    called = []
    for _ in range(200):
        made = attacked(rng)
        whole = find("fresh", "reference", MEASURE, made, Interval())
        found = worst_class(whole, made, np.repeat(np.arange(10), 30), Interval())
        called.append(found.memorization.lower > 0)
    assert np.mean(called) <= 0.025 + 2 * np.sqrt(0.025 * 0.975 / 200)
