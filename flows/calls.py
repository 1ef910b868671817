"""How a study calls its tasks: as task runs of a Prefect flow, or as the plain functions that they are.

The course of a study is written once, against ``Calls``; what it ends in is the same to the bit.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar, cast

import httpx
from prefect import Task
from prefect.context import FlowRunContext
from prefect.futures import PrefectFuture, PrefectWrappedFuture
from prefect.task_runners import ProcessPoolTaskRunner
from prefect.utilities.annotations import quote

from synthrisk.flows.gone import is_gone
from synthrisk.metrics.neighbours.search import prepare

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_LOOK = 1.0  # seconds
_PAUSE = 0.1  # seconds
_LONGEST = 3600.0  # seconds between two attempts
LOST = "its worker process was ended from outside, such as for want of memory"
"""Why calls failed whose workers are gone; one of them ended the worker, and the others were beside it."""


@dataclass(frozen=True)
class How:
    """How a task is called: how often again where it fails, after what wait, and by which tags Prefect knows it."""

    retries: int = 0
    delay: float = 0.0  # seconds before the first retry
    tags: Sequence[str] = ()
    here_if_lost: bool = False  # done in this process where its worker is killed: for what runs no foreign code

    @property
    def delays(self) -> list[float]:
        """The wait before each retry: each twice the one before. Prefect takes 50, and repeats the last."""
        return [min(self.delay * 2.0**k, _LONGEST) for k in range(min(self.retries, 50))]


ONCE = How()
OURS = How(here_if_lost=True)


class Answer(Protocol[T_co]):
    """What a call will end in."""

    def failure(self) -> str | None:
        """Wait for it, and return why it failed, in words that hold no cell; None where it did not."""

    def result(self) -> T_co:
        """Wait for it, and return what it returned, or raise what it raised."""


class Calls(Protocol):
    """A way to call tasks."""

    def submit(self, task: Task[..., T], *arguments: Any, how: How = ONCE, **named: Any) -> Answer[T]:
        """Call a task where there is room for it, beside others; arguments may be answers of earlier calls."""

    def call(self, task: Task[..., T], *arguments: Any, **named: Any) -> T:
        """Call a task here and now."""

    def prepare(self) -> None:
        """Compile what searches run: once, not in every worker at the same time."""

    def renew(self) -> None:
        """Have workers again, where they were lost."""

    def here(self) -> "Calls":
        """Return calls for what is not worth a worker: one after the other in this process, when an answer is asked."""


class Called:
    """An answer that later calls may be given among their arguments."""

    def result(self) -> Any:
        """See ``Answer``."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class _Run(Called, Generic[T]):
    future: PrefectFuture[T]  # of any task runner
    instead: Answer[T]  # the plain call, where Prefect's server goes before it has ended
    here_if_lost: bool = False

    def failure(self) -> str | None:
        try:
            if self._is_lost():
                return self.instead.failure()
            self.future.wait()
        except BrokenExecutor:
            return self.instead.failure() if self.here_if_lost else LOST
        if self.future.state.is_completed():
            return None
        error = self.future.result(raise_on_failure=False)
        return str(error) if isinstance(error, Exception) else f"{self.future.state.name}: {self.future.state.message}"

    def result(self) -> T:
        if self._is_lost():
            return self.instead.result()
        try:
            return self.future.result()
        except BrokenExecutor:
            if self.here_if_lost:
                return self.instead.result()
            raise

    def _is_lost(self) -> bool:
        """Wait until it has ended, or the server has gone; tell whether the latter was first."""
        while not self._is_done() and not is_gone():
            try:
                self.future.wait(timeout=_LOOK)
            except Exception:  # noqa: BLE001 - the wait of who asks raises it again, if it stays
                time.sleep(_PAUSE)
        if not is_gone():
            return False
        return not (self._is_done() and self._has_completed())

    def _is_done(self) -> bool:
        """Tell whether it has ended; futures of some runners can only ask the server, which may be away."""
        if isinstance(self.future, PrefectWrappedFuture):
            return bool(self.future.wrapped_future.done())
        with suppress(httpx.HTTPError):
            return self.future.state.is_final()
        return False

    def _has_completed(self) -> bool:
        try:
            self.future.wait()
        except Exception:  # noqa: BLE001 - its worker is gone, or that of one that it waits for
            return False
        return self.future.state.is_completed()


