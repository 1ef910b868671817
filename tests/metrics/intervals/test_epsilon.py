"""The lower bound of epsilon: against scipy's laws in loops, and mechanisms with a known epsilon."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, nchypergeom_fisher
from scipy.stats.contingency import odds_ratio

from samples.findings import folds

sys.path.append(str(Path(__file__).parents[3]))

from benchmarks.epsilon import EPSILONS, MECHANISMS, bounds
from synthrisk.metrics import InputError
from synthrisk.metrics.intervals.epsilon import TAILS, epsilon_lower_bound, log_odds_lower, released_epsilon


def limit(hits, alarms, first, second, error):
    """The log odds ratio at which so many hits, of all splits together, are as rare as the error, by scipy's laws."""
    laws = [(range(min(h + a, n) + 1), n + c, n, h + a) for h, a, n, c in zip(hits, alarms, first, second, strict=True)]

    def tail(log_odds):
        law = np.ones(1)
        for values, everyone, n, chosen in laws:
            law = np.convolve(law, nchypergeom_fisher(everyone, n, chosen, math.exp(log_odds)).pmf(values))
        return law[sum(hits) :].sum()

    if sum(hits) <= 0 or tail(0) >= error:
        return 0.0
    return brentq(lambda x: tail(x) - error, 0, 40, xtol=1e-11)


def given_away(size, delta, error):
    """The fewest people that more are given away than with at most this chance."""
    return next(g for g in range(size + 1) if binom.sf(g, size, delta) <= error) if delta else 0


def plain(members, controls, delta=0.0, confidence=0.95):
    """Each share from the top and from the bottom, flagged and cleared; scores of one split, or of several."""
    members, controls = ([each] if np.ndim(each[0]) == 0 else each for each in (members, controls))
    ordered = sorted(s for group in (members, controls) for split in group for s in split)
    sizes = [[len(s) for s in group] for group in (members, controls)]
    best, error = 0.0, 1 - confidence
    lost = [given_away(sum(own), delta, 0.05 * error) for own in sizes]
    error = (error if delta == 0 else 0.9 * error) / (4 * len(TAILS))
    for share in TAILS:
        count = math.ceil(share * len(ordered))
        lowest, highest = ordered[-count], ordered[count - 1]
        for chosen in (lambda s, t=lowest: s >= t, lambda s, t=highest: s <= t):
            found = [[sum(map(chosen, split)) for split in group] for group in (members, controls)]
            for one, other in ((0, 1), (1, 0)):
                hits, alarms, first, second = found[one][:], found[other], sizes[one][:], sizes[other][:]
                if len(hits) == 1:
                    gone = min(lost[one], hits[0])
                    hits[0], first[0] = hits[0] - gone, first[0] - gone
                    second[0] -= min(lost[other], second[0] - alarms[0])
                best = max(best, limit(hits, alarms, first, second, error))
    return best


@pytest.mark.parametrize("decimals", [0, 8])
@pytest.mark.parametrize("shift", [0.0, -1.5, 4.0])
def test_the_bound_is_that_of_plain_loops(decimals, shift):
    rng = np.random.default_rng(1)
    members, controls = rng.normal(shift, 1, 60).round(decimals), rng.normal(0, 1, 90).round(decimals)
    found = epsilon_lower_bound(members, controls)
    assert found.delta == 1 / 60
    assert found.epsilon == pytest.approx(plain(members.tolist(), controls.tolist(), 1 / 60), abs=1e-7)
    loose = epsilon_lower_bound(members, controls, 0.0, 0.8)
    assert loose.epsilon == pytest.approx(plain(members.tolist(), controls.tolist(), 0.0, 0.8), abs=1e-7)
    assert loose.epsilon >= found.epsilon


@pytest.mark.parametrize("table", [(9, 1, 20, 20), (30, 30, 30, 60), (5, 0, 400, 90), (38, 20, 40, 25)])
def test_the_limit_of_one_table_is_scipys_exact_conditional_one(table):
    hits, alarms, first, second = table
    counts = [[hits, alarms], [first - hits, second - alarms]]
    for error in (0.025, 0.001):
        exact = odds_ratio(counts).confidence_interval(1 - error, alternative="greater").low
        found = log_odds_lower(*(np.array([each]) for each in table), error)
        assert found == pytest.approx(max(0.0, math.log(exact)), abs=1e-6)


