"""Where the pages of a finished study are: addresses that open, else paths and commands as text."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from synthrisk.conf.secrets import mask
from synthrisk.flows.outcome import Outcome
from synthrisk.tasks.tracking.logged import not_logged_yet


@dataclass(frozen=True)
class Links:
    """Addresses of a study's pages."""

    page: str  # its report in MLflow; empty where no server shows it, or it could not be written
    path: str  # the report as a file of the machine that ran the study; empty where it could not be written
    runs: str  # its runs in MLflow; empty where no server shows them
    start: str  # the command that shows report and runs where no server does
    waits: str  # the line that says how it comes into MLflow, where it is not logged yet


def links_of(outcome: Outcome) -> Links:
    """Return where the report and the runs of a study are: addresses only of what a server shows that runs.

    A page of a server opens no file, and MLflow's pages of a store without a server are there once somebody starts one.
    """
    logged = outcome.logged
    server = logged.uri.rstrip("/") if logged.uri.startswith("http") and not logged.waits else ""
    where = ["--tracking-uri", logged.uri]
    if logged.uri.startswith("sqlite:"):
        where = ["--workspace", str(outcome.workspace.absolute())]
    command = ["synthrisk", "ui", "--open", logged.experiment or outcome.result.name, *where]
    return Links(
        page=mask(logged.page_link(server)) if server else "",
        path=mask(str(Path(outcome.report).absolute())) if outcome.report else "",
        runs=mask(logged.view_link(server)) if server else "",
        start="" if server or logged.waits else shlex.join(command),
        waits=not_logged_yet(logged) if logged.waits else "",
    )
