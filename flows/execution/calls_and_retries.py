"""How a study calls its tasks: as task runs of a Prefect flow (``task_runs``), or as the functions that they are.

The course of a study is written once, against ``Calls``; what it ends in is the same to the bit.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from prefect import Task

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

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

    def has_ended(self, seconds: float = 0.0) -> bool:
        """Wait so many seconds at most, and tell whether it has ended; one that is called when asked is called then."""

    def failure(self) -> str | None:
        """Wait for it, and return why it failed, in words that hold no cell; None where it did not."""

    def result(self) -> T_co:
        """Wait for it, and return what it returned, or raise what it raised."""


class Calls(Protocol):
    """A way to call tasks."""

    @property
    def at_once(self) -> int:
        """How many are done at one time; 0: as many as the study's runner has workers."""

    def submit(self, task: "Task[..., T]", *arguments: Any, how: How = ONCE, **named: Any) -> Answer[T]:
        """Call a task where there is room for it, beside others; arguments may be answers of earlier calls."""

    def call(self, task: "Task[..., T]", *arguments: Any, **named: Any) -> T:
        """Call a task here and now."""

    def prepare(self) -> None:
        """Compile what every search runs: once, not in every worker at the same time. Few records need no more."""

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
class Plain(Called, Generic[T]):
    """What a function returns, called when that is asked."""

    function: Callable[[], T]
    delays: Sequence[float]

    @cached_property
    def _ended(self) -> tuple[T | None, Exception | None]:
        try:
            return tried(self.function, self.delays), None
        except Exception as error:  # noqa: BLE001 - a task may raise whatever it likes, as in a task run
            return None, error

    def has_ended(self, seconds: float = 0.0) -> bool:
        """See ``Answer``."""
        return "_ended" in vars(self) or (seconds > 0 and bool(self._ended))

    def failure(self) -> str | None:
        """See ``Answer``."""
        error = self._ended[1]
        return None if error is None else str(error)

    def result(self) -> T:
        """See ``Answer``."""
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

    at_once = 1

    def submit(self, task: "Task[..., T]", *arguments: Any, how: How = ONCE, **named: Any) -> Answer[T]:
        """See ``Calls``."""

        def function() -> T:
            return task.fn(*answered(arguments), **named)

        return Plain(function, how.delays)

    def call(self, task: "Task[..., T]", *arguments: Any, **named: Any) -> T:
        """See ``Calls``."""
        return task.fn(*arguments, **named)

    def prepare(self) -> None:
        """See ``Calls``: this process compiles when it searches."""

    def renew(self) -> None:
        """See ``Calls``: there is none but this process."""

    def here(self) -> "PlainCalls":
        """See ``Calls``."""
        return self
