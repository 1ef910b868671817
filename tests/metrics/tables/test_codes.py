"""Codes of values: equal exactly where the values are."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.tables.codes import factorized, joint_codes

TEXTS = ["", "\0", "a", "a\0", "a\0b", "a\0c", "a"]


@pytest.mark.parametrize("dtype", [object, "string"])
def test_texts_that_differ_after_a_nul_are_different(dtype):
    columns = [pd.Series(TEXTS[:4], name="c", dtype=dtype), pd.Series(TEXTS[2:], name="c", dtype=dtype)]
    codes, levels = joint_codes(columns)
    assert levels[np.concatenate(codes.tables)].tolist() == TEXTS[:4] + TEXTS[2:]


def test_texts_with_a_nul_are_numbered_as_they_come():
    codes, levels = factorized(np.array(TEXTS, dtype=object))
    assert (codes.tolist(), levels.tolist()) == ([0, 1, 2, 3, 4, 5, 2], TEXTS[:-1])


def test_texts_without_utf8_are_levels_of_their_own():
    texts = np.array(["a", "\ud800", "'\\ud800'", "\ud801"], dtype=object)
    assert factorized(texts)[0].tolist() == [0, 1, 2, 3]


def test_texts_among_other_values_and_missing_ones():
    codes, levels = factorized(np.array(["1", 1, None, "a\0", 1.0, "a"], dtype=object))
    assert (codes.tolist(), levels.tolist()) == ([0, 1, -1, 2, 1, 3], ["1", 1, "a\0", "a"])
