"""Targeted CAP against a plain loop, a table counted by hand, and Raab's count of it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthrisk.metrics import METRICS

HAND = json.loads((Path(__file__).parents[2] / "reference" / "disco" / "hand.json").read_text())
CELLS = st.sampled_from(["a", "b", None])
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=14)


def score(real, release, keys=("k", "l"), sensitive="s"):
    return METRICS["targeted_cap"](real, release, quasi_identifiers=list(keys), sensitive=sensitive)


def by_hand(real, release):
    """Scores by plain loops; a missing cell is a value."""
    found = []
    for *key, truth in real:
        values = {z[2] for z in release if list(z[:2]) == key}
        found.append(float(truth in values) if len(values) == 1 else np.nan)
    return found


@given(ROWS, ROWS)
def test_equals_a_plain_loop(real, release):
    columns = ["k", "l", "s"]
    tables = [pd.DataFrame(rows, columns=columns, dtype=object) for rows in (real, release)]
    for column in columns:  # of one type, also where all is missing
        for table in tables:
            table[column] = table[column].astype(pd.CategoricalDtype(["a", "b"]))
    found, expected = score(*tables), by_hand(real, release)
    assert found.records["score"].tolist() == pytest.approx(expected, nan_ok=True)
    assert found.records["claim"].tolist() == [not np.isnan(e) for e in expected]
    if np.isnan(expected).all():
        assert np.isnan(found.value)
        assert "unanimous" in found.reason
    else:
        assert found.value == found.published == pytest.approx(np.nanmean(expected))


def test_counted_by_hand():
    real, release = pd.DataFrame(HAND["ori"]), pd.DataFrame(HAND["syn"])
    found = score(real, release, HAND["keys"], HAND["target"])
    assert found.value == pytest.approx(4 / 5)
    assert 100 * found.details["right_among_seen"] == pytest.approx(HAND["result"]["TCAP"], abs=1e-6)
    assert 100 * (1 - found.details["unseen_keys"]) == pytest.approx(HAND["result"]["iS"])
    right = found.value * found.details["claim_probability"]
    assert 100 * right == pytest.approx(HAND["result"]["DiSCO"])


def test_copy_is_always_right_where_it_speaks():
    real = pd.DataFrame({"k": list("aabbc"), "l": 1, "s": list("xxxyy")})
    found = score(real, real)
    assert found.value == 1
    assert found.details["claim_probability"] == pytest.approx(3 / 5)
