"""Studies that wait to be logged, delivered from the command line."""

from pathlib import Path

import typer

from synthrisk.flows.tracked import block_readable
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.log import deliver
from synthrisk.tasks.tracking.waiting import ids_waiting, read_waiting


def deliver_studies(study_id: str | None, workspace: Path) -> None:
    """Log a study that waits in a workspace, or all that do, and say where each is.

    Raises:
        InputError: None waits, or not this one.
        NotLoggedError: The store does not do its work; the study goes on waiting.
    """
    waits = ids_waiting(workspace)
    if not waits:
        raise InputError(f"the workspace must hold a study that waits to be logged, got none in {workspace}")
    for each in [study_id] if study_id else waits:
        with block_readable(read_waiting(workspace, each).tracking):
            logged = deliver(workspace, each)
        typer.echo(f"logged: study {each} in {logged.uri}" if logged else f"another process is logging study {each}")
        if logged and logged.pages.failure:
            typer.echo(f"its report is not written: {logged.pages.failure}", err=True)
