from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from dresses import people, worn_by

from samples.releases_judged import cut_of, is_no_risk
from samples.releases_judged import judged as judged_beside
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize.task import release
from synthrisk.tasks.workspace.references import Sample

N = 100
COLUMNS = ["age", "wage", "seen", "flag", "stay", "smokes", "city"]
MEMBERS, CONTROL, INVENTED = (people(N, seed)[COLUMNS] for seed in (1, 2, 3))
MEASURES = ["common_rows_proportion", "membership"]
LIMITS = {f"memorization/{name}": 0.2 for name in MEASURES}


@pytest.fixture(scope="module")
def one(tmp_path_factory) -> Sample:
    roles = {"quasi_identifiers": ["age", "city"], "sensitive": ["smokes"]}
    return cut_of(MEMBERS, CONTROL, tmp_path_factory.mktemp("dresses"), **roles)


def judged(cut: Sample, table: pd.DataFrame):
    return judged_beside(cut, table, MEASURES, LIMITS)


WORN = worn_by(
    "age: some _RARE_ among numbers", "seen: some suppressed among times", "smokes: True/False for yes/no",
    "wage: some infinite", "absent: two", "empty: age", "empty: stay",
)  # fmt: skip
"""Those that lose cells, and one that is read as the very table: tests/tasks/synthesize tell which others are."""


def noisy(members: pd.DataFrame) -> pd.DataFrame:
    return members.assign(age=members["age"] + np.random.default_rng(0).uniform(-0.4, 0.4, len(members)))


@pytest.mark.parametrize(
    ("wear", "told"), [*WORN.values(), (noisy, "digits that no real record has")], ids=[*WORN, "noisy"]
)
def test_a_copy_in_a_dress_is_a_risk_and_the_notes_say_what_was_done(
    one: Sample, wear: Callable[[pd.DataFrame], pd.DataFrame], told: str
):
    result = judged(one, wear(MEMBERS.copy()))
    assert (result.verdict("vendor"), result.releases["vendor"].invalid) == ("RISK", "")
    notes = result.releases["vendor"].notes
    assert any(told in note for note in notes) if told else True


@pytest.mark.parametrize("name", ["age: some _RARE_ among numbers", "absent: two", "empty: stay"])
def test_other_people_in_a_dress_are_judged_and_no_risk(one: Sample, name: str):
    assert is_no_risk(judged(one, WORN[name][0](INVENTED.copy())))


def test_two_dresses_of_one_copy_are_two_releases_for_their_notes_differ(one: Sample):
    worn = worn_by("wage: 1.234,50 €", "index: of pandas")
    texts, index = (wear(MEMBERS.copy()) for wear, _ in worn.values())
    first, second = (release.fn(one, each, name="vendor") for each in (texts, index))
    assert first.key != second.key
    assert "currency" in first.told()[0].words
    assert "numbers its rows" in second.told()[0].words


@pytest.mark.parametrize(("absent", "how"), [("city", "absent"), ("smokes", "empty")])
def test_a_column_that_a_role_needs_may_be_absent_and_is_judged(one: Sample, absent: str, how: str):
    lost = (lambda p: p.drop(columns=absent)) if how == "absent" else (lambda p: p.assign(**{absent: None}))
    copied, invented = (judged(one, lost(table)) for table in (MEMBERS, INVENTED))
    assert copied.verdict("vendor") == "RISK"
    assert is_no_risk(invented)
    assert sum(f"column '{absent}'" in note for note in copied.releases["vendor"].notes) == 1


def test_a_column_nearly_so_called_may_be_the_absent_one(one: Sample):
    with pytest.raises(InputError, match=r"absent: \['stay'\], extra: column 5 \(nearly 'stay'\); rename it, or leave"):
        release.fn(one, MEMBERS.rename(columns={"stay": "stays"}), name="vendor")
