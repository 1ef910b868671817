from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from mlflow import MlflowClient
from mlflow.entities import LoggedModelStatus

from samples import judged
from samples.studies import judged as judged_of
from synthrisk.conf.study import Tracking
from synthrisk.metrics import InputError
from synthrisk.metrics.verdicts.results import Limit, overview
from synthrisk.tasks.log import deliver
from synthrisk.tasks.tracking.history import latest_study, studies
from synthrisk.tasks.tracking.store_outage import ids_waiting
from synthrisk.tasks.tracking.tables import judged_league
from synthrisk.tasks.tracking.whole_study import answer_digest, registered_name
from synthrisk.tasks.workspace.references import store

FIRST, AGAIN, THIRD = "20261123-013609-1ddbd6", "20261124-013609-2ddbd6", "20261125-013609-3ddbd6"


def judged_study(*given, **parts):
    return judged.judged_study(*given, **{"failures": {}} | parts)


def few(study_id, *given, **parts):
    """Return one of which few runs are logged."""
    return judged.of_these(judged_study(study_id, *given, **parts), "cart", *parts.get("failures", ()))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return store(pd.DataFrame({"age": [1, 2, 3]}), tmp_path_factory.mktemp("table"))


@pytest.fixture
def log(tmp_path, table, logged_of):
    return lambda study, **options: logged_of(study, table, tmp_path, **options)


def later(study):
    return replace(study, facts=study.facts | {"started": "2026-11-24T01:36:09+00:00"})


def everything(folder):
    """Return what a store holds, the tag that is asked for aside."""
    client = MlflowClient(f"sqlite:///{folder}/mlflow.db")
    (place,) = [e for e in client.search_experiments() if e.name == "people"]
    runs = {r.info.run_id: r.data for r in client.search_runs([place.experiment_id])}
    tags = {run: {k: v for k, v in told.tags.items() if k != "checked_again"} for run, told in runs.items()}
    models = {m.model_id for m in client.search_logged_models([place.experiment_id])}
    numbers = {run: (told.params, told.metrics) for run, told in runs.items()}
    return numbers, tags, models, dict(client.get_experiment(place.experiment_id).tags)


def test_of_the_same_again_nothing_is_written_unless_asked_to_all_runs_say_when_and_are_returned(tmp_path, log):
    first = log(few(FIRST))
    before = everything(tmp_path)
    again = log(later(few(AGAIN)))
    assert everything(tmp_path) == before
    client = MlflowClient(first.uri)
    assert not list(client.search_registered_models())  # without the option
    runs = client.search_runs([first.experiment_id])
    (when,) = map(datetime.fromisoformat, {run.data.tags.get("checked_again") for run in runs})
    assert timedelta(0) <= datetime.now(UTC) - when < timedelta(minutes=10)
    assert len(runs) == len(first.runs) + 1
    assert (again.checked_again, first.checked_again) == (True, False)
    assert (again.runs, again.study_id) == (first.runs, first.study_id)
    assert again.view_link("http://server") == first.view_link("http://server")
    other = log(few(THIRD), log_again=True)
    assert (other.checked_again, other.study_id) == (False, THIRD)
    assert len(studies(Tracking(), tmp_path, "people")) == 2


def digest(study, **tracking):
    asked = Tracking(**tracking)
    return answer_digest(judged_of(study), asked.records, asked.registry)


OWNED = {"memorization/zero_cap.income": Limit(0.1, "the law")}


@pytest.mark.parametrize(("changed", "options"), [
    ({"memorized": {"cart": 0.3, "coarse": 0.03}}, {}), ({"limits": {"memorization/zero_cap.income": 0.11}}, {}),
    ({"quasi_identifiers": ("age", "sex")}, {}), ({"failures": {"broken": "cell: KeyError in x.py"}}, {}),
    ({"facts": {"versions": "synthrisk 9"}}, {}), ({}, {"records": "none"}), ({}, {"registry": True}),
])  # fmt: skip
def test_what_differs_is_another_answer_on_the_same_subject(changed, options):
    usual, other = digest(judged_study(FIRST)), digest(judged_study(AGAIN, **changed), **options)
    assert usual != other
    assert usual.partition("-")[0] == other.partition("-")[0]


def test_who_owns_a_limit_is_part_of_the_answer_and_the_day_is_not():
    usual = digest(judged_study(FIRST))
    assert usual != digest(replace(judged_study(FIRST), limits=OWNED))
    assert usual == digest(later(judged_study(AGAIN)))
    assert usual.partition("-")[0] != digest(judged_study(FIRST, name="others")).partition("-")[0]


FAILED = {"failures": {"broken": "cell: KeyError in x.py"}}


@pytest.mark.parametrize(("given", "options"), [
    ([few(s, {"cart": v}) for s, v in ((FIRST, 0.3), (AGAIN, 0.02), (THIRD, 0.3))], {}),
    ([few(FIRST, **FAILED), few(AGAIN, **FAILED)], {}), ([few(FIRST), few(AGAIN)], {"experiment": "elsewhere"}),
    ([few(FIRST), few(AGAIN)], {"tracking_uri": "sqlite:///{folder}/other.db"}),
], ids=["another in between", "failures, which are tried again", "another experiment", "another store"])  # fmt: skip
def test_what_is_not_the_same_as_the_latest_is_written_anew(tmp_path, log, given, options):
    options = {name: text.format(folder=tmp_path) for name, text in options.items()}
    *before, last = given
    assert [log(each).checked_again for each in before] == [False] * len(before)
    assert not log(last, **options).checked_again


