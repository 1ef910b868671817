"""``synthrisk benchmark``, as a flow of Prefect or its course alone; ``split`` and ``log``, which go with it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import typer

from synthrisk.conf import Study
from synthrisk.flows.execution.pool import begin_early, may_be_found_again
from synthrisk.flows.preflight import block_readable
from synthrisk.flows.study_course import sample_of
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.tracking.addresses import same_answer
from synthrisk.tasks.tracking.store_outage import ids_waiting, read_waiting
from synthrisk.tasks.workspace.failures import RunError
from synthrisk.tasks.workspace.store import check_writable, private_folder


def write_parts(study: Study, to: Path, form: Literal["csv", "parquet"]) -> list[Path]:
    """Write the members of every release as ``train-{repetition}-{fold}``; return the files.

    The identifier is left out, as no synthesizer sees it.
    """
    check_writable("--to", to, folder=True)
    sample, folder = sample_of(study), private_folder(to)
    written = []
    for repetition in range(sample.cut.repetitions):
        for fold in range(sample.cut.releases):
            path = folder / f"train-{repetition}-{fold}.{form}"
            train = sample.members(repetition, fold)
            if form == "csv":
                train.to_csv(path, index=False)
            else:
                train.to_parquet(path, index=False)
            path.chmod(0o600)
            written.append(path)
    return written


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
    from synthrisk.tasks.log import deliver  # MLflow takes a second and 100 MB

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


def studied(study: Study, run: Callable[[Any], Any], *, prefect: bool = False) -> Any:
    """Return the outcome of a study.

    Where a Prefect API is configured, and with ``prefect`` on a temporary one, ``run`` is given the flow ``benchmark``;
    elsewhere its course runs here, on worker processes of our own: the same tasks, with no trace in Prefect's history.

    Raises:
        InputError: The study or its data break a rule; nothing has been computed yet.
    """
    processes = study.runner.kind == "processes"
    if processes and not may_be_found_again(Path(study.workspace)):
        begin_early(prefect=prefect)
    from synthrisk.flows.preflight import check, checked_on

    check(study)
    from synthrisk.flows.execution.calls_and_retries import PlainCalls
    from synthrisk.flows.execution.pool import pool_calls
    from synthrisk.flows.orchestration.server import is_configured, with_or_without
    from synthrisk.flows.study_course import course, sample_of

    sample = sample_of(study)
    with checked_on(study, sample):
        if processes and not prefect and not is_configured():
            with pool_calls(study.runner.workers) as calls:
                return course(study, sample, calls)
        from synthrisk.flows.orchestration.server import prefect_api

        with prefect_api(meanwhile="synthrisk.flows.benchmark"):
            from synthrisk.flows.benchmark import benchmark

            return with_or_without(lambda: run(benchmark), lambda: course(study, sample, PlainCalls()))
