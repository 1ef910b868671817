"""How far a study is, on the terminal and in the Prefect UI."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import cast
from uuid import UUID

from prefect import get_run_logger
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from synthrisk.flows.durations import in_words

_PAUSE = 30.0  # seconds after which a line is due, however little was done


def warn(warnings: Sequence[str]) -> None:
    """Tell what a study will say little about, before it begins: on stderr, and in the log of the flow run."""
    for warning in warnings:
        get_run_logger().warning(warning)
        Console(stderr=True, highlight=False).print(Text(f"Mind         {warning}", style="yellow"), soft_wrap=True)


class Lines:
    """How far a study is where no terminal draws a bar: a line now and then, for a log.

    A line is due a tenth of all releases after the last one, or half a minute after it, and at the end.
    """

    def __init__(self, console: Console, total: int, clock: Callable[[], float] = time.monotonic):
        self._console, self._total, self._clock = console, total, clock
        self._last = clock()
        self._told = 0
        self._first: float | None = None  # when the first release was done: what goes before it is start-up

    def advance(self, done: int) -> None:
        """Say how many releases are done, if a line is due."""
        now = self._clock()
        self._first = now if self._first is None else self._first
        soon = 10 * (done - self._told) < self._total and now - self._last < _PAUSE
        if soon and done < self._total:
            return
        self._told, self._last = done, now
        left = (now - self._first) / max(done - 1, 1) * (self._total - done)
        more = f", {in_words(left)} left" if 1 < done < self._total else ""
        text = f"releases attacked: {done} of {self._total}{more}"
        self._console.print(text, soft_wrap=True, markup=False)


class Progress:
    """Counts finished releases: on the terminal, in the log, and in the Prefect UI."""

    def __init__(self, show: Callable[[str, int], None], total: int):
        self._show, self._total, self._done = show, total, 0
        self._artifact = cast(UUID, create_progress_artifact(0.0, key="releases", description="Releases attacked"))

    def advance(self, name: str) -> None:
        """Count one more release as finished."""
        self._done += 1
        self._show(name, self._done)
        update_progress_artifact(self._artifact, 100 * self._done / self._total)
        get_run_logger().info("%s finished, %d of %d", name, self._done, self._total)


@contextmanager
def progress(total: int) -> Iterator[Progress]:
    """Show on stderr how far a study is: a bar on a terminal, elsewhere a line now and then."""
    with shown(Console(stderr=True, highlight=False), total) as show:
        yield Progress(show, total)


@contextmanager
def shown(console: Console, total: int) -> Iterator[Callable[[str, int], None]]:
    """Give a function that shows which release is done, and how many are, for the time of the block."""
    if not console.is_terminal:
        lines = Lines(console, total)
        yield lambda name, done: lines.advance(done)
        return
    name_of = TextColumn("{task.description}", markup=False)
    with Bar(name_of, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console, transient=True) as bar:
        row = bar.add_task("releases", total=total)
        yield lambda name, done: bar.update(row, completed=done, description=name)
