"""Write a study to MLflow: one flat run a synthesizer, so that list, charts and compare page show them at once."""

import json
import logging
import re
import time
import warnings
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from urllib.parse import quote

import numpy as np
import pandas as pd
import yaml
from mlflow import MlflowClient
from mlflow.data.pandas_dataset import from_pandas
from mlflow.entities import DatasetInput, Metric, Param
from mlflow.exceptions import MlflowException

from synthrisk.conf import resolve
from synthrisk.conf.load import checked, refuse_passwords
from synthrisk.conf.study import Tracking
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.intervals.gain import CURVE
from synthrisk.metrics.intervals.pooled_rates import RATE
from synthrisk.metrics.release.summary import releases_table
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.league import LeagueRow, place
from synthrisk.metrics.study.quantities import limited
from synthrisk.metrics.study.result_tables import (
    TABLES,
    details_table,
    interval_table,
    league_table,
    limits_table,
    with_limits,
)
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.utility import Usefulness, utility_table
from synthrisk.metrics.study.verdicts import Verdict, worst
from synthrisk.tasks.expose import expose
from synthrisk.tasks.report import report
from synthrisk.tasks.workspace.handed import Found, Judged
from synthrisk.tasks.workspace.record_names import record_hashes
from synthrisk.tasks.workspace.references import Table
from synthrisk.tasks.workspace.store import key_of, private_folder
from synthrisk.tasks.workspace.verb import check_given, verb

for _name in ("mlflow", "alembic"):  # a new store says how it makes its tables
    logging.getLogger(_name).setLevel(logging.WARNING)

TOP = 100
_TAGS = ("synthesizer", "role", "answer", "study_id", "verdict", "failure")
_BATCH = 1000
_VERDICT = "verdict."  # tags of verdicts on one measure start so
_CELLS = {"risk": "risk", "control": "risk_control", "memorization": "memorization"}
"""The quantity that each column of a league table read back is kept as."""
_REVEALING = ["guessed", "truth", "confidence", "baseline", "gain"]  # a class's share, its baseline, tells the class


@dataclass(frozen=True)
class Pages:
    """Where the pages of a study are: its report, and a page of exposure a synthesizer."""

    report: str
    exposures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Logged:
    """Where a study is: MLflow store (without user and password), experiment, run ids by synthesizer, and pages."""

    uri: str
    experiment_id: str
    study_id: str
    runs: dict[str, str]
    pages: Pages

    def compare_link(self, server: str) -> str:
        """Return the address of the page that compares the synthesizers' runs."""
        runs = quote(json.dumps(list(self.runs.values()), separators=(",", ":")))
        return f"{server}/#/compare-runs?runs={runs}&experiments={quote(json.dumps([self.experiment_id]))}"

    def list_link(self, server: str) -> str:
        """Return the address of the list and charts of this study's runs."""
        own = quote(f"tags.study_id = '{self.study_id}' and tags.role != 'study'")
        return f"{server}/#/experiments/{self.experiment_id}/runs?searchFilter={own}&compareRunsMode=CHART"


