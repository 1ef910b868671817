"""Texts as numbers to the last bit, in whatever type of column they come."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.tasks.workspace.files.readings import to_numbers

CELLS = np.random.default_rng(1).lognormal(5, 8, 300)


@pytest.mark.parametrize("dtype", [object, "string"])
@pytest.mark.parametrize("first", [0, 3])
def test_each_text_is_the_float_nearest_to_it(dtype, first):
    texts = [None, "abc", *map(repr, CELLS.tolist())][first:] if first else [None, *map(repr, CELLS.tolist())]
    column = pd.Series(texts, dtype=dtype, index=range(7, 7 + len(texts)))
    found = to_numbers(column, errors="coerce")
    assert found.index.equals(column.index)
    assert found.dropna().tolist() == CELLS.tolist()[max(first - 2, 0) :]
    assert found.isna().sum() == column.isna().sum()


def test_what_is_no_number_is_refused_or_missing_and_numbers_stay():
    with pytest.raises(ValueError, match="parse"):
        to_numbers(pd.Series(["1.5", "x"]))
    assert to_numbers(pd.Series(["1.5", "x"], dtype="string"), errors="coerce").isna().tolist() == [False, True]
    assert to_numbers(pd.Series(["1", "2"])).tolist() == [1, 2]
    mixed = to_numbers(pd.Series([0.1 + 0.2, "0.30000000000000004", 7, None], dtype=object))
    assert mixed.tolist()[:3] == [0.1 + 0.2, 0.1 + 0.2, 7]
