"""Write a study to MLflow: one flat run a synthesizer, so that list, charts and compare page show them at once."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from synthrisk.conf.load import checked, refuse_passwords
from synthrisk.conf.secrets import secrets_of, without_secrets
from synthrisk.conf.study import Tracking
from synthrisk.tasks.expose import expose
from synthrisk.tasks.pages.without_values import without_values
from synthrisk.tasks.report import report
from synthrisk.tasks.tracking.address import store_address
from synthrisk.tasks.tracking.asked import described
from synthrisk.tasks.tracking.colours import colours_of
from synthrisk.tasks.tracking.experiment import experiment_of
from synthrisk.tasks.tracking.halves import end_part, is_latest, mark_whole, whole_already
from synthrisk.tasks.tracking.logged import Logged, Pages, not_logged_yet
from synthrisk.tasks.tracking.notes import Place, log_notes
from synthrisk.tasks.tracking.registry import register
from synthrisk.tasks.tracking.saved_view import save_view
from synthrisk.tasks.tracking.store import FAULTS, StoreError, answers, opened
from synthrisk.tasks.tracking.study_run import log_study
from synthrisk.tasks.tracking.synthesizer_run import Records, log_generator
from synthrisk.tasks.tracking.waiting import (
    Waiting,
    held,
    ids_waiting,
    keep_waiting,
    no_longer_waiting,
    read_waiting,
)
from synthrisk.tasks.tracking.where import allowed
from synthrisk.tasks.tracking.written import Written
from synthrisk.tasks.workspace.failure import RunError, told_safely
from synthrisk.tasks.workspace.handed import Judged
from synthrisk.tasks.workspace.kept import there
from synthrisk.tasks.workspace.record_names import record_hashes
from synthrisk.tasks.workspace.store import private_folder
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
    pages: Pages | None = None,
    tracking_block: str | None = None,
    offline: bool = False,
) -> Logged:
    """Write runs, metrics, tags and artifacts of a study to MLflow, and its report; return where they are.

    What is to be written is kept in the workspace first, until all of it is there; so nothing is lost where the store
    goes away in the middle, or this process is killed. Runs of a study that is there in part bear the tag
    ``incomplete``.

    Args:
        judged: What the study says.
        experiment: MLflow experiment; the study's name unless given.
        tracking_uri: MLflow store; SQLite in the workspace unless given.
        records: Per-record artifacts: ``hashed``, ``full`` (with values of the real table) or ``none``.
        registry: Whether each synthesizer gets a version in MLflow's registry, with the alias that its verdict earns.
        exposure: Whether a page for each judged synthesizer says who is at risk, and why.
        settings: What was asked, as YAML; what the references remember of it unless given.
        pages: Report and pages of exposure where they are written already.
        tracking_block: Name of a Prefect block ``SynthriskTracking`` that holds the address, in place of it.
        offline: Ask no store: keep the study in the workspace, for ``deliver``.

    Raises:
        InputError: ``records`` is none of these, or the address names a variable that is not set.
        NotLoggedError: The store does not do its work; the study waits in the workspace.
    """
    check_given("judged", judged, Judged, "judge")
    given = {
        "experiment": experiment,
        "uri": tracking_uri,
        "block": tracking_block,
        "records": records,
        "registry": registry,
    }
    refuse_passwords(given)
    tracking = allowed(checked(Tracking, given | {"offline": offline}, "log"))
    sample, asked = judged.estimated.sample, settings or described(judged)
    own = pages or Pages(
        report.fn(judged, asked),
        {
            found.name: expose.fn(found, judged.result.study_id, judged.estimated.settings.confidence)
            for found in judged.estimated.found
            if exposure and found.generator.role == "synthesizer"
        },
    )
    store_address(tracking, Path(sample.workspace))
    waiting = Waiting(judged, tracking, asked, own, datetime.now(UTC))
    with held(waiting.workspace, waiting.study_id):
        keep_waiting(waiting)
        return _kept(waiting, "offline") if tracking.offline else _logged(waiting)


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
            raise NotLoggedError(_kept(waiting, "its store does not answer"))
        return _logged(waiting, late=True)


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


def _kept(waiting: Waiting, reason: str) -> Logged:
    uri = without_secrets(store_address(waiting.tracking, waiting.workspace))
    return Logged(uri, "", waiting.study_id, {}, waiting.pages, waiting.experiment, str(waiting.workspace), reason)


def _logged(waiting: Waiting, *, late: bool = False) -> Logged:
    """Log a study that waits, and forget that it does; ``late``: an earlier attempt may have left a part of it."""
    uri, folder = store_address(waiting.tracking, waiting.workspace), private_folder(waiting.workspace)
    # a store's errors name its address, with the password
    return told_safely(folder, "log", lambda: _attempt(waiting, late=late), secrets_of(uri))


def _attempt(waiting: Waiting, *, late: bool) -> Logged:
    try:
        logged = _write(waiting, late=late)
    except (StoreError, *FAULTS) as error:
        reason = f"{type(error).__name__} of its store"
    else:
        no_longer_waiting(waiting)
        return logged
    raise NotLoggedError(_kept(waiting, reason))  # outside the except block: texts of stores hold addresses


def _write(waiting: Waiting, *, late: bool) -> Logged:
    tracking, estimated = waiting.tracking, waiting.judged.estimated
    folder = private_folder(waiting.workspace)
    uri = store_address(tracking, folder)
    client = opened(uri)
    place = experiment_of(client, waiting.experiment, None if tracking.uri or tracking.block else folder)
    to = Written(client, place, waiting.judged.result, estimated.sample.table)
    logged = replace(_kept(waiting, ""), experiment_id=place)
    if late:
        there = whole_already(to)
        if there is not None:
            return replace(logged, runs=there)
        to = replace(to, since=int(waiting.since.timestamp() * 1000), is_latest=is_latest(to))
    try:
        return replace(logged, runs=_write_to(to, waiting))
    except BaseException:
        end_part(to, uri)
        raise


def _write_to(to: Written, waiting: Waiting) -> dict[str, str]:
    """Write all of a study; return its runs by generator."""
    sample, pages, tracking = waiting.judged.estimated.sample, waiting.pages, waiting.tracking
    found = waiting.judged.estimated.found
    every = Records(record_hashes(waiting.workspace, sample.table.digest, sample.table.rows), tracking.records)
    by_name = {each.name: each for each in found}
    colours, runs = colours_of(to), {}
    for each in to.result.synthesizers:
        exposed = replace(every, page=pages.exposures.get(each))
        runs[each] = log_generator(to, each, colours[each], by_name.get(each), exposed)
    page = there(pages.report).read_text("utf-8") if pages.report else ""
    told = page if tracking.records == "full" else without_values(page)
    study = log_study(to, waiting.settings, told, found, every)
    ids = {each: run.run_id for each, run in runs.items()}
    log_notes(to, Place(to.experiment_id, ids, study))
    save_view(to)
    if tracking.registry:
        for each, run in runs.items():
            if run.model_id:
                register(to, each, run)
    mark_whole(to, list(ids.values()), study)
    return ids