@verb("log")
def log(
    judged: Judged,
    *,
    experiment: str | None = None,
    tracking_uri: str | None = None,
    records: Literal["hashed", "full", "none"] = "hashed",
    exposure: bool = True,
    settings: str | None = None,
    pages: Pages | None = None,
) -> Logged:
    """Write runs, metrics, tags and artifacts of a study to MLflow, and its report; return where they are.

    Args:
        judged: What the study says.
        experiment: MLflow experiment; the study's name unless given.
        tracking_uri: MLflow store; SQLite in the workspace unless given.
        records: Per-record artifacts: ``hashed``, ``full`` (with values of the real table) or ``none``.
        exposure: Whether a page for each judged synthesizer says who is at risk, and why.
        settings: What was asked, as YAML; what the references remember of it unless given.
        pages: Report and pages of exposure where they are written already.

    Raises:
        InputError: ``records`` is none of these, or the address names a variable that is not set.
    """
    check_given("judged", judged, Judged, "judge")
    given = {"experiment": experiment, "uri": tracking_uri, "records": records}
    refuse_passwords(given)
    tracking = checked(Tracking, given, "log")
    result, estimated = judged.result, judged.estimated
    sample, asked = estimated.sample, settings or described(judged)
    own = pages or Pages(
        report.fn(judged, asked),
        {
            found.name: expose.fn(found, result.study_id, estimated.settings.confidence)
            for found in estimated.found
            if exposure and found.generator.role == "synthesizer"
        },
    )
    folder = private_folder(Path(sample.workspace).absolute())
    uri = store_address(tracking, folder)
    client = MlflowClient(uri)
    place = _experiment(client, tracking.experiment or result.name, None if tracking.uri else folder)
    hashes = record_hashes(folder, sample.table.digest, sample.table.rows)
    by_name, runs = {found.name: found for found in estimated.found}, {}
    for name in result.synthesizers:
        findings = [f for f in result.findings if f.synthesizer == name]
        runs[name] = _synthesizer_run(client, place, result, name, sample.table)
        status = "FAILED"
        try:
            _numbers(client, runs[name], findings, [f for f in result.utility if f.synthesizer == name])
            client.log_batch(runs[name], metrics=_limited(result, name))
            if name in by_name and tracking.records != "none":
                _records(client, runs[name], by_name[name], own.exposures.get(name), hashes, tracking.records)
            status = "FAILED" if name in result.failures else "FINISHED"
        finally:
            client.set_terminated(runs[name], status)
    _study_run(client, place, result, sample.table, asked, [own.report])
    return Logged(without_user(uri), place, result.study_id, runs, own)


def store_address(tracking: Tracking, workspace: Path) -> str:
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
        tags = {t: run.data.tags.get(t, "") for t in _TAGS}
        own = {t: word for t, word in run.data.tags.items() if t.startswith(_VERDICT)}
        rows.append({**tags, "start": pd.Timestamp(run.info.start_time, unit="ms"), **own, **run.data.metrics})
    return pd.DataFrame(rows)


def described(judged: Judged) -> str:
    """Return as YAML what the references of a study remember of what was asked."""
    sample, result, estimated = judged.estimated.sample, judged.result, judged.estimated
    roles = {name: getattr(sample, name) for name in ("quasi_identifiers", "sensitive", "identifier")}
    asked = {
        "name": result.name,
        "data": {"digest": sample.table.digest} | roles,
        "split": {"digest": sample.cut.digest, "repetitions": sample.cut.repetitions, "releases": sample.cut.releases},
        "generators": result.settings,
        "measures": {p.measure.key: p.options for found in estimated.found for p in found.planned},
        "bootstrap": estimated.settings.model_dump(mode="json"),
        "thresholds": {name: vars(limit) for name, limit in result.limits.items()},
        "seed": sample.seed,
    }
    return str(yaml.safe_dump(json.loads(json.dumps(asked, default=str)), sort_keys=False, allow_unicode=True))


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
    starts = (*(f"{quantity}/" for quantity in _CELLS.values()), _VERDICT)
    return list(dict.fromkeys(c.partition("/")[2] for c in runs.columns if c.startswith(starts)))


def _row(run: Mapping[Hashable, Any], measure: str) -> LeagueRow:
    verdicts = {str(key): str(word) for key, word in run.items() if str(key).startswith(_VERDICT)}
    words = [word for key, word in verdicts.items() if key.partition("/")[2] == measure]
    cells = {
        name: Estimate(*(run.get(f"{quantity}{end}/{measure}", float("nan")) for end in ("", "_lower", "_upper")))
        for name, quantity in _CELLS.items()
    }
    who = run["synthesizer"], run["role"], measure
    if run["failure"]:
        return LeagueRow(*who, word="FAILED", failure=run["failure"], study=run["study_id"])
    return LeagueRow(*who, cells, worst(words), study=run["study_id"])


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
    return store_address(tracking, workspace)


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


