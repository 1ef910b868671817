"""The cells of a study: every release made and attacked, each found again where an earlier run has left it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from synthrisk.conf.study import Runner
from synthrisk.flows.attacks import Attacks
from synthrisk.flows.calls import LOST, Answer, Calls, How
from synthrisk.flows.durations import LOOK, seconds_of
from synthrisk.flows.progress import progress
from synthrisk.flows.run_log import run_log
from synthrisk.metrics.study.ledger import Cell
from synthrisk.metrics.study.planned import Planned
from synthrisk.tasks.attack import attack, steps_in
from synthrisk.tasks.found_again import found_again
from synthrisk.tasks.synthesize import find_synthesizer
from synthrisk.tasks.synthesize.task import synthesize
from synthrisk.tasks.workspace.failure import NO_SPACE, DiskError
from synthrisk.tasks.workspace.limited import Limits
from synthrisk.tasks.workspace.references import Generator, LedgerFolder, ReleaseFolder, Sample

_LOOK = 0.5  # seconds

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
    expected: float = 0.0,
) -> dict[str, list[LedgerFolder]]:
    """Wait for all cells; return the ledgers of the generators that did not fail, in order.

    Where a worker is killed, the cells of all workers are lost with it: they are made again, each in a process of its
    own, so that only the one that had the worker killed fails.
    """
    ledgers = {name: dict(own) for name, own in running.kept.items()}
    with (
        progress(len(running.made), running.before, expected) as bar,
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
        for each in _as_they_end(running.made):
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


def _as_they_end(made: Iterable[Made]) -> Iterator[Made]:
    """Yield cells as they end; such as are called when they are asked for, in order."""
    left = list(made)
    while left:
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
