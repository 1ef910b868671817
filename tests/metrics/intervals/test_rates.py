"""Members found at low false-positive rates over many releases: against loops, by resamples made of rows, by truth."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta

sys.path.append(str(Path(__file__).parents[3]))

from benchmarks.pooled_rates import DESIGNS, held
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.intervals.rates import _cells, _true_positive_rates, attack_summary, pooled_rates
from synthrisk.metrics.study.ledger import COLUMNS


def plain(members, controls, rate):
    """The expected true-positive rate of the best rule of the form: above t, or at t with chance u."""
    n, c = len(members), len(controls)
    for t in sorted({*members, *controls}, reverse=True):
        above, at = sum(s > t for s in controls), sum(s == t for s in controls)
        if above + at > rate * c:
            u = (rate * c - above) / at
            return (sum(s > t for s in members) + u * sum(s == t for s in members)) / n
    raise AssertionError("the lowest score holds all controls")


def made(rng, n=400, repetitions=3, folds=2, decimals=1, leaked=0.0, holes=0.0):
    """Return scores, members and control records of a study; leaked members score above all others."""
    fold = np.stack([rng.permutation(n) % folds for _ in range(repetitions)])[:, None, :]
    member = fold != np.arange(folds)[None, :, None]
    scores = rng.normal(size=n) + rng.normal(size=member.shape)
    scores = np.where(member & (rng.random(member.shape) < leaked), 9.0, scores.round(decimals))
    scores[rng.random(member.shape) < holes] = np.nan
    scores[rng.random(member.shape) < holes / 2] = -np.inf
    control = ~member & (rng.random(member.shape) > holes)
    return scores, member, control


@pytest.mark.parametrize(("seed", "decimals"), [(0, 0), (1, 1), (2, 12)])
@pytest.mark.parametrize(("leaked", "holes"), [(0.0, 0.0), (0.1, 0.2), (1.0, 0.0)])
def test_the_rate_is_that_of_a_plain_loop_over_all_pooled_scores(seed, decimals, leaked, holes):
    scores, member, control = made(np.random.default_rng(seed), 300, decimals=decimals, leaked=leaked, holes=holes)
    told = [scores[own & ~np.isnan(scores)].tolist() for own in (member, control)]
    for rate, found in pooled_rates(scores, member, control, rates=(0.1, 0.02, 0.5)).items():
        turned = [[s if math.isinf(s) else -s for s in group] for group in told]
        near, missing = plain(*told, rate), plain(*turned, rate)
        assert found.value == pytest.approx(max(near, missing), abs=1e-12)
        assert (found.note == "members are told by what is missing") == (missing > near + 1e-12)
        assert 0 <= found.lower <= found.value <= found.upper <= 1


@pytest.mark.parametrize("with_entities", [False, True])
def test_a_resample_is_what_a_study_of_the_drawn_records_would_show(with_entities):
    rng = np.random.default_rng(3)
    scores, member, control = made(rng, 300, decimals=1, leaked=0.05, holes=0.1)
    own = rng.permutation(300) % 90 if with_entities else np.arange(300)
    size = own.max() + 1
    scored = ~np.isnan(scores)
    weights = rng.multinomial(size, np.full(size, 1 / size), size=20)
    found = _true_positive_rates(_cells(scores, member & scored, control & scored, own, 0.1), weights, (0.1, 0.05))
    for drawn, rates in zip(weights, found.T, strict=True):
        times = drawn[own]
        groups = [np.repeat(scores, times, axis=2)[np.repeat(each, times, axis=2)] for each in (member, control)]
        expected = [e.value for e in attack_summary(*groups, rates=(0.1, 0.05)).rates.values()]
        assert rates == pytest.approx(expected, abs=1e-12)


def test_the_limits_are_exact_ones_at_the_effective_number_of_a_plain_bootstrap():
    rng = np.random.default_rng(5)
    scores, member, control = made(rng, 300, decimals=2, leaked=0.05)
    found = pooled_rates(scores, member, control, Interval(resamples=2000), rates=(0.05,))[0.05]
    values = []
    for _ in range(400):
        drawn = rng.integers(300, size=300)
        parts = [scores[:, :, drawn][each[:, :, drawn]] for each in (member, control)]
        values.append(attack_summary(*parts, rates=(0.05,)).rates[0.05].value)
    count = found.value * (1 - found.value) / np.var(values)
    tail = (found.value - found.lower, found.upper - found.value)
    hits, misses = found.value * count, (1 - found.value) * count
    low, high = beta.ppf(0.0125, hits, misses + 1), beta.ppf(0.9875, hits + 1, misses)  # half the error
    assert tail == pytest.approx((found.value - low, high - found.value), rel=0.1)


def test_where_nobody_is_found_the_limit_is_the_exact_one_of_both_numbers():
    member = np.arange(3000).reshape(1, 1, -1) < 1000
    found = pooled_rates(np.where(member, -np.inf, 1.0), member, ~member, rates=(0.01,))[0.01]
    assert (found.value, found.lower) == (0, 0)
    assert found.upper == pytest.approx(1 - 0.0125 ** (1 / (1 / (1 / 1000 + 1 / 2000))))
    all_found = pooled_rates(np.where(member, 1.0, 0.0), member, ~member, rates=(0.01,))[0.01]
    assert (all_found.value, all_found.lower, all_found.upper) == (1, pytest.approx(1 - found.upper), 1)


def test_members_told_by_what_is_missing_count_as_much():
    rng = np.random.default_rng(4)
    member = np.arange(4000).reshape(1, 1, -1) < 2000
    scores = np.where(np.arange(4000) < 100, -9.0, rng.normal(size=4000)).reshape(1, 1, -1)
    found = pooled_rates(scores, member, ~member, rates=(0.01,))[0.01]
    turned = pooled_rates(-scores, member, ~member, rates=(0.01,))[0.01]
    assert found.value == turned.value > 0.05
    assert 0.04 < found.lower == turned.lower
    assert (found.note, turned.note) == ("members are told by what is missing", "")


def test_one_record_seen_in_ten_repetitions_is_one_record():
    scores, member, control = made(np.random.default_rng(0), 2000, repetitions=1)
    once = pooled_rates(scores, member, control, rates=(0.01,))[0.01]
    often = pooled_rates(*(np.repeat(each, 10, axis=0) for each in (scores, member, control)), rates=(0.01,))[0.01]
    assert often.value == once.value
    assert often.upper - often.lower == pytest.approx(once.upper - once.lower, rel=0.15)
    families = pooled_rates(scores, member, control, entities=np.arange(2000) // 20, rates=(0.01,))[0.01]
    assert families.value == once.value
    assert families.upper - families.lower != once.upper - once.lower


def test_no_order_decides():
    rng = np.random.default_rng(1)
    scores, member, control = made(rng, 500, leaked=0.02, holes=0.1)
    entities, order = rng.integers(0, 300, 500), rng.permutation(500)
    names = rng.permutation(300)
    first = pooled_rates(scores, member, control, entities=entities, rates=(0.05, 0.02))
    again = pooled_rates(
        *(e[:, :, order] for e in (scores, member, control)), None, names[entities[order]], (0.05, 0.02)
    )
    assert again == first


@pytest.mark.parametrize(("n", "estimable"), [(999, []), (1000, [0.01]), (10000, [0.01, 0.001])])
def test_a_rate_needs_ten_expected_false_positives(n, estimable):
    scores = np.random.default_rng(0).random((1, 1, n + 50))
    member = np.arange(n + 50).reshape(1, 1, -1) < 50
    found = pooled_rates(scores, member, ~member)
    assert [rate for rate, e in found.items() if not math.isnan(e.value)] == estimable
    for rate, e in found.items():
        assert (e.note == f"fewer than {round(10 / rate)} control scores") == (rate not in estimable)
    assert {e.note for e in pooled_rates(scores, member, member & False).values()} == {"no control records"}
    assert {e.note for e in pooled_rates(scores, member & False, member).values()} == {"no members"}


def test_one_entity_has_no_interval():
    scores, member, control = made(np.random.default_rng(0), 400)
    found = pooled_rates(scores, member, control, entities=np.zeros(400), rates=(0.1,))[0.1]
    assert found.value > 0
    assert math.isnan(found.lower)
    assert found.note.endswith("one record: no interval")


@pytest.mark.parametrize("rate", [0, 1, -0.1, True])
def test_a_rate_out_of_range(rate):
    scores, member, control = made(np.random.default_rng(0), 20)
    with pytest.raises(InputError, match=r"rates must be numbers in \(0, 1\)"):
        pooled_rates(scores, member, control, rates=(rate,))


def test_intervals_hold_what_is_true():
    for design in (DESIGNS[0], DESIGNS[4], DESIGNS[7]):
        assert float(held(design, 1000, 3, 2, 60)[0].split()[0]) >= 52 / 60


def test_the_columns_that_rank_are_in_every_ledger():
    ranked = {name: m.study.ranking for name, m in METRICS.items() if m.study.ranking}
    assert ranked == {"membership": "confidence", "distance_to_closest_record": "-distance"}
    assert {column.lstrip("-") for column in ranked.values()} <= set(COLUMNS)
