"""What all tasks have in common: the workspace keeps what they find, so Prefect keeps and compares nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from prefect import Task, task
from prefect.cache_policies import NO_CACHE
from prefect.context import TaskRunContext
from prefect.transactions import TransactionState, get_transaction

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.kept import is_kept, keep
from synthrisk.tasks.workspace.shared import Place

_P = ParamSpec("_P")
_R = TypeVar("_R")


def verb(
    name: str, run_name: str | Callable[[dict[str, Any]], str] | None = None
) -> Callable[[Callable[_P, _R]], Task[_P, _R]]:
    """Make a function a Prefect task that stores neither parameters nor results.

    The name of its runs is a template, or a function of ``parameters``; the task's own unless given.
    """
    named = cast(Any, run_name or name)  # Prefect's type of it leaves plain functions out
    return task(name=name, task_run_name=named, cache_policy=NO_CACHE, persist_result=False)


def check_given(argument: str, value: object, kind: type, task: str) -> None:
    """Refuse what no task returned: where a run fails, Prefect may hand on None.

    Raises:
        InputError: ``value`` is of another kind.
    """
    if not isinstance(value, kind):
        raise InputError(f"{argument} must be what {task} returns, got {type(value).__name__}")


def found_or_made(task: str, folder: Path, write: Callable[[Path], None]) -> str:
    """Return the path of a folder that ``write`` fills unless it is there; Prefect shows the run as Cached if it is."""
    run, under_way = TaskRunContext.get(), get_transaction()
    if run is not None and run.task.name == task and under_way is not None and is_kept(folder):
        under_way.state = TransactionState.COMMITTED
    return Place(keep(folder, write))
