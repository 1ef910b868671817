"""Write a study to MLflow: one flat run a synthesizer, so that list, charts and compare page show them at once."""

import json
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

import yaml

from synthrisk.conf.loader import checked, refuse_passwords
from synthrisk.conf.secrets import mask, masked, secrets_of, without_secrets
from synthrisk.conf.study import Tracking
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.expose import expose
from synthrisk.tasks.pages.templates import without_values
from synthrisk.tasks.report import report
from synthrisk.tasks.tracking.addresses import FIRST, RECORD, Logged, Pages, allowed, not_logged_yet, store_address
from synthrisk.tasks.tracking.history import REPORT
from synthrisk.tasks.tracking.names import origin
from synthrisk.tasks.tracking.store import FAULTS, StoreError, answers, reason_of, text_of
from synthrisk.tasks.tracking.store_outage import (
    Drawn,
    Waiting,
    held,
    ids_waiting,
    keep_waiting,
    no_longer_waiting,
    read_waiting,
)
from synthrisk.tasks.tracking.whole_study import WrittenStudy, write_study
from synthrisk.tasks.workspace.failures import DiskError, RunError, told_safely
from synthrisk.tasks.workspace.folders import is_kept, there
from synthrisk.tasks.workspace.references import Judged
from synthrisk.tasks.workspace.store import private_folder, replace_file
from synthrisk.tasks.workspace.verb import check_given, verb


class NotLoggedError(RunError):
    """The store has not taken a study, which waits in its workspace."""

    def __init__(self, logged: Logged) -> None:
        super().__init__(logged)  # its arguments travel between processes
        self.logged = logged  # where it is to go

    def __str__(self) -> str:
        return not_logged_yet(self.logged)


@verb("log")
def log(
    judged: Judged,
    *,
    experiment: str | None = None,
    tracking_uri: str | None = None,
    records: Literal["hashed", "full", "none"] = "hashed",
    registry: bool = False,
    exposure: bool = True,
    settings: str | None = None,
    pages: Pages | Callable[[], Pages] | None = None,
    tracking_block: str | None = None,
    offline: bool = False,
    log_again: bool = False,
) -> Logged:
    """Write runs, metrics, tags and artifacts of a study to MLflow, and its report; return where they are.

    What is to be written is kept in the workspace first, until all of it is there; so nothing is lost where the store
    goes away in the middle, or this process is killed. Runs of a study that is there in part bear the tag
    ``incomplete``. A study that gives the same answer as the latest one about the same in the experiment writes no run:
    that study's runs get the tag ``checked_again``, and are returned.

    Args:
        judged: What the study says.
        experiment: MLflow experiment; the study's name unless given.
        tracking_uri: MLflow store; SQLite in the workspace unless given.
        records: Per-record artifacts: ``hashed``, ``full`` (with values of the real table) or ``none``.
        registry: Whether each synthesizer gets a version in MLflow's registry, with the alias that its verdict earns.
        exposure: Whether a page for each judged synthesizer says who is at risk, and why.
        settings: What was asked, as YAML; what the references remember of it unless given.
        pages: Report and pages of exposure where they are written already, or a function that waits for them. It is
            called once, when all numbers and records are written; with ``records`` as ``full``, which has them among
            the artifacts of each synthesizer, before.
        tracking_block: Name of a Prefect block ``SynthriskTracking`` that holds the address, in place of it.
        offline: Ask no store: keep the study in the workspace, for ``deliver``.
        log_again: Write runs, whatever the experiment holds.

    Raises:
        InputError: ``records`` is none of these, ``pages`` are none, or the address names a variable that is not set.
        NotLoggedError: The store does not do its work; the study waits in the workspace.
        DiskError: A disk takes no more; the study waits if there was room for it.
    """
    check_given("judged", judged, Judged, "judge")
    if not (pages is None or isinstance(pages, Pages) or callable(pages)):
        raise InputError(f"pages must be Pages or a function that returns them, got {type(pages).__name__}")
    given = {"experiment": experiment, "uri": tracking_uri, "block": tracking_block, "records": records}
    refuse_passwords(given)
    how = {"registry": registry, "log_again": log_again, "offline": offline}
    tracking = allowed(checked(Tracking, given | how, "log"))
    sample, asked = judged.estimated.sample, settings or described(judged)
    store_address(tracking, Path(sample.workspace))
    ready = pages if isinstance(pages, Pages) else None
    waiting = Waiting(judged, tracking, asked, ready, datetime.now(UTC), exposure, masked(origin()))
    with held(waiting.workspace, waiting.study_id):
        keep_waiting(waiting)
        return _logged(Drawn(waiting, pages if callable(pages) else lambda: _draw(waiting)))


def deliver(workspace: Path, study_id: str) -> Logged | None:
    """Log a study that waits in a workspace; return where it is, None if another process is about it.

    Raises:
        InputError: No such study waits there.
        NotLoggedError: The store does not do its work; the study goes on waiting.
    """
    with held(workspace, study_id) as ours:
        if not ours:
            return None
        waiting = read_waiting(workspace, study_id)
        if not answers(store_address(waiting.tracking, waiting.workspace)):
            raise NotLoggedError(_told(waiting, waiting.pages or Pages(""), waits="its store does not answer"))
        if waiting.pages is None:  # interrupted while they were drawn; what ends the process is not tried for ever
            keep_waiting(replace(waiting, pages=Pages("", {}, "an attempt to draw it ended the process")))
        return _logged(Drawn(waiting, lambda: _draw(waiting)), late=True)


