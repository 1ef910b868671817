"""Tell Prefect how a study ended: lines in its log, artifacts whose history is the trend, events, assets, and tags."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prefect import tags
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.assets import Asset, AssetProperties, add_asset_metadata, materialize
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey
from prefect.client.schemas.sorting import ArtifactSort
from prefect.context import FlowRunContext

from synthrisk.conf.secrets import mask, masked
from synthrisk.flows.artifact import artifact_description, artifact_text
from synthrisk.flows.ended import Ended
from synthrisk.flows.events import emit_events
from synthrisk.flows.keys import asset_key
from synthrisk.flows.markdown import LONGEST, plain
from synthrisk.flows.outcome import in_sentences
from synthrisk.flows.run_log import run_log
from synthrisk.tasks.workspace.kept import address_of

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
    _tag_run(*_verdict_tags(ended))


@contextmanager
def tagged(study: str) -> Iterator[None]:
    """Tag the flow run that is under way by its study, and all runs that begin in the block."""
    tag = f"study:{study}"
    _tag_run(tag)
    with tags(tag):
        yield


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


def _tag_run(*added: str) -> None:
    run = FlowRunContext.get()
    if run is None or run.flow_run is None:
        return
    with get_client(sync_client=True) as client:
        known = client.read_flow_run(run.flow_run.id).tags
        client.update_flow_run(run.flow_run.id, tags=sorted({*known, *added}))
