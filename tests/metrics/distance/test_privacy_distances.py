"""The distance metrics of PrivEval's list against plain loops over all pairs, and counted by hand."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples.cells import is_numeric
from samples.distances import distance_of, rows_of
from samples.mixed import large
from samples.releases import releases
from synthrisk.metrics import METRICS, Tables
from synthrisk.metrics.distance.adversarial_accuracy import adversary
from synthrisk.metrics.distance.authenticity import inverse_entropies
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.neighbours.distances import farthest, of_pairs

SPACES = ["euclid", "gower"]
CVP, DVP, NSND, AUTH, IDS, MDCR, NNAA, HIDR, HITR, DCR, NNDR = (
    METRICS[name]
    for name in (
        *("close_value_probability", "distant_value_probability", "nearest_synthetic_neighbour_distance"),
        *("authenticity", "identifiability_score", "median_distance_to_closest_record"),
        *("nearest_neighbour_adversarial_accuracy", "hidden_rate", "hitting_rate"),
        *("distance_to_closest_record", "nearest_neighbour_distance_ratio"),
    )
)
CRP = METRICS["common_rows_proportion"]
in_spaces = pytest.mark.parametrize("space", SPACES)
with_ties = pytest.mark.parametrize("ties", ["risk", "safe", "expected"])


def equal(a, b):
    return abs(a - b) <= 1e-9 * max(a, b)


def at_risk(a, b, ties):
    return {"risk": 1.0, "safe": 0.0, "expected": 0.5}[ties] if equal(a, b) else float(a < b)


def others(rows, distance):
    """Return the distance of each row to the nearest other one."""
    return [min(distance(a, b) for j, b in enumerate(rows) if j != i) for i, a in enumerate(rows)]


def nearest(rows, theirs, distance):
    return [min(distance(a, b) for b in theirs) for a in rows]


def flagged(rows, theirs, distance, ties):
    """Tell of each row whether it is nearer to one of theirs than to another row."""
    return [at_risk(*d, ties) for d in zip(nearest(rows, theirs, distance), others(rows, distance), strict=True)]


def oracle_bins(values):
    known = sorted(v for v in values if v is not None)
    bins, edges = min(10, len(set(known))), []
    for k in range(1, bins):
        place, rest = divmod(k * (len(known) - 1), bins)
        low, high = known[place], known[min(place + 1, len(known) - 1)]
        edges.append(low + (high - low) * rest / bins if rest else low)
    edges = sorted(set(edges))
    return [None if v is None else sum(v > e for e in edges) for v in values]


def oracle_weights(real):
    weights = {}
    for place, name in enumerate(real):
        values = [r[place] for r in rows_of(real)]
        values = oracle_bins(values) if is_numeric(real[name]) else values
        shares = [values.count(v) / len(values) for v in set(values)]
        h = -math.fsum(p * math.log(p) for p in shares)
        weights[name] = 1 / h if len(shares) > 1 else 0.0
    return weights


numbers_only = releases(kinds=("float64", "float", "int64", "Int64", "datetime64[ns]"))
words_only = releases(kinds=("object", "bool", "category"))
any_release = st.one_of(releases(), numbers_only, words_only)


@given(any_release)
@in_spaces
@pytest.mark.parametrize("normalise", ["nearest", "all_pairs"])
def test_normalised_distances_brute_force(space, normalise, release):
    distance = distance_of(*release, space)
    ours, theirs = map(rows_of, release)
    pairs, d = [[distance(a, b) for b in theirs] for a in ours], nearest(ours, theirs, distance)
    high, low = max(d) if normalise == "nearest" else max(map(max, pairs)), min(d)
    t = [(v - low) / (high - low) if not equal(high, low) else 0.0 for v in d]
    options = {"space": space, "normalise": normalise}
    score = CVP(*release, **options)
    np.testing.assert_allclose(score.records["normalised"], t, rtol=1e-7, atol=1e-9)
    assert score.details["largest"] == pytest.approx(high, rel=1e-9)
    assert score.value == pytest.approx(np.mean([v < 0.2 - 1e-9 for v in t]), abs=1e-12)
    assert DVP(*release, **options).value == pytest.approx(1 - np.mean([v >= 0.8 - 1e-9 for v in t]), abs=1e-12)
    assert NSND(*release, **options).value == pytest.approx(1 - math.fsum(t) / len(t), abs=1e-9)


@given(any_release)
@in_spaces
@with_ties
def test_closer_records_brute_force(space, ties, release):
    real, synthetic = release
    ours, theirs = map(rows_of, release)
    weights = oracle_weights(real)
    for metric, own in ((AUTH, None), (IDS, weights)):
        score = metric(real, synthetic, space=space, ties=ties)
        if metric is IDS and not any(weights.values()):
            assert math.isnan(score.value)
            assert "constant" in score.reason
            continue
        if len(real) < 2:
            assert np.isnan([score.value, score.published]).all()
            assert "fewer than two" in score.reason
            continue
        for where, column in ((space, "risk"), ("gower", "score")):
            distance = distance_of(real, synthetic, where, own)
            expected = flagged(ours, theirs, distance, ties)
            assert score.records[column].tolist() == expected
            if column == "risk":
                assert score.details["ties"] == sum(map(equal, nearest(ours, theirs, distance), others(ours, distance)))
                assert score.value == pytest.approx(np.mean(expected))


@given(any_release)
@in_spaces
def test_median_distance_brute_force(space, release):
    score = MDCR(*release, space=space)
    ours, theirs = map(rows_of, release)
    if len(ours) < 2:
        assert np.isnan([score.value, score.published]).all()
        assert score.reason
        return
    distance = distance_of(*release, space)
    top, low = np.median(nearest(ours, theirs, distance)), np.median(others(ours, distance))
    ratio = top / low if low else math.inf if top else 0.0
    assert score.published == pytest.approx(ratio, rel=1e-9)
    assert score.value == pytest.approx(2 * (1 - 1 / (1 + math.exp(-min(ratio, 700)))), abs=1e-9)


@given(any_release)
@in_spaces
@with_ties
def test_adversarial_accuracy_brute_force(space, ties, release):
    score = NNAA(*release, space=space, ties=ties)
    ours, theirs = map(rows_of, release)
    if min(len(ours), len(theirs)) < 2:
        assert np.isnan([score.value, score.published]).all()
        assert "fewer than two" in score.reason
        return
    distance = distance_of(*release, space)
    real, fake = flagged(ours, theirs, distance, ties), flagged(theirs, ours, distance, ties)
    found = adversary(Tables(*release), space, ties)
    assert (found.real.tolist(), found.synthetic.tolist()) == (real, fake)
    assert score.records["flag"].tolist() == real
    assert score.value == pytest.approx((np.mean(real) + np.mean(fake)) / 2, abs=1e-12)


@pytest.mark.proof
@given(releases(least=(2, 2)))
@in_spaces
@with_ties
def test_equal_sizes_are_the_mean_over_all_subsamples(space, ties, release):
    real, synthetic = release
    ours, theirs = map(rows_of, release)
    distance, k = distance_of(real, synthetic, space), min(len(ours), len(theirs))
    values = [
        (np.mean(flagged(x, y, distance, ties)) + np.mean(flagged(y, x, distance, ties))) / 2
        for x in map(list, itertools.combinations(ours, k))
        for y in map(list, itertools.combinations(theirs, k))
    ]
    score = NNAA(real, synthetic, space=space, ties=ties, sizes="equal")
    assert score.value == pytest.approx(np.mean(values), abs=1e-9)
    assert 0 <= score.value <= 1


@given(any_release, st.data())
@in_spaces
def test_hidden_rate_brute_force(space, release, data):
    ours, theirs = map(rows_of, release)
    links = data.draw(st.lists(st.integers(-1, len(ours) - 1), min_size=len(theirs), max_size=len(theirs)))
    distance, credits = distance_of(*release, space), []
    for i, a in enumerate(ours):
        d = [distance(a, b) for b in theirs]
        tied = [links[j] == i for j, v in enumerate(d) if equal(v, min(d))]
        credits.append(sum(tied) / len(tied) if i in links else math.nan)
    score = HIDR(*release, links=links, space=space)
    np.testing.assert_allclose(score.records["score"], credits, rtol=1e-12)
    scored = [c for c in credits if c == c]
    if scored:
        assert (score.value, score.details["linked"]) == pytest.approx((np.mean(scored), len(scored) / len(ours)))
    else:
        assert math.isnan(score.value)
        assert "no row link" in score.reason


@given(any_release)
@pytest.mark.parametrize(("width", "trim"), [(30, 0.0), (2.0, 0.0), (1, 0.25)])
def test_hitting_rate_brute_force(width, trim, release):
    real, synthetic = release
    ours, theirs = map(rows_of, release)
    limits = []
    for place, name in enumerate(real):
        known = [r[place] for r in ours if r[place] is not None]
        low, high = np.quantile(known, [trim, 1 - trim]) if known and is_numeric(real[name]) else (0, 0)
        limits.append((high - low) / width)

    def close(a, b, limit):
        return a == b or (None not in (a, b) and limit > 0 and abs(a - b) <= limit * (1 + 1e-9))

    expected = [float(any(all(map(close, a, b, limits)) for b in theirs)) for a in ours]
    assert HITR(real, synthetic, width=width, trim=trim).records["score"].tolist() == expected


@given(any_release)
@in_spaces
def test_pairs_and_the_farthest_of_them(space, release):
    tables, distance = Tables(*release), distance_of(*release, space)
    ours, theirs = map(rows_of, release)
    matrix = np.array([[distance(a, b) for b in theirs] for a in ours])
    i, j = np.indices(matrix.shape).reshape(2, -1)
    np.testing.assert_allclose(of_pairs(tables, space, i, j), matrix.ravel(), rtol=1e-9, atol=1e-12)
    assert farthest(tables, space) == of_pairs(tables, space, i, j).max()


@in_spaces
def test_the_farthest_pair_of_larger_tables(space):
    tables = Tables(large(1, 900), large(2, 700))
    i, j = np.indices((900, 700)).reshape(2, -1)
    assert farthest(tables, space) == of_pairs(tables, space, i, j).max()


def test_hits_of_larger_tables():
    real, synthetic = large(1, 600), large(2, 500)
    close = np.ones((600, 500), dtype=bool)
    for name in real:
        a, b = real[name].to_numpy()[:, None], synthetic[name].to_numpy()[None, :]
        if name in "cd":
            close &= (a == b) | (pd.isna(a) & pd.isna(b))
        else:
            close &= (np.abs(a - b) <= (np.nanmax(a) - np.nanmin(a)) / 10 * (1 + 1e-9)) | (np.isnan(a) & np.isnan(b))
    found = HITR(real, synthetic, width=10).records["score"].to_numpy() == 1
    assert 0 < found.mean() < 1
    np.testing.assert_array_equal(found, close.any(axis=1))


def test_columns_of_low_entropy_weigh_more_and_one_of_mostly_zeros_keeps_its_weight():
    weights = inverse_entropies(Tables(*[pd.DataFrame({"rare": ["a"] * 9 + ["b"], "half": ["u", "v"] * 5})] * 2))
    assert weights["half"] == pytest.approx(1 / math.log(2))
    assert weights["rare"] == pytest.approx(-1 / (0.9 * math.log(0.9) + 0.1 * math.log(0.1)))
    zeros = inverse_entropies(Tables(*[pd.DataFrame({"x": [0.0] * 19 + [5.0]})] * 2))
    assert zeros["x"] == pytest.approx(-1 / (0.95 * math.log(0.95) + 0.05 * math.log(0.05)))


@pytest.mark.parametrize("shift", [0.0, 1e6, -1e9])
def test_hits_at_the_limit_count_wherever_the_numbers_lie(shift):
    real = pd.DataFrame({"x": np.arange(31.0) + shift})
    assert HITR(real, pd.DataFrame({"x": [10.0 + shift]})).records["score"].sum() == 3
    tenths = pd.DataFrame({"x": np.arange(31) / 10 + round(shift / 1e6)})
    assert HITR(tenths, tenths.iloc[[10]]).records["score"].sum() == 3


def test_the_median_ratio_where_distances_are_zero():
    real = pd.DataFrame({"x": [1.0, 1.0, 1.0, 4.0]})
    copied, moved = MDCR(real, real), MDCR(real, real + 1)
    assert (copied.value, copied.published) == (1, 0)
    assert (moved.value, moved.published) == (0, math.inf)


def test_unequal_sizes_alone_move_the_accuracy_and_equal_sizes_do_not():
    rng = np.random.default_rng(0)
    real, synthetic = (pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "y"]) for n in (100, 1000))
    assert NNAA(real, synthetic).details["real_flags"] > 0.85
    score = NNAA(real, synthetic, sizes="equal")
    assert score.value == pytest.approx(0.5, abs=0.08)
    assert "1000 synthetic" in score.settings["note"]


@pytest.mark.parametrize("metric", [AUTH, IDS, NNAA, MDCR, CRP, HITR])
def test_a_release_of_members_is_nearer_to_them_than_to_controls(metric):
    everyone = large(7, 200)
    members, controls = everyone.iloc[:100], everyone.iloc[100:]
    score = metric(members, members.iloc[:60], control=controls)
    assert score.value > score.details["control"]
    assert score.details["control_difference"] > 0.2
    if metric.study.against is not None:
        tables = Tables(everyone, members.iloc[:60])
        assert metric.study.against(tables, np.arange(60)) > metric.study.against(tables, np.arange(100, 160))


def test_differences_are_taken_in_gower_whatever_the_space():
    members, controls, release = large(7, 80), large(8, 60), large(9, 70)
    for metric in (AUTH, IDS, NNAA, MDCR):
        found = [metric(members, release, control=controls, space=s).details["control_difference"] for s in SPACES]
        assert found[0] == found[1]
        assert metric.study.difference_only


def test_labels():
    for metric in (CVP, DVP, NSND, HIDR, METRICS["detection_mlp"]):
        assert metric.label == "sanity"
    for metric in (CRP, HITR):
        assert (metric.label, metric.study.difference_only) == ("signal", False)
    assert MDCR.by_release
    assert not AUTH.by_release


@pytest.mark.parametrize(
    ("metric", "options", "text"),
    [
        (CVP, {"normalise": "all"}, "normalise must be nearest or all_pairs, got 'all'"),
        (AUTH, {"ties": "half"}, "ties must be risk, safe or expected, got 'half'"),
        (IDS, {"ties": ["risk"]}, "ties must be .*got"),
        (NNAA, {"sizes": "same"}, "sizes must be given or equal, got 'same'"),
        (HIDR, {"links": [0]}, "links must name a real row for each of 2 synthetic rows, got 1"),
        (HIDR, {"links": [0, 2]}, "links must be positions from 0 to 1 in the real table, or -1, got 0 to 2"),
        (HIDR, {"links": [0, -2]}, "links must be positions"),
        *((HIDR, {"links": each}, "links must be whole numbers") for each in ([0.0, 1.0], "age")),
        (HITR, {"width": 0}, "width must be a finite number above 0, got 0"),
        *((HITR, {"width": each}, "width must be") for each in (math.inf, math.nan)),
        (HITR, {"width": "30"}, "width must be .*got '30'"),
        (HITR, {"trim": 0.5}, r"trim must be a number in \[0, 0.5\), got 0.5"),
        (HITR, {"trim": -0.1}, "trim must be"),
        *(
            (metric, {"space": "l2"}, "space must be euclid or gower, got 'l2'")
            for metric in (CVP, DVP, NSND, AUTH, IDS, MDCR, NNAA, HIDR, DCR, NNDR)
        ),
    ],
)
def test_bad_options_are_refused(metric, options, text):
    table = pd.DataFrame({"x": [1.0, 2.0]})
    with pytest.raises(InputError, match=text):
        metric(table, table, **options)
    if "each of" not in text and "positions" not in text:
        with pytest.raises(InputError, match=text):
            metric.check_choices(options)
