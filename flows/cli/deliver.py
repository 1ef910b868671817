"""Studies that wait to be logged, delivered from the command line."""

from pathlib import Path

import typer

from synthrisk.flows.tracked import block_readable
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.log import deliver
from synthrisk.tasks.tracking.logged import same_answer
from synthrisk.tasks.tracking.waiting import ids_waiting, read_waiting
from synthrisk.tasks.workspace.failure import RunError


def deliver_studies(study_id: str | None, workspace: Path) -> None:
    """Log a study that waits in a workspace, or all that do, and say where each is.

    What keeps one of several from its store keeps none of the others: it is said, and the first such error is raised
    at the end.

    Raises:
        InputError: None waits, or not this one, or it cannot be read.
        NotLoggedError: The store does not do its work; the study goes on waiting.
    """
    waits = ids_waiting(workspace)
    if not waits:
        raise InputError(f"the workspace must hold a study that waits to be logged, got none in {workspace}")
    errors: list[InputError | RunError] = []
    for each in [study_id] if study_id else waits:
        try:
            _deliver(each, workspace)
        except (InputError, RunError) as error:
            errors.append(error)
    for other in errors[1:]:
        typer.echo(f"Error: {other}", err=True)
    if errors:
        raise errors[0]


def _deliver(study_id: str, workspace: Path) -> None:
    with block_readable(read_waiting(workspace, study_id).tracking):
        logged = deliver(workspace, study_id)
    if logged is None:
        typer.echo(f"another process is logging study {study_id}")
    elif logged.checked_again:
        typer.echo(f"study {study_id} in {logged.uri}: {same_answer(logged)}")
    else:
        typer.echo(f"logged: study {study_id} in {logged.uri}")
    if logged and logged.pages.failure:
        typer.echo(f"its report is not written: {logged.pages.failure}", err=True)
