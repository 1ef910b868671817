"""The examples that Hypothesis draws: the same in every run, so that a commit is not blamed for another one's bug."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def drawn():
    found = []

    @given(st.floats(), st.text())
    def collect(number, text):
        found.append(repr((number, text)))

    collect()
    return found


def test_examples_are_the_same_each_time(pytestconfig):
    if pytestconfig.getoption("--hypothesis-profile") or pytestconfig.getoption("--hypothesis-seed"):
        pytest.skip("other examples were asked for")
    assert (drawn(), settings.default.deadline, settings.default.print_blob) == (drawn(), None, True)
