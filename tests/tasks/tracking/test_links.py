"""Links into MLflow: each opens the machine-learning page of an experiment, with the runs of one study."""

import json
from urllib.parse import parse_qs, unquote, urlsplit

from synthrisk.tasks.tracking.addresses import Logged, Pages


def test_compare_link_opens_the_runs_of_the_study():
    link = Logged("sqlite:///x", "3", "s-1", {"cart": "aa", "copy": "bb"}, Pages("")).compare_link("http://server")
    parts = urlsplit(link)
    assert (parts.scheme, parts.netloc) == ("http", "server")
    path, _, query = parts.fragment.partition("?")
    assert path == "/compare-runs"
    assert json.loads(parse_qs(query)["runs"][0]) == ["aa", "bb"]
    assert json.loads(parse_qs(query)["experiments"][0]) == ["3"]


def test_list_link_filters_by_study():
    link = Logged("sqlite:///x", "3", "s-1", {}, Pages("")).list_link("http://server")
    assert link.startswith("http://server/#/experiments/3/runs?")
    assert "tags.study_id = 's-1'" in unquote(link)
    assert " " not in link
