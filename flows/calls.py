"""How a study calls its tasks: as task runs of a Prefect flow, or as the plain functions that they are.

The course of a study is written once, against ``Calls``; what it ends in is the same to the bit.
"""

from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar, cast

import httpx
from prefect import Task
from prefect.context import FlowRunContext
from prefect.futures import PrefectWrappedFuture
from prefect.task_runners import ProcessPoolTaskRunner

from synthrisk.flows.gone import is_gone

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_LOOK = 1.0  # seconds
LOST = "its worker process was ended from outside, such as for want of memory"
"""Why calls failed whose workers are gone; one of them ended the worker, and the others were beside it."""


class Answer(Protocol[T_co]):
    """What a call will end in."""

    def failure(self) -> str | None:
        """Wait for it, and return why it failed, in words that hold no cell; None where it did not."""

    def result(self) -> T_co:
        """Wait for it, and return what it returned, or raise what it raised."""


class Calls(Protocol):
    """A way to call tasks."""

    def submit(self, task: Task[..., T], *arguments: Any, retries: int = 0, **named: Any) -> Answer[T]:
        """Call a task where there is room for it, beside others; arguments may be answers of earlier calls."""

    def call(self, task: Task[..., T], *arguments: Any, **named: Any) -> T:
        """Call a task here and now."""

    def renew(self) -> None:
        """Have workers again, where they were lost."""


@dataclass(frozen=True, eq=False)
class _Run(Generic[T]):
    future: PrefectWrappedFuture[T, Any]
    instead: Answer[T]  # the plain call, where Prefect's server goes before it has ended

    def failure(self) -> str | None:
        try:
            if self._is_lost():
                return self.instead.failure()
            self.future.wait()
        except BrokenExecutor:
            return LOST
        if self.future.state.is_completed():
            return None
        error = self.future.result(raise_on_failure=False)
        return str(error) if isinstance(error, Exception) else f"{self.future.state.name}: {self.future.state.message}"

    def result(self) -> T:
        return self.instead.result() if self._is_lost() else self.future.result()

    def _is_lost(self) -> bool:
        """Wait until it has ended, or the server has gone; tell whether the latter was first."""
        while not self.future.wrapped_future.done() and not is_gone():
            with suppress(Exception):  # the wait below raises it again
                self.future.wait(timeout=_LOOK)
        if not is_gone():
            return False
        return not (self.future.wrapped_future.done() and self._has_completed())

    def _has_completed(self) -> bool:
        try:
            self.future.wait()
        except Exception:  # noqa: BLE001 - its worker is gone, or that of one that it waits for
            return False
        return self.future.state.is_completed()


class TaskRuns:
    """Task runs of the flow that is under way, on its task runner; plain calls once Prefect's server has gone."""

    def submit(self, task: Task[..., T], *arguments: Any, retries: int = 0, **named: Any) -> Answer[T]:
        """See ``Calls``."""
        instead = PlainCalls().submit(task, *arguments, retries=retries, **named)
        if is_gone():
            return instead
        given = [each.future if isinstance(each, _Run) else each for each in arguments]
        return _Run(cast(Any, task.with_options(retries=retries).submit(*given, **named)), instead)

    def call(self, task: Task[..., T], *arguments: Any, **named: Any) -> T:
        """See ``Calls``."""
        if not is_gone():
            try:
                return task(*arguments, **named)
            except httpx.TransportError:  # before it began: what it does itself asks no Prefect
                if not is_gone():
                    raise
        return task.fn(*arguments, **named)

    def renew(self) -> None:
        """See ``Calls``."""
        run = FlowRunContext.get()
        if run is not None and isinstance(run.task_runner, ProcessPoolTaskRunner) and not is_gone():
            run.task_runner.__exit__(None, None, None)
            run.task_runner.__enter__()


@dataclass(frozen=True, eq=False)
class _Plain(Generic[T]):
    function: Callable[[], T]
    attempts: int

    @cached_property
    def _ended(self) -> tuple[T | None, Exception | None]:
        error: Exception | None = None
        for _ in range(self.attempts):
            try:
                return self.function(), None
            except Exception as raised:  # noqa: BLE001 - a task may raise whatever it likes, as in a task run
                error = raised
        return None, error

    def failure(self) -> str | None:
        error = self._ended[1]
        return None if error is None else str(error)

    def result(self) -> T:
        value, error = self._ended
        if error is not None:
            raise error
        return value  # type: ignore[return-value]  # there is no error, so it is what the function returned


class PlainCalls:
    """The functions themselves, one after the other in this process, each when its answer is asked for."""

    def submit(self, task: Task[..., T], *arguments: Any, retries: int = 0, **named: Any) -> Answer[T]:
        """See ``Calls``."""

        def function() -> T:
            return task.fn(*(each.result() if isinstance(each, _Plain | _Run) else each for each in arguments), **named)

        return _Plain(function, 1 + retries)

    def call(self, task: Task[..., T], *arguments: Any, **named: Any) -> T:
        """See ``Calls``."""
        return task.fn(*arguments, **named)

    def renew(self) -> None:
        """See ``Calls``: there is none but this process."""
