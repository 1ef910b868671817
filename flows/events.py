"""What a finished study tells Prefect's automations: small events of words, names and links, never a cell."""

from typing import Any

from prefect.context import FlowRunContext
from prefect.events import emit_event
from prefect.utilities.urls import url_for

from synthrisk.conf.secrets import masked
from synthrisk.flows.ended import Ended
from synthrisk.flows.outcome import in_sentences
from synthrisk.metrics.study.headlines import Headline

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
    told["message"] = f"{each.statement} It crosses {', '.join(limits)}."
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
