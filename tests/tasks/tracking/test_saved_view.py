"""The saved view of a study: what the tag holds. What the page makes of it is in ``test_saved_view_page.py``."""

import base64
import json
import sqlite3
import zlib
from contextlib import closing
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from mlflow import MlflowClient

from samples.judged import judged_study
from synthrisk.conf.study import Tracking
from synthrisk.metrics.verdicts.results import overview
from synthrisk.tasks.tracking.addresses import compare_link, store_address
from synthrisk.tasks.tracking.runs import Written
from synthrisk.tasks.tracking.saved_view import TAG, save_view, view_state
from synthrisk.tasks.workspace.references import store


def unpacked(tag: str) -> dict:
    packed = json.loads(tag)["state"].removeprefix("deflate;")
    return json.loads(zlib.decompress(base64.b64decode(packed)))


@pytest.fixture
def state(kept):
    return unpacked(kept.tags()[TAG + kept.studies[0].study_id])


def test_each_study_has_its_view_and_the_link_names_it(kept):
    for study, logged in zip(kept.studies, kept.logged, strict=True):
        assert json.loads(kept.tags()[TAG + study.study_id])["name"] == f"people {study.study_id}"
        link = logged.view_link("http://server")
        assert link.endswith(f"/runs?workflowType=machine_learning&viewStateShareKey={study.study_id}")
        assert len(link) - len("http://server") < 110


def test_its_filter_finds_the_runs_of_the_study_and_its_order_is_by_the_headline(kept, state):
    order = f"{state['orderByKey']} {'ASC' if state['orderByAsc'] else 'DESC'}"
    found = kept.client.search_runs([kept.experiment], state["searchFilter"], order_by=[order])
    assert [r.data.tags["synthesizer"] for r in found] == ["copy", "near", "cart", "coarse", "fresh", "broken"]
    assert {r.info.run_id for r in found} == set(kept.logged[0].runs.values())
    bare = judged_study(limits={})  # nothing is judged
    assert view_state(bare, overview(bare))["orderByKey"] == "metrics.`memorization/surest`"


def test_columns_and_cards_name_what_the_runs_have(kept, state):
    run = kept.run("cart").data
    for column in state["selectedColumns"]:
        kind, _, key = column.partition(".")
        assert key.strip("`") in getattr(run, kind), column
    sections = {each["uuid"] for each in state["compareRunSections"]}
    assert {card["metricSectionId"] for card in state["compareRunCharts"]} <= sections
    answer = [c for c in state["compareRunCharts"] if not c["isGenerated"]]
    assert [c["type"] for c in answer] == ["BAR", "SCATTER"]
    assert answer[1]["xaxis"]["key"] == "utility/accuracy"
    keys = [c["metricKey"] for c in state["compareRunCharts"] if c["type"] == "BAR"]
    assert set(keys) <= set(run.metrics)


def test_the_answer_stands_before_why(kept, state):
    tags = [column for column in state["columnOrder"] if column.startswith("tags")]
    assert tags[:5] == [f"tags.`{tag}`" for tag in ("verdict", "as_if", "worst", "utility", "why")]
    assert state["selectedColumns"][:4] == tags[:4]
    own = kept.run("cart").data.tags
    assert (own["as_if"], own["utility"]) == ("50/100 (≤55)", "0.900 accuracy")
    assert own["worst"].startswith("+0.300 [")
    wide = state["columnWidths"]
    assert wide["tags.`verdict`"] >= 115
    assert sum(width for column, width in wide.items() if column in (*state["columnOrder"][:2], *tags[:4])) <= 698 - 85


@pytest.mark.proof
def test_hundreds_of_long_measures_fit(tmp_path, logged_of):  # MLflow refuses a longer tag, and with it the whole study
    study = judged_study(guessed="x" * 200, memorized={f"generator{i}": i / 100 for i in range(60)})
    logged = logged_of(study, store(pd.DataFrame({"age": [1, 2]}), tmp_path), tmp_path)
    tags = MlflowClient(logged.uri).get_experiment(logged.experiment_id).tags
    assert unpacked(tags[TAG + study.study_id])["selectedColumns"]
    assert len(tags["mlflow.note.content"]) < 20_000


def test_an_experiment_lists_its_latest_views_alone(tmp_path):
    client = MlflowClient(f"sqlite:///{tmp_path / 'mlflow.db'}")
    place, table = client.create_experiment("daily"), store(pd.DataFrame({"age": [1, 2]}), tmp_path)
    tags = [(f"{TAG}2025{day:04d}-000000-abcdef", "{}", place) for day in range(105)]
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as database, database:  # at once: each tag is a commit
        database.executemany("INSERT INTO experiment_tags (key, value, experiment_id) VALUES (?, ?, ?)", tags)
    client.set_experiment_tag(place, "mlflow.note.content", "kept")
    study = judged_study()
    save_view(Written(client, place, study, table))
    tags = client.get_experiment(place).tags
    views = sorted(tag for tag in tags if tag.startswith(TAG))
    assert (len(views), views[0], views[-1]) == (100, f"{TAG}20250006-000000-abcdef", TAG + study.study_id)
    assert tags["mlflow.note.content"] == "kept"


def test_store_is_the_workspaces_unless_named(tmp_path, monkeypatch):
    assert store_address(Tracking(), tmp_path) == f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.setenv("SYNTHRISK_TEST", "s3cret")
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "SYNTHRISK_TEST")
    assert store_address(Tracking(uri="http://u:${SYNTHRISK_TEST}@host"), tmp_path) == "http://u:s3cret@host"


def test_compare_link_opens_the_runs_of_the_study():
    parts = urlsplit(compare_link("http://server", "3", ["aa", "bb"]))
    assert (parts.scheme, parts.netloc) == ("http", "server")
    path, _, query = parts.fragment.partition("?")
    assert (path, json.loads(parse_qs(query)["runs"][0])) == ("/compare-runs", ["aa", "bb"])
    assert json.loads(parse_qs(query)["experiments"][0]) == ["3"]
