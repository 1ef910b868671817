"""Tell Prefect how a study ended: lines in its log, artifacts whose history is the trend, events, assets, and tags.

What a finished study tells Prefect's automations: small events of words, names and links, never a cell.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.assets import Asset, AssetProperties, add_asset_metadata, materialize
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey
from prefect.client.schemas.sorting import ArtifactSort
from prefect.context import FlowRunContext
from prefect.events import emit_event
from prefect.utilities.urls import url_for

from synthrisk.conf.secrets import mask, masked
from synthrisk.flows.orchestration.artifacts import (
    LONGEST,
    Ended,
    artifact_description,
    artifact_text,
    asset_key,
    plain,
)
from synthrisk.flows.orchestration.flow_runs import tag_run
from synthrisk.flows.orchestration.server import run_log
from synthrisk.flows.outcome import in_sentences
from synthrisk.metrics.verdicts.results import Headline
from synthrisk.metrics.verdicts.verdicts import LOOK
from synthrisk.tasks.workspace.folders import address_of

FINISHED, RISK = "synthrisk.study.finished", "synthrisk.verdict.risk"


def emit_events(ended: Ended) -> None:
    """Say that a study has ended, and for each synthesizer that crosses a limit that it does.

    Automations match the labels of a resource. ``synthrisk.verdict`` is the word of the study, ``synthrisk.passed``
    says whether there are limits and all are shown to be kept; of a risk ``synthrisk.synthesizer`` says whose.
    """
    result = ended.result
    words = {each.synthesizer: each.word or "NOT JUDGED" for each in ended.answer.synthesizers}
    told: dict[str, Any] = {"verdict": ended.word, "passed": result.passed, "verdicts": words}
    told["message"] = f"{ended.title[:1].upper()}{ended.title[1:]} has ended. {in_sentences(result)}"
    told |= {name: text for name, text in (("invalid", result.invalid), ("failed", ", ".join(result.failures))) if text}
    labels = {"synthrisk.verdict": ended.word, "synthrisk.passed": str(result.passed).lower()}
    _emit(FINISHED, ended, ended.resource, ended.title, labels, told)
    for each in (each for each in ended.answer.synthesizers if each.word == "RISK"):
        _emit_risk(ended, each)


def _emit_risk(ended: Ended, each: Headline) -> None:
    limits = [verdict.quantity for verdict in each.verdicts if verdict.word == "RISK"]
    told = {"verdict": each.word, "synthesizer": each.synthesizer, "why": each.sentence, "limits": limits}
    named = ["the limit of the look at the release" if name == LOOK else name for name in limits]
    told["message"] = f"{each.statement} It crosses {', '.join(named)}."
    resource, labels = f"{ended.resource}.{each.synthesizer}", {"synthrisk.synthesizer": each.synthesizer}
    name = f"{each.synthesizer} of {ended.title}" if ended.kind == "study" else ended.title
    _emit(RISK, ended, resource, name, labels, told)


def _emit(event: str, ended: Ended, resource: str, name: str, labels: dict[str, str], told: dict[str, Any]) -> None:
    run = FlowRunContext.get()
    own, related = ended.links, []
    pages = {"report": own.page or own.path, "mlflow": own.runs, "command": own.start}
    where = {what: place for what, place in pages.items() if place}
    if run is not None and run.flow_run is not None:
        page = url_for("flow-run", run.flow_run.id)
        where |= {"flow_run": page} if page else {}
        run_id = f"prefect.flow-run.{run.flow_run.id}"
        related = [{"prefect.resource.id": run_id, "prefect.resource.role": "flow-run"}]
    labels = {"prefect.resource.id": resource, "prefect.resource.name": name, "synthrisk.study": ended.name} | labels
    payload = {"study": ended.name, "study_id": ended.result.study_id} | told | {"links": where}
    emit_event(event, masked(labels), related=related, payload=masked(payload))


_VERSIONS = 10  # earlier runs that an artifact lists
_ALARMING = ("RISK", "INVALID RELEASE", "INVALID", "FAILED")


def announce(ended: Ended) -> None:
    """Write log lines, artifacts, events and the tag of the verdict of the flow run that is under way."""
    _log(ended)
    title = plain(ended.title, LONGEST)  # descriptions are Markdown too
    text = mask(artifact_text(ended, _earlier(ended.key)))
    create_markdown_artifact(text, key=ended.key, description=mask(artifact_description(ended)))
    shown = ended.links
    for what, page, name in (("report", shown.page, "the report"), ("mlflow", shown.runs, "the runs in MLflow")):
        if page:  # browsers open no file from a page, and a server that nobody runs shows nothing
            create_link_artifact(page, f"Open {name}", key=f"{what}-{ended.key}", description=title)
    emit_events(ended)
    tell_assets(ended)
    tag_run(*_verdict_tags(ended))


def tell_assets(ended: Ended) -> None:
    """Have Prefect's assets follow the study: real tables are referenced, each release and the report materialized.

    A release that somebody else has made, which ``evaluate`` judges, is referenced; what is materialized is the copy
    of it that was judged. Metadata hold names and verdicts, never a cell.
    """
    study = {"study": ended.name, "study_id": ended.result.study_id}
    read = [Asset(key=asset_key(each)) for each in (ended.outcome.source, *ended.also) if each]
    words = {each.synthesizer: each.word or "NOT JUDGED" for each in ended.answer.synthesizers}
    releases = {
        _asset(path, f"release {place} of {name}, {ended.title}"): study | {"synthesizer": name, "verdict": words[name]}
        for name, paths in ended.outcome.releases.items()
        for place, path in enumerate(paths, 1)
    }
    _materialized("releases", releases, read)
    if ended.outcome.report:
        told = study | {"verdict": ended.word, "passed": ended.result.passed, "verdicts": words}
        told["message"] = in_sentences(ended.result)
        report = _asset(address_of(Path(ended.outcome.report)), f"report of {ended.title}", ended.links.page or None)
        _materialized("report page", {report: told}, [*read, *releases])


def _asset(address: str, name: str, url: str | None = None) -> Asset:
    return Asset(key=asset_key(address), properties=AssetProperties(name=mask(name), url=url))


def _materialized(name: str, told: Mapping[Asset, Mapping[str, Any]], read: Sequence[Asset]) -> None:
    """Materialize assets, each with what is told of it, in a task run that references those that were read."""

    def tell() -> None:
        for asset, metadata in told.items():
            add_asset_metadata(asset, masked(dict(metadata)))

    if told:
        options: dict[str, Any] = {"asset_deps": list(read), "cache_policy": NO_CACHE, "persist_result": False}
        materialize(*told, by="synthrisk", name=name, task_run_name=name, **options)(tell)()


def _verdict_tags(ended: Ended) -> list[str]:
    """Return a tag for each word of verdict; NO EVIDENCE only where all synthesizers have it."""
    words = {each.word or ended.word for each in ended.answer.synthesizers} | {ended.word}
    return [f"verdict:{word}" for word in words if word != "NO EVIDENCE" or words == {word}]


def _log(ended: Ended) -> None:
    """Write a line a verdict; of a synthesizer without any, and of one that failed, the sentence on it."""
    logger = run_log()
    for each in ended.answer.synthesizers:
        lines = [(str(v.word), f"{each.synthesizer}, {v.quantity}: {v.reason}") for v in each.verdicts]
        if not lines or each.word == "FAILED":
            lines = [(each.word or "NOT JUDGED", each.statement)]
        for word, text in lines:
            level = logging.WARNING if word in _ALARMING else logging.INFO
            logger.log(level, "%s: %s", word, text)


def _earlier(key: str) -> list[tuple[str, str]]:
    """Return when the last versions of an artifact were made, and their descriptions; the newest first."""
    wanted = ArtifactFilter(key=ArtifactFilterKey(any_=[key]))
    with get_client(sync_client=True) as client:
        found = client.read_artifacts(artifact_filter=wanted, sort=ArtifactSort.CREATED_DESC, limit=_VERSIONS)
    return [(f"{each.created:%Y-%m-%d %H:%M} UTC", each.description or "-") for each in found if each.created]
