"""A study written to its store: all its runs, halves of an earlier attempt, the same study again, aliases.

The registered model of a generator is ``<experiment>.<generator>``, with a version a study. ``approved`` is on the
version of the latest study if its word is NO EVIDENCE under limits; ``candidate`` if it is INCONCLUSIVE or nothing was
judged. Any other word takes both away: an alias never outlives the study that gave it.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from mlflow.entities import Run
from mlflow.exceptions import MlflowException

from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.tasks.tracking.addresses import store_address
from synthrisk.tasks.tracking.colours import colours_of
from synthrisk.tasks.tracking.history import all_runs, is_whole
from synthrisk.tasks.tracking.names import ANSWER, CHECKED_AGAIN, FLOW_RUN_PAGE, INCOMPLETE, experiment_of
from synthrisk.tasks.tracking.notes import Place, log_notes
from synthrisk.tasks.tracking.runs import GeneratorRun, Records, Written, log_generator, log_study
from synthrisk.tasks.tracking.saved_view import save_view
from synthrisk.tasks.tracking.store import FAULTS, answers, opened
from synthrisk.tasks.tracking.store_outage import Drawn
from synthrisk.tasks.tracking.tables import Names
from synthrisk.tasks.workspace.digests import key_of
from synthrisk.tasks.workspace.records import as_json, record_hashes
from synthrisk.tasks.workspace.references import Judged
from synthrisk.tasks.workspace.store import private_folder


def whole_already(to: Written) -> dict[str, str] | None:
    """Return the ids of a study's runs by generator, where all of it is there; what is there in part is deleted."""
    runs = _runs_of(to, to.result.study_id)
    if any(run.data.tags.get("role") == "study" and is_whole(run) for run in runs):  # it is marked whole last of all
        return {run.data.tags["synthesizer"]: run.info.run_id for run in runs if "synthesizer" in run.data.tags}
    for run in runs:
        for model in run.outputs.model_outputs if run.outputs else ():
            to.client.delete_logged_model(model.model_id)
        to.client.delete_run(run.info.run_id)
    return None


def is_latest(to: Written) -> bool:
    """Tell whether an experiment holds no study that is later than this one."""
    runs = all_runs(to.client, to.experiment_id, "tags.role = 'study'")
    return not any(run.data.tags.get("study_id", "") > to.result.study_id for run in runs)  # they begin with the time


def mark_whole(to: Written, runs: list[str], study: str) -> None:
    """Say that all runs of a study are written, the run of the study itself last."""
    for run_id in (*runs, study):
        to.client.delete_tag(run_id, INCOMPLETE)


def end_part(to: Written, uri: str) -> None:
    """End what has been begun of a study as FAILED, if its store answers; it stays marked as incomplete."""
    if not answers(uri):
        return
    with suppress(*FAULTS):
        for run in _runs_of(to, to.result.study_id):
            if run.info.status == "RUNNING":
                to.client.set_terminated(run.info.run_id, "FAILED")


def _runs_of(to: Written, study_id: str) -> list[Run]:
    return all_runs(to.client, to.experiment_id, f"tags.study_id = '{study_id}'")


_TIME = "started"  # the fact that differs between two runs of one study


def answer_digest(judged: Judged, records: str, registry: object) -> str:
    """Return ``<subject>-<answer>``: a digest of what a study is about, and one of all that is written of it.

    Two studies are about the same if they have one name, and their releases that come as files have one path. They
    give the same answer if all cells have the same keys, which see data, settings and code, and all numbers, limits,
    words and versions are equal. The id and the time of a study are left out, and what changes no number, such as the
    count of workers.
    """
    result = judged.result
    paths = [(name, each.get("path", "")) for name, each in result.settings.items()]
    facts = {name: text for name, text in result.facts.items() if name != _TIME}
    said = as_json(StudyResult, replace(result, study_id="", facts=facts))
    cells = [Path(ledger.path).name for found in judged.estimated.found for ledger in found.ledgers]
    return f"{key_of(result.name, paths)[:8]}-{key_of(said, cells, records, registry)}"


def repeated(to: Written) -> tuple[str, dict[str, str], str] | None:
    """Return id, runs by generator, and own run of the latest study about the same, if it has given the same answer.

    None where there is no such study, it has said something else, or not all of its runs are there; and where a
    generator has failed: it was tried again, and why it failed is told anew.
    """
    if to.result.failures:
        return None
    subject = to.answer.partition("-")[0]
    studies = all_runs(to.client, to.experiment_id, f"tags.role = 'study' and tags.{ANSWER} LIKE '{subject}-%'")
    latest = max(filter(is_whole, studies), key=_study_id, default=None)
    if latest is None or latest.data.tags[ANSWER] != to.answer:
        return None
    own = [run for run in _runs_of(to, _study_id(latest)) if run.data.tags.get("role", "study") != "study"]
    runs = {run.data.tags["synthesizer"]: str(run.info.run_id) for run in own}
    return (_study_id(latest), runs, str(latest.info.run_id)) if set(runs) == set(to.result.synthesizers) else None


def mark_checked(to: Written, study_id: str, when: datetime) -> None:
    """Say on all runs of a study when it was found to say the same again, the study's own run last."""
    told = when.isoformat(timespec="seconds")
    for run in sorted(_runs_of(to, study_id), key=lambda run: run.data.tags.get("role") == "study"):
        if run.data.tags.get(CHECKED_AGAIN, "") < told:  # a study may be delivered after a later one
            to.client.set_tag(run.info.run_id, CHECKED_AGAIN, told)


