"""Isolated records as members: against scipy's exact test, exact enumeration, plain loops and simulated studies."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import nchypergeom_fisher
from scipy.stats.contingency import odds_ratio

from samples.estimates import ENDS
from synthrisk.metrics.intervals.isolated_records import NOBODY, isolation_details, memorized, memorized_in_study


@pytest.mark.parametrize(
    ("x", "k", "n", "c"), [(18, 20, 80, 20), (3, 3, 80, 20), (0, 2, 5, 5), (30, 40, 50, 50), (260, 300, 2000, 500)]
)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_limits_are_those_of_the_exact_odds_ratio(x, k, n, c, confidence):
    found, chance = memorized((x, k - x), (n, c), confidence), n / (n + c)
    limits = odds_ratio([[x, k - x], [n - x, c - k + x]], kind="conditional").confidence_interval(confidence)
    ends = {0.0: max(0, k - c) / k, math.inf: min(k, n) / k}
    shares = [ends.get(odds) if odds in ends else nchypergeom_fisher(n + c, n, k, odds).mean() / k for odds in limits]
    expected = [(share - chance) / (1 - chance) for share in (x / k, *shares)]
    assert ENDS(found) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("n", "c", "k"), [(8, 2, 1), (8, 2, 3), (10, 10, 6), (40, 10, 12), (5, 30, 9)])
def test_where_nobody_is_remembered_the_limits_hold_0_often_enough(n, c, k):
    held, mean = Fraction(0), Fraction(0)
    for x in range(max(0, k - c), min(n, k) + 1):
        chance = Fraction(math.comb(n, x) * math.comb(c, k - x), math.comb(n + c, k))
        found = memorized((x, k - x), (n, c))
        mean += chance * ((Fraction(x, k) - Fraction(n, n + c)) / Fraction(c, n + c))
        assert -n / c - 1e-9 <= found.lower <= found.value <= found.upper <= 1
        held += chance if found.lower <= 0 <= found.upper else 0
    assert mean == 0
    assert held >= 0.95


def test_few_isolated_tell_little_and_none_nothing():
    widths = [memorized((4 * k, k), (800, 200)).upper - memorized((4 * k, k), (800, 200)).lower for k in (1, 5, 25)]
    assert widths[0] > 2.5
    assert widths[0] > widths[1] > widths[2]
    nothing = memorized((0, 0), (80, 20))
    assert (math.isnan(nothing.value), nothing.note) == (True, NOBODY)
    assert ENDS(memorized((80, 20), (80, 20))) == pytest.approx((0, -4, 1))


def test_details_are_shares_and_gains_of_one_release():
    found, own = isolation_details((18, 2), (80, 20), 100), memorized((18, 2), (80, 20))
    due = {"isolated": 20, "isolated_members": 18, "isolated_share": 0.9, "control": 0.8, "control_difference": 0.1}
    due |= {"control_gain": own.value, "control_gain_lower": own.lower}
    assert {name: found[name] for name in due} == pytest.approx(due)


@pytest.mark.parametrize(("isolated", "claims"), [((18, 2), 20), ((18, 2), 400), ((3, 9), 50), ((0, 0), 300)])
def test_memorization_is_the_excess_of_members_per_claim(isolated, claims):
    found, n, c, k = isolation_details(isolated, (80, 20), claims), 80, 20, sum(isolated)
    value, lower, upper = (found[f"memorization{end}"] for end in ("", "_lower", "_upper"))
    assert value == pytest.approx((isolated[0] - k * n / (n + c)) * (n + c) / c / claims)
    assert -1 <= lower <= value <= upper <= (k / claims or 1)
    if not k:  # hardly any isolates a member
        assert ((1 - upper) ** claims, lower) == pytest.approx((0.025, -4 * upper))
    assert math.isnan(isolation_details((0, 0), (80, 20), 0)["memorization"])


def study(seed, n=60, k=3, r=2, remembered=0.0, per_entity=1, chance=None):
    """Flags of releases that isolate records by themselves, and members besides; whose each record is."""
    rng = np.random.default_rng(seed)
    entities = np.arange(n) // per_entity
    own = rng.uniform(0, 0.3, n) if chance is None else np.full(n, chance)
    flags = np.full((r, k, n), np.nan)
    member, control = np.zeros((2, r, k, n), dtype=bool)
    for i in range(r):
        fold = (rng.permutation(n // per_entity) % k)[entities]
        for j in range(k):
            member[i, j], control[i, j] = fold != j, fold == j
            control[i, j, rng.permutation(np.flatnonzero(fold == j))[: n // k // 3]] &= per_entity > 1
            first = np.arange(n) % per_entity == 0
            hit = first & ((rng.random(n) < own) | (member[i, j] & (rng.random(n) < remembered)))
            flags[i, j] = np.where(member[i, j] | control[i, j], hit, np.nan)
    return flags, member, control, entities if per_entity > 1 else None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("per_entity", [1, 3])
def test_the_gain_of_a_study_by_plain_loops(seed, per_entity):
    flags, member, control, entities = study(seed, remembered=0.1, per_entity=per_entity)
    found, contributions = memorized_in_study(flags, member, control, entities)
    whose = np.arange(60) if entities is None else entities
    as_control, by_chance = 0.0, 0.0
    for i, j in np.ndindex(2, 3):
        n, c = (len({whose[p] for p in range(60) if group[i, j, p]}) for group in (member, control))
        for p in range(60):
            if flags[i, j, p] == 1:
                by_chance += c / (n + c)
                as_control += bool(control[i, j, p])
    assert (found.value, contributions.shape) == (pytest.approx(1 - as_control / by_chance), (2, 60))
    assert contributions.mean() == pytest.approx(found.value)
    assert found.lower < found.value < found.upper <= 1
    order = np.random.default_rng(seed).permutation(60)
    owners = None if entities is None else entities[order]
    moved, _ = memorized_in_study(*(each[:, :, order] for each in (flags, member, control)), owners)
    assert ENDS(moved) == pytest.approx(ENDS(found))


def test_one_release_has_the_exact_limits():
    flags, member, control, _ = study(1, k=1, r=1)
    member[:], control[:] = np.arange(60) < 40, np.arange(60) >= 40
    flags = (np.random.default_rng(0).random((1, 1, 60)) < 0.3).astype(float)
    x, k = int(flags[member].sum()), int(flags.sum())
    found, contributions = memorized_in_study(flags, member, control)
    assert (found, contributions.mean()) == (memorized((x, k - x), (40, 20)), pytest.approx(found.value))


def test_a_copy_a_release_without_control_records_and_one_that_isolates_nobody():
    flags, member, control, _ = study(2)
    copy, _ = memorized_in_study(np.where(control, 0.0, flags), member, control)
    assert copy.lower < 1 == copy.value == copy.upper
    nobody, contributions = memorized_in_study(np.zeros_like(flags), member, control)
    assert (math.isnan(nobody.value), nobody.note, contributions.shape) == (True, NOBODY, (2, 0))
    own, _ = memorized_in_study(flags, member, control)
    more = [np.concatenate([each, one[:, :1]], axis=1) for each, one in ((flags, flags), (member, member))]
    more.append(np.concatenate([control, np.zeros_like(control[:, :1])], axis=1))
    assert memorized_in_study(*more)[0].value == own.value  # a release without control records cannot tell


@pytest.mark.parametrize("chance", [None, 0.1, 0.01])
def test_simulated_studies_that_remember_nobody_hold_0(chance):
    held, values = [], []
    for seed in range(120):
        found, _ = memorized_in_study(*study(seed, n=150, chance=chance))
        if not math.isnan(found.value):
            held.append(found.lower <= 0 <= found.upper)
            values.append(found.value)
    assert len(values) > 100
    assert np.mean(held) > 0.91
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(len(values))


def test_simulated_studies_that_remember_are_seen():
    found = [memorized_in_study(*study(seed, n=300, remembered=0.1, chance=0.02))[0] for seed in range(20)]
    assert np.mean([each.lower > 0 for each in found]) > 0.8
    # of 200 members 0.118 are isolated, of the 67 control records left 0.02: q/(n + c) of chance is 67/267
    expected = 1 - (67 * 0.02 / (200 * 0.118 + 67 * 0.02)) / (67 / 267)
    assert np.mean([each.value for each in found]) == pytest.approx(expected, abs=0.1)
