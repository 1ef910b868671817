"""Write a study to MLflow: one flat run a synthesizer, so that list, charts and compare page show them at once."""

import json
import logging
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import numpy as np
import pandas as pd
from mlflow import MlflowClient
from mlflow.data.pandas_dataset import from_pandas
from mlflow.entities import DatasetInput, Metric, Param
from mlflow.exceptions import MlflowException
from prefect import task

from synthrisk.conf import resolve
from synthrisk.conf.study import Tracking
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.gain import CURVE
from synthrisk.metrics.intervals.pooled_rates import RATE
from synthrisk.metrics.release.summary import releases_table
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.quantities import limited
from synthrisk.metrics.study.result_tables import (
    comparison_table,
    details_table,
    epsilon_table,
    gda_table,
    groups_table,
    interval_table,
    k_anonymity_table,
    league_table,
    limits_table,
    power_table,
    tpr_table,
    yardstick_table,
)
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.utility import Usefulness, utility_table
from synthrisk.metrics.study.verdicts import Verdict
from synthrisk.tasks.workspace.record_names import record_hashes
from synthrisk.tasks.workspace.references import LedgerFolder, Table
from synthrisk.tasks.workspace.store import key_of, private_folder

for _name in ("mlflow", "alembic"):  # a new store says how it makes its tables
    logging.getLogger(_name).setLevel(logging.WARNING)

TOP = 100
_BATCH = 1000
_REVEALING = ["guessed", "truth", "confidence", "baseline", "gain"]  # a class's share, its baseline, tells the class


@dataclass(frozen=True)
class Logged:
    """Where a study is in MLflow: store (without user and password), experiment, and run ids by synthesizer."""

    uri: str
    experiment_id: str
    study_id: str
    runs: dict[str, str]

    def compare_link(self, server: str) -> str:
        """Return the address of the page that compares the synthesizers' runs."""
        runs = quote(json.dumps(list(self.runs.values()), separators=(",", ":")))
        return f"{server}/#/compare-runs?runs={runs}&experiments={quote(json.dumps([self.experiment_id]))}"

    def list_link(self, server: str) -> str:
        """Return the address of the list and charts of this study's runs."""
        own = quote(f"tags.study_id = '{self.study_id}' and tags.role != 'study'")
        return f"{server}/#/experiments/{self.experiment_id}/runs?searchFilter={own}&compareRunsMode=CHART"


@dataclass(frozen=True)
class Kept:
    """What is kept of one synthesizer's records: ledgers, exposed records, contributions, and its page of exposure."""

    ledgers: tuple[LedgerFolder, ...]
    exposed: str
    contributions: str = ""
    page: str | None = None


@task(name="log")
def log(
    result: StudyResult,
    kept: Mapping[str, Kept],
    table: Table,
    study_yaml: str,
    artifacts: Sequence[str],
    tracking: Tracking,
    workspace: str,
) -> Logged:
    """Write runs, metrics, tags and artifacts of a study; return where they are."""
    folder = private_folder(Path(workspace).absolute())
    uri = tracking_uri(tracking, folder)
    client = MlflowClient(uri)
    experiment = _experiment(client, tracking.experiment or result.name, None if tracking.uri else folder)
    hashes = record_hashes(folder, table.digest, table.rows)
    runs = {}
    for name in result.synthesizers:
        findings = [f for f in result.findings if f.synthesizer == name]
        runs[name] = _synthesizer_run(client, experiment, result, name, table)
        status = "FAILED"
        try:
            _numbers(client, runs[name], findings, [f for f in result.utility if f.synthesizer == name])
            client.log_batch(runs[name], metrics=_limited(result, name))
            if name in kept and tracking.records != "none":
                _records(client, runs[name], kept[name], hashes, tracking.records)
            status = "FAILED" if name in result.failures else "FINISHED"
        finally:
            client.set_terminated(runs[name], status)
    _study_run(client, experiment, result, table, study_yaml, artifacts)
    return Logged(without_user(uri), experiment, result.study_id, runs)


def tracking_uri(tracking: Tracking, workspace: Path) -> str:
    """Return where runs go: what the study names, or SQLite in the workspace."""
    return resolve(tracking.uri) if tracking.uri else f"sqlite:///{workspace.absolute() / 'mlflow.db'}"


def league(tracking: Tracking, workspace: Path, experiment: str) -> pd.DataFrame:
    """Return one row a synthesizer run of an experiment: tags and all metrics."""
    client = MlflowClient(store_of(tracking, workspace))
    found = client.get_experiment_by_name(experiment)
    if found is None:
        known = sorted(e.name for e in client.search_experiments() if e.name != "Default")
        raise InputError(f"the experiment must be one of {', '.join(known)}, got {experiment!r}")
    rows = []
    for run in client.search_runs([found.experiment_id], "tags.role != 'study'", max_results=5000):
        tags = {t: run.data.tags.get(t, "") for t in ("synthesizer", "role", "study_id", "verdict")}
        rows.append({**tags, "start": pd.Timestamp(run.info.start_time, unit="ms"), **run.data.metrics})
    return pd.DataFrame(rows)


