"""The lower bound of epsilon: against exact binomial limits in loops, and mechanisms with a known epsilon."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

sys.path.append(str(Path(__file__).parents[3]))

from benchmarks.epsilon import EPSILONS, MECHANISMS, bounds
from synthrisk.metrics import InputError
from synthrisk.metrics.intervals.epsilon import TAILS, epsilon_lower_bound, released_epsilon


def limit(count, n, error, side):
    """One-sided limit of Clopper and Pearson: scipy's two-sided one at twice the error."""
    interval = binomtest(count, n).proportion_ci(1 - 2 * error, "exact")
    return interval.low if side == "low" else interval.high


def plain(members, controls, delta, confidence=0.95):
    """Every share flagged from the top and cleared from the bottom, both inequalities at each threshold."""
    n, c = len(members), len(controls)
    ordered = sorted([*members, *controls])
    best, error = 0.0, (1 - confidence) / (4 * len(TAILS))
    for share in TAILS:
        count = math.ceil(share * (n + c))
        lowest, highest = ordered[-count], ordered[count - 1]
        for flagged in (lambda s, t=lowest: s >= t, lambda s, t=highest: s > t):
            tp, fp = sum(map(flagged, members)), sum(map(flagged, controls))
            for above, below in (
                (limit(tp, n, error, "low"), limit(fp, c, error, "high")),
                (limit(c - fp, c, error, "low"), limit(n - tp, n, error, "high")),
            ):
                if above > delta:
                    best = max(best, math.log((above - delta) / below))
    return best


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("decimals", [0, 1, 8])
@pytest.mark.parametrize("shift", [0.0, 1.5, -1.5, 4.0])
def test_the_bound_is_that_of_plain_loops(seed, decimals, shift):
    rng = np.random.default_rng(seed)
    members, controls = rng.normal(shift, 1, 150).round(decimals), rng.normal(0, 1, 220).round(decimals)
    found = epsilon_lower_bound(members, controls)
    assert found.delta == 1 / 150
    assert found.epsilon == pytest.approx(plain(members.tolist(), controls.tolist(), 1 / 150), abs=1e-9)
    loose = epsilon_lower_bound(members, controls, 0.0, 0.8)
    assert loose.epsilon == pytest.approx(plain(members.tolist(), controls.tolist(), 0.0, 0.8), abs=1e-9)
    assert loose.epsilon >= found.epsilon


def test_a_copy_has_the_largest_bound_that_so_many_records_can_show():
    found = epsilon_lower_bound(np.ones(1000), np.zeros(1000), delta=0)
    error = 0.05 / 40
    assert found.epsilon == pytest.approx(math.log(error ** (1 / 1000) / (1 - error ** (1 / 1000))))
    assert found.share == 0.5
    assert epsilon_lower_bound(np.zeros(1000), np.ones(1000)).epsilon == 0


def test_who_is_found_by_being_low_is_found_by_those_cleared():
    """A twentieth of the others is known not to be in: no false negatives, so the second inequality speaks."""
    members, controls = np.ones(2000), np.where(np.arange(2000) < 100, 0.0, 1.0)
    found = epsilon_lower_bound(members, controls, delta=0)
    assert found.side == "cleared"
    assert found.share == pytest.approx(0.025)
    mirrored = epsilon_lower_bound(-controls, -members, delta=0)
    assert (mirrored.side, mirrored.share) == ("flagged", pytest.approx(0.025))
    assert mirrored.epsilon == pytest.approx(found.epsilon)


def test_words_say_that_it_is_one_sided():
    said = epsilon_lower_bound(np.ones(1000), np.zeros(1000)).words
    assert said.startswith("on this table the generator behaves no better than (")
    assert "one sided, never a guarantee" in said
    nothing = epsilon_lower_bound(np.ones(10), np.ones(10))
    assert (nothing.epsilon, nothing.side) == (0, "")
    assert "no lower bound" in nothing.words


def test_a_study_counts_one_release_a_repetition_and_each_entity_once():
    rng = np.random.default_rng(0)
    n, repetitions, folds = 240, 4, 3
    fold = np.stack([rng.permutation(n // 2).repeat(2) % folds for _ in range(repetitions)])[:, None, :]
    member = fold != np.arange(folds)[None, :, None]
    scores = rng.normal(size=member.shape) + member
    scores[rng.random(scores.shape) < 0.1] = np.nan
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    members, controls = (
        [s for s, own in zip(scores[:, 0].ravel(), each[:, 0].ravel(), strict=True) if own and not math.isnan(s)]
        for each in (member, ~member)
    )
    found = released_epsilon(scores, member, ~member)
    assert found.delta == pytest.approx(repetitions / len(members))
    assert found.epsilon == pytest.approx(plain(members, controls, found.delta), abs=1e-9)
    entities = np.arange(n // 2).repeat(2) + 7
    highest = [[], []]
    for r in range(repetitions):
        for entity in set(entities):
            own = [s for s in scores[r, 0, entities == entity] if not math.isnan(s)]
            is_member = member[r, 0, entities == entity].any()
            highest[0 if is_member else 1] += [max(own)] if own else []
    found = released_epsilon(scores, member, ~member, entities)
    assert found.epsilon == pytest.approx(plain(*highest, found.delta), abs=1e-9)
    assert released_epsilon(scores, member, member & False) is None


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_bound_stays_below_a_known_epsilon(name, epsilon):
    """40 runs: with 5 % above, more than 6 of them happen once in 200 tests."""
    found = bounds(MECHANISMS[name], epsilon, 300, 40)
    assert (found > epsilon).sum() <= 6


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_bound_stays_below_a_known_epsilon_in_200_runs(name, epsilon):
    for size in (60, 1000):
        assert (bounds(MECHANISMS[name], epsilon, size, 200) > epsilon).mean() <= 0.05


def test_the_bound_sees_what_a_mechanism_gives_away():
    """Of the mechanism that tells most, at least half of an epsilon of 3 is found with 3 x 1,000 members."""
    assert bounds(MECHANISMS["named"], 3.0, 1000, 5).min() > 1.5


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([], [1.0]), "member_scores must hold a number, got none"),
        (([1.0], [np.nan]), "control_scores must hold a number, got none"),
        (([1.0], [1.0], -0.1), r"delta must be a number in \[0, 1\), got -0.1"),
        (([1.0], [1.0], 1.0), "delta must be"),
        (([1.0], [1.0], 0.0, 1.0), r"confidence must be a number in \(0, 1\), got 1.0"),
    ],
)
def test_bad_arguments(arguments, says):
    first, second, *others = arguments
    with pytest.raises(InputError, match=says):
        epsilon_lower_bound(np.array(first), np.array(second), *others)
