"""Real beside releases: shares, losses, yardsticks, against plain loops; large tables are fast."""

from collections import Counter
from time import perf_counter

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.utility.pictures import MOST_PAIRED, Made, picture


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    job = rng.choice(["cook", "nurse", "smith"], n, p=[0.5, 0.3, 0.2])
    pay = np.where(rng.random(n) < 0.7, job, rng.choice(["high", "low"], n))
    return pd.DataFrame({"job": job, "pay": pd.Series(pay).map(lambda v: "high" if v in ("nurse", "high") else "low")})


def made(place, held_out, release):
    return Made(place, np.asarray(held_out), lambda: release)


def distance(a, b):
    """Total variation of two lists of values, by counting."""
    x, y = Counter(a), Counter(b)
    return sum(abs(x[v] / len(a) - y[v] / len(b)) for v in {*x, *y}) / 2


def test_losses_are_those_of_plain_counting():
    real = people(400)
    held_out = np.arange(400) % 2 == 0
    members, others = real[~held_out], real[held_out]
    releases = [people(200, 1).assign(job="cook"), people(200, 2)]
    found = picture(real, {"a": [made((0, 0), held_out, releases[0]), made((0, 1), ~held_out, releases[1])]})
    seen = found.synthesizers["a"]
    expected = [distance(list(m["job"]), list(r["job"])) for m, r in zip((members, others), releases, strict=True)]
    assert seen.columns["job"].distance == pytest.approx(np.mean(expected))
    assert seen.columns["job"].expected == pytest.approx(distance(list(members["job"]), list(others["job"])))
    share = np.mean([(r["job"] == "cook").mean() for r in releases])
    assert seen.columns["job"].shares[found.columns["job"].groups.index("cook")] == pytest.approx(share)

    def both(frame):
        return list(zip(frame["job"], frame["pay"], strict=True))

    joint = [distance(both(m), both(r)) for m, r in zip((members, others), releases, strict=True)]
    pair = seen.pairs["job", "pay"]
    assert pair.distance == pytest.approx(np.mean(joint))
    worse = [
        max(distance(list(m[c]), list(r[c])) for c in ("job", "pay"))
        for m, r in zip((members, others), releases, strict=True)
    ]
    assert pair.own == pytest.approx(np.mean(joint) - np.mean(worse))
    assert seen.releases == 2


def test_shuffled_columns_lose_pairs_alone_and_a_copy_loses_nothing():
    real = people(4000)
    held_out = np.arange(4000) % 2 == 0
    members = real[~held_out].reset_index(drop=True)
    apart = members.assign(job=members["job"].sample(frac=1, random_state=1).to_numpy())
    found = picture(real, {"copy": [made((0, 0), held_out, members)], "apart": [made((0, 0), held_out, apart)]})
    copy, shuffled = found.synthesizers["copy"], found.synthesizers["apart"]
    assert copy.columns["job"].distance == 0
    assert copy.pairs["job", "pay"].distance == 0
    assert copy.pairs["job", "pay"].association == pytest.approx(found.associations["job", "pay"], abs=0.03)
    assert shuffled.columns["job"].distance == pytest.approx(0, abs=1e-12)
    assert shuffled.pairs["job", "pay"].own_beyond > 0.1
    assert shuffled.pairs["job", "pay"].association < 0.05
    assert found.associations["job", "pay"] > 0.4


def test_other_real_people_are_compared_at_the_number_of_rows_of_the_release():
    """Rows drawn from the same population lose what the yardstick loses, though few people were held out."""
    rng = np.random.default_rng(3)
    beyond = []
    for _ in range(30):
        real = pd.DataFrame({"code": rng.integers(0, 10, 1000).astype(str)})
        held_out = np.arange(1000) < 100
        release = pd.DataFrame({"code": rng.integers(0, 10, 900).astype(str)})
        loss = picture(real, {"a": [made((0, 0), held_out, release)]}).synthesizers["a"].columns["code"]
        assert loss.distance > 0.03  # chance, at a hundred rows
        beyond.append(loss.beyond)
    assert abs(np.mean(beyond)) < 0.015


def test_without_held_out_records_there_is_no_yardstick():
    real = people(200)
    loss = picture(real, {"a": [made((0, 0), np.zeros(200, bool), people(150, 4))]}).synthesizers["a"].columns["job"]
    assert np.isnan(loss.expected)
    assert loss.beyond == loss.distance


def test_the_worst_come_first():
    real = people(2000).assign(sex=np.arange(2000) % 2)
    held_out = np.arange(2000) % 4 < 2
    broken = real[~held_out].assign(sex=0)
    seen = picture(real, {"a": [made((0, 0), held_out, broken)]}).synthesizers["a"]
    assert seen.worst_columns[0] == "sex"
    assert seen.columns["sex"].distance == pytest.approx(0.5)


def test_a_column_of_another_type_is_said_to_be_unreadable():
    real = people(300).assign(age=np.arange(300) % 50)
    release = people(150, 2).assign(age="old")
    seen = picture(real, {"a": [made((0, 0), np.arange(300) < 150, release)]}).synthesizers["a"]
    assert seen.unreadable == ("age",)
    assert set(seen.columns) == {"job", "pay"}
    assert ("job", "pay") in seen.pairs


def test_pairs_of_the_named_columns_come_first():
    rng = np.random.default_rng(0)
    real = pd.DataFrame({f"c{i}": rng.integers(0, 3, 200) for i in range(50)})
    found = picture(real, {}, first=["c49", "c48"])
    assert found.paired[:3] == ("c49", "c48", "c0")
    assert len(found.paired) == MOST_PAIRED


def test_a_large_table_takes_seconds():
    rng = np.random.default_rng(0)
    n = 100_000
    real = pd.DataFrame(
        {f"n{i}": rng.normal(size=n) for i in range(15)} | {f"c{i}": rng.choice(list("abcd"), n) for i in range(15)}
    )
    folds = np.arange(n) % 2
    releases = [made((0, k), folds == k % 2, real) for k in range(6)]
    begun = perf_counter()
    found = picture(real, {"a": releases})
    assert perf_counter() - begun < 30  # 2 s on an idle machine
    assert found.drawn
    assert len(found.associations) == 435
