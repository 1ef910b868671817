"""Groups of records: each as if it were alone, and the worst class against a plain loop and by simulation."""

from dataclasses import replace

import numpy as np
import pytest

from samples.findings import attacked as attacked_in
from samples.findings import folds
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.study.findings import Attacked, find
from synthrisk.metrics.study.groups import find_groups, with_rates, worst_class
from synthrisk.metrics.study.ledger import Measure

MEASURE = Measure("zero_cap", "zero_cap", "income")
R, K, N = 3, 2, 300
CUBES = ("scores", "member", "control", "contribution")


def attacked(rng, gap=0.0) -> Attacked:
    """Scores of records; ``gap``: what a record adds to its own, a number or one a record."""
    held_out = folds(rng, R, K, N)
    return attacked_in(rng.uniform(0.2, 0.5, N) + rng.normal(0, 0.1, held_out.shape) + gap * ~held_out, held_out)


def of_all(made: Attacked, confidence: float = 0.95):
    return find("cart", "synthesizer", MEASURE, made, Interval(confidence))


def alone(made: Attacked, rows: np.ndarray, confidence: float = 0.95):
    own = {name: cube if cube is None else cube[..., rows] for name, cube in vars(made).items() if name in CUBES}
    return of_all(replace(made, **own), confidence)


def worst(made: Attacked, classes: np.ndarray):
    return worst_class(of_all(made), made, classes, Interval())


@pytest.mark.parametrize("transform", [None, np.sqrt])
def test_a_group_is_estimated_as_if_it_were_alone_with_its_gain_over_control(transform):
    made, rows = attacked(np.random.default_rng(0), 0.1), np.arange(N) < 40
    made = replace(made, transform=transform, contribution=transform and made.scores**2)
    found = find_groups(of_all(made), made, {"outliers": rows}, Interval())["outliers"]
    due = alone(made, rows)
    for quantity in ("risk", "risk_control", "memorization"):
        assert getattr(found, quantity) == getattr(due, quantity)
    assert found.details["records"] == (40.0, 40.0)
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
    groups = {"outliers": outlier}
    found = with_rates(find_groups(of_all(made, 0.9), made, groups, Interval(0.9)), made, groups, Interval(0.9))
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


def test_the_rate_of_a_group_sees_what_is_missing_and_says_so_and_covers_one_in_a_hundred_of_strangers():
    rate = rate_of(*ranked(np.random.default_rng(4), 0.4, missing=True))
    assert (rate.lower > 0.06, "missing" in rate.note) == (True, True)
    lower = [rate_of(*ranked(np.random.default_rng(seed))).lower for seed in range(200)]
    assert np.mean(np.array(lower) <= 0.01) >= 0.9  # above it one time in 20 in each direction


def test_the_worst_class_against_a_plain_loop():
    rng = np.random.default_rng(1)
    classes = rng.permutation(np.repeat([0, 1, 2, 3, 4], [200, 60, 30, 6, 4]))
    made = attacked(rng, np.where(classes == 2, 0.3, 0.05))
    found = worst(made, classes)
    together = [classes == 0, classes == 1, classes == 2, classes >= 3]  # classes below ten records are put together
    plain, strict = ([alone(made, rows, c) for rows in together] for c in (0.95, 1 - 0.05 / 4))
    for quantity in ("risk", "risk_control", "memorization"):
        own, adjusted = ([getattr(f, quantity) for f in each] for each in (plain, strict))
        largest = getattr(found, quantity)
        assert (largest.value, largest.lower) == (max(e.value for e in own), max(e.lower for e in adjusted))
        assert largest.upper == max(e.upper for e in own)
    assert found.details == {"records": (10.0, 10.0), "classes": (4.0, 4.0)}
    assert found.memorization.value == pytest.approx(0.3, abs=0.06)
    assert found.yardsticks["control"].gain.lower > 0


def test_small_classes_are_put_together_and_one_without_an_interval_leaves_the_worst_without():
    made = attacked(np.random.default_rng(2))
    found = worst(made, np.repeat([0, 1, 2], [250, 48, 2]))  # two records: with the smallest other class
    assert found.details == {"records": (50.0, 50.0), "classes": (2.0, 2.0)}
    assert worst(made, np.zeros(N, int)) is worst(made, np.repeat([0, 1], [297, 3])) is None
    made, classes = attacked(np.random.default_rng(3)), np.repeat([0, 1], [200, 100])
    unscored = replace(made, scores=np.where(classes == 1, np.nan, made.scores))
    found = worst_class(of_all(made), unscored, classes, Interval()).memorization
    assert np.isnan([found.value, found.lower]).tolist() == [False, True]


@pytest.mark.proof
def test_no_class_is_called_above_zero_too_often_where_nothing_is_learned():
    rng, classes = np.random.default_rng(4), np.repeat(np.arange(10), 30)
    called = [worst(attacked(rng), classes).memorization.lower > 0 for _ in range(200)]
    assert np.mean(called) <= 0.025 + 2 * np.sqrt(0.025 * 0.975 / 200)  # of any of them, not of each
