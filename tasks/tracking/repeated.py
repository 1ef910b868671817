"""The same study again: where an experiment holds its answer already, its runs are marked, and nothing is written."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from mlflow.entities import Run

from synthrisk.conf.study import Tracking
from synthrisk.metrics.study.results import StudyResult
from synthrisk.tasks.tracking.past import all_runs, is_whole
from synthrisk.tasks.tracking.tags import ANSWER, CHECKED_AGAIN
from synthrisk.tasks.tracking.written import Written
from synthrisk.tasks.workspace.codec import as_json
from synthrisk.tasks.workspace.handed import Judged
from synthrisk.tasks.workspace.store import key_of

_TIME = "started"  # the fact that differs between two runs of one study


def answer_digest(judged: Judged, tracking: Tracking) -> str:
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
    return f"{key_of(result.name, paths)[:8]}-{key_of(said, cells, tracking.records, tracking.registry)}"


def repeated(to: Written) -> tuple[str, dict[str, str], str] | None:
    """Return id, runs by generator, and own run of the latest study about the same, if it has given the same answer.

    None where there is no such study, it has said something else, or not all of its runs are there; and where a
    generator has failed: it was tried again, and why it failed is told anew.
    """
    if to.result.failures:
        return None
    subject = to.answer.partition("-")[0]
    studies = _runs(to, f"tags.role = 'study' and tags.{ANSWER} LIKE '{subject}-%'")
    latest = max(filter(is_whole, studies), key=_study_id, default=None)
    if latest is None or latest.data.tags[ANSWER] != to.answer:
        return None
    own = _runs(to, f"tags.study_id = '{_study_id(latest)}' and tags.role != 'study'")
    runs = {run.data.tags["synthesizer"]: str(run.info.run_id) for run in own}
    return (_study_id(latest), runs, str(latest.info.run_id)) if set(runs) == set(to.result.synthesizers) else None


def mark_checked(to: Written, study_id: str, when: datetime) -> None:
    """Say on all runs of a study when it was found to say the same again, the study's own run last."""
    told = when.isoformat(timespec="seconds")
    runs = _runs(to, f"tags.study_id = '{study_id}'")
    for run in sorted(runs, key=lambda run: run.data.tags.get("role") == "study"):
        if run.data.tags.get(CHECKED_AGAIN, "") < told:  # a study may be delivered after a later one
            to.client.set_tag(run.info.run_id, CHECKED_AGAIN, told)


def _study_id(run: Run) -> str:
    return _tags(run).get("study_id", "")


def _tags(run: Run) -> Mapping[str, str]:
    tags: Mapping[str, str] = run.data.tags
    return tags


def _runs(to: Written, which: str) -> list[Run]:
    return all_runs(to.client, to.experiment_id, which)