def _synthesizer_run(client: MlflowClient, experiment: str, result: StudyResult, name: str, table: Table) -> str:
    settings, keys = result.settings[name], {f.measure.key for f in result.findings}
    released = {each: summary.status for each, summary in result.releases.items()}
    own = {"answer": result.answers, "failure": result.failures, "release": released}
    tags = {
        "role": settings["role"],
        "synthesizer": name,
        "kind": settings["kind"],
        "verdict": result.verdict(name) or "none",
        **{tag: told[name] for tag, told in own.items() if name in told},
        **{_verdict_tag(v, keys): v.word for v in result.verdicts if v.synthesizer == name},
        **_shared_tags(result),
    }
    run_id = str(client.create_run(experiment, run_name=name, tags=tags).info.run_id)
    _log_dataset(client, run_id, table)
    options = {k: v for k, v in settings.items() if k not in ("role", "kind")}
    # few: the compare page draws the first three that differ
    params = {"synthesizer": name, **(options if settings["role"] == "synthesizer" else {})}
    client.log_batch(run_id, params=[Param(k, v) for k, v in params.items()])
    return run_id


def _shared_tags(result: StudyResult) -> dict[str, str]:
    """Return the tags of all runs of a study."""
    told = {"invalid": result.invalid, "warning": result.warning}
    beside = {tag: text for tag, text in told.items() if text}
    return {"study_id": result.study_id, "references": result.references, **beside, **result.facts}


def _verdict_tag(verdict: Verdict, keys: Collection[str]) -> str:
    what = limited(verdict.quantity, keys)
    return _VERDICT + metric_key("_".join(filter(None, (what.quantity, what.group))), what.key)


def _numbers(client: MlflowClient, run_id: str, findings: Sequence[Finding], useful: Sequence[Usefulness] = ()) -> None:
    metrics = [m for f in findings for m in _metrics(f)]
    for f in useful:
        metrics += _logged(f.measure.key, [("utility", 0, f.value.value), ("utility_ceiling", 0, f.ceiling.value)])
    for start in range(0, len(metrics), _BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + _BATCH])


def _metrics(f: Finding) -> list[Metric]:
    single = {
        **with_limits("memorization", f.memorization),
        **with_limits("risk", f.risk),
        "risk_control": f.risk_control.value,
        "risk_gain": f.risk_gain.value,
        "risk_population": f.population.value,
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


def _records(client: MlflowClient, run_id: str, found: Found, page: str | None, hashes: np.ndarray, mode: str) -> None:
    with TemporaryDirectory() as place:
        folder = Path(place)
        parts = []
        for each in found.ledgers:
            part = each.ledger().dropna(axis="columns", how="all")
            parts.append(part.assign(repetition=each.cell.repetition, fold=each.cell.fold))
        if not any(len(part) for part in parts):
            return  # no measure of the study scores records
        ledger = _named(pd.concat(parts, ignore_index=True), hashes, mode)
        ledger.to_parquet(folder / "ledger.parquet", compression="zstd")
        exposed = _named(pd.read_parquet(found.exposed), hashes, mode)
        exposed.to_parquet(folder / "memorization.parquet", compression="zstd")
        client.log_artifacts(run_id, place, "records")
        if page and mode == "full":  # it holds values of the real table
            client.log_artifact(run_id, page, "records")
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
    client: MlflowClient, experiment: str, result: StudyResult, table: Table, study_yaml: str, artifacts: Sequence[str]
) -> None:
    words = {name: result.verdict(name) for name in result.synthesizers}
    tags = {
        "role": "study",
        "verdict": ", ".join(f"{n}: {w}" for n, w in words.items() if w) or "none",
        **_shared_tags(result),
    }
    run_id = client.create_run(experiment, run_name=f"study {result.name}", tags=tags).info.run_id
    _log_dataset(client, run_id, table)
    client.log_text(run_id, study_yaml, "study.yaml")
    client.log_table(run_id, league_table(result), "league.json")
    if result.utility:
        client.log_table(run_id, utility_table(result.utility), "utility.json")
    client.log_text(run_id, interval_table(result).to_csv(index=False), "intervals.csv")
    client.log_text(run_id, details_table(result).to_csv(index=False), "details.csv")
    for name, table_of in TABLES.items():
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
