"""The studies that an experiment holds, read back from the tables of their runs: the latest, and the trend over all."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
import pandas as pd
from mlflow import MlflowClient
from mlflow.entities import Experiment, Run
from mlflow.exceptions import MlflowException

from synthrisk.conf.study import Tracking
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, TESTED, Estimate
from synthrisk.metrics.study.comparison import Change, independent_change, paired_change, prior_of
from synthrisk.tasks.tracking.addresses import RECORD, run_link, store_of, view_link
from synthrisk.tasks.tracking.names import CHECKED_AGAIN, INCOMPLETE
from synthrisk.tasks.tracking.tables import FILE

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
        """A row a generator and measure: ``tables.league_table``."""
        return _table(self.client, self.run, "league.json")

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """A row a synthesizer and threshold: the fields of ``Verdict``."""
        return _table(self.client, self.run, "verdicts.json")

    @cached_property
    def utility(self) -> pd.DataFrame:
        """A row a generator and measure of utility: ``findings.utility_table``."""
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
    start = pd.Timestamp(run.info.start_time, unit="ms")
    tags = {name: text for name, text in run.data.tags.items() if not name.startswith("mlflow.")}
    return PastStudy(tags.get("study_id", ""), start, tags, client, run)


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


REPORT = "report.html"


@dataclass(frozen=True)
class Latest:
    """A study, as far as its pages are to be found."""

    experiment: str
    experiment_id: str
    study_id: str
    run_id: str
    report: Path | None  # the page in the workspace, or None where it is not there

    @property
    def record(self) -> Path | None:
        """The decision record beside the report, or None where it is not there."""
        page = None if self.report is None else self.report.with_name(RECORD)
        return page if page is not None and page.is_file() else None

    def view(self, server: str) -> str:
        """Return the address of the study's saved view."""
        return view_link(server, self.experiment_id, self.study_id)

    def kept_report(self, server: str) -> str:
        """Return the address of the report among the artifacts of its run."""
        return run_link(server, self.experiment_id, self.run_id, REPORT)


def latest_study(tracking: Tracking, workspace: Path, experiment: str | None) -> Latest | None:
    """Return the latest study of an experiment, or of all; None where none is given and there is none.

    Raises:
        InputError: The store is not there, or has no experiment or no study of this name.
    """
    client = MlflowClient(store_of(tracking, workspace))
    every = [experiment_named(client, experiment)] if experiment is not None else client.search_experiments()
    names = {str(each.experiment_id): str(each.name) for each in every}
    run = _last(client, list(names))
    if run is None:
        if experiment is None:
            return None
        raise InputError(f"the experiment must have a finished study, got none in {experiment!r}")
    study_id = run.data.tags.get("study_id", "")
    report = workspace / "reports" / study_id / REPORT
    place = str(run.info.experiment_id)
    return Latest(names[place], place, study_id, run.info.run_id, report if report.is_file() else None)


def _last(client: MlflowClient, experiments: list[str]) -> Run | None:
    own = "tags.role = 'study'"
    written = client.search_runs(experiments, own, max_results=100, order_by=["start_time DESC"])
    checked, newest = f"{own} and tags.{CHECKED_AGAIN} LIKE '%'", [f"tags.{CHECKED_AGAIN} DESC"]
    again = client.search_runs(experiments, checked, max_results=100, order_by=newest)
    return max(filter(is_whole, [*written, *again]), key=last_run, default=None)


_QUANTITY = "memorization"
_NEW_MEANING = {"2": ("singling_out", "membership")}
"""By version of the methods (``METHODS``): the measures of which numbers of earlier versions mean something else."""
_CLOSE = 1e-6  # between a value and the mean of its contributions, both rounded alike


@dataclass(frozen=True, eq=False)
class Step:
    """One synthesizer in one measure of one study, and what has changed since the study before it."""

    synthesizer: str
    measure: str
    study: PastStudy
    verdict: str  # on this measure; why there is none where no limit holds for it
    found: Estimate  # memorization
    change: Change | None = None  # None in the first study that has a value


