"""Addresses of MLflow pages that show a study."""

import json
from collections.abc import Sequence
from urllib.parse import quote

_ML = "workflowType=machine_learning"  # without it an experiment opens on a page about traces


def view_link(server: str, experiment_id: str, key: str, *, charts: bool = False) -> str:
    """Return the address of a saved view: its table, or its charts."""
    shown = "&compareRunsMode=CHART" if charts else ""
    return f"{server}/#/experiments/{experiment_id}/runs?{_ML}&viewStateShareKey={quote(key)}{shown}"


def compare_link(server: str, experiment_id: str, runs: Sequence[str]) -> str:
    """Return the address of the page that compares runs."""
    given = (quote(json.dumps(list(ids), separators=(",", ":"))) for ids in (runs, [experiment_id]))
    return f"{server}/#/compare-runs?{_ML}&runs={next(given)}&experiments={next(given)}"


def list_link(server: str, experiment_id: str, study_id: str) -> str:
    """Return the address of the list and charts of a study's runs."""
    own = quote(own_runs(study_id))
    return f"{server}/#/experiments/{experiment_id}/runs?{_ML}&searchFilter={own}&compareRunsMode=CHART"


def run_link(server: str, experiment_id: str, run_id: str, artifact: str = "") -> str:
    """Return the address of the page of a run, or of one of its artifacts."""
    place = f"/artifacts/{quote(artifact)}" if artifact else ""
    return f"{server}/#/experiments/{experiment_id}/runs/{run_id}{place}?{_ML}"


def own_runs(study_id: str) -> str:
    """Return the filter that leaves the generators' runs of one study."""
    return f"tags.study_id = '{study_id}' and tags.role != 'study'"
