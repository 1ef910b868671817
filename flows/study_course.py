"""The course of a study once its data are there: synthesize, attack, bootstrap, compare, judge, expose, report, log.

Cells are releases made and attacked, each found again where an earlier run has left it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from synthrisk.conf import Study
from synthrisk.conf.loader import settings_text
from synthrisk.conf.study import NON_MEMBERS, Runner, Tracking
from synthrisk.flows.execution.calls_and_retries import LOST, OURS, Answer, Calls, How
from synthrisk.flows.execution.pool import compile_beside
from synthrisk.flows.orchestration.progress import progress, say, step, warn
from synthrisk.flows.orchestration.server import run_log
from synthrisk.flows.outcome import Outcome
from synthrisk.flows.preflight import check_on, foreseen
from synthrisk.flows.time_estimate import LOOK, ends_of, in_words, seconds_of
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.study.ledger import Cell, Planned
from synthrisk.metrics.verdicts.verdicts import holds_for, quantity_to_limit
from synthrisk.tasks.attack import attack, ledger_of, steps_in
from synthrisk.tasks.bootstrap import bootstrap, findings_folder
from synthrisk.tasks.compare import compare
from synthrisk.tasks.data.task import data
from synthrisk.tasks.expose import expose
from synthrisk.tasks.judge import judge
from synthrisk.tasks.report import report
from synthrisk.tasks.sample import split
from synthrisk.tasks.synthesize import find_synthesizer
from synthrisk.tasks.synthesize.task import place_of, synthesize
from synthrisk.tasks.tracking.addresses import Pages, same_answer
from synthrisk.tasks.workspace.failures import NO_SPACE, DiskError, RunError
from synthrisk.tasks.workspace.folders import address_of, is_kept, kept_names, open_workspace, there
from synthrisk.tasks.workspace.references import (
    RELEASE,
    Cut,
    Found,
    Generator,
    Judged,
    LedgerFolder,
    ReleaseFolder,
    Sample,
    Table,
)
from synthrisk.tasks.workspace.store import sweep
from synthrisk.tasks.workspace.verb import verb
from synthrisk.tasks.workspace.work_limits import Limits


def sample_of(study: Study) -> Sample:
    """Return the table of a study with its splits, which a flow of the same study finds in the workspace.

    Raises:
        InputError: The source cannot be read, or the table does not fit the settings.
    """
    return sample_in(str(open_workspace(study.workspace)), study, data.fn, split.fn)


def sample_in(workspace: str, study: Study, read: Callable[..., Table], cut: Callable[..., Cut]) -> Sample:
    """Return the table of a study with its splits, as ``read`` finds it in a folder and ``cut`` parts it.

    Raises:
        InputError: The source cannot be read, or the table does not fit the settings.
    """
    table = read(study.data, study.split, workspace, study.seed)
    parts = cut(table, study.split, study.data.identifier, workspace, study.seed)
    return Sample.of(study.data, table, parts, workspace, study.seed)


Attacks = Sequence[tuple[Generator, Sequence[Planned]]]
"""All generators of a study, each with what it is attacked with."""


def attacks_of(study: Study, sample: Sample, planned: Sequence[Planned], every: Sequence[Generator]) -> Attacks:
    """Return all generators with what they are attacked with, the population yardstick last.

    ``limited`` reference generators are attacked with what has a limit; where nothing has, with what could have one. A
    reference generator that no measure would look at is left out.
    """
    beside = planned
    if study.reference_measures == "limited" and study.thresholds:
        beside = [p for p in planned if any(holds_for(name, p.measure) for name in study.thresholds)]
    elif study.reference_measures == "limited":
        beside = [p for p in planned if quantity_to_limit(METRICS[p.measure.metric]) and not p.measure.variant_of]
    own = [(each, planned if each.role == "synthesizer" else beside) for each in every]
    population = [p for p in planned if METRICS[p.measure.metric].has_population]
    if study.population_yardstick and sample.holds_out():
        own.append((Generator(NON_MEMBERS, NON_MEMBERS, role="yardstick"), population))
    return [(each, measured) for each, measured in own if measured]


@verb("found again")
def found_again(sample: Sample, attacks: Sequence[tuple[Generator, Sequence[Planned]]]) -> dict[Cell, LedgerFolder]:
    """Return the ledgers that an earlier run has left, of all cells of a study, each generator with its measures.

    One look at the workspace in place of two task runs a cell. A cell whose key cannot be told, such as one whose file
    is not there, is not among them: its own task says why.
    """
    found = {}
    releases, ledgers = (kept_names(Path(sample.workspace) / kind) for kind in ("releases", "ledgers"))
    for each, measured in attacks:
        for repetition in range(sample.cut.repetitions):
            for fold in range(sample.cut.releases):
                with suppress(Exception):
                    ledger = ledger_of(place_of(sample, each, repetition, fold), measured)
                    if Path(ledger.release.path).name in releases and Path(ledger.path).name in ledgers:
                        found[ledger.release.cell] = ledger
    return found


_LOOK = 0.5  # seconds
_MANY, _LONG = 12, 30.0  # releases, and seconds of attacks, from which all is compiled beside the first of them

Place = tuple[Generator, Sequence[Planned], Cell]
"""Whose release is made where, and with what it is attacked."""


@dataclass(frozen=True, eq=False)
class Made:
    """A cell that is under way."""

    place: Place
    release: Answer[ReleaseFolder]
    ledger: Answer[LedgerFolder]

    @property
    def cell(self) -> Cell:
        """The cell."""
        return self.place[2]

    def has_ended(self, seconds: float = 0.0) -> bool:
        """Wait so many seconds at most; tell whether it has ended."""
        if not self.release.has_ended(seconds):
            return False
        return self.release.failure() is not None or self.ledger.has_ended(seconds)

    def failure(self) -> str | None:
        """Wait for it; return why it failed."""
        return self.release.failure() or self.ledger.failure()


@dataclass(frozen=True)
class Running:
    """The cells of a study: those that are found again, and those that are made and attacked now."""

    kept: Mapping[str, Mapping[Cell, LedgerFolder | None]]  # by generator, all its cells in order
    made: Sequence[Made]

    @property
    def before(self) -> int:
        """How many cells are found again."""
        return sum(each is not None for own in self.kept.values() for each in own.values())


def refuse_full_disk(reason: str | None) -> None:
    """End the study where a call failed because a disk takes no more: no other can be kept either.

    Raises:
        DiskError: It did.
    """
    if reason and reason.startswith(NO_SPACE):
        raise DiskError(reason)


def start_all(runner: Runner, sample: Sample, attacks: Attacks, calls: Calls) -> Running:
    """Have every release made and attacked whose ledger is not there yet."""
    kept = calls.call(found_again, sample, attacks)
    places: list[Place] = [
        (each, measured, Cell(each.name, repetition, fold))
        for each, measured in sorted(attacks, key=lambda own: find_synthesizer(own[0].kind).extra is None)
        for repetition in range(sample.cut.repetitions)  # the dearest first, so that the tail is short
        for fold in range(sample.cut.releases)
    ]
    ledgers: dict[str, dict[Cell, LedgerFolder | None]] = {each.name: {} for each, _ in attacks}
    for each, _, cell in places:
        ledgers[each.name][cell] = kept.get(cell)
    wanted = [place for place in places if place[2] not in kept]
    if wanted:
        calls.prepare()
    return Running(ledgers, [start(runner, sample, place, calls) for place in wanted])


def start(runner: Runner, sample: Sample, place: Place, calls: Calls, *, apart: bool = False) -> Made:
    """Have a release made and attacked, ``apart`` in processes of their own."""
    (each, measured, cell), limits = place, Limits(runner.time_limit, runner.memory_limit, apart)
    where, how = (sample, each, cell.repetition, cell.fold), How(runner.retries, runner.retry_delay)
    tagged = replace(how, tags=(f"generator:{each.name}", f"kind:{each.kind}"))  # by which Prefect limits how many run
    release = calls.submit(synthesize, *where, how=tagged, limits=limits)
    return Made(place, release, calls.submit(attack, release, measured, how=how, limits=limits))


def attacked(
    runner: Runner,
    running: Running,
    sample: Sample,
    calls: Calls,
    failures: dict[str, str],
    expected: tuple[float, float] = (0.0, 0.0),
    opening: "Opening | None" = None,
) -> dict[str, list[LedgerFolder]]:
    """Wait for all cells; return the ledgers of the generators that did not fail, in order.

    A store that cannot be opened, which is tried meanwhile, ends it. Where a worker is killed, the cells of all workers
    are lost with it: they are made again, each in a process of its own, so that only the one that had the worker killed
    fails.
    """
    ledgers = {name: dict(own) for name, own in running.kept.items()}
    with (
        progress(len(running.made), running.before, *expected) as bar,
        bar.watching(partial(_steps, sample, running.made)),
    ):

        def wait_for(each: Made, reason: str | None) -> None:
            name, cell = each.cell.synthesizer, each.cell
            refuse_full_disk(reason)
            bar.advance(cell.in_words(sample.cut.releases))
            if reason is None:
                ledgers[name][cell] = each.ledger.result()
            elif name not in failures:
                failures[name] = f"{cell.name}: {reason}"
                run_log().error("%s FAILED: %s", name, failures[name])

        lost = []
        for each in _as_they_end(running.made, opening):
            reason = each.failure()
            if reason == LOST:
                lost.append(each.place)
            else:
                wait_for(each, reason)
        if lost:
            run_log().warning("a worker process was ended from outside; %d releases are made again", len(lost))
            calls.renew()
            for each in _as_they_end([start(runner, sample, place, calls, apart=True) for place in lost]):
                wait_for(each, each.failure())
    return {
        name: [each for each in own.values() if each is not None]
        for name, own in ledgers.items()
        if name not in failures
    }


def _as_they_end(made: Iterable[Made], opening: "Opening | None" = None) -> Iterator[Made]:
    """Yield cells as they end; such as are called when they are asked for, in order."""
    left = list(made)
    while left:
        if opening is not None:
            opening.refuse()
        first = left[0].has_ended(_LOOK)
        ended = [each for each in left if each.has_ended()] or left[:1] * first
        left = [each for each in left if each not in ended]
        yield from ended


def _steps(sample: Sample, made: Sequence[Made]) -> list[str]:
    """Return what is done just now of cells that are under way, in words: who, which step, and how far it is."""
    steps, told = steps_in(Path(sample.workspace)), []
    for each in made:
        _, measured, cell = each.place
        step = steps.get(cell.name)
        if step is not None and not each.has_ended():
            told.append(f"{cell.in_words(sample.cut.releases)}: {step}{_far(step, measured, sample)}")
    return told


def _far(step: str, measured: Sequence[Planned], sample: Sample) -> str:
    """Return how much of a cell's work is done when a step begins, in per cent; empty where it is not known."""
    steps, seconds = [LOOK, *(each.measure.key for each in measured)], seconds_of_cell(measured, sample)
    return f", {100 * sum(seconds[: steps.index(step)]) / sum(seconds):.0f} %" if step in steps else ""


