"""The same study again: its runs are marked, and nothing is written; anything else is logged as ever."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from mlflow import MlflowClient

from samples import judged
from synthrisk.conf.study import Bootstrap, Tracking
from synthrisk.metrics.study.comparison import Compared
from synthrisk.metrics.verdicts.results import Limit
from synthrisk.tasks.log import deliver
from synthrisk.tasks.tracking.history import latest_study, studies
from synthrisk.tasks.tracking.store_outage import ids_waiting
from synthrisk.tasks.tracking.whole_study import answer_digest
from synthrisk.tasks.workspace.references import Cut, Estimated, Judged, Sample, Table, store

FIRST, AGAIN, THIRD = "20261123-013609-1ddbd6", "20261124-013609-2ddbd6", "20261125-013609-3ddbd6"


def judged_study(*given, **parts):
    """Return a study in which nothing failed."""
    return judged.judged_study(*given, **{"failures": {}} | parts)


def few(study_id, *given, **parts):
    """Return one of which few runs are logged."""
    return judged.of_these(judged_study(study_id, *given, **parts), "cart", *parts.get("failures", ()))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return store(pd.DataFrame({"age": [1, 2, 3]}), tmp_path_factory.mktemp("table"))


@pytest.fixture(scope="module")
def nightly(tmp_path_factory, table, logged_of):
    """A study, and the same again a day later."""
    folder = tmp_path_factory.mktemp("nightly")
    first, before = logged_of(few(FIRST), table, folder), everything(folder)
    return folder, first, before, logged_of(later(few(AGAIN)), table, folder)


def later(study):
    return replace(study, facts=study.facts | {"started": "2026-11-24T01:36:09+00:00"})


def everything(folder):
    """Return what a store holds, the tag that is asked for aside."""
    client = MlflowClient(f"sqlite:///{folder}/mlflow.db")
    (place,) = [e for e in client.search_experiments() if e.name == "people"]
    runs = client.search_runs([place.experiment_id])
    told = {
        r.info.run_id: (r.data.params, r.data.metrics, {k: v for k, v in r.data.tags.items() if k != "checked_again"})
        for r in runs
    }
    models = {m.model_id for m in client.search_logged_models([place.experiment_id])}
    return told, models, dict(client.get_experiment(place.experiment_id).tags)


def count(folder):
    return len(studies(Tracking(), folder, "people"))


def test_nothing_new_is_written_and_all_runs_say_when(nightly):
    folder, first, before, _ = nightly
    assert everything(folder) == before
    client = MlflowClient(first.uri)
    told = {run.data.tags.get("checked_again") for run in client.search_runs([first.experiment_id])}
    (when,) = map(datetime.fromisoformat, told)
    assert timedelta(0) <= datetime.now(UTC) - when < timedelta(minutes=10)
    assert len(before[0]) == len(first.runs) + 1


def test_who_logs_gets_the_runs_that_are_there(nightly):
    _, first, _, again = nightly
    assert again.checked_again
    assert not first.checked_again
    assert (again.runs, again.study_id) == (first.runs, first.study_id)
    assert again.view_link("http://server") == first.view_link("http://server")


def digest(study, **tracking):
    sample = Sample(Table("unused", "d", 3, ("age",)), Cut("unused", "cut", 1, 1, 0.0), "unused")
    told = Judged(study, Estimated(sample, (), (), Bootstrap(), Compared([])))
    return answer_digest(told, Tracking(**tracking))


OWNED = {"memorization/zero_cap.income": Limit(0.1, "the law")}


@pytest.mark.parametrize(
    ("changed", "options"),
    [
        ({"memorized": {"cart": 0.3, "coarse": 0.03}}, {}),
        ({"limits": {"memorization/zero_cap.income": 0.11}}, {}),
        ({"quasi_identifiers": ("age", "sex")}, {}),
        ({"failures": {"broken": "cell: KeyError in x.py"}}, {}),
        ({"facts": {"versions": "synthrisk 9"}}, {}),
        ({}, {"records": "none"}),
        ({}, {"registry": True}),
    ],
)
def test_what_differs_is_another_answer_on_the_same_subject(changed, options):
    usual, other = digest(judged_study(FIRST)), digest(judged_study(AGAIN, **changed), **options)
    assert usual != other
    assert usual.partition("-")[0] == other.partition("-")[0]


def test_who_owns_a_limit_is_part_of_the_answer_and_the_day_is_not():
    usual = digest(judged_study(FIRST))
    assert usual != digest(replace(judged_study(FIRST), limits=OWNED))
    assert usual == digest(later(judged_study(AGAIN)))
    assert usual.partition("-")[0] != digest(judged_study(FIRST, name="others")).partition("-")[0]


def test_asked_to_it_is_logged_again(tmp_path, table, logged_of):
    logged_of(few(FIRST), table, tmp_path)
    other = logged_of(few(AGAIN), table, tmp_path, log_again=True)
    assert (other.checked_again, other.study_id, count(tmp_path)) == (False, AGAIN, 2)


def test_an_answer_that_was_another_in_between_is_written_anew(tmp_path, table, logged_of):
    """And is the latest: whoever reads the history sees that it changed back."""
    values = ({"cart": 0.3}, {"cart": 0.02}, {"cart": 0.3})
    told = [logged_of(few(s, v), table, tmp_path) for s, v in zip((FIRST, AGAIN, THIRD), values, strict=True)]
    assert [each.checked_again for each in told] == [False] * 3


def test_releases_in_one_experiment_are_told_apart_by_their_paths(tmp_path, table, logged_of):
    """Of two releases that are judged night by night each is checked again, and is then the latest."""

    def release(study_id, path, value):
        study = few(study_id, {"cart": value})
        given = {"role": "synthesizer", "kind": "files", "path": path}
        return replace(study, settings=study.settings | {"cart": given})

    first = logged_of(release(FIRST, "a.csv", 0.3), table, tmp_path)
    other = logged_of(release(AGAIN, "b.csv", 0.02), table, tmp_path)
    assert latest_study(Tracking(), tmp_path, "people").study_id == AGAIN
    client = MlflowClient(first.uri)
    again = logged_of(release(THIRD, "a.csv", 0.3), table, tmp_path)
    assert (again.checked_again, again.study_id, other.checked_again) == (True, FIRST, False)
    for run_id in (r.info.run_id for r in client.search_runs([first.experiment_id], f"tags.study_id = '{FIRST}'")):
        # a second later, for a tag tells seconds
        client.set_tag(run_id, "checked_again", (datetime.now(UTC) + timedelta(seconds=2)).isoformat())
    assert latest_study(Tracking(), tmp_path, "people").study_id == FIRST
    assert [each.study_id for each in studies(Tracking(), tmp_path, "people")] == [AGAIN, FIRST]


@pytest.mark.parametrize("gone", ["cart", "study"])
def test_a_study_whose_runs_are_deleted_is_logged_as_usual(tmp_path, table, logged_of, gone):
    first = logged_of(few(FIRST), table, tmp_path)
    client = MlflowClient(first.uri)
    for run in client.search_runs([first.experiment_id]):
        if gone in (run.data.tags.get("synthesizer"), run.data.tags["role"]):
            client.delete_run(run.info.run_id)
    again = logged_of(few(AGAIN), table, tmp_path)
    assert (again.checked_again, again.study_id) == (False, AGAIN)


def test_in_another_store_or_experiment_it_is_new(tmp_path, table, logged_of):
    logged_of(few(FIRST), table, tmp_path)
    other = logged_of(few(AGAIN), table, tmp_path, tracking_uri=f"sqlite:///{tmp_path}/other.db")
    third = logged_of(few(THIRD), table, tmp_path, experiment="elsewhere")
    assert (other.checked_again, third.checked_again) == (False, False)


def test_one_that_waited_is_checked_too_and_a_part_of_a_study_counts_for_nothing(tmp_path, table, logged_of):
    logged_of(few(AGAIN), table, tmp_path, offline=True)
    first = logged_of(few(FIRST), table, tmp_path)
    client = MlflowClient(first.uri)
    run = client.search_runs([first.experiment_id], "tags.role = 'study'")[0].info.run_id
    client.set_tag(run, "incomplete", "so it is")
    late = deliver(tmp_path, AGAIN)
    assert (late.checked_again, late.study_id) == (False, AGAIN)
    logged_of(few(THIRD), table, tmp_path, offline=True)
    last = deliver(tmp_path, THIRD)
    assert (last.checked_again, last.study_id, ids_waiting(tmp_path)) == (True, AGAIN, [])


def test_what_failed_was_tried_again_and_is_told_anew(tmp_path, table, logged_of):
    failures = {"failures": {"broken": "cell: KeyError in x.py"}}
    told = [logged_of(few(each, **failures), table, tmp_path) for each in (FIRST, AGAIN)]
    assert [each.checked_again for each in told] == [False, False]
