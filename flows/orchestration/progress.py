"""How far a study is, on the terminal and in the Prefect UI: never is more than ten seconds nothing said.

On a pipe a line says what is done just now, and how long already, where ten seconds have passed since the last line.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from threading import Event, RLock, Thread
from typing import cast
from uuid import UUID

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.status import Status
from rich.text import Text

from synthrisk.conf.secrets import mask
from synthrisk.flows.orchestration.server import flow_run, is_gone, run_log
from synthrisk.flows.time_estimate import Pace

Show = Callable[[str, int, str], None]
"""Shows which release is done, how many are, and the time left in words."""
_PAUSE = 10.0  # seconds after which a line is due, however little was done
_MOVES = 1.0  # seconds between two looks at what is done, where a bar shows it


class _Voice:
    """When the last line was said, and who speaks where several could: the last of them, which knows more."""

    def __init__(self) -> None:
        self.last = time.monotonic()
        self.speakers: list[object] = []

    def heard(self) -> None:
        """Note that something was said just now."""
        self.last = time.monotonic()


_VOICE = _Voice()


@contextmanager
def beating(text: Callable[[], str], pause: float) -> Iterator[None]:
    """Say on stderr what ``text`` returns where nothing was said for ``pause`` seconds, for the time of the block."""
    over, own, console = Event(), object(), Console(stderr=True, highlight=False)

    def beat() -> None:
        while not over.wait(max(_VOICE.last + pause - time.monotonic(), 0.05)):
            if _VOICE.speakers[-1:] == [own] and time.monotonic() - _VOICE.last >= pause:
                _VOICE.heard()
                console.print(Text(mask(text())), soft_wrap=True)

    speaker = Thread(target=beat, name="progress", daemon=True)
    _VOICE.speakers.append(own)
    speaker.start()
    try:
        yield
    finally:
        over.set()
        speaker.join()
        _VOICE.speakers.remove(own)


_MOVING: list[Status | Bar] = []
"""What moves on the terminal just now."""
_MOVED = RLock()


@contextmanager
def _moving(display: Status | Bar) -> Iterator[None]:
    with _MOVED:
        _MOVING.append(display)
        display.start()
    try:
        yield
    finally:
        with _MOVED:
            display.stop()
            _MOVING.remove(display)


@contextmanager
def paused() -> Iterator[None]:
    """Take away what moves on the terminal for the time of the block, in which something else is printed."""
    with _MOVED:
        stopped = _MOVING[:]
        _MOVING.clear()
        for each in reversed(stopped):
            each.stop()
        try:
            yield
        finally:
            for each in stopped:
                each.start()
            _MOVING[:] = stopped


def end_moving() -> None:
    """Take away what moves on the terminal, for this process ends."""
    for each in reversed(_MOVING):
        with suppress(Exception):  # what was interrupted may hold the terminal
            each.stop()


@contextmanager
def step(what: str, *, begins: bool = True) -> Iterator[Callable[[str], None]]:
    """Say what is done for the time of the block: a line where it ``begins`` and every ten seconds; a moving bar.

    The bar is on a terminal, where no line is said. The function that is given says what is done next.
    """
    console, now = Console(stderr=True, highlight=False), [what]

    def tell(text: str) -> None:
        now[0] = mask(text)
        _VOICE.heard()
        console.print(Text(now[0]), soft_wrap=True)

    if console.is_terminal:
        status = console.status(Text(what))
        with _moving(status):
            yield lambda text: status.update(Text(mask(text)))
        return
    if begins:
        tell(what)
    began = time.monotonic()
    with beating(lambda: f"{now[0]}, {time.monotonic() - began:.0f} seconds so far", _PAUSE):
        yield tell


def warn(warnings: Sequence[str]) -> None:
    """Tell what a study will say little about, before it begins: on stderr, and in the log of the flow run."""
    for warning in map(mask, warnings):
        run_log().warning(warning)
        _print(f"Mind         {warning}", "yellow")


def say(text: str) -> None:
    """Tell what is done beside the study: on stderr, and in the log of the flow run."""
    run_log().info(mask(text))
    _print(mask(text))


def _print(text: str, style: str = "") -> None:
    """Print a line on stderr; a terminal gets it in lines of whole words."""
    console = Console(stderr=True, highlight=False)
    _VOICE.heard()
    with paused():
        console.print(Text(text, style), soft_wrap=not console.is_terminal)


class Lines:
    """How far a study is where no terminal draws a bar: a line now and then, for a log.

    A line is due a tenth of all releases after the last one, or ten seconds after it, and at the end.
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
        _VOICE.heard()
        self._console.print(text, soft_wrap=True, markup=False)


class Progress:
    """Counts finished releases: on the terminal, in the log, and in the Prefect UI."""

    def __init__(self, show: Show, total: int, pace: Pace):
        self._show, self._total, self._done, self._pace = show, total, 0, pace
        self._artifact = _artifact(total)

    @contextmanager
    def watching(self, steps: Callable[[], Sequence[str]]) -> Iterator[None]:
        """Show what ``steps`` returns for the time of the block: what is done just now, each in words."""
        console, over = Console(stderr=True), Event()

        def text() -> str:
            left = self._pace.left_now()
            now = [f"releases attacked: {self._done} of {self._total}", *steps(), *([left] if left else [])]
            return "; ".join(now)

        def move() -> None:
            while not over.wait(_MOVES):
                self._show("; ".join(steps()) or "releases", self._done, self._pace.left_now())

        mover = Thread(target=move, name="bar", daemon=True)
        if console.is_terminal:
            mover.start()
        try:
            with nullcontext() if console.is_terminal else beating(text, _PAUSE):
                yield
        finally:
            over.set()
            if console.is_terminal:
                mover.join()

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
def progress(total: int, before: int = 0, attacks: float = 0.0, ends: float = 0.0) -> Iterator[Progress]:
    """Show on stderr how far a study is: a bar on a terminal, elsewhere a line now and then.

    ``total`` releases are to be attacked, which was foretold to take so many seconds, and so many more what ``ends``
    the study; ``before`` more were found again, which is said at once.
    """
    console = Console(stderr=True, highlight=False)
    if before:
        say(f"found again: {before} of {total + before} releases, as an earlier run has left them")
    with shown(console, total) as show:
        yield Progress(show, total, Pace(total, attacks, ends))


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
    bar = Bar(*columns, console=console, transient=True)
    with _moving(bar):
        row = bar.add_task("releases", total=total, left="")
        yield lambda name, done, left: bar.update(row, completed=done, description=name, left=left)
