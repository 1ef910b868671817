"""The cut of a table: sizes, strata, groups, seeds."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthrisk.conf.study import Split
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.study.split import NEVER_HELD_OUT, split_table, twins_share


def unique(n):
    return pd.DataFrame({"id": np.arange(n)})


def sizes(part):
    return np.bincount(part[part >= 0])


def groups_stay_together(parts, groups):
    return all(pd.Series(part).groupby(np.asarray(groups)).nunique().max() == 1 for part in parts)


@given(st.integers(2, 60), st.integers(2, 7), st.integers(0, 5))
def test_folds_differ_by_at_most_one(n, folds, seed):
    if folds > n:
        return
    parts = split_table(unique(n), Split(folds=folds, repetitions=2), None, seed)
    assert (parts.shape, parts.dtype) == ((2, n), np.int16)
    for part in parts:
        assert len(sizes(part)) == folds
        assert np.ptp(sizes(part)) <= 1


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=5, max_size=60), st.integers(2, 5))
def test_strata_are_spread_evenly(levels, folds):
    frame = unique(len(levels)).assign(level=pd.Categorical(levels))
    part = split_table(frame, Split(folds=folds, stratify="level"), None, 1)[0]
    assert np.ptp(sizes(part)) <= 1
    held = [np.bincount(part[[x == level for x in levels]], minlength=folds) for level in set(levels)]
    if all(h.sum() >= folds for h in held):  # no level is rare: each is a stratum of its own
        assert all(np.ptp(h) <= 1 for h in held)


def test_rare_levels_are_one_stratum_and_numbers_go_by_tenths():
    frame = unique(100).assign(level=["a"] * 33 + ["b"] * 60 + ["c"] * 3 + [None] * 4)
    part = split_table(frame, Split(folds=5, stratify="level"), None, 1)[0]
    for rows in (slice(0, 33), slice(33, 93), slice(93, 100)):
        assert np.ptp(np.bincount(part[rows], minlength=5)) <= 1
    frame = unique(200).assign(age=np.linspace(0, 1, 200))
    for part in split_table(frame, Split(folds=5, stratify="age"), None, 1):
        assert frame.age.groupby(part).mean().std() < 0.02


@given(
    st.lists(st.integers(0, 12), min_size=6, max_size=60),
    st.integers(2, 4),
    st.booleans(),
    st.sampled_from([None, "level"]),
)
def test_groups_stay_together_in_balanced_folds(entities, folds, together, stratify):
    n = len(entities)
    frame = pd.DataFrame({"level": np.arange(n) % 2, "x": np.arange(n) // 3})
    split = Split(folds=folds, stratify=stratify, duplicates="together" if together else "report")
    if len(set(entities)) < folds:
        return
    try:
        parts = split_table(frame, split, pd.Series(entities), 1)
    except InputError:
        assert together
        return
    assert groups_stay_together(parts, entities)
    if together:
        assert groups_stay_together(parts, frame.groupby(list(frame)).ngroup())
        assert twins_share(frame, parts) == 0
    else:
        largest = np.bincount(entities).max()
        assert all(np.ptp(np.bincount(part, minlength=folds)) <= largest for part in parts)


def test_groups_are_chains_of_both_relations_and_missing_identifiers_entities_of_their_own():
    frame = pd.DataFrame({"x": [1.0, 1.0, 2.0, 2.0, 3.0, np.nan, np.nan, 4.0]})
    entities = pd.Series(["a", "b", "b", "c", "d", "e", "f", None])
    parts = split_table(frame, Split(folds=2, repetitions=20, duplicates="together"), entities, 1)
    assert groups_stay_together(parts, [0, 0, 0, 0, 1, 2, 2, 3])
    assert sorted(split_table(unique(10), Split(folds=10), pd.Series([None] * 10), 1)[0]) == list(range(10))
    for part in split_table(unique(100), Split(folds=2), pd.Series([0] * 50 + list(range(1, 51))), 1):
        assert sizes(part).tolist() == [50, 50]  # one large entity fills a fold


@given(st.integers(10, 80), st.floats(0.2, 0.8), st.sampled_from([None, "level"]))
def test_holdout_has_its_share(n, share, stratify):
    frame = unique(n).assign(level=pd.Categorical(np.arange(n) % 3))
    for part in split_table(frame, Split(holdout=share, stratify=stratify), None, 1):
        assert set(part) == {0, NEVER_HELD_OUT}
        assert abs((part == 0).sum() - share * n) <= 0.5
        if stratify:
            here = frame.level.to_numpy() == 0
            assert abs((part[here] == 0).sum() - share * here.sum()) <= 1.5


def test_holdout_keeps_entities_together_and_every_record_is_held_out_as_often():
    entities = pd.Series(np.repeat(np.arange(40), 3))
    parts = split_table(unique(120), Split(holdout=0.25), entities, 1)
    assert groups_stay_together(parts, entities)
    assert [int((part == 0).sum()) for part in parts] == [30, 30, 30]
    parts = split_table(unique(20), Split(holdout=0.3, repetitions=2000), None, 1)
    assert np.abs((parts == 0).mean(axis=0) - 0.3).max() < 0.05
    pairs = split_table(unique(20), Split(folds=2, repetitions=2000), None, 1)
    assert np.abs((pairs[:, [0]] == pairs[:, 1:]).mean(axis=0) - 9 / 19).max() < 0.06


def test_more_repetitions_keep_the_cuts_of_fewer_and_another_seed_cuts_otherwise():
    frame = unique(50)
    for split in (Split(repetitions=2), Split(holdout=0.3, repetitions=2), Split(stratify="id", repetitions=2)):
        parts = split_table(frame, split, None, 1)
        more = split_table(frame, split.model_copy(update={"repetitions": 4}), None, 1)
        assert (more[:2] == parts).all()
        assert (more[0] != more[1]).any()
        assert (split_table(frame, split, None, 2) != parts).any()


def test_twins_share():
    frame = pd.DataFrame({"x": [1.0, 1.0, np.nan, np.nan, 5.0], "y": pd.Categorical(["a", "a", None, None, "a"])})
    parts = {(0, 1, 0, 0, 1): 2 / 5, (0, 1, 0, 2, 2): (4 + 2 + 2) / 15, (0, -1, 0, -1, -1): 4 / 5, (0, 0, 1, 1, 1): 0}
    assert {part: twins_share(frame, np.array([part])) for part in parts} == pytest.approx(parts)


@pytest.mark.parametrize(
    ("n", "split", "entities", "says"),
    [
        (3, Split(folds=4), None, "4 folds for 3 records"),
        (9, Split(folds=4), [1, 1, 1, 2, 2, 2, 3, 3, 3], "4 folds for 3 groups"),
        (100, Split(holdout=0.001), None, "holds out 0 of 100 records"),
        (100, Split(holdout=0.999), None, "holds out 100 of 100 records"),
        *((1, Split(holdout=0.5), None, "of 1 records"), (9, Split(holdout=0.5), [1] * 9, "of 9 records")),
    ],
)
def test_too_few(n, split, entities, says):
    with pytest.raises(InputError, match=says):
        split_table(unique(n), split, pd.Series(entities) if entities else None, 1)