def without_user(uri: str) -> str:
    """Return an address without user and password.

    Example:
        >>> without_user("http://me:secret@host:5000")
        'http://host:5000'
    """
    return re.sub(r"//[^/@]*@", "//", uri)


def store_of(tracking: Tracking, workspace: Path) -> str:
    """Return the address of the store that a study has logged to."""
    if not tracking.uri and not (workspace / "mlflow.db").exists():
        raise InputError(f"the workspace must hold a study's results, got none in {workspace}; run synthrisk benchmark")
    return tracking_uri(tracking, workspace)


def metric_key(quantity: str, measure: str) -> str:
    """Return an MLflow metric key: ``quantity/measure``.

    Characters that MLflow does not take become underscores, with some digits of a digest behind them, so that
    two measures never share a key.

    Example:
        >>> metric_key("risk", "rapid.income"), metric_key("risk", "rapid.größe")
        ('risk/rapid.income', 'risk/rapid.gr__e-821c')
    """
    plain = re.sub(r"[^A-Za-z0-9_\-. ]", "_", measure)
    return f"{quantity}/{plain}" if plain == measure else f"{quantity}/{plain}-{key_of(measure)[:4]}"


def _experiment(client: MlflowClient, name: str, folder: Path | None) -> str:
    found = client.get_experiment_by_name(name)
    if found is not None:
        return str(found.experiment_id)
    try:
        place = None if folder is None else (folder / "artifacts").as_uri()
        return str(client.create_experiment(name, artifact_location=place))
    except MlflowException:  # another process was first
        found = client.get_experiment_by_name(name)
        if found is None:
            raise
        return str(found.experiment_id)


def _synthesizer_run(
    client: MlflowClient,
    experiment: str,
    result: StudyResult,
    name: str,
    table: Table,
) -> str:
    settings = result.settings[name]
    tags = {
        "role": settings["role"],
        "study_id": result.study_id,
        "synthesizer": name,
        "kind": settings["kind"],
        "verdict": result.verdict(name) or "none",
        "references": result.references,
        **({"invalid": result.invalid} if not result.valid else {}),
        **({"warning": result.warning} if result.warning else {}),
        **{_verdict_tag(v): v.word for v in result.verdicts if v.synthesizer == name},
        **({"failure": result.failures[name]} if name in result.failures else {}),
        **({"release": result.releases[name].status} if name in result.releases else {}),
        **result.facts,
    }
    run_id = str(client.create_run(experiment, run_name=name, tags=tags).info.run_id)
    _log_dataset(client, run_id, table)
    options = {k: v for k, v in settings.items() if k not in ("role", "kind")}
    # few: the compare page draws the first three that differ
    params = {"synthesizer": name, **(options if settings["role"] == "synthesizer" else {})}
    client.log_batch(run_id, params=[Param(k, v) for k, v in params.items()])
    return run_id


def _verdict_tag(verdict: Verdict) -> str:
    what = limited(verdict.quantity)
    return f"verdict.{metric_key('_'.join(filter(None, (what.quantity, what.group))), what.key)}"


def _numbers(client: MlflowClient, run_id: str, findings: Sequence[Finding], useful: Sequence[Usefulness] = ()) -> None:
    metrics = [m for f in findings for m in _metrics(f)] + [m for f in useful for m in _utility(f)]
    for start in range(0, len(metrics), _BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + _BATCH])


def _metrics(f: Finding) -> list[Metric]:
    single = {
        "memorization": f.memorization.value,
        "memorization_lower": f.memorization.lower,
        "memorization_upper": f.memorization.upper,
        "risk": f.risk.value,
        "risk_control": f.risk_control.value,
        "risk_gain": f.risk_gain.value,
        "risk_lower": f.risk.lower,
        "risk_population": f.population.value,
        "risk_upper": f.risk.upper,
        "tpr": f.tpr[RATE].value if RATE in f.tpr else float("nan"),
        "epsilon": float("nan") if f.epsilon is None else f.epsilon.epsilon,
    }
    steps = [("risk_curve", round(100 * t), e.value) for t, e in zip(CURVE, f.curve, strict=False)]
    steps += [("risk_release", step, v) for step, v in enumerate(f.release_risk)]
    return _logged(f.measure.key, [(q, 0, v) for q, v in single.items()] + steps)


def _limited(result: StudyResult, name: str) -> list[Metric]:
    """Return what a generator reaches in the limited quantities that ``_metrics`` does not hold."""
    rows = limits_table(result)
    entries: list[Metric] = []
    for row in rows[rows["synthesizer"] == name].to_dict("records") if len(rows) else []:
        quantity = "_".join(filter(None, (row["quantity"], row["group"])))
        if quantity not in ("risk", "risk_control", "risk_gain", "memorization"):
            values = [] if quantity == "tpr" else [(quantity, 0, row["value"])]  # which is logged of all
            values += [(f"{quantity}_lower", 0, row["lower"]), (f"{quantity}_upper", 0, row["upper"])]
            entries += _logged(row["measure"], values)
    return entries