class _Contributed:
    """What the records of one study contribute: tables by synthesizer, arrays by synthesizer and measure."""

    def __init__(self, study: PastStudy) -> None:
        table = study.contributions()
        self.tables = {str(name): own for name, own in table.groupby("synthesizer")} if len(table) else {}
        measures = [str(c).removeprefix(f"{_QUANTITY}/") for c in table if str(c).startswith(f"{_QUANTITY}/")]
        self.wide = {(n, m): _array(own, f"{_QUANTITY}/{m}") for n, own in self.tables.items() for m in measures}
        self.prior = prior_of([each.to_numpy() for each in self.wide.values() if len(each.columns)])

    def of(self, synthesizer: str, measure: str) -> pd.DataFrame:
        """Return contributions, a row a repetition, a column a record; no columns where there are none."""
        return self.wide.get((synthesizer, measure), pd.DataFrame())

    def entities(self, synthesizer: str) -> pd.Series | None:
        """Return the entity of each record, where one has several."""
        own = self.tables[synthesizer]
        return own.drop_duplicates("record").set_index("record")["entity"] if "entity" in own else None


def trend(studies: Sequence[PastStudy], measures: Sequence[str]) -> Iterator[Step]:
    """Return the steps of each synthesizer in some measures, by measure and synthesizer, the oldest study first.

    The change is paired record by record where both studies are of the same data and keep what their records
    contribute; elsewhere it is that of two independent estimates, and says why.
    """
    read = cache(_Contributed)
    rows = {study.study_id: _rows(study) for study in studies}
    names = dict.fromkeys(name for study in reversed(studies) for name, _ in rows[study.study_id])
    for measure in measures:
        for name in names:
            before: Step | None = None
            for study in studies:
                row = rows[study.study_id].get((name, measure))
                if row is None:
                    continue
                value, lower, upper = (float(row[f"{_QUANTITY}{end}"]) for end in ("", "_lower", "_upper"))
                step = Step(name, measure, study, str(row["verdict"]), Estimate(value, lower, upper))
                if not np.isnan(value):
                    step = replace(step, change=None if before is None else _change(before, step, read))
                    before = step
                yield step


def _rows(study: PastStudy) -> dict[tuple[str, str], pd.Series]:
    table = study.league
    if not len(table):
        return {}
    own = table[table["role"] == "synthesizer"].to_dict("records")
    return {(str(row["synthesizer"]), str(row["measure"])): pd.Series(row) for row in own}


def _change(before: Step, after: Step, read: Callable[[PastStudy], _Contributed]) -> Change:
    old, new = (int(each.study.tags.get("methods", "1")) for each in (before, after))
    if any(old < int(since) <= new and after.measure.startswith(names) for since, names in _NEW_MEANING.items()):
        return Change(NOT_ESTIMABLE, paired=False, why="the earlier number is of another meaning or attack")
    why, found = _paired(before, after, read)
    if found is not None:
        return Change(found, paired=True)
    return Change(independent_change(before.found, after.found), paired=False, why=why)


def _paired(before: Step, after: Step, read: Callable[[PastStudy], _Contributed]) -> tuple[str, Estimate | None]:
    """Return the paired change, or why there is none."""
    if len({each.study.tags.get("data_digest", each.study.study_id) for each in (before, after)}) > 1:
        return "other data", None
    steps = (before, after)
    kept = [read(step.study) for step in steps]
    own = [k.of(step.synthesizer, step.measure) for k, step in zip(kept, steps, strict=True)]
    if not all(len(each.columns) for each in own):
        return "what each record adds was not kept", None
    same = own[0].columns.equals(own[1].columns)
    if not same and not set(own[0].columns) & set(own[1].columns):
        return "kept in another workspace: records have other names", None
    if any(abs(np.nanmean(o.to_numpy()) - s.found.value) > _CLOSE for o, s in zip(own, steps, strict=True)):
        return "the value is no mean over records", None
    records = own[0].columns if same else own[0].columns.union(own[1].columns)
    arrays = [each.to_numpy() if same else each.reindex(columns=records).to_numpy() for each in own]
    entities = kept[1].entities(after.synthesizer)
    codes = None if entities is None else pd.factorize(entities.reindex(records).fillna(pd.Series(records, records)))[0]
    return "", paired_change(arrays[0], arrays[1], TESTED, codes, (kept[0].prior, kept[1].prior))


def _array(own: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return contributions, a row a repetition, a column a record; records that contribute nothing are left out."""
    repetition, repetitions = pd.factorize(own["repetition"], sort=True)
    record, records = pd.factorize(own["record"], sort=True)
    wide = np.full((len(repetitions), len(records)), np.nan)
    wide[repetition, record] = own[column]
    known = ~np.isnan(wide).any(axis=0)
    return pd.DataFrame(wide[:, known], index=repetitions, columns=records[known])
