"""Worker processes; and task functions called in them without Prefect, where no Prefect API is configured.

They are forked from a process that has imported what tasks need (``forkserver``), which is begun while the command is
still importing and looking at the table: so a worker is there at once, and the imports are paid for once.
"""

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from importlib import import_module
from itertools import count
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from threading import RLock, Thread
from time import sleep
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from synthrisk.flows.execution.calls_and_retries import LOST, ONCE, Answer, Called, How, PlainCalls, answered, tried
from synthrisk.flows.execution.workers import begin, compile_all
from synthrisk.flows.orchestration.server import is_configured
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.models.threads import ONE_THREAD
from synthrisk.tasks.workspace.digests import known, learn
from synthrisk.tasks.workspace.parent_process import end_with_parent

if TYPE_CHECKING:
    from prefect import Task

_LONGEST = 107 - len("/pymp-12345678/listener-12345678")  # bytes of a folder: Linux takes 107 of a socket's path
_SHORT = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - the folder made there is this user's alone
_BEGUN: list[bool] = []  # once whom workers are forked from has been begun


def begin_early(*, prefect: bool = False) -> None:
    """Begin the process that workers are forked from, which has what task runs of ``prefect`` need.

    Where it cannot be begun, as without room for temporary files, a study says so when it needs it.
    """
    with suppress(OSError):
        _begin(prefect=prefect or is_configured())


def is_begun() -> bool:
    """Tell whether this process has begun the one that workers are forked from."""
    return bool(_BEGUN)


def may_be_found_again(workspace: Path) -> bool:
    """Tell whether all that a study makes may be there already, so that it needs no workers."""
    return os.path.exists(workspace / "ledgers")  # noqa: PTH110 - unlike a Path it says no where a name is too long


def pool_of(workers: int) -> ProcessPoolExecutor:
    """Return worker processes, each with one thread, that end with this process however it ends."""
    return forked(workers, begin_forked, (known(),))


def forked(workers: int, first: Callable[..., None], given: Sequence[Any]) -> ProcessPoolExecutor:
    """Return worker processes that do ``first`` with what it is ``given``, which calls ``begin_forked``."""
    _begin(prefect=first is not begin_forked)
    context = multiprocessing.get_context("forkserver")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=first, initargs=tuple(given))


def begin_forked(digests: Mapping[Any, str]) -> None:
    """Do what a forked worker does first: it learns which files have these digests."""
    begin()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # what generators start is not to have it blocked
    learn(digests)


def _begin(*, prefect: bool = False) -> None:
    also = ["synthrisk.flows.execution.task_runs"] if prefect else []
    multiprocessing.set_forkserver_preload(["synthrisk.flows.execution.forkserver", *also])
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    resource_tracker.ensure_running()  # which unblocks signals
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # it would tell of one with a traceback
    try:
        with _short_place():
            forkserver.ensure_running()
        _BEGUN[:] = [True]
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        _restore(before)


def compile_beside() -> None:
    """Compile what many releases need, in a process of its own that ends with this one.

    Workers take it from the disk as soon as it is there. Until then they go the way that nothing has to be compiled
    for, with the same numbers.
    """
    with suppress(OSError, EOFError, InputError, AssertionError, RuntimeError):  # no room, or none may come from here
        begin_early()
        context = multiprocessing.get_context("forkserver")
        context.Process(target=_compile_all, name="compiles", daemon=True).start()


def _compile_all() -> None:
    end_with_parent()
    with suppress(Exception):  # without numba there is nothing to compile; of the rest a worker tells
        compile_all()


@contextmanager
def _short_place() -> Iterator[None]:
    """Have the socket by which workers are asked for lie where its path is short enough, if not among temporary files.

    Raises:
        InputError: There is no such place.
    """
    usual = tempfile.gettempdir()
    if _fits(usual):
        yield
        return
    place = next((each for each in _SHORT if _fits(each) and os.access(each, os.W_OK | os.X_OK)), None)
    if place is None:
        raise InputError(
            f"TMPDIR must be a path of at most {_LONGEST} bytes, for the socket by which workers are asked for lies "
            f"there; got one of {len(os.fsencode(usual))}"
        )
    tempfile.tempdir = place
    try:
        yield
    finally:
        tempfile.tempdir = usual


def _fits(folder: str) -> bool:
    return len(os.fsencode(folder)) <= _LONGEST


def _restore(before: Mapping[str, Any]) -> None:
    for name, value in before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


T = TypeVar("T")

_REFUSED = 10  # workers that cannot be had so often in a row will not come
_LOOK, _IDLE = 0.1, 50  # seconds, and how often a pool with nothing to do is looked at before its workers are ended
_PAUSE = 0.05  # seconds between: whom they come from takes a moment to go where it is killed


@dataclass(frozen=True, eq=False)
class _Pooled(Called, Generic[T]):
    place: int  # of the first call of its chain
    instead: Answer[T] | None = None  # the plain call, where its worker is killed
    future: Future[T] = field(default_factory=Future)

    def has_ended(self, seconds: float = 0.0) -> bool:
        return bool(wait([self.future], seconds).done)

    def failure(self) -> str | None:
        error = self.future.exception()
        if not isinstance(error, BrokenExecutor):
            return None if error is None else str(error)
        return LOST if self.instead is None else self.instead.failure()

    def result(self) -> T:
        lost = isinstance(self.future.exception(), BrokenExecutor)
        return self.instead.result() if lost and self.instead is not None else self.future.result()


