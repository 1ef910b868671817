"""Keys of Prefect's artifacts: what Prefect takes, the same each time, and never one for two names."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthrisk.flows.orchestration.artifacts import key_of_name

ALIKE = [
    "a_b", "a-b", "a--b", "A-b", "a_b-", "-a_b", "a b", "ä-b", "日本", "日-本", "", "-", "_", "a-x12345678", "x" * 61
]  # fmt: skip


@given(st.text(max_size=80) | st.from_regex(r"[A-Za-z0-9_\-]{0,9}", fullmatch=True))
def test_a_key_holds_what_prefect_takes(name):
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", key_of_name(name))


@given(st.lists(st.from_regex(r"[aA0_\-]{0,5}", fullmatch=True), unique=True))
def test_names_that_look_alike_have_keys_of_their_own(names):
    assert len({key_of_name(name) for name in names}) == len(names)


def test_a_name_that_is_the_key_of_another_gets_a_key_of_its_own():
    keys = [key_of_name(name) for name in ALIKE]
    every = [*ALIKE, *(key for key in keys if key not in ALIKE)]
    assert len({key_of_name(name) for name in every}) == len(every)


@pytest.mark.parametrize(("name", "key"), [("adult", "adult"), ("paper_adult", "paper--adult"), ("q3-2026", "q3-2026")])
def test_a_usual_name_is_read_in_its_key(name, key):
    assert key_of_name(name) == key