def _utility(f: Usefulness) -> list[Metric]:
    return _logged(f.measure.key, [("utility", 0, f.value.value), ("utility_ceiling", 0, f.ceiling.value)])


def _logged(measure: str, entries: Sequence[tuple[str, int, float]]) -> list[Metric]:
    now = int(time.time() * 1000)
    return [Metric(metric_key(q, measure), float(v), now, int(s)) for q, s, v in entries if np.isfinite(v)]


def _log_dataset(client: MlflowClient, run_id: str, table: Table) -> None:
    """Record schema, counts and digest of the real table; no cells."""
    with warnings.catch_warnings():  # a hint on how models treat missing integers: there is no model here
        warnings.filterwarnings("ignore", "Hint: Inferred schema", UserWarning)
        dataset = from_pandas(table.read(), name="real", digest=table.digest)
        entity = dataset._to_mlflow_entity()
    client.log_inputs(run_id, datasets=[DatasetInput(entity, tags=[])])


def _records(client: MlflowClient, run_id: str, kept: Kept, hashes: np.ndarray, mode: str) -> None:
    with TemporaryDirectory() as place:
        folder = Path(place)
        parts = []
        for each in kept.ledgers:
            part = each.ledger().dropna(axis="columns", how="all")
            parts.append(part.assign(repetition=each.cell.repetition, fold=each.cell.fold))
        if not any(len(part) for part in parts):
            return  # no measure of the study scores records
        _named(pd.concat(parts, ignore_index=True), hashes, mode).to_parquet(
            folder / "ledger.parquet", compression="zstd"
        )
        exposed = _named(pd.read_parquet(kept.exposed), hashes, mode)
        exposed.to_parquet(folder / "memorization.parquet", compression="zstd")
        client.log_artifacts(run_id, place, "records")
        if kept.page and mode == "full":  # it holds values of the real table
            client.log_artifact(run_id, kept.page, "records")
        top = exposed.nlargest(TOP, "memorization").reset_index(drop=True)
        if len(top):
            client.log_table(run_id, top, "records/most_exposed.json")


def _named(records: pd.DataFrame, hashes: np.ndarray, mode: str) -> pd.DataFrame:
    named = records.assign(record=hashes[records["record"].to_numpy()])
    if mode == "full":
        return named.assign(row=records["record"])
    # in the order of the hashes: the order of the table would name the records
    return named.drop(columns=_REVEALING, errors="ignore").sort_values("record", kind="stable", ignore_index=True)


def _study_run(
    client: MlflowClient,
    experiment: str,
    result: StudyResult,
    table: Table,
    study_yaml: str,
    artifacts: Sequence[str],
) -> None:
    words = {name: result.verdict(name) for name in result.synthesizers}
    tags = {
        "role": "study",
        "study_id": result.study_id,
        "verdict": ", ".join(f"{n}: {w}" for n, w in words.items() if w) or "none",
        "references": result.references,
        **({"invalid": result.invalid} if not result.valid else {}),
        **({"warning": result.warning} if result.warning else {}),
        **result.facts,
    }
    run_id = client.create_run(experiment, run_name=f"study {result.name}", tags=tags).info.run_id
    _log_dataset(client, run_id, table)
    client.log_text(run_id, study_yaml, "study.yaml")
    client.log_table(run_id, league_table(result), "league.json")
    if result.utility:
        client.log_table(run_id, utility_table(result.utility), "utility.json")
    client.log_text(run_id, interval_table(result).to_csv(index=False), "intervals.csv")
    client.log_text(run_id, details_table(result).to_csv(index=False), "details.csv")
    tables = {
        "yardsticks": yardstick_table,
        "gda": gda_table,
        "comparison": comparison_table,
        "power": power_table,
        "limits": limits_table,
        "groups": groups_table,
        "tpr": tpr_table,
        "epsilon": epsilon_table,
        "k_anonymity": k_anonymity_table,
    }
    for name, table_of in tables.items():
        rows = table_of(result)
        if len(rows):
            client.log_text(run_id, rows.to_csv(index=False), f"{name}.csv")
    if result.releases:
        client.log_text(run_id, releases_table(result.releases).to_csv(index=False), "releases.csv")
    for name, facts in (("checks", result.checks), ("verdicts", result.verdicts)):
        client.log_text(run_id, json.dumps([vars(f) for f in facts], indent=1, default=bool), f"{name}.json")
    for path in artifacts:
        client.log_artifact(run_id, path)
    client.set_terminated(run_id, "FINISHED" if result.valid and not result.failures else "FAILED")
