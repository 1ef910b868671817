"""Real beside releases: shares, losses, yardsticks and associations, against plain loops; large tables are fast."""

from collections import Counter
from time import perf_counter

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from synthrisk.metrics.utility.pictures import MOST_PAIRED, Made, cramers_v, joint_shares, picture


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    job = rng.choice(["cook", "nurse", "smith"], n, p=[0.5, 0.3, 0.2])
    pay = np.where(rng.random(n) < 0.7, job, rng.choice(["high", "low"], n))
    return pd.DataFrame({"job": job, "pay": pd.Series(pay).map(lambda v: "high" if v in ("nurse", "high") else "low")})


def made(place, held_out, release):
    return Made(place, np.asarray(held_out), lambda: release)


def drawn(real, held_out, release):
    """Return the picture of one release of one synthesizer, and what is seen of the synthesizer."""
    found = picture(real, {"a": [made((0, 0), held_out, release)]})
    return found, found.synthesizers["a"]


def distance(a, b):
    """Total variation of two lists of values, by counting."""
    x, y = Counter(a), Counter(b)
    return sum(abs(x[v] / len(a) - y[v] / len(b)) for v in {*x, *y}) / 2


def test_losses_are_those_of_plain_counting():
    real, held_out = people(400), np.arange(400) % 2 == 0
    members, others = real[~held_out], real[held_out]
    releases = [people(200, 1).assign(job="cook"), people(200, 2)]
    found = picture(real, {"a": [made((0, 0), held_out, releases[0]), made((0, 1), ~held_out, releases[1])]})
    seen, ways = found.synthesizers["a"], list(zip((members, others), releases, strict=True))

    def apart(member, release, columns):
        return distance(*(list(t[columns].itertuples(index=False)) for t in (member, release)))

    job, pair = seen.columns["job"], seen.pairs["job", "pay"]
    assert job.distance == pytest.approx(np.mean([apart(*way, ["job"]) for way in ways]))
    assert job.expected == pytest.approx(apart(members, others, ["job"]))
    share = np.mean([(r["job"] == "cook").mean() for r in releases])
    assert job.shares[found.columns["job"].groups.index("cook")] == pytest.approx(share)
    joint = np.mean([apart(*way, ["job", "pay"]) for way in ways])
    worse = np.mean([max(apart(*way, [c]) for c in ("job", "pay")) for way in ways])
    assert (pair.distance, pair.own) == pytest.approx((joint, joint - worse))
    assert seen.releases == 2


def test_shuffled_columns_lose_pairs_alone_and_a_copy_loses_nothing():
    real, held_out = people(4000), np.arange(4000) % 2 == 0
    members = real[~held_out].reset_index(drop=True)
    apart = members.assign(job=members["job"].sample(frac=1, random_state=1).to_numpy())
    found = picture(real, {"copy": [made((0, 0), held_out, members)], "apart": [made((0, 0), held_out, apart)]})
    copy, shuffled = found.synthesizers["copy"], found.synthesizers["apart"]
    assert (copy.columns["job"].distance, copy.pairs["job", "pay"].distance) == (0, 0)
    assert copy.pairs["job", "pay"].association == pytest.approx(found.associations["job", "pay"], abs=0.03)
    assert shuffled.columns["job"].distance == pytest.approx(0, abs=1e-12)
    assert shuffled.pairs["job", "pay"].own_beyond > 0.1
    assert shuffled.pairs["job", "pay"].association < 0.05
    assert found.associations["job", "pay"] > 0.4


def test_other_real_people_are_compared_at_the_number_of_rows_of_the_release():
    rng, beyond = np.random.default_rng(3), []
    for _ in range(30):
        real = pd.DataFrame({"code": rng.integers(0, 10, 1000).astype(str)})
        held_out = np.arange(1000) < 100
        release = pd.DataFrame({"code": rng.integers(0, 10, 900).astype(str)})
        loss = drawn(real, held_out, release)[1].columns["code"]
        assert loss.distance > 0.03  # chance, at a hundred rows
        beyond.append(loss.beyond)
    assert abs(np.mean(beyond)) < 0.015


def test_without_held_out_records_there_is_no_yardstick():
    real = people(200)
    loss = drawn(real, np.zeros(200, bool), people(150, 4))[1].columns["job"]
    assert np.isnan(loss.expected)
    assert loss.beyond == loss.distance


def test_the_worst_come_first():
    real, held_out = people(2000).assign(sex=np.arange(2000) % 2), np.arange(2000) % 4 < 2
    _, seen = drawn(real, held_out, real[~held_out].assign(sex=0))
    worst = max(seen.columns, key=lambda c: seen.columns[c].beyond)
    assert (worst, seen.columns["sex"].distance) == ("sex", pytest.approx(0.5))


def test_a_column_of_another_type_is_said_to_be_unreadable():
    real = people(300).assign(age=np.arange(300) % 50)
    _, seen = drawn(real, np.arange(300) < 150, people(150, 2).assign(age="old"))
    assert (seen.unreadable, set(seen.columns)) == (("age",), {"job", "pay"})
    assert ("job", "pay") in seen.pairs


def test_pairs_of_the_named_columns_come_first():
    rng = np.random.default_rng(0)
    real = pd.DataFrame({f"c{i}": rng.integers(0, 3, 200) for i in range(50)})
    found = picture(real, {}, first=["c49", "c48"])
    assert (found.paired[:3], len(found.paired)) == (("c49", "c48", "c0"), MOST_PAIRED)


@pytest.mark.proof
def test_a_large_table_takes_seconds():
    rng, n = np.random.default_rng(0), 100_000
    real = pd.DataFrame({f"n{i}": rng.normal(size=n) for i in range(15)})
    real = real.assign(**{f"c{i}": rng.choice(list("abcd"), n) for i in range(15)})
    folds = np.arange(n) % 2
    releases, begun = [made((0, k), folds == k % 2, real) for k in range(3)], perf_counter()
    found = picture(real, {"a": releases})
    assert perf_counter() - begun < 15  # 1 s on an idle machine
    assert found.drawn
    assert len(found.associations) == 435


def bergsma(counts):
    """Bergsma's corrected V of counts, by scipy's chi squared."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    n, (r, c) = counts.sum(), counts.shape
    phi2 = max(0.0, chi2_contingency(counts, correction=False).statistic / n - (r - 1) * (c - 1) / (n - 1))
    return (phi2 / (min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1)) ** 0.5


@pytest.mark.parametrize("seed", range(5))
def test_association_is_bergsmas(seed):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, 300)
    second = np.where(rng.random(300) < 0.4, first, rng.integers(0, 6, 300))
    counts = np.zeros((5, 6))
    np.add.at(counts, (first, second), 1)
    table = joint_shares(first, second, (5, 6))
    assert table == pytest.approx(counts / 300)
    assert cramers_v(table, 300) == pytest.approx(bergsma(counts))


def test_association_of_extremes():
    same = joint_shares(np.arange(400) % 4, np.arange(400) % 4, (4, 4))
    assert cramers_v(same, 400) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    apart = [cramers_v(joint_shares(rng.integers(0, 5, 500), rng.integers(0, 5, 500), (5, 5)), 500) for _ in range(200)]
    assert np.mean(apart) < 0.04  # without the correction it is 0.09
    assert np.isnan(cramers_v(joint_shares(np.zeros(50, int), rng.integers(0, 3, 50), (2, 3)), 50))
