"""The classical table measures against a table counted by Raab's definitions, and plain loops."""

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthrisk.metrics import METRICS

HAND = json.loads((Path(__file__).parents[2] / "reference" / "disco" / "hand.json").read_text())
ROWS = st.lists(st.tuples(*[st.sampled_from(["a", "b", "c"])] * 3), min_size=1, max_size=14)

COUNTS = {"rep_u": "repU", "i_s": "iS", "di_s": "DiS", "di_sco": "DiSCO", "di_sdi_o": "DiSDiO"}


def score(real, release, keys=("k", "l"), sensitive="s", **options):
    roles = {"quasi_identifiers": list(keys), "sensitive": sensitive}
    return METRICS["attribute_disclosure"](real, release, **roles, **options)


def table(rows):
    return pd.DataFrame(rows, columns=["k", "l", "s"])


def by_hand(real, release):
    found = dict.fromkeys(COUNTS, 0)
    for *key, truth in real:
        own = [r[2] for r in real if list(r[:2]) == key]
        others = [z[2] for z in release if list(z[:2]) == key]
        found["rep_u"] += len(own) == 1 and len(others) == 1
        found["i_s"] += len(others) > 0
        found["di_s"] += len(set(others)) == 1
        found["di_sco"] += set(others) == {truth}
        found["di_sdi_o"] += set(others) == {truth} and len(set(own)) == 1
    return {name: count / len(real) for name, count in found.items()}


def test_counted_by_raab():
    found = score(pd.DataFrame(HAND["ori"]), pd.DataFrame(HAND["syn"]), HAND["keys"], HAND["target"])
    for ours, theirs in COUNTS.items():
        assert 100 * found.details[ours] == pytest.approx(HAND["result"][theirs], abs=1e-9)
    assert found.published == pytest.approx(HAND["result"]["DiSCO"])
    assert found.value == found.records["score"].mean()


@given(ROWS)
def test_the_guess_is_the_measure_of_one_answer_about_everybody(real):
    for measure in COUNTS:
        found = score(table(real), table(real), measure=measure).details
        if measure in ("rep_u", "i_s", "di_s"):
            assert "guess" not in found
            continue
        said = [score(table(real), table(real).assign(s=value), measure=measure).value for value in "abc"]
        assert found["guess"] == pytest.approx(max(said))


@given(ROWS, ROWS)
def test_equals_plain_loops(real, release):
    found, expected = score(table(real), table(release)), by_hand(real, release)
    assert {name: found.details[name] for name in expected} == pytest.approx(expected)
    assert found.value == pytest.approx(expected["di_sco"])