def test_a_copy_has_the_largest_bound_that_so_many_records_can_show():
    found = epsilon_lower_bound(np.ones(1000), np.zeros(1000), delta=0)
    ways = sum(math.exp(2 * math.log(math.comb(1000, j)) - found.epsilon * j) for j in range(200))
    assert (1 / ways, found.share, found.missing) == (pytest.approx(0.05 / 40), 0.5, False)


@pytest.mark.parametrize("delta", [0.0, None])
def test_members_told_by_what_is_missing_are_seen_as_well(delta):
    rng = np.random.default_rng(1)
    members, controls = rng.normal(0.8, 1, 900), rng.normal(0, 1, 700)
    near, far = epsilon_lower_bound(members, controls, delta), epsilon_lower_bound(-members, -controls, delta)
    assert near.epsilon > 1
    assert (far.epsilon, near.missing, far.missing) == (pytest.approx(near.epsilon, abs=1e-9), False, True)
    assert (far.words.endswith("; members are told by what is missing"), "missing" in near.words) == (True, False)


def test_who_is_found_by_being_low_is_found_by_those_cleared():
    members, controls = np.ones(2000), np.where(np.arange(2000) < 100, 0.0, 1.0)
    found, mirrored = (epsilon_lower_bound(*e, delta=0) for e in ((members, controls), (-controls, -members)))
    assert (found.side, found.missing, found.share) == ("cleared", False, pytest.approx(0.025))
    assert (mirrored.side, mirrored.share) == ("flagged", pytest.approx(0.025))
    assert mirrored.epsilon == pytest.approx(found.epsilon)


def test_words_say_that_it_is_one_sided():
    said = epsilon_lower_bound(np.ones(1000), np.zeros(1000)).words
    assert said.startswith("on this table the generator behaves no better than (")
    assert "one sided, never a guarantee" in said
    nothing = epsilon_lower_bound(np.ones(10), np.ones(10))
    assert (nothing.epsilon, nothing.side, "no lower bound" in nothing.words) == (0, "", True)


def test_a_study_counts_one_release_a_repetition_and_each_entity_once():
    rng = np.random.default_rng(0)
    n, repetitions = 90, 3
    member = ~folds(rng, repetitions, 3, n // 2).repeat(2, axis=2)
    scores = rng.normal(size=member.shape) + 3 * member
    scores[rng.random(scores.shape) < 0.1] = np.nan
    scores[rng.random(scores.shape) < 0.1] = -np.inf
    first, splits = scores[:, 0], range(repetitions)
    members, controls = ([first[r][each[r, 0] & ~np.isnan(first[r])] for r in splits] for each in (member, ~member))
    found = released_epsilon(scores, member, ~member)
    assert found.delta == pytest.approx(repetitions / sum(map(len, members)))
    assert found == epsilon_lower_bound(members, controls, found.delta)
    whole = epsilon_lower_bound(members, controls, 0.0)
    assert whole.epsilon == pytest.approx(plain(members, controls), abs=1e-6)
    assert whole.epsilon > found.epsilon > 0
    entities = np.arange(n // 2).repeat(2) + 7
    highest = [[[] for _ in splits] for _ in range(2)]
    for r in splits:
        for entity in set(entities):
            own = [s for s in first[r, entities == entity] if not math.isnan(s)]
            is_member = member[r, 0, entities == entity].any()
            highest[0 if is_member else 1][r] += [max(own)] if own else []
    found = released_epsilon(scores, member, ~member, entities)
    expected = ([np.array(each) for each in group] for group in highest)
    assert found.epsilon == pytest.approx(epsilon_lower_bound(*expected, found.delta).epsilon, abs=1e-9)
    assert released_epsilon(scores, member, member & False) is None


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_bound_stays_below_a_known_epsilon(name, epsilon):
    found = bounds(MECHANISMS[name], epsilon, 300, 20)
    assert (found > epsilon).sum() <= 4


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_bound_stays_below_a_known_epsilon_in_200_runs(name, epsilon):
    for size in (60, 1000):
        assert (bounds(MECHANISMS[name], epsilon, size, 200) > epsilon).mean() <= 0.05


def test_what_delta_gives_away_is_taken_out_and_the_bound_sees_what_a_mechanism_does():
    members, controls = np.where(np.arange(1000) < 10, 1.0, 0.0), np.zeros(1000)
    assert given_away(1000, 0.001, 0.0025) == 5
    assert epsilon_lower_bound(members, controls, 0.0).epsilon > 0 == epsilon_lower_bound(members, controls).epsilon
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
