"""Our random forest is scikit-learn's, to the last bit."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

from synthrisk.metrics.models import forest
from synthrisk.metrics.models.forest import RandomForest


@pytest.fixture(autouse=True)
def grown_here(monkeypatch):
    """Have our own trees be grown, however few they are."""
    monkeypatch.setattr(forest, "_COMPILING", 0)


COLUMNS = {
    "few levels": lambda rng, m: rng.integers(0, 4, m).astype(float),
    "many levels": lambda rng, m: rng.integers(0, 200, m).astype(float),
    "normal": lambda rng, m: rng.normal(size=m),
    "closer than 1e-7": lambda rng, m: rng.random(m) * 10.0 ** rng.integers(-8, -4),
    "far from zero": lambda rng, m: 1e9 + rng.normal(size=m) * 100,
    "levels, missing cells": lambda rng, m: np.where(rng.random(m) < 0.3, np.nan, rng.integers(0, 5, m)),
    "numbers, missing cells": lambda rng, m: np.where(rng.random(m) < 0.5, np.nan, rng.normal(size=m) * 1e6),
    "constant": lambda rng, m: np.full(m, 7.0),
    "missing": lambda rng, m: np.full(m, np.nan),
}


def of_both(trees, split, seed, rows, target, asked):
    """Return the probabilities of our forest and of scikit-learn's."""
    theirs = RandomForestClassifier(trees, max_features="sqrt", min_samples_split=split, random_state=seed)
    return [model.fit(rows, target).predict_proba(asked) for model in (RandomForest(trees, split, seed), theirs)]


@given(
    seed=st.integers(0, 2**32 - 1),
    columns=st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=9),
    records=st.sampled_from([2, 3, 10, 60, 300, 1500]),
    guessed=st.sampled_from([1, 7, 300]),
    classes=st.integers(2, 7),
    split=st.integers(2, 20),
    absent=st.booleans(),
)
def test_probabilities_are_those_of_scikit_learn(seed, columns, records, guessed, classes, split, absent):
    rng = np.random.default_rng(seed)
    rows, asked = (np.column_stack([COLUMNS[c](rng, m) for c in columns]) for m in (records, guessed))
    target = rng.integers(0, classes, records) * 3
    if absent:  # a cell is missing where none was in the records learned
        asked[rng.random(asked.shape) < 0.2] = np.nan
    np.testing.assert_array_equal(*of_both(5, split, seed, rows, target, asked))