def deliver_all(workspace: Path) -> dict[str, Exception | None]:
    """Log all studies that wait in a workspace and that no other process is about; return why some are not, by id."""
    ended: dict[str, Exception | None] = {}
    for study_id in ids_waiting(workspace):
        try:
            if deliver(workspace, study_id) is not None:
                ended[study_id] = None
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one is not wrong with the others
            ended[study_id] = error
    return ended


def _draw(waiting: Waiting) -> Pages:
    """Draw the pages of a study here; one that fails is left out."""
    judged = waiting.judged
    study_id, confidence = waiting.study_id, judged.estimated.settings.confidence
    page, failure = _tried("report", partial(report.fn, judged, waiting.settings))
    shown = [each for each in judged.estimated.found if waiting.exposure and each.generator.role == "synthesizer"]
    exposures = {
        each.name: _tried(f"page of exposure of {each.name}", partial(expose.fn, each, study_id, confidence))[0]
        for each in shown
    }
    return Pages(page, {name: path for name, path in exposures.items() if path}, failure)


def _tried(what: str, page: Callable[[], str]) -> tuple[str, str]:
    """Return the path of a page, or why there is none, which is said too."""
    try:
        return page(), ""
    except DiskError:
        raise
    except RunError as error:
        logging.getLogger("synthrisk").error("%s failed: %s", what, error)
        return "", str(error)


def _pages(drawn: Drawn) -> dict[str, str]:
    """Return the pages that go to the store, by name: decision record and report; none where there is no report."""
    path = drawn.pages.report
    if not path:
        return {}
    page, record = there(path).read_text("utf-8"), Path(path).with_name(RECORD)
    if drawn.waiting.tracking.records != "full":
        page = without_values(page)
    if not is_kept(record):
        return {REPORT: page}
    return {FIRST: there(record).read_text("utf-8"), REPORT: page.replace(f'href="{RECORD}"', f'href="{FIRST}"')}


def _told(waiting: Waiting, pages: Pages, at: WrittenStudy | None = None, waits: str = "") -> Logged:
    """Return where a study is: in an experiment, or why it ``waits`` in its workspace."""
    uri = mask(without_secrets(store_address(waiting.tracking, waiting.workspace)))
    at = at or WrittenStudy("", waiting.study_id, {})
    own = waiting.experiment, str(waiting.workspace), waits, at.checked_again, at.run
    return Logged(uri, at.experiment_id, at.study_id, at.runs, pages, *own)


def _kept(drawn: Drawn, reason: str) -> Logged:
    """Keep a study with its pages until it is delivered; return where it is to go."""
    keep_waiting(replace(drawn.waiting, pages=drawn.pages))
    return _told(drawn.waiting, drawn.pages, waits=reason)


def _logged(drawn: Drawn, *, late: bool = False) -> Logged:
    """Log a study that waits, and forget that it does; ``late``: an earlier attempt may have left a part of it."""
    waiting = drawn.waiting
    uri, folder = store_address(waiting.tracking, waiting.workspace), private_folder(waiting.workspace)
    # a store's errors name its address, with the password
    return told_safely(folder, "log", lambda: _attempt(drawn, late=late), secrets_of(uri))


def _attempt(drawn: Drawn, *, late: bool) -> Logged:
    if drawn.waiting.tracking.offline and not late:
        return _kept(drawn, "offline")
    try:
        written = write_study(drawn, partial(_pages, drawn), late=late)
    except StoreError as error:
        reason, text = error.reason, error.text
    except FAULTS as error:
        tracking = drawn.waiting.tracking
        uri = store_address(tracking, drawn.waiting.workspace)
        # where values of records go to the store, its words might repeat one
        reason = reason_of(error, uri, quote=tracking.records != "full")
        text = text_of(error, uri) if tracking.records != "full" else reason
    else:
        no_longer_waiting(drawn.waiting)
        return _told(drawn.waiting, drawn.pages, written)
    raise NotLoggedError(_failed(drawn, reason, text))  # outside the except block: texts of stores hold addresses


def _failed(drawn: Drawn, reason: str, text: str) -> Logged:
    """Keep a study whose store has failed, and what the store said; return where the study is to go."""
    waiting = drawn.waiting
    logged = _kept(drawn, f"its store {reason}")
    path = replace_file(waiting.workspace / "failures" / f"log-{waiting.study_id}.txt", f"{text}\n")
    near = os.path.relpath(path)
    return replace(logged, waits=f"{logged.waits}; in its words: {path if near.startswith('..') else near}")


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
        "limits": {name: vars(limit) for name, limit in result.limits.items()},
        "seed": sample.seed,
    }
    return str(yaml.safe_dump(json.loads(json.dumps(asked, default=str)), sort_keys=False, allow_unicode=True))