def _study_id(run: Run) -> str:
    return str(run.data.tags.get("study_id", ""))


APPROVED, CANDIDATE = "approved", "candidate"


def alias_of(word: str) -> str:
    """Return the alias that a verdict earns; empty for none.

    Example:
        >>> alias_of("NO EVIDENCE"), alias_of("INCONCLUSIVE"), alias_of(""), alias_of("RISK")
        ('approved', 'candidate', 'candidate', '')
    """
    return {"NO EVIDENCE": APPROVED, "INCONCLUSIVE": CANDIDATE, "": CANDIDATE}.get(word, "")


def registered_name(experiment: str, synthesizer: str) -> str:
    """Return the name of a generator's registered model: without what MLflow does not take.

    Example:
        >>> registered_name("people: 2026/a", "cart")
        'people_ 2026_a.cart'
    """
    return re.sub(r"[/:]", "_", f"{experiment}.{synthesizer}")


def register(to: Written, name: str, run: GeneratorRun) -> None:
    """Add a version to the registered model of a synthesizer, and set the alias that its verdict earns.

    A study that is delivered after a later one leaves the aliases of that one as they are.
    """
    client, headline = to.client, to.headline(name)
    model = registered_name(client.get_experiment(to.experiment_id).name, name)
    try:
        client.create_registered_model(model)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    tags = {"verdict": headline.word or "none", "why": headline.brief, "study_id": to.result.study_id}
    # not models:/<id>, which a client of a database looks up in the store of the process (mlflow 3.17)
    source = client.get_logged_model(run.model_id).artifact_location
    version = client.create_model_version(model, source, run.run_id, tags, await_creation_for=0, model_id=run.model_id)
    if not to.is_latest:
        return
    earned = alias_of(headline.word)
    for alias in (APPROVED, CANDIDATE):
        if alias != earned and alias in client.get_registered_model(model).aliases:
            client.delete_registered_model_alias(model, alias)
    if earned:
        client.set_registered_model_alias(model, earned, version.version)


class WrittenStudy(NamedTuple):
    """Where a study is written."""

    experiment_id: str
    study_id: str
    runs: dict[str, str]  # ids by generator
    checked_again: bool = False  # whether an earlier study has written it, which gave the same answer
    run: str = ""  # id of the study's own run, which has its pages; empty where nobody has looked for it


def write_study(drawn: Drawn, pages: Callable[[], Mapping[str, str]], *, late: bool) -> WrittenStudy:
    """Write a study, unless the experiment holds its answer already; return where it is.

    ``pages`` returns its decision record and report, by name, and is asked last. ``late``: an earlier attempt may have
    left a part of it, or all. Where an error ends it, what is there of it is marked as a part.
    """
    waiting = drawn.waiting
    tracking, sample = waiting.tracking, waiting.judged.estimated.sample
    folder = private_folder(waiting.workspace)
    uri = store_address(tracking, folder)
    client = opened(uri)
    place = experiment_of(client, waiting.experiment, None if tracking.uri or tracking.block else folder)
    answer = answer_digest(waiting.judged, tracking.records, tracking.registry)
    result, origin = waiting.judged.result, waiting.origin
    to = Written(client, place, result, sample.table, origin=origin, source=sample.source, answer=answer)
    if late:
        there = whole_already(to)
        if there is not None:
            return WrittenStudy(place, waiting.study_id, there)
        to = replace(to, since=int(waiting.since.timestamp() * 1000), is_latest=is_latest(to))
    earlier = None if tracking.log_again else repeated(to)
    if earlier is not None:
        study_id, runs, own = earlier
        mark_checked(to, study_id, waiting.since)
        return WrittenStudy(place, study_id, runs, checked_again=True, run=own)
    try:
        runs, own = _write_to(to, drawn, pages)
        return WrittenStudy(place, waiting.study_id, runs, run=own)
    except BaseException:
        end_part(to, uri)
        raise


def _write_to(to: Written, drawn: Drawn, pages: Callable[[], Mapping[str, str]]) -> tuple[dict[str, str], str]:
    """Write all of a study; return its runs by generator, and its own."""
    waiting = drawn.waiting
    sample, tracking = waiting.judged.estimated.sample, waiting.tracking
    found = waiting.judged.estimated.found
    names = Names(record_hashes(waiting.workspace, sample.table.digest, sample.table.rows))
    every = Records(names, tracking.records)
    exposures = drawn.pages.exposures if tracking.records == "full" else {}
    by_name = {each.name: each for each in found}
    colours, runs = colours_of(to), {}
    for each in to.result.synthesizers:
        exposed = replace(every, page=exposures.get(each))
        runs[each] = log_generator(to, each, colours[each], by_name.get(each), exposed)
    study = log_study(to, waiting.settings, pages, found, every)
    ids = {each: run.run_id for each, run in runs.items()}
    log_notes(to, Place(to.experiment_id, ids, study, to.origin.get(FLOW_RUN_PAGE, "")))
    save_view(to)
    if tracking.registry:
        for each, run in runs.items():
            if run.model_id:
                register(to, each, run)
    mark_whole(to, list(ids.values()), study)
    return ids, study
