"""Where runs go, and links into MLflow: each opens the machine-learning page of an experiment, with a study's runs."""

import json
from urllib.parse import parse_qs, unquote, urlsplit

from synthrisk.conf.study import Tracking
from synthrisk.tasks.tracking.addresses import Logged, Pages, store_address

LOGGED = Logged("sqlite:///x", "3", "s-1", {"cart": "aa", "copy": "bb"}, Pages(""))


def test_store_is_the_workspaces_unless_named(tmp_path, monkeypatch):
    assert store_address(Tracking(), tmp_path) == f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.setenv("SYNTHRISK_TEST", "s3cret")
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "SYNTHRISK_TEST")
    assert store_address(Tracking(uri="http://u:${SYNTHRISK_TEST}@host"), tmp_path) == "http://u:s3cret@host"


def test_compare_link_opens_the_runs_of_the_study_and_list_link_filters_by_it():
    parts = urlsplit(LOGGED.compare_link("http://server"))
    assert (parts.scheme, parts.netloc) == ("http", "server")
    path, _, query = parts.fragment.partition("?")
    assert (path, json.loads(parse_qs(query)["runs"][0])) == ("/compare-runs", ["aa", "bb"])
    assert json.loads(parse_qs(query)["experiments"][0]) == ["3"]
    link = LOGGED.list_link("http://server")
    assert link.startswith("http://server/#/experiments/3/runs?")
    assert "tags.study_id = 's-1'" in unquote(link)
    assert " " not in link
