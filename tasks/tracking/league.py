"""What an experiment holds, read back: the runs of its synthesizers, and their league table."""

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from mlflow import MlflowClient

from synthrisk.conf.study import Tracking
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.study.league import LeagueRow, place
from synthrisk.metrics.study.verdicts import worst
from synthrisk.tasks.tracking.address import store_of
from synthrisk.tasks.tracking.keys import VERDICT
from synthrisk.tasks.tracking.past import experiment_named

_TAGS = ("synthesizer", "role", "answer", "study_id", "verdict", "failure")
_CELLS = {"risk": "risk", "control": "risk_control", "memorization": "memorization"}
"""The quantity that each column of a league table read back is kept as."""


def league(tracking: Tracking, workspace: Path, experiment: str) -> pd.DataFrame:
    """Return one row a synthesizer run of an experiment: tags and all metrics."""
    client = MlflowClient(store_of(tracking, workspace))
    found = experiment_named(client, experiment)
    rows = []
    for run in client.search_runs([found.experiment_id], "tags.role != 'study'", max_results=5000):
        tags = {t: run.data.tags.get(t, "") for t in _TAGS}
        own = {t: word for t, word in run.data.tags.items() if t.startswith(VERDICT)}
        rows.append({**tags, "start": pd.Timestamp(run.info.start_time, unit="ms"), **own, **run.data.metrics})
    return pd.DataFrame(rows)


def league_rows(runs: pd.DataFrame) -> list[LeagueRow]:
    """Return the league table of each study among the runs that ``league`` returns; measures as in ``metric_key``."""
    rows: list[LeagueRow] = []
    for _, study in runs.groupby("study_id"):
        known = study.sort_values("start", kind="stable").dropna(axis="columns", how="all")
        own = known.to_dict("records")
        own.sort(key=lambda run: place(run["answer"]) if run["role"] == "reference" else -1)
        rows += [_row(run, measure) for measure in measures_of(known) for run in own if not run["failure"]]
        rows += [_row(run, "") for run in own if run["failure"]]
    return rows


def measures_of(runs: pd.DataFrame) -> list[str]:
    """Return the measures of the league table that some of the runs have a value or a verdict of."""
    starts = (*(f"{quantity}/" for quantity in _CELLS.values()), VERDICT)
    return list(dict.fromkeys(c.partition("/")[2] for c in runs.columns if c.startswith(starts)))


def _row(run: Mapping[Hashable, Any], measure: str) -> LeagueRow:
    verdicts = {str(key): str(word) for key, word in run.items() if str(key).startswith(VERDICT)}
    words = [word for key, word in verdicts.items() if key.partition("/")[2] == measure]
    cells = {
        name: Estimate(*(run.get(f"{quantity}{end}/{measure}", float("nan")) for end in ("", "_lower", "_upper")))
        for name, quantity in _CELLS.items()
    }
    who = run["synthesizer"], run["role"], measure
    if run["failure"]:
        return LeagueRow(*who, word="FAILED", failure=run["failure"], study=run["study_id"])
    return LeagueRow(*who, cells, worst(words), study=run["study_id"])
