"""Our random forest is scikit-learn's, to the last bit."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

from synthrisk.metrics.models import forest
from synthrisk.metrics.models.forest import RandomForest

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


def scikit_learn(trees, split, seed):
    return RandomForestClassifier(trees, max_features="sqrt", min_samples_split=split, random_state=seed)


@settings(max_examples=60, deadline=None)
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
    expected = scikit_learn(5, split, seed).fit(rows, target).predict_proba(asked)
    found = RandomForest(5, split, seed).fit(rows, target).predict_proba(asked)
    np.testing.assert_array_equal(found, expected)


def wide(records=6000, levels=5000):
    """Codes beyond one word and one head of bits, two classes that the columns tell apart."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, each, records) for each in (levels, 90, 3)])
    return rows.astype(float), (rows[:, 0] * rng.random(records) > levels / 4).astype(np.int64)


@pytest.mark.parametrize("levels", [50, 62, 63, 64, 65, 4096, 4097, 70_000])
def test_any_number_of_levels(levels):
    rows, target = wide(levels=levels)
    expected = scikit_learn(3, 11, 1).fit(rows, target).predict_proba(rows)
    np.testing.assert_array_equal(RandomForest(3, 11, 1).fit(rows, target).predict_proba(rows), expected)


def test_too_many_counts_are_left_to_scikit_learn(monkeypatch):
    rows, target = wide()
    found = RandomForest(3, 11, 1).fit(rows, target).predict_proba(rows)
    monkeypatch.setattr(forest, "LARGEST", 10)
    np.testing.assert_array_equal(RandomForest(3, 11, 1).fit(rows, target).predict_proba(rows), found)


def test_infinite_values_are_refused_as_by_scikit_learn():
    rows, target = wide(100)
    rows[3, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        RandomForest(3).fit(rows, target).predict_proba(rows)


_DIGEST = """
import hashlib, numpy as np
from synthrisk.metrics.models.forest import RandomForest
rng = np.random.default_rng(0)
rows = rng.integers(0, 30, (3000, 6)).astype(float)
target = (rows.sum(axis=1) + rng.normal(0, 20, 3000) > 90).astype(int) + (rows[:, 0] > 20)
found = RandomForest(21, random_state=3).fit(rows, target).predict_proba(rows)
print(hashlib.sha256(found.tobytes()).hexdigest())
"""


def digest(code="", **environment):
    command, given = [sys.executable, "-c", code + _DIGEST], os.environ | environment
    return subprocess.run(command, env=given, capture_output=True, text=True, check=True).stdout


def test_any_number_of_threads_gives_the_same_bits():
    assert len({digest(NUMBA_NUM_THREADS=threads) for threads in "123"}) == 1


def test_without_numba_scikit_learn_grows_the_same():
    assert digest("import sys; sys.modules['numba'] = None") == digest()
