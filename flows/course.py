"""The course of a study once its data are there: synthesize, attack, bootstrap, compare, judge, expose, report, log."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import yaml

from synthrisk.conf import Study
from synthrisk.conf.study import Tracking
from synthrisk.flows.attacks import attacks_of
from synthrisk.flows.calls import OURS, Answer, Calls
from synthrisk.flows.cells import Running, attacked, refuse_full_disk, seconds_of_cell, start_all
from synthrisk.flows.check import check_on, foreseen
from synthrisk.flows.durations import ends_of, in_words
from synthrisk.flows.outcome import Outcome
from synthrisk.flows.progress import say, step, warn
from synthrisk.flows.run_log import run_log
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.bootstrap import bootstrap, findings_folder
from synthrisk.tasks.compare import compare
from synthrisk.tasks.expose import expose
from synthrisk.tasks.judge import judge
from synthrisk.tasks.report import report
from synthrisk.tasks.tracking.logged import Pages, same_answer
from synthrisk.tasks.workspace.failure import RunError
from synthrisk.tasks.workspace.handed import Found, Judged
from synthrisk.tasks.workspace.kept import address_of, is_kept, there
from synthrisk.tasks.workspace.references import RELEASE, Sample
from synthrisk.tasks.workspace.store import sweep

_T = TypeVar("_T")
_TOLD = (InputError, RunError)  # errors whose texts hold no data


@dataclass(frozen=True)
class Course:
    """A study that is judged, on its way to its pages and its store."""

    judged: Judged
    found: Mapping[str, Found]  # by generator
    ends: Calls  # how what is left of it is called


def judged_course(study: Study, sample: Sample, calls: Calls, warning: str = "", *, opens: bool = True) -> Course:
    """Run a study on a table that is split already, until it is judged; ``opens``: its store, too, in good time.

    Args:
        study: The study.
        sample: Its table with its splits.
        calls: How its tasks are called.
        warning: Why all numbers are hard to read.
        opens: Whether the tracking store is opened while the first releases are made.
    """
    planned, every = check_on(study, sample)
    warnings = foreseen(sample, planned).warnings
    warn(warnings)
    started = datetime.now(UTC)
    attacks = attacks_of(study, sample, planned, every)
    failures: dict[str, str] = {}
    running = start_all(study.runner, sample, attacks, calls)
    expected = foretold(running, sample, calls.at_once or study.runner.workers)
    if opens:
        with step("opening the store", begins=False):
            open_store(study.tracking, sample)
    ledgers = attacked(study.runner, running, sample, calls, failures, expected)
    ends = calls.here() if all(is_kept(findings_folder(own, study.bootstrap)) for own in ledgers.values()) else calls
    estimates = {name: ends.submit(bootstrap, own, study.bootstrap, how=OURS) for name, own in ledgers.items()}
    ran, power = [each for each, _ in attacks], study.power is not None
    with step("intervals", begins=False):
        found = finished("bootstrap", estimates, failures)
        estimated = ends.submit(
            compare, list(found.values()), sample, ran, study.bootstrap, power=power, failures=failures, how=OURS
        ).result()
    judged = calls.call(
        judge,
        estimated,
        study.thresholds,
        name=study.name,
        weakest=study.weakest,
        warning=warning,
        warnings=warnings,
        started=started,
    )
    return Course(judged, found, ends)


def course(study: Study, sample: Sample, calls: Calls, settings: str = "", warning: str = "") -> Outcome:
    """Run a study on a table that is split already, and log it.

    Args:
        study: The study.
        sample: Its table with its splits.
        calls: How its tasks are called.
        settings: What was asked, as YAML; the study unless given.
        warning: Why all numbers are hard to read.
    """
    ran = judged_course(study, sample, calls, warning)
    judged, found, ends = ran.judged, ran.found, ran.ends
    asked = settings or yaml.safe_dump(study.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    shown = {name: each for name, each in found.items() if study.exposure and each.generator.role == "synthesizer"}
    study_id, confidence = judged.result.study_id, study.bootstrap.confidence
    page = ends.submit(report, judged, asked, how=OURS)
    written = {name: ends.submit(expose, each, study_id, confidence, how=OURS) for name, each in shown.items()}
    from synthrisk.tasks.log import NotLoggedError, log

    place = study.tracking
    drawn: Pages | Callable[[], Pages] = partial(pages_of, page, written)
    if ends is not calls:  # where workers draw, it is beside what is logged
        with step("writing the report"):
            drawn = pages_of(page, written)
    try:
        with step("writing the report, logging to MLflow" if ends is calls else "logging to MLflow"):
            logged = calls.call(
                log,
                judged,
                experiment=place.experiment,
                tracking_uri=place.uri,
                tracking_block=place.block,
                records=place.records,
                registry=place.registry,
                exposure=study.exposure,
                settings=asked,
                pages=drawn,
                offline=place.offline,
                log_again=place.log_again,
            )
    except NotLoggedError as error:  # the verdict stands, and the study waits in the workspace
        run_log().error("%s", error)
        logged = error.logged
    if logged.checked_again:
        say(same_answer(logged))
    sweep(Path(sample.workspace))  # a worker that was killed meanwhile has left a draft
    return Outcome(judged.result, logged, sample.source, releases_of(found))


def releases_of(found: Mapping[str, Found]) -> dict[str, list[str]]:
    """Return the addresses of the releases of each synthesizer that did not fail."""
    return {
        name: [address_of(Path(ledger.release.path) / RELEASE) for ledger in each.ledgers]
        for name, each in found.items()
        if each.generator.role == "synthesizer"
    }


def foretold(running: Running, sample: Sample, workers: int) -> float:
    """Say how long a study will take, before its first release is attacked; return the seconds of all attacks.

    How long a generator learns is not known: where one does, attacks alone are foretold.
    """
    rows, columns = sample.table.rows, len(sample.columns)
    each = [sum(seconds_of_cell(made.place[1], sample)) for made in running.made]
    if not each:
        return 0.0
    seconds, makers = max(sum(each) / workers, max(each)), [made.place[0] for made in running.made]
    learns = any(maker.role == "synthesizer" and maker.kind != "files" for maker in makers)
    whole = in_words(seconds if learns else seconds + ends_of(rows))
    whole = f"attacks take {whole}, beside the time in which generators learn" if learns else whole
    releases = f"{len(each)} release{'s' * (len(each) > 1)} to attack"
    say(f"{rows:,} real records, {columns} columns, {releases}: {whole}")
    return seconds


def pages_of(page: Answer[str], written: Mapping[str, Answer[str]]) -> Pages:
    """Wait for the report and the pages of exposure; return where they are: the numbers stand without them."""
    exposures = finished("page of exposure", written, {})
    failed = page.failure()
    refuse_full_disk(failed)
    if failed:
        run_log().error("report failed: %s", failed)
    own = {name: str(there(path)) for name, path in exposures.items()}
    return Pages("" if failed else str(there(page.result())), own, failed or "")


def open_store(tracking: Tracking, sample: Sample) -> None:
    """Open the tracking store, which is made where it is not there, while the first releases are made.

    Studies that wait in the workspace to be logged are, each to its own store.

    Raises:
        InputError: It cannot be opened.
    """
    if tracking.offline:
        return
    from synthrisk.tasks.log import deliver_all
    from synthrisk.tasks.tracking.address import store_address
    from synthrisk.tasks.tracking.store import opened

    opened(store_address(tracking, Path(sample.workspace)))
    for study_id, error in deliver_all(Path(sample.workspace)).items():
        if error is None:
            say(f"logged: study {study_id}, which an earlier run had left")
        else:
            warn(
                [f"study {study_id} is still not logged: {error if isinstance(error, _TOLD) else type(error).__name__}"]
            )


def finished(what: str, answers: Mapping[str, Answer[_T]], failures: dict[str, str]) -> dict[str, _T]:
    """Return what tasks of single generators ended in; add why others failed."""
    reasons = {name: answer.failure() for name, answer in answers.items()}
    for reason in reasons.values():
        refuse_full_disk(reason)
    for name, reason in reasons.items():
        if reason:
            failures[name] = f"{what}: {reason}"
            run_log().error("%s of %s failed: %s", what, name, reason)
    return {name: answer.result() for name, answer in answers.items() if not reasons[name]}
