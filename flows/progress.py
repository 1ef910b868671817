"""How far a study is, on the terminal and in the Prefect UI."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast
from uuid import UUID

from prefect import get_run_logger
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text


def warn(warnings: Sequence[str]) -> None:
    """Tell what a study will say little about, before it begins: on stderr, and in the log of the flow run."""
    for warning in warnings:
        get_run_logger().warning(warning)
        Console(stderr=True, highlight=False).print(Text(f"Mind         {warning}", style="yellow"), soft_wrap=True)


class Progress:
    """Counts finished releases."""

    def __init__(self, bar: Bar, total: int):
        self._bar, self._total, self._done = bar, total, 0
        self._row = bar.add_task("releases", total=total)
        self._artifact = cast(UUID, create_progress_artifact(0.0, key="releases", description="Releases attacked"))

    def advance(self, name: str) -> None:
        """Count one more release as finished."""
        self._done += 1
        self._bar.update(self._row, advance=1, description=name)
        update_progress_artifact(self._artifact, 100 * self._done / self._total)
        get_run_logger().info("%s finished, %d of %d", name, self._done, self._total)


@contextmanager
def progress(total: int) -> Iterator[Progress]:
    """Show a bar for the time of the block; nothing where the terminal cannot draw one."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield Progress(bar, total)
