"""Adjusted differences against one plain regression, and by simulation: they cover, are unbiased, and never wider."""

import numpy as np
import pytest
import statsmodels.api as sm

from samples.estimates import ENDS
from samples.estimates import half_width as half
from synthrisk.metrics.intervals.adjusted_differences import adjusted_difference, adjusted_gain, is_adjustable
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.intervals.proportions import share, share_difference
from synthrisk.metrics.intervals.value_scale import ValueScale

N = 400


def people(rng, size: int = 2 * N, explained: float = 4.0):
    """Return right-or-wrong scores without memorization, and two covariates, one of which knows how easy each is."""
    ease = rng.normal(size=size)
    chance = 1 / (1 + np.exp(1 - explained * ease))
    scores = (rng.random(size) < chance).astype(float)
    return scores, np.column_stack([chance, rng.normal(size=size)])


def drawn(rng, size: int = 2 * N, explained: float = 4.0):
    """Return scores, who is a member, and covariates."""
    scores, z = people(rng, size, explained)
    return scores, rng.permutation(size) < size // 2, z


def raw(scores: np.ndarray, member: np.ndarray, confidence: float = 0.95) -> Estimate:
    return share_difference(*(share(scores[own], confidence) for own in (member, ~member)))


def test_it_is_the_coefficient_of_membership_in_one_regression_with_its_hc2_error():
    rng = np.random.default_rng(1)
    scores, z = people(rng)
    scores[rng.random(2 * N) < 0.1] = np.nan
    member = np.arange(2 * N) < 300  # groups of two sizes
    found = adjusted_difference(scores, member, z, 0.9)
    own = ~np.isnan(scores)
    centred = z[own] - z[own].mean(axis=0)
    design = np.column_stack([np.ones(own.sum()), member[own], centred, member[own, None] * centred])
    fitted = sm.OLS(scores[own], design).fit(cov_type="HC2")
    assert found.value == pytest.approx(fitted.params[1], abs=1e-12)
    low, high = fitted.conf_int(0.1)[1]  # normal quantiles, where ours are Student's with hundreds of degrees
    assert half(found) == pytest.approx((high - low) / 2, rel=5e-3)
    assert half(found) > (high - low) / 2


@pytest.mark.parametrize("dose", [0.05, 0.1, 0.2])
def test_planted_shares_are_estimated_without_bias(dose):
    rng = np.random.default_rng(int(dose * 100))
    errors, widths = [], []
    for _ in range(200):
        scores, member, z = drawn(rng)
        told = member & (rng.random(2 * N) < dose)
        gained = (1 - scores[told]).sum() / N
        shown = np.where(told, 1.0, scores)
        found = adjusted_difference(shown, member, z)
        errors.append(found.value - gained)
        widths.append(half(found) / half(raw(shown, member)))
    assert abs(np.mean(errors)) < 2.6 * np.std(errors) / np.sqrt(len(errors))
    assert np.mean(widths) < 0.75  # and with less noise than the plain difference


@pytest.mark.parametrize("explained", [0.0, 0.1, 0.5, 4.0])
@pytest.mark.parametrize("size", [120, 800])
def test_no_interval_is_wider_than_the_raw_one_by_more_than_a_twentieth(explained, size):
    rng = np.random.default_rng(size)
    made = 0
    for _ in range(60):
        scores, member, z = drawn(rng, size, explained)
        found = adjusted_difference(scores, member, z)
        made += found is not None
        assert found is None or half(found) <= 1.05 * half(raw(scores, member))
    assert (made > 45) if explained == 4 else (made < 8 or explained == 0.5)


def test_the_choice_between_raw_and_adjusted_costs_no_coverage():
    rng = np.random.default_rng(4)
    covered, made = 0, 0
    for _ in range(600):  # covariates explain so little that now the one holds, now the other
        scores, member, z = drawn(rng, 200, 0.8)
        found = adjusted_difference(scores, member, z)
        made += found is not None
        found = found or raw(scores, member)
        covered += found.lower <= 0 <= found.upper
    assert 120 < made < 480
    assert covered / 600 == pytest.approx(0.95, abs=0.025)  # Newcombe's own of 100 and 100: .96


def test_the_choice_does_not_depend_on_who_was_a_member():
    rng = np.random.default_rng(5)
    for _ in range(50):
        scores, member, z = drawn(rng, explained=0.4)
        one, other = adjusted_difference(scores, member, z), adjusted_difference(scores, ~member, z)
        assert (one is None) == (other is None)
        if one is not None:
            assert (one.value, one.lower) == pytest.approx((-other.value, -other.upper))


def test_the_plain_difference_holds_where_a_normal_interval_would_be_too_short():
    rng = np.random.default_rng(6)
    scores, member, z = drawn(rng)
    assert is_adjustable(scores, member)
    copied = np.where(member, 1.0, scores)  # every member is right: no residual is left
    rare = np.where(np.arange(2 * N) < 12, 1.0, 0.0)  # right is hardly anybody
    few = np.where(member & (np.cumsum(member) > 49), np.nan, scores)
    for own in (copied, rare, few, np.full(2 * N, np.nan), np.where(member, 0.25, 0.75)):
        assert not is_adjustable(own, member)
        assert adjusted_difference(own, member, z) is None
    assert adjusted_difference(scores, member, np.ones((2 * N, 2))) is None
    assert adjusted_difference(scores, member, np.full((2 * N, 1), np.nan)) is None


def test_a_covariate_unknown_of_some_is_their_mean_and_moving_and_stretching_changes_nothing():
    rng = np.random.default_rng(7)
    scores, member, z = drawn(rng)
    holes = np.where(rng.random(z.shape) < 0.3, np.nan, z)
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    for pair in ((holes, filled), (z, 1000 - 50 * z)):
        one, other = (ENDS(adjusted_difference(scores, member, each)) for each in pair)
        assert one == pytest.approx(other)


def test_limits_and_gains_stay_in_their_ranges():
    own = drawn(np.random.default_rng(9))
    free, found = adjusted_difference(*own), adjusted_difference(*own, scale=ValueScale(-0.01, 0.01))
    assert free.lower < -0.01 < 0.01 < free.upper
    assert (found.lower, found.upper) == (-0.01, 0.01)
    found = adjusted_gain(Estimate(0.3, 0.1, 0.5, "adjusted", "why"), 0.6)
    assert ENDS(found) == pytest.approx((0.75, 0.25, 1.0))
    assert (found.method, found.note) == ("adjusted", "why")
    assert np.isnan(adjusted_gain(Estimate(0.0, 0.0, 0.0), 1.0).value)
