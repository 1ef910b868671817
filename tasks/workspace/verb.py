"""What all tasks have in common: the workspace keeps what they find, so Prefect keeps and compares nothing.

Their functions are also called without Prefect, by commands and worker processes that need not wait for its import.
"""

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from synthrisk.conf.secrets import masks_errors
from synthrisk.metrics.errors import InputError, type_of
from synthrisk.tasks.workspace.folders import Place, is_kept, keep
from synthrisk.tasks.workspace.work_limits import TAKEN, Taken

if TYPE_CHECKING:
    from prefect import Task

_P = ParamSpec("_P")
_R = TypeVar("_R")


def verb(
    name: str, run_name: str | Callable[[dict[str, Any]], str] | None = None
) -> "Callable[[Callable[_P, _R]], Task[_P, _R]]":
    """Make a function a Prefect task that stores neither parameters nor results, and whose errors tell no secret.

    The name of its runs is a template, or a function of ``parameters``; the task's own unless given.
    """
    return cast(Any, lambda function: _Verb(masks_errors(function), name, run_name or name))


_OWN = ("fn", "_names", "_task")  # of a ``_Verb``


class _Verb:
    """A Prefect task in all that is asked of it; made when something other than its function is.

    In the package ``tasks`` it stands where the module of its name would, so it also has what that module holds:
    ``import synthrisk.tasks.synthesize.cart as c`` asks the task ``synthesize`` for ``cart``.
    """

    def __init__(self, function: Callable[..., Any], name: str, run_name: str | Callable[[dict[str, Any]], str]):
        update_wrapper(self, function)
        self.fn, self._names = function, (name, run_name)

    @cached_property
    def _task(self) -> "Task[..., Any]":
        from prefect import task
        from prefect.cache_policies import NO_CACHE

        name, run_name = self._names
        named = cast(Any, run_name)  # Prefect's type of it leaves plain functions out
        return task(name=name, task_run_name=named, cache_policy=NO_CACHE, persist_result=False)(self.fn)

    @property
    def _module(self) -> dict[str, Any]:
        """What the module holds that has the name of the task."""
        module = sys.modules.get(f"synthrisk.tasks.{self.fn.__name__}")
        return {} if module is None else vars(module)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._task(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in _OWN:  # asked by Python itself of any object; not there yet
            raise AttributeError(name)
        return self._module[name] if name in self._module else getattr(self._task, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__") or name in _OWN:
            super().__setattr__(name, value)
        elif name in self._module:  # set here it would change nothing there
            raise AttributeError(f"{name} is set in sys.modules['synthrisk.tasks.{self.fn.__name__}'] alone")
        else:
            setattr(self._task, name, value)

    def __reduce__(self) -> str:
        return self.fn.__qualname__  # other processes import it

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # what ``isinstance`` asks, too
        from prefect import Task

        return Task


def check_given(argument: str, value: object, kind: type, task: str) -> None:
    """Refuse what no task returned: where a run fails, Prefect may hand on None.

    Raises:
        InputError: ``value`` is of another kind.
    """
    if not isinstance(value, kind):
        raise InputError(f"{argument} must be what {task} returns, got {type(value).__name__}")


def check_listed(**given: object) -> None:
    """Refuse a text, or something alone, where several are to be given.

    Raises:
        InputError: One of ``given`` is no list.
    """
    for argument, values in given.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            got = repr(values) if isinstance(values, str) else type_of(values)
            raise InputError(f"{argument} must be a list, got {got}")


def found_or_made(task: str, folder: Path, write: Callable[[Path], Taken | None]) -> str:
    """Return the path of a folder that ``write`` fills unless it is there; Prefect shows the run as Cached if it is.

    What ``write`` says that the release took is kept in the folder: no key holds it, and who finds it again has it too.
    """
    if "prefect" in sys.modules and is_kept(folder):  # else no run is under way
        _show_as_cached(task)

    def kept(draft: Path) -> None:
        taken = write(draft)
        if taken is not None:
            (draft / TAKEN).write_text(json.dumps(asdict(taken)))

    return Place(keep(folder, kept))


def _show_as_cached(task: str) -> None:
    from prefect.context import TaskRunContext
    from prefect.transactions import TransactionState, get_transaction

    run, under_way = TaskRunContext.get(), get_transaction()
    if run is not None and run.task.name == task and under_way is not None:
        under_way.state = TransactionState.COMMITTED
