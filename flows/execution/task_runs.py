"""Tasks called as task runs of the Prefect flow that is under way, on its runner; plainly once its server has gone."""

import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import active_children
from typing import Any, Generic, Self, TypeVar, cast

import httpx
from prefect import Task
from prefect.context import (
    FlowRunContext,
    SettingsContext,
    SyncClientContext,
    get_settings_context,
    refresh_global_settings_context,
    serialize_context,
)
from prefect.futures import PrefectFuture, PrefectWrappedFuture
from prefect.settings import Settings, get_current_settings
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner
from prefect.utilities.annotations import quote

from synthrisk.conf.study import Runner
from synthrisk.flows.execution.calls_and_retries import LOST, ONCE, Answer, Called, How, Plain, PlainCalls, answered
from synthrisk.flows.execution.pool import begin_forked, forked
from synthrisk.flows.orchestration.server import is_gone
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.neighbours.nearest import prepare
from synthrisk.tasks.workspace.digests import known

T = TypeVar("T")

_LOOK = 1.0  # seconds
_PAUSE = 0.1  # seconds


_WORKER: list[int] = []  # this process, where it is a worker


class ForkedTaskRunner(ProcessPoolTaskRunner):
    """Prefect's worker processes, forked from a process that has imported what tasks need: Prefect's import it each."""

    def __enter__(self) -> Self:
        """Begin them as Prefect does, but forked; none in a worker, where Prefect enters a copy in each task run."""
        if os.getpid() in _WORKER:
            return TaskRunner.__enter__(self)
        self._initializer, self._initargs = _begin, (known(), dict(os.environ), get_current_settings())
        super().__enter__()
        made: Any = self._executor  # which has begun no process yet
        self._executor = forked(self._max_workers, made._initializer, made._initargs)
        made.shutdown()
        return self

    def submit(self, task: Any, parameters: dict[str, Any], *given: Any, **named: Any) -> Any:
        """Submit as Prefect does, but spare a worker what it has: it would read the settings anew, in 30 ms.

        What is quoted stays so in the worker: Prefect takes one ``quote`` off when it sends the parameters, and looks
        for futures in each number then.
        """
        if getattr(self, "_cached_context", False) is None:  # which Prefect, up to 3.8, makes once for all
            environment, settings = self._initargs[1:]  # that the workers have
            self._cached_context = serialize_context()
            if get_current_settings() is settings:
                self._cached_context["settings_context"] = {}
            later = {name: value for name, value in os.environ.items() if environment.get(name) != value}
            self._cached_env = get_current_settings().to_environment_variables(exclude_unset=True) | later
        twice = {k: _Quoted(_Quoted(each[0])) if isinstance(each, quote) else each for k, each in parameters.items()}
        return super().submit(task, twice, *given, **named)


def _begin(digests: Mapping[Any, str], environment: Mapping[str, str], settings: Settings) -> None:
    """Do what a forked worker does first, which has the environment of its command and the settings that follow.

    It asks Prefect's API through one client for all its task runs: each would make two, with all certificates anew.
    """
    _WORKER[:] = [os.getpid()]
    os.environ.update(environment)
    refresh_global_settings_context()
    SettingsContext(profile=get_settings_context().profile, settings=settings).__enter__()  # for good
    if settings.api.url:
        with suppress(Exception):
            SyncClientContext().__enter__()  # without it each task run has its own
    begin_forked(digests)


def task_runner(settings: Runner) -> TaskRunner[Any]:
    """Return the task runner of a study; each worker computes with one thread, so that workers x threads = cores."""
    if settings.kind == "processes":
        return ForkedTaskRunner(max_workers=settings.workers)
    if not settings.is_ours:
        return by_path(settings)
    from prefect_dask import DaskTaskRunner

    if settings.address:
        return DaskTaskRunner(address=settings.address)
    from synthrisk.tasks.partitions import LOCAL_CLUSTER

    return DaskTaskRunner(cluster_kwargs={"n_workers": settings.workers, **LOCAL_CLUSTER})


def by_path(settings: Runner) -> TaskRunner[Any]:
    """Return the task runner that an import path leads to."""
    module, _, name = settings.kind.partition(":")
    try:
        kind = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"runner.kind must be a class that can be imported, got {settings.kind!r} ({type(error).__name__})"
        ) from None
    if not (isinstance(kind, type) and issubclass(kind, TaskRunner)):
        raise InputError(f"runner.kind must be a task runner of Prefect, got {settings.kind!r}")
    try:
        return kind(**settings.options)
    except (TypeError, ValueError) as error:
        raise InputError(f"runner.options must be those of {name}, got {settings.options!r} ({error})") from None


@dataclass(frozen=True, eq=False)
class _Run(Called, Generic[T]):
    future: PrefectFuture[T]  # of any task runner
    instead: Answer[T]  # the plain call, where Prefect's server goes before it has ended
    here_if_lost: bool = False

    def has_ended(self, seconds: float = 0.0) -> bool:
        if seconds <= 0:  # no server is asked of each of many
            return isinstance(self.future, PrefectWrappedFuture) and bool(self.future.wrapped_future.done())
        with suppress(Exception):  # whoever asks why it failed hears of it
            self.future.wait(timeout=seconds)
        return is_gone() or self._is_done()

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

    @property
    def at_once(self) -> int:
        """See ``Calls``."""
        return 0 if self.on_runner else 1

    def submit(self, task: Task[..., T], *arguments: Any, how: How = ONCE, **named: Any) -> Answer[T]:
        """See ``Calls``."""
        ours = task.with_options(retries=how.retries, retry_delay_seconds=how.delays or 0, tags=how.tags)
        if not self.on_runner:
            return Plain(lambda: self.call(ours, *answered(arguments), **named), [])
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
            except httpx.TransportError:  # before it began: what it raises itself is none
                if not is_gone():
                    raise
        return task.fn(*arguments, **named)

    def prepare(self) -> None:
        """See ``Calls``: whom workers are forked from does it."""
        run = FlowRunContext.get()
        if run is None or not isinstance(run.task_runner, ForkedTaskRunner):
            prepare()

    def renew(self) -> None:
        """See ``Calls``."""
        run = FlowRunContext.get()
        if run is not None and isinstance(run.task_runner, ProcessPoolTaskRunner) and not is_gone():
            for worker in active_children():  # one that began while the pool broke would be waited for without end
                worker.terminate()
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
