"""Where the pages of a finished study are, as addresses that a browser takes."""

from dataclasses import dataclass
from pathlib import Path

from synthrisk.flows.study import Outcome

SERVER = "http://127.0.0.1:5000"
"""Where ``synthrisk ui`` shows runs that are in no server."""


@dataclass(frozen=True)
class Links:
    """Addresses of a study's pages."""

    report: str  # a file of the machine that ran the study
    runs: str  # its runs in MLflow
    start: str  # what to start before ``runs`` answers; empty where a server runs


def links_of(outcome: Outcome) -> Links:
    """Return where the report and the runs of a study are."""
    is_server = outcome.logged.uri.startswith("http")
    return Links(
        report=Path(outcome.report).absolute().as_uri(),
        runs=outcome.logged.list_link(outcome.logged.uri if is_server else SERVER),
        start="" if is_server else "synthrisk ui",
    )
