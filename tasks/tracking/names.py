"""What MLflow calls a study: its experiment, runs, metrics and tags; among the tags who ran it and where."""

import re
import subprocess
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from mlflow import MlflowClient
from mlflow.entities import SourceType
from mlflow.exceptions import MlflowException
from mlflow.tracking.context.git_context import GitRunContext
from mlflow.tracking.context.registry import resolve_tags
from mlflow.utils.mlflow_tags import MLFLOW_GIT_COMMIT, MLFLOW_SOURCE_NAME, MLFLOW_SOURCE_TYPE

from synthrisk.metrics.intervals.estimates import decimals, spelled
from synthrisk.metrics.verdicts.quantities import Limited, limited
from synthrisk.metrics.verdicts.results import Headline, StudyResult
from synthrisk.metrics.verdicts.verdicts import Verdict
from synthrisk.tasks.workspace.digests import key_of

VERDICT = "verdict."
"""What the tags of verdicts on one measure start with."""

ENDS = ("upper", "lower", "limit")
"""What stands behind the key of a limited quantity: the ends of its interval, and its limit, the most needed first."""

_LONGEST = 220  # characters of quantity and measure: MLflow takes 250, and some keys become longer


def metric_key(quantity: str, measure: str) -> str:
    """Return an MLflow metric key: ``quantity/measure``.

    Characters that MLflow does not take become underscores, and of long names the end is left out, with some digits of
    a digest behind them, so that two measures do not share a key.

    Example:
        >>> metric_key("risk", "rapid.income"), metric_key("risk", "rapid.größe")
        ('risk/rapid.income', 'risk/rapid.gr__e-821cbd15')
    """
    plain = re.sub(r"[^A-Za-z0-9_\-. ]", "_", measure)[: _LONGEST - len(quantity)]
    return f"{quantity}/{plain}" if plain == measure else f"{quantity}/{plain}-{key_of(measure)[:8]}"


def limited_key(what: Limited, end: str = "") -> str:
    """Return the MLflow metric key of a limited quantity, or of one of ``ENDS`` of it.

    Example:
        >>> limited_key(Limited("memorization", "zero_cap.income", "outliers"), "upper")
        'memorization_outliers/zero_cap.income/upper'
    """
    key = metric_key("_".join(filter(None, (what.quantity, what.group))), what.key)
    return f"{key}/{end}" if end else key


def verdict_tag(verdict: Verdict, keys: Collection[str]) -> str:
    """Return the tag that holds a verdict; ``keys`` are the keys of the study's measures."""
    return VERDICT + limited_key(limited(verdict.quantity, keys))


INCOMPLETE = "incomplete"
"""The tag of runs whose study is not, or not yet, all there."""


ANSWER = "answer_digest"
"""The tag of a study's run that holds the digest of what the study says: see ``repeated``."""

CHECKED_AGAIN = "checked_again"
"""The tag of runs that holds when the same study last came to the same answer."""


def run_name(name: str, study_id: str) -> str:
    """Return the name of a run: what ran, and when its study began.

    Example:
        >>> run_name("cart", "20261123-013609-1ddbd6")
        'cart · 20261123-013609'
    """
    return f"{name} · {'-'.join(study_id.split('-')[:2])}"


def _as_if_cell(headline: Headline) -> str:
    """Return as if how many people had been copied, and at most how many, short enough for a narrow column."""
    share = headline.as_if.replace(" of ", "/")
    return f"{share} (≤{headline.at_most.partition(' of ')[0]})" if headline.at_most else share


def generator_tags(result: StudyResult, headline: Headline) -> dict[str, str]:
    """Return the tags of a generator's run."""
    name = headline.synthesizer
    settings, keys = result.settings[name], {f.measure.key for f in result.findings}
    released = {each: summary.status for each, summary in result.releases.items()}
    own: Mapping[str, Mapping[str, str]] = {
        "answer": result.answers,
        "failure": result.failures,
        "release": released,
        "cost": {each: cost.words for each, cost in result.costs.items()},
    }
    people = {"as_if": _as_if_cell(headline)} if headline.as_if else {}
    reached, useful = headline.worst, headline.utility
    worst = {"worst": f"{spelled(reached.found, reached.signed)} {reached.name}"} if reached else {}
    utility = {"utility": f"{decimals(useful.value.value)} {useful.measure.key}"} if useful else {}
    return {
        "role": settings["role"],
        "synthesizer": name,
        "kind": settings["kind"],
        "verdict": headline.word or "none",
        "why": headline.brief,
        **worst,
        **people,
        **utility,
        **{tag: told[name] for tag, told in own.items() if name in told},
        **{verdict_tag(v, keys): v.word for v in result.verdicts if v.synthesizer == name},
        **study_tags(result),
    }


def study_tags(result: StudyResult) -> dict[str, str]:
    """Return the tags that all runs of a study share."""
    told = {"invalid": result.invalid, "warning": result.warning}
    beside = {tag: text for tag, text in told.items() if text}
    return {"study_id": result.study_id, "references": result.references, **beside, **result.facts}


