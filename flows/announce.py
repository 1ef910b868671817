"""Tell Prefect how a study ended: a line a verdict in the log, artifacts whose history is the trend, events, tags."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from prefect import get_run_logger, tags
from prefect.artifacts import create_link_artifact, create_markdown_artifact
from prefect.client.orchestration import get_client
from prefect.context import FlowRunContext

from synthrisk.flows.artifact import artifact_text
from synthrisk.flows.ended import Ended
from synthrisk.flows.events import emit_events
from synthrisk.flows.markdown import LONGEST, plain

_ALARMING = ("RISK", "INVALID RELEASE", "INVALID", "FAILED")


def announce(ended: Ended) -> None:
    """Write log lines, artifacts, events and the tag of the verdict of the flow run that is under way."""
    _log(ended)
    title = plain(ended.title, LONGEST)  # descriptions are Markdown too
    create_markdown_artifact(artifact_text(ended), key=ended.key, description=f"{title}: {ended.word}")
    report = f"{title}: {plain(ended.links.report)}"  # Prefect's newer pages show no link to a file
    create_link_artifact(ended.links.report, "Open the report", key=f"report-{ended.key}", description=report)
    create_link_artifact(ended.links.runs, "Open the runs in MLflow", key=f"mlflow-{ended.key}", description=title)
    emit_events(ended)
    _tag_run(f"verdict:{ended.word}")


@contextmanager
def tagged(study: str) -> Iterator[None]:
    """Tag the flow run that is under way by its study, and all runs that begin in the block."""
    tag = f"study:{study}"
    _tag_run(tag)
    with tags(tag):
        yield


def _log(ended: Ended) -> None:
    """Write a line a verdict; of a synthesizer without any, and of an invalid study, the sentence on it."""
    logger = get_run_logger()
    for each in ended.answer.synthesizers:
        lines = [(str(v.word), f"{v.quantity}: {v.reason}") for v in each.verdicts]
        if not lines or each.word == "FAILED":
            lines = [(each.word or "NOT JUDGED", each.sentence)]
        for word, text in lines:
            level = logging.WARNING if word in _ALARMING else logging.INFO
            logger.log(level, "%s: %s, %s", word, each.synthesizer, text)


def _tag_run(tag: str) -> None:
    run = FlowRunContext.get()
    if run is None or run.flow_run is None:
        return
    with get_client(sync_client=True) as client:
        known = client.read_flow_run(run.flow_run.id).tags
        client.update_flow_run(run.flow_run.id, tags=sorted({*known, tag}))