def seconds_of_cell(measured: Sequence[Planned], sample: Sample) -> list[float]:
    """Return about how long one core takes for a release: for the look at it, and for each measure."""
    rows, columns = sample.table.rows, len(sample.columns)
    return [seconds_of(each, rows, columns) for each in (LOOK, *(p.measure.metric for p in measured))]


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
    warnings = [*sample.table.told, *foreseen(sample, planned).warnings]
    warn(warnings)
    started = datetime.now(UTC)
    attacks = attacks_of(study, sample, planned, every)
    failures: dict[str, str] = {}
    if opens and not study.runner.is_ours:  # threads: scikit-learn asks of what MLflow has imported by half elsewhere
        import_module("synthrisk.tasks.log")
    running = start_all(study.runner, sample, attacks, calls)
    expected = foretold(running, sample, calls.at_once or study.runner.workers)
    if len(running.made) >= _MANY and expected[0] > _LONG and not study.runner.address:
        compile_beside()
    opening = Opening(study.tracking, sample) if opens else None
    if opening is not None and calls.at_once == 1:  # nothing is attacked beside it
        with step("opening the store", begins=False):
            opening.refuse(wait=True)
    ledgers = attacked(study.runner, running, sample, calls, failures, expected, opening)
    ends = calls.here() if all(is_kept(findings_folder(own, study.bootstrap)) for own in ledgers.values()) else calls
    estimates = {name: ends.submit(bootstrap, own, study.bootstrap, how=OURS) for name, own in ledgers.items()}
    ran, power = [each for each, _ in attacks], study.power is not None
    with step("intervals", begins=False):
        found = finished("bootstrap", estimates, failures)
        estimated = ends.submit(
            compare, list(found.values()), sample, ran, study.bootstrap, power=power, failures=failures, how=OURS
        ).result()
    if opening is not None:
        with step("opening the store", begins=False):
            opening.refuse(wait=True)
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
    asked = settings or settings_text(study.model_dump(mode="json"))
    shown = {name: each for name, each in found.items() if study.exposure and each.generator.role == "synthesizer"}
    study_id, confidence = judged.result.study_id, study.bootstrap.confidence
    page = ends.submit(report, judged, asked, how=OURS)
    written = {name: ends.submit(expose, each, study_id, confidence, how=OURS) for name, each in shown.items()}
    from synthrisk.tasks.log import NotLoggedError, log

    place = study.tracking

    def pages() -> Pages:
        tell("writing the report")
        found = pages_of(page, written)
        tell("logging the report to MLflow")
        return found

    drawn: Pages | Callable[[], Pages] = pages
    if ends is not calls:  # where workers draw, it is beside what is logged
        with step("writing the report"):
            drawn = pages_of(page, written)
    try:
        with step("logging the numbers to MLflow" if ends is calls else "logging to MLflow") as tell:
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


