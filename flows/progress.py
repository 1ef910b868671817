"""How far a study is, on the terminal and in the Prefect UI."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import cast
from uuid import UUID

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from synthrisk.conf.secrets import mask
from synthrisk.flows.durations import in_words
from synthrisk.flows.flow_run import flow_run
from synthrisk.flows.gone import is_gone
from synthrisk.flows.run_log import run_log

Show = Callable[[str, int, str], None]
"""Shows which release is done, how many are, and the time left in words."""
_PAUSE = 30.0  # seconds after which a line is due, however little was done


def warn(warnings: Sequence[str]) -> None:
    """Tell what a study will say little about, before it begins: on stderr, and in the log of the flow run."""
    for warning in map(mask, warnings):
        run_log().warning(warning)
        Console(stderr=True, highlight=False).print(Text(f"Mind         {warning}", style="yellow"), soft_wrap=True)


def say(text: str) -> None:
    """Tell what is done beside the study: on stderr, and in the log of the flow run."""
    run_log().info(mask(text))
    Console(stderr=True, highlight=False).print(Text(mask(text)), soft_wrap=True)


class Pace:
    """How long a number of releases will still take, at the pace of those that are done."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic):
        self._total, self._clock = total, clock
        self._first: float | None = None  # when the first release was done: what goes before it is start-up

    def left(self, done: int) -> str:
        """Return the time left in words, when so many have just been done; empty where nothing can be said."""
        now = self._clock()
        self._first = now if self._first is None else self._first
        seconds = (now - self._first) / max(done - 1, 1) * (self._total - done)
        return f"{in_words(seconds)} left" if 1 < done < self._total else ""


class Lines:
    """How far a study is where no terminal draws a bar: a line now and then, for a log.

    A line is due a tenth of all releases after the last one, or half a minute after it, and at the end.
    """

    def __init__(self, console: Console, total: int, clock: Callable[[], float] = time.monotonic):
        self._console, self._total, self._clock = console, total, clock
        self._last = clock()
        self._told = 0

    def advance(self, done: int, left: str) -> None:
        """Say how many releases are done, if a line is due."""
        now = self._clock()
        soon = 10 * (done - self._told) < self._total and now - self._last < _PAUSE
        if soon and done < self._total:
            return
        self._told, self._last = done, now
        text = f"releases attacked: {done} of {self._total}" + (f", {left}" if left else "")
        self._console.print(text, soft_wrap=True, markup=False)


class Progress:
    """Counts finished releases: on the terminal, in the log, and in the Prefect UI."""

    def __init__(self, show: Show, total: int):
        self._show, self._total, self._done = show, total, 0
        self._pace = Pace(total)
        self._artifact = _artifact(total)

    def advance(self, name: str) -> None:
        """Count one more release as finished."""
        self._done += 1
        left = self._pace.left(self._done)
        self._show(name, self._done, left)
        told = f"{self._done} of {self._total}" + (f", {left}" if left else "")
        if self._artifact is not None and not is_gone():
            with suppress(Exception):  # a bar less: the study goes on
                from prefect.artifacts import update_progress_artifact

                update_progress_artifact(
                    self._artifact, 100 * self._done / self._total, description=f"Releases attacked: {told}"
                )
        run_log().info("%s finished, %s", name, told)


def _artifact(total: int) -> UUID | None:
    if not total or flow_run() is None or is_gone():
        return None
    with suppress(Exception):
        from prefect.artifacts import create_progress_artifact

        return cast(UUID, create_progress_artifact(0.0, key="releases", description="Releases attacked"))
    return None


@contextmanager
def progress(total: int, before: int = 0) -> Iterator[Progress]:
    """Show on stderr how far a study is: a bar on a terminal, elsewhere a line now and then.

    ``total`` releases are to be attacked; ``before`` more were found again, which is said at once.
    """
    console = Console(stderr=True, highlight=False)
    if before:
        say(f"found again: {before} of {total + before} releases, as an earlier run has left them")
    with shown(console, total) as show:
        yield Progress(show, total)


@contextmanager
def shown(console: Console, total: int) -> Iterator[Show]:
    """Give a function that shows which release is done, how many are, and the time left, for the time of the block."""
    if not console.is_terminal:
        lines = Lines(console, total)
        yield lambda name, done, left: lines.advance(done, left)
        return
    name_of = TextColumn("{task.description}", markup=False)
    left_of = TextColumn("{task.fields[left]}", markup=False)
    columns = (name_of, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), left_of)
    with Bar(*columns, console=console, transient=True) as bar:
        row = bar.add_task("releases", total=total, left="")
        yield lambda name, done, left: bar.update(row, completed=done, description=name, left=left)