def test_releases_in_one_experiment_are_told_apart_by_their_paths(tmp_path, log):
    def release(study_id, path, value):
        study = few(study_id, {"cart": value})
        given = {"role": "synthesizer", "kind": "files", "path": path}
        return replace(study, settings=study.settings | {"cart": given})

    first = log(release(FIRST, "a.csv", 0.3))
    other = log(release(AGAIN, "b.csv", 0.02))
    assert latest_study(Tracking(), tmp_path, "people").study_id == AGAIN
    client = MlflowClient(first.uri)
    again = log(release(THIRD, "a.csv", 0.3))
    assert (again.checked_again, again.study_id, other.checked_again) == (True, FIRST, False)
    for run_id in (r.info.run_id for r in client.search_runs([first.experiment_id], f"tags.study_id = '{FIRST}'")):
        # a second later, for a tag tells seconds
        client.set_tag(run_id, "checked_again", (datetime.now(UTC) + timedelta(seconds=2)).isoformat())
    assert latest_study(Tracking(), tmp_path, "people").study_id == FIRST
    assert [each.study_id for each in studies(Tracking(), tmp_path, "people")] == [AGAIN, FIRST]


@pytest.mark.parametrize("gone", ["cart", "study"])
def test_a_study_whose_runs_are_deleted_is_logged_as_usual(tmp_path, log, gone):
    first = log(few(FIRST))
    client = MlflowClient(first.uri)
    for run in client.search_runs([first.experiment_id]):
        if gone in (run.data.tags.get("synthesizer"), run.data.tags["role"]):
            client.delete_run(run.info.run_id)
    again = log(few(AGAIN))
    assert (again.checked_again, again.study_id) == (False, AGAIN)


def test_one_that_waited_is_checked_too_and_a_part_of_a_study_counts_for_nothing(tmp_path, log):
    log(few(AGAIN), offline=True)
    first = log(few(FIRST))
    client = MlflowClient(first.uri)
    run = client.search_runs([first.experiment_id], "tags.role = 'study'")[0].info.run_id
    client.set_tag(run, "incomplete", "so it is")
    late = deliver(tmp_path, AGAIN)
    assert (late.checked_again, late.study_id) == (False, AGAIN)
    log(few(THIRD), offline=True)
    last = deliver(tmp_path, THIRD)
    assert (last.checked_again, last.study_id, ids_waiting(tmp_path)) == (True, AGAIN, [])


WORST = "memorization/deciding"


def best(kept, digest, filter_string=None):
    own = {"dataset_name": "real", "dataset_digest": digest}
    order = [{"field_name": f"metrics.{WORST}", "ascending": True, **own}]
    return kept.client.search_logged_models([kept.experiment], filter_string, datasets=[own], order_by=order)


def test_search_finds_the_best_generator_for_this_table_over_all_studies(kept):
    found = best(kept, kept.digest, "tags.verdict = 'NO EVIDENCE'")
    told = [(m.name, m.tags["study_id"][:8], next(x.value for x in m.metrics if x.key == WORST)) for m in found]
    assert told == [("ctgan", "20261124", 0.01), ("coarse", "20261123", 0.02), ("cart", "20261124", 0.05)]
    assert not list(best(kept, "another", f"metrics.`{WORST}` < 1"))


def test_reference_generators_are_no_models_and_failed_ones_are_failed(kept):
    models = {m.name: m for m in kept.client.search_logged_models([kept.experiment])}
    assert (set(models), models["broken"].status) == ({"cart", "coarse", "ctgan", "broken"}, LoggedModelStatus.FAILED)
    assert models["cart"].status == LoggedModelStatus.READY
    assert models["cart"].source_run_id in {each.runs["cart"] for each in kept.logged}


@pytest.mark.parametrize(("name", "versions", "aliases"), [
    ("coarse", 2, {}),  # approved by the first study, RISK in the second: the alias is gone
    ("cart", 2, {"approved": "2"}),  # RISK, then NO EVIDENCE
    ("ctgan", 1, {"approved": "1"}), ("broken", 2, {}),
])  # fmt: skip
def test_the_alias_is_that_of_the_latest_study(kept, name, versions, aliases):
    model = registered_name("people", name)
    assert len(kept.client.search_model_versions(f"name = '{model}'")) == versions
    assert {a: str(v) for a, v in kept.client.get_registered_model(model).aliases.items()} == aliases


def test_the_oldest_study_comes_first_and_holds_what_was_found(kept):
    found = studies(Tracking(), kept.folder, "people")
    assert [s.study_id for s in found] == [s.study_id for s in kept.studies]
    for past, study in zip(found, kept.studies, strict=True):
        pd.testing.assert_frame_equal(past.league, judged_league(study), check_dtype=False)
        words = {h.synthesizer: (h.word, h.sentence) for h in overview(study).headlines}
        told = past.generators.set_index("synthesizer")
        assert {n: (told.loc[n, "verdict"], told.loc[n, "sentence"]) for n in told.index} == words
        assert past.tags["data_digest"] == "d" * 16


def test_an_unknown_experiment_is_refused(kept):
    with pytest.raises(InputError, match=r"must be one of .*people.*, got 'poeple'"):
        studies(Tracking(), kept.folder, "poeple")