def params_of(result: StudyResult, name: str) -> dict[str, str]:
    """Return the params of a generator's run: those of the study, and what tells generators of one kind apart.

    A synthesizer has the options that it or another of its kind was given; ``default`` where it was not. An option
    that is called like a param of the study begins with ``option.``.
    """
    settings, shared = result.settings[name], study_params(result)
    if settings["role"] != "synthesizer":
        return {"synthesizer": name, **shared}
    alike = [s for s in result.settings.values() if (s["role"], s["kind"]) == ("synthesizer", settings["kind"])]
    options = dict.fromkeys(k for s in alike for k in s if k not in ("role", "kind"))
    own = {f"option.{k}" if k in shared else k: settings.get(k, "default") for k in options}
    return {"synthesizer": name, "kind": settings["kind"], **own, **shared}


def study_params(result: StudyResult) -> dict[str, str]:
    """Return the params that all runs of a study share: how it was cut, of what, its limits, and the versions.

    A limit is ``limit.<metric>``, where ``<metric>`` is the key of the limited quantity among the metrics; a version is
    ``version.<package>``. Of a holdout, which leaves out one part alone, ``folds`` is 1.
    """
    facts = result.facts
    told = {"seed": "seed", "repetitions": "repetitions", "rows": "records", "table_digest": "data_digest"}
    params = {name: facts[fact] for name, fact in told.items() if fact in facts}
    if {"releases", "repetitions"} <= set(facts):
        params["folds"] = str(int(facts["releases"]) // int(facts["repetitions"]))
    labels = {f.measure.key: f.measure.label for f in result.findings}
    for name, limit in result.limits.items():
        what = limited(name, [*labels, *labels.values()])
        params[f"limit.{limited_key(what)}"] = str(limit.value)
    versions = (each.partition(" ") for each in facts.get("versions", "").split(", ") if each)
    return params | {f"version.{package}": version for package, _, version in versions}


def experiment_of(client: MlflowClient, name: str, folder: Path | None) -> str:
    """Return the id of an experiment, which is made where it is not there, its artifacts in ``folder`` if given."""
    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            place = None if folder is None else (folder / "artifacts").as_uri()
            return str(client.create_experiment(name, artifact_location=place))
        except MlflowException:  # another process was first
            found = client.get_experiment_by_name(name)
            if found is None:
                raise
    return str(found.experiment_id)


FLOW_RUN, FLOW_RUN_PAGE = "prefect_flow_run_id", "prefect_flow_run_url"
"""The tags that hold the id and the page of the flow run of Prefect; the second is absent where there is no page."""

_COMMANDS = ("synthrisk", "synthrisk.exe")
_PART = "study"  # the flow that ``benchmark`` and ``evaluate`` run within theirs
_PATIENCE = 5.0  # seconds


def origin() -> dict[str, str]:
    """Return the tags that say who runs a study now: user, source, commit where there is one, and flow run.

    The user, and the kind of the source (a notebook, a job), are told by MLflow's own providers and by those of
    plug-ins, as for runs of MLflow's fluent interface. The source of a study that a command runs is the command,
    without its arguments, which may hold secrets.
    """
    tags = dict(resolve_tags(ignore=[GitRunContext]))
    main = Path(sys.argv[0]) if sys.argv else Path()
    if main.name in _COMMANDS:
        tags |= {MLFLOW_SOURCE_NAME: " ".join(["synthrisk", *(a for a in sys.argv[1:2] if a.isidentifier())])}
    flow = _flow_run()
    if flow.get(FLOW_RUN) and "prefect" in main.parts:  # what a worker of Prefect has started
        tags |= {MLFLOW_SOURCE_NAME: flow["name"], MLFLOW_SOURCE_TYPE: SourceType.to_string(SourceType.JOB)}
    found = commit_of(Path() if main.name in _COMMANDS or not main.is_file() else main.parent)
    tags |= {MLFLOW_GIT_COMMIT: found} if found else {}
    return tags | {name: flow[name] for name in (FLOW_RUN, FLOW_RUN_PAGE) if flow.get(name)}


def commit_of(folder: Path) -> str:
    """Return the commit that is checked out where a folder is; empty where there is none, or no git."""
    try:
        asked = ["git", "-C", str(folder.absolute()), "rev-parse", "--verify", "--quiet", "HEAD"]
        told = subprocess.run(asked, capture_output=True, text=True, timeout=_PATIENCE, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""


def _flow_run() -> Mapping[str, str]:
    """Return id, name and page of the flow run that is under way: of ``benchmark``, not of the part that is its study.

    Nothing is asked where Prefect is not imported; where its server does not answer, what is known without it stands.
    """
    if "prefect.context" not in sys.modules:
        return {}
    from prefect.client.orchestration import get_client
    from prefect.context import FlowRunContext
    from prefect.utilities.urls import url_for

    under_way = FlowRunContext.get()
    run = under_way.flow_run if under_way is not None else None
    if under_way is None or run is None:
        return {}
    if under_way.flow is not None and under_way.flow.name == _PART and run.parent_task_run_id:
        with suppress(Exception), get_client(sync_client=True) as client:
            parent = client.read_task_run(run.parent_task_run_id).flow_run_id
            run = client.read_flow_run(parent) if parent else run
    page = url_for("flow-run", run.id)
    return {FLOW_RUN: str(run.id), "name": run.name, **({FLOW_RUN_PAGE: page} if page else {})}
