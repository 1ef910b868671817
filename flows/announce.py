"""Tell Prefect how a study ended: a line a verdict in the log, artifacts whose history is the trend, events, tags."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from prefect import tags
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey
from prefect.client.schemas.sorting import ArtifactSort
from prefect.context import FlowRunContext

from synthrisk.conf.secrets import mask
from synthrisk.flows.artifact import artifact_description, artifact_text
from synthrisk.flows.ended import Ended
from synthrisk.flows.events import emit_events
from synthrisk.flows.markdown import LONGEST, plain
from synthrisk.flows.run_log import run_log

_VERSIONS = 10  # earlier runs that an artifact lists
_ALARMING = ("RISK", "INVALID RELEASE", "INVALID", "FAILED")


def announce(ended: Ended) -> None:
    """Write log lines, artifacts, events and the tag of the verdict of the flow run that is under way."""
    _log(ended)
    title = plain(ended.title, LONGEST)  # descriptions are Markdown too
    text = mask(artifact_text(ended, _earlier(ended.key)))
    create_markdown_artifact(text, key=ended.key, description=mask(artifact_description(ended)))
    report = f"{title}: {plain(ended.links.path)}"  # Prefect's newer pages show no link to a file
    if ended.links.report:
        create_link_artifact(ended.links.report, "Open the report", key=f"report-{ended.key}", description=report)
    if ended.links.runs:
        create_link_artifact(ended.links.runs, "Open the runs in MLflow", key=f"mlflow-{ended.key}", description=title)
    emit_events(ended)
    _tag_run(*_verdict_tags(ended))


@contextmanager
def tagged(study: str) -> Iterator[None]:
    """Tag the flow run that is under way by its study, and all runs that begin in the block."""
    tag = f"study:{study}"
    _tag_run(tag)
    with tags(tag):
        yield


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