def foretold(running: Running, sample: Sample, workers: int) -> tuple[float, float]:
    """Say how long a study will take, before its first release is attacked; return the seconds of attacks and ends.

    How long a generator learns is not known: where one does, attacks alone are foretold.
    """
    rows, columns = sample.table.rows, len(sample.columns)
    each = [sum(seconds_of_cell(made.place[1], sample)) for made in running.made]
    if not each:
        return 0.0, 0.0
    seconds, makers = max(sum(each) / workers, max(each)), [made.place[0] for made in running.made]
    learns = any(maker.role == "synthesizer" and maker.kind != "files" for maker in makers)
    ends = ends_of(rows)
    whole = in_words(seconds if learns else seconds + ends)
    whole = f"attacks take {whole}, beside the time in which generators learn" if learns else whole
    releases = f"{len(each)} release{'s' * (len(each) > 1)} to attack"
    say(f"{rows:,} real records, {columns} columns, {releases}: {whole}")
    return seconds, ends


def pages_of(page: Answer[str], written: Mapping[str, Answer[str]]) -> Pages:
    """Wait for the report and the pages of exposure; return where they are: the numbers stand without them."""
    exposures = finished("page of exposure", written, {})
    failed = page.failure()
    refuse_full_disk(failed)
    if failed:
        run_log().error("report failed: %s", failed)
    own = {name: str(there(path)) for name, path in exposures.items()}
    return Pages("" if failed else str(there(page.result())), own, failed or "")


class Opening:
    """The tracking store, opened by a thread while releases are attacked: to import MLflow alone takes seconds."""

    def __init__(self, tracking: Tracking, sample: Sample) -> None:
        """Begin."""
        threads = ThreadPoolExecutor(1, "store")
        self._opened = threads.submit(copy_context().run, open_store, tracking, sample)
        threads.shutdown(wait=False)

    def refuse(self, *, wait: bool = False) -> None:
        """Raise what kept the store from being opened, as far as is known; ``wait`` until it is known."""
        if wait or self._opened.done():
            self._opened.result()


def open_store(tracking: Tracking, sample: Sample) -> None:
    """Open the tracking store, which is made where it is not there, while the first releases are made.

    Studies that wait in the workspace to be logged are, each to its own store.

    Raises:
        InputError: It cannot be opened.
    """
    if tracking.offline:
        return
    from synthrisk.tasks.log import deliver_all
    from synthrisk.tasks.tracking.addresses import store_address
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