def wide(records=6000, levels=5000):
    """Codes beyond one word and one head of bits, two classes that the columns tell apart."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, each, records) for each in (levels, 90, 3)])
    return rows.astype(float), (rows[:, 0] * rng.random(records) > levels / 4).astype(np.int64)


@pytest.mark.parametrize("levels", [50, 62, 63, 64, 65, 4096, 4097, 70_000])
def test_any_number_of_levels(levels):
    rows, target = wide(levels=levels)
    np.testing.assert_array_equal(*of_both(3, 11, 1, rows, target, rows))


def test_too_many_counts_are_left_to_scikit_learn(monkeypatch):
    rows, target = wide()
    found, _ = of_both(3, 11, 1, rows, target, rows)
    monkeypatch.setattr(forest, "LARGEST", 10)
    np.testing.assert_array_equal(of_both(3, 11, 1, rows, target, rows)[0], found)


def test_infinite_values_are_refused_as_by_scikit_learn():
    rows, target = wide(100)
    rows[3, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        RandomForest(3).fit(rows, target).predict_proba(rows)


_DIGEST = """
import hashlib, numpy as np
from synthrisk.metrics.models import forest
from synthrisk.metrics.models.forest import RandomForest
forest._COMPILING = globals().get("compiling", 0)
rng = np.random.default_rng(0)
rows = rng.integers(0, 30, (3000, 6)).astype(float)
target = (rows.sum(axis=1) + rng.normal(0, 20, 3000) > 90).astype(int) + (rows[:, 0] > 20)
found = RandomForest(21, random_state=3).fit(rows, target).predict_proba(rows)
print(hashlib.sha256(found.tobytes()).hexdigest())
"""


def digest(code, **environment):
    command, given = [sys.executable, "-c", code], os.environ | environment
    return subprocess.run(command, env=given, capture_output=True, text=True, check=True).stdout


def test_any_number_of_threads_and_scikit_learn_without_numba_give_the_same_bits(monkeypatch):
    rows, target = wide(3000, 62)
    for threads in (1, 3):
        monkeypatch.setattr("numba.config.NUMBA_NUM_THREADS", threads)
        np.testing.assert_array_equal(*of_both(21, 11, 3, rows, target, rows))
    monkeypatch.setitem(sys.modules, "synthrisk.metrics.models.forest_trees", None)
    monkeypatch.setattr(forest, "_compiled", forest._compiled.__wrapped__)
    assert forest._compiled() is None
    np.testing.assert_array_equal(*of_both(21, 11, 3, rows, target, rows))


@pytest.mark.proof  # compiles all trees anew
def test_few_records_are_scikit_learns_until_compiling_pays(tmp_path):
    told = "\nfrom synthrisk.metrics.models.forest_trees import grow\nprint(bool(grow.signatures))"
    code = "compiling = {}\n" + _DIGEST + told
    limits = 1e9, 126_000  # 21 trees of 3,000 records that are asked for 3,000
    few, many = (digest(code.format(each), NUMBA_CACHE_DIR=str(tmp_path)).split() for each in limits)
    assert (few, many) == ([few[0], "False"], [few[0], "True"])


def plain_ranger(rows, target, asked, trees, seed, few, least=11):
    """Grow trees by plain recursion: a leaf where none of the features drawn splits the node."""
    rng = np.random.default_rng(seed)

    def impurity(own):
        return own.sum() * (1 - own.mean())  # of two classes

    def node(own, queries, out):
        cuts, truth = [], target[own]
        if len(own) >= least and 0 < truth.sum() < len(own):
            for f in rng.permutation(rows.shape[1])[:few]:
                cells = rows[own, f]
                for low, high in pairwise(np.unique(cells)):
                    left = cells <= (low + high) / 2
                    cuts.append((impurity(truth[left]) + impurity(truth[~left]), f, (low + high) / 2))
        if not cuts:
            out[queries] += truth.mean()
            return
        _, f, cut = min(cuts)
        node(own[rows[own, f] <= cut], queries[asked[queries, f] <= cut], out)
        node(own[rows[own, f] > cut], queries[asked[queries, f] > cut], out)

    out = np.zeros(len(asked))
    for _ in range(trees):
        node(rng.integers(0, len(rows), len(rows)), np.arange(len(asked)), out)
    return np.column_stack([1 - out / trees, out / trees])


@pytest.mark.parametrize("columns", [(2, 3, 40), (1, 1, 5)])
def test_rangers_rule_is_that_of_plain_trees(columns):
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.integers(0, each, 150) for each in columns]).astype(float)
    target = (rows[:, -1] * rng.random(150) > columns[-1] / 4).astype(int)
    asked, few = rows[:40], max(1, int(np.sqrt(len(columns))))
    expected = plain_ranger(rows, target, asked, 400, 2, few)
    found = RandomForest(400, 11, 3, rule="ranger").fit(rows, target).predict_proba(asked)
    other = RandomForest(400, 11, 3).fit(rows, target).predict_proba(asked)
    assert np.abs(found - expected).max() < 0.1
    assert np.sqrt(np.mean((found - expected) ** 2)) < 0.025
    assert np.sqrt(np.mean((other - expected) ** 2)) > 0.03


def test_rangers_rule_counts_a_record_as_often_as_it_was_drawn():
    rows, target = np.array([[0.0], [1.0]] * 6), np.array([0, 1] * 6)
    shy = RandomForest(200, 13, 1, rule="ranger").fit(rows, target).predict_proba(rows[:1])
    assert 0.4 < shy[0, 0] < 0.6  # twelve draws are fewer than 13: each tree is one leaf
    assert RandomForest(200, 12, 1, rule="ranger").fit(rows, target).predict_proba(rows[:1])[0, 0] == 1


def test_rangers_rule_is_not_replaced_where_numba_is_absent(monkeypatch):
    monkeypatch.setattr(forest, "_compiled", lambda: None)
    with pytest.raises(forest.InputError, match="ranger where numba"):
        RandomForest(3, rule="ranger").fit(np.zeros((4, 1)), np.array([0, 1, 0, 1])).predict_proba(np.zeros((1, 1)))
