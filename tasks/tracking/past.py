"""The studies that an experiment holds, read back from the tables of their runs."""

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pandas as pd
from mlflow import MlflowClient
from mlflow.entities import Experiment, Run
from mlflow.exceptions import MlflowException

from synthrisk.conf.study import Tracking
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.tasks.tracking.address import store_of
from synthrisk.tasks.tracking.contributions import FILE
from synthrisk.tasks.tracking.tags import CHECKED_AGAIN, INCOMPLETE

GENERATORS = "generators.json"
"""The table of a study's generators: who they are, and what the study says of each in a word."""


@dataclass(frozen=True, eq=False)
class PastStudy:
    """What the run of a study has kept; its tables are read when they are asked for."""

    study_id: str
    start: pd.Timestamp
    tags: dict[str, str]  # of the study: provenance, threat model, whether the references behaved
    client: MlflowClient
    run: Run

    @cached_property
    def generators(self) -> pd.DataFrame:
        """A row a generator: who it is, and the headline of what the study says of it."""
        return _table(self.client, self.run, GENERATORS)

    @cached_property
    def league(self) -> pd.DataFrame:
        """A row a generator and measure: ``result_tables.league_table``."""
        return _table(self.client, self.run, "league.json")

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """A row a synthesizer and threshold: the fields of ``Verdict``."""
        return _table(self.client, self.run, "verdicts.json")

    @cached_property
    def utility(self) -> pd.DataFrame:
        """A row a generator and measure of utility: ``utility.utility_table``."""
        return _table(self.client, self.run, "utility.json")

    @property
    def is_readable(self) -> bool:
        """Whether the study has kept tables that this version reads."""
        return _artifact(self.client, self.run, GENERATORS) is not None

    def contributions(self) -> pd.DataFrame:
        """Return what each record adds (``contributions_table``); empty where the study has kept none."""
        path = _artifact(self.client, self.run, FILE)
        return pd.DataFrame() if path is None else pd.read_parquet(path)


def studies(tracking: Tracking, workspace: Path, experiment: str) -> list[PastStudy]:
    """Return the studies of an experiment that are wholly written, the one first that was run longest ago.

    Raises:
        InputError: The store is not there, or has no experiment of this name.
    """
    client = MlflowClient(store_of(tracking, workspace))
    found = experiment_named(client, experiment)
    runs = [run for run in all_runs(client, str(found.experiment_id), "tags.role = 'study'") if is_whole(run)]
    return [_read(client, run) for run in sorted(runs, key=last_run)]


def experiment_named(client: MlflowClient, name: str) -> Experiment:
    """Return an experiment.

    Raises:
        InputError: There is none of this name.
    """
    found = client.get_experiment_by_name(name)
    if found is None:
        known = sorted(e.name for e in client.search_experiments() if e.name != "Default")
        raise InputError(f"the experiment must be one of {', '.join(known)}, got {name!r}{nearest(name, known)}")
    return found


def all_runs(client: MlflowClient, experiment_id: str, which: str) -> list[Run]:
    """Return all runs of an experiment that a filter leaves."""
    page = client.search_runs([experiment_id], which, max_results=1000)
    runs = list(page)
    while page.token:
        page = client.search_runs([experiment_id], which, max_results=1000, page_token=page.token)
        runs += page
    return runs


def is_whole(run: Run) -> bool:
    """Tell whether all of the study of a run is written."""
    return INCOMPLETE not in run.data.tags


def last_run(run: Run) -> float:
    """Return when a study was run for the last time, in milliseconds: when it was written, or checked again."""
    again = run.data.tags.get(CHECKED_AGAIN, "")
    return max(float(run.info.start_time), datetime.fromisoformat(again).timestamp() * 1000 if again else 0.0)


def _read(client: MlflowClient, run: Run) -> PastStudy:
    return PastStudy(
        run.data.tags.get("study_id", ""),
        pd.Timestamp(run.info.start_time, unit="ms"),
        {name: text for name, text in run.data.tags.items() if not name.startswith("mlflow.")},
        client,
        run,
    )


def _table(client: MlflowClient, run: Run, name: str) -> pd.DataFrame:
    path = _artifact(client, run, name)
    if path is None:
        return pd.DataFrame()
    kept = json.loads(path.read_text("utf-8"))
    table = pd.DataFrame(**kept) if isinstance(kept, dict) else pd.DataFrame(kept)
    return table.astype({c: float for c in table if table[c].isna().all()})  # null is NaN


def _artifact(client: MlflowClient, run: Run, name: str) -> Path | None:
    """Return where an artifact of a run can be read, or None where the run has none of this name."""
    place = urlsplit(run.info.artifact_uri)
    if place.scheme in ("", "file"):  # a hundred times faster than to ask the client
        path = Path(url2pathname(place.path)) / name
        return path if path.exists() else None
    try:
        return Path(client.download_artifacts(run.info.run_id, name))
    except (MlflowException, OSError):
        return None