@dataclass(frozen=True)
class TaskRuns:
    """Task runs of the flow that is under way, on its task runner or in this process.

    Once Prefect's server has gone: plain calls.
    """

    on_runner: bool = True

    def submit(self, task: Task[..., T], *arguments: Any, how: How = ONCE, **named: Any) -> Answer[T]:
        """See ``Calls``."""
        ours = task.with_options(retries=how.retries, retry_delay_seconds=how.delays or 0, tags=how.tags)
        if not self.on_runner:
            return _Plain(lambda: self.call(ours, *answered(arguments), **named), [])
        instead = PlainCalls().submit(task, *arguments, how=how, **named)
        if is_gone():
            return instead
        given, others = _handed(arguments, named)
        try:
            future = ours.submit(*given, **others)
        except BrokenExecutor:  # a worker was killed meanwhile
            self.renew()
            future = ours.submit(*given, **others)
        return _Run(cast(Any, future), instead, how.here_if_lost)

    def call(self, task: Task[..., T], *arguments: Any, **named: Any) -> T:
        """See ``Calls``."""
        if not is_gone():
            given, others = _handed(arguments, named)
            try:
                return task(*given, **others)
            except httpx.TransportError:  # before it began: what it does itself asks no Prefect
                if not is_gone():
                    raise
        return task.fn(*arguments, **named)

    def prepare(self) -> None:
        """See ``Calls``."""
        prepare()

    def renew(self) -> None:
        """See ``Calls``."""
        run = FlowRunContext.get()
        if run is not None and isinstance(run.task_runner, ProcessPoolTaskRunner) and not is_gone():
            run.task_runner.__exit__(None, None, None)
            run.task_runner.__enter__()

    def here(self) -> "TaskRuns":
        """See ``Calls``."""
        return TaskRuns(on_runner=False)


class _Quoted(quote):
    """A ``quote`` that is the same after it was sent to another process: Prefect's holds itself once more then."""

    def __getnewargs__(self) -> tuple[Any]:
        return (self[0],)


def _handed(arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return what a task run is given: Prefect would look for futures in each number of what is not quoted."""
    given = [each.future if isinstance(each, _Run) else _Quoted(each) for each in arguments]
    return given, {name: _Quoted(each) for name, each in named.items()}


@dataclass(frozen=True, eq=False)
class _Plain(Called, Generic[T]):
    function: Callable[[], T]
    delays: Sequence[float]

    @cached_property
    def _ended(self) -> tuple[T | None, Exception | None]:
        try:
            return tried(self.function, self.delays), None
        except Exception as error:  # noqa: BLE001 - a task may raise whatever it likes, as in a task run
            return None, error

    def failure(self) -> str | None:
        error = self._ended[1]
        return None if error is None else str(error)

    def result(self) -> T:
        value, error = self._ended
        if error is not None:
            raise error
        return value  # type: ignore[return-value]  # there is no error, so it is what the function returned


def answered(arguments: Sequence[Any]) -> list[Any]:
    """Return arguments, with what earlier calls ended in."""
    return [each.result() if isinstance(each, Called) else each for each in arguments]


def tried(function: Callable[[], T], delays: Sequence[float]) -> T:
    """Return what a function returns; where it fails, call it again after each delay."""
    for delay in delays:
        try:
            return function()
        except Exception:  # noqa: BLE001 - a task may raise whatever it likes
            time.sleep(delay)
    return function()


class PlainCalls:
    """The functions themselves, one after the other in this process, each when its answer is asked for."""

    def submit(self, task: Task[..., T], *arguments: Any, how: How = ONCE, **named: Any) -> Answer[T]:
        """See ``Calls``."""

        def function() -> T:
            return task.fn(*answered(arguments), **named)

        return _Plain(function, how.delays)

    def call(self, task: Task[..., T], *arguments: Any, **named: Any) -> T:
        """See ``Calls``."""
        return task.fn(*arguments, **named)

    def prepare(self) -> None:
        """See ``Calls``: this process compiles when it searches."""

    def renew(self) -> None:
        """See ``Calls``: there is none but this process."""

    def here(self) -> "PlainCalls":
        """See ``Calls``."""
        return self