@dataclass(order=True)
class _Ready:
    place: int
    number: int
    run: Callable[[], Any] = field(compare=False)
    future: "Future[Any]" = field(compare=False)
    refused: int = field(default=0, compare=False)  # how often no worker could be had for it


class PoolCalls:
    """Tasks in worker processes; one that takes the answer of another is called next, before any new chain begins."""

    def __init__(self, workers: int):
        self._workers = workers
        self._lock, self._numbers, self._ready, self._given = RLock(), count(), list[_Ready](), 0
        self._lost: list[ProcessPoolExecutor] = []
        self._pool: ProcessPoolExecutor | None = None  # until there is something to do: it learns what is known then

    @property
    def at_once(self) -> int:
        """See ``Calls``."""
        return self._workers

    def submit(self, task: "Task[..., T]", *arguments: Any, how: How = ONCE, **named: Any) -> Answer[T]:
        """See ``Calls``."""
        number, before = next(self._numbers), [each for each in arguments if isinstance(each, _Pooled)]
        plain = PlainCalls().submit(task, *arguments, how=how, **named) if how.here_if_lost else None
        answer: _Pooled[T] = _Pooled(min((each.place for each in before), default=number), plain)
        left = [len(before)]

        def when_answered(_: object = None) -> None:
            with self._lock:
                left[0] -= 1
                if left[0] > 0:
                    return
            try:
                given = answered(arguments)
            except Exception as error:  # noqa: BLE001 - what it waits for has failed, in whatever way
                answer.future.set_exception(error)
                return
            function = task.fn
            run = partial(_called, function.__module__, function.__qualname__, how.delays, given, named)
            self._hand(_Ready(answer.place, number, run, answer.future))

        if not before:
            when_answered()
        for each in before:
            each.future.add_done_callback(when_answered)
        return answer

    def call(self, task: "Task[..., T]", *arguments: Any, **named: Any) -> T:
        """See ``Calls``."""
        return task.fn(*arguments, **named)

    def prepare(self) -> None:
        """See ``Calls``: whom workers are forked from does it, and meanwhile this process imports MLflow."""
        Thread(target=_import, args=("synthrisk.tasks.log",), name="import", daemon=True).start()

    def renew(self) -> None:
        """See ``Calls``: workers that were lost have been replaced already."""

    def here(self) -> PlainCalls:
        """See ``Calls``."""
        return PlainCalls()

    def end(self) -> None:
        """End the workers when they have done what they are about."""
        for each in self._lost:
            for process in list((each._processes or {}).values()):
                process.kill()  # one that was forked just when the pool broke is waited for, but was not ended
        if self._pool is not None:
            self._leave(self._pool)
            self._pool = None

    def _leave(self, pool: ProcessPoolExecutor) -> None:
        """Wait until a pool has ended; end workers that wait for nothing.

        A worker that is killed just when its pool ends, while it waits for work, holds the lock under which work is
        taken: the others would wait for that lock without end, and the pool for them.
        """
        manager: Any = pool._executor_manager_thread
        workers = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        idle = 0
        while manager is not None and manager.is_alive():
            manager.join(_LOOK)
            idle += self._given <= 0
            if idle > _IDLE:
                for process in workers:
                    process.kill()

    def _hand(self, ready: _Ready) -> None:
        with self._lock:
            heappush(self._ready, ready)
        self._fill()

    def _fill(self) -> None:
        """Give the workers what is ready: one more than there are, so that none waits for the next."""
        while True:
            with self._lock:
                if not self._ready or self._given > self._workers:
                    return
                ready = heappop(self._ready)
                self._given += 1
            pool = None
            try:
                pool = self._there()
                running = pool.submit(ready.run)
            except (BrokenExecutor, OSError, EOFError) as error:  # just now, or whom workers come from was killed
                self._lose(pool)
                ready.refused += 1
                if ready.refused > _REFUSED:
                    self._end(ready.future, error)
                    continue
                sleep(_PAUSE)
                with self._lock:
                    self._given -= 1
                    heappush(self._ready, ready)
            except RuntimeError as error:  # the study has ended
                self._end(ready.future, error)
            else:
                running.add_done_callback(partial(self._told, pool, ready.future))

    def _told(self, pool: ProcessPoolExecutor, future: "Future[Any]", ran: "Future[Any]") -> None:
        error = ran.exception()
        if isinstance(error, BrokenExecutor):
            self._lose(pool)
        self._end(future, error, None if error else ran.result())
        self._fill()

    def _there(self) -> ProcessPoolExecutor:
        with self._lock:
            self._pool = self._pool or pool_of(self._workers)
            return self._pool

    def _lose(self, pool: ProcessPoolExecutor | None) -> None:
        with self._lock:
            if pool is not None and self._pool is pool:
                self._pool = None
                self._lost.append(pool)

    def _end(self, future: "Future[Any]", error: BaseException | None, value: object = None) -> None:
        with self._lock:
            self._given -= 1
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)


@contextmanager
def pool_calls(workers: int) -> Iterator[PoolCalls]:
    """Yield calls on so many worker processes, which end with the block."""
    calls = PoolCalls(workers)
    try:
        yield calls
    finally:
        calls.end()


def _import(module: str) -> None:
    with suppress(Exception):  # who needs it tells
        import_module(module)


def _called(module: str, name: str, delays: Sequence[float], given: Sequence[Any], named: dict[str, Any]) -> object:
    """Call the function of a task by its place: the name of the function leads to the task."""
    task = getattr(import_module(module), name)
    return tried(partial(task.fn, *given, **named), delays)
