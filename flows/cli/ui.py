"""The MLflow page of a workspace, and the pages of its latest study."""

import os
import sys
import webbrowser
from http.client import HTTPException
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, TextIO
from urllib.error import URLError
from urllib.request import urlopen

from rich.console import Console
from rich.text import Text

from synthrisk.conf.secrets import secrets_of, without_secrets
from synthrisk.conf.study import Tracking
from synthrisk.flows.cli.exit_codes import aside
from synthrisk.flows.connections import check_port, check_tracking
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.tracking.addresses import store_of

if TYPE_CHECKING:
    from synthrisk.tasks.tracking.history import Latest

_LOOK = 0.2  # seconds between two looks whether the server answers
_PATIENCE = 10.0  # seconds for a browser of the terminal, which is waited for


def serve(port: int, tracking_uri: str | None, workspace: Path, study: str | None = None, opens: bool = False) -> int:
    """Run MLflow's server on this machine alone until it is stopped; return its exit code.

    Args:
        port: Where it listens.
        tracking_uri: The store; SQLite in the workspace unless given.
        workspace: Folder of the store and of the reports.
        study: Name of a study: say where report and record of the latest one are, and where MLflow shows it.
        opens: Whether to open these pages in the browser; of the latest study of all, unless ``study`` names one.

    Raises:
        InputError: There is no store, or no such study in it, or the port is taken, or the server does not come up.
    """
    tracking = Tracking(uri=tracking_uri)
    check_tracking(tracking)
    uri = store_of(tracking, workspace)
    local = not uri.startswith("http")
    named = study is not None
    if local and not named:
        check_port(port)
    latest = _latest(tracking, workspace, study) if named or opens else None
    server = f"http://127.0.0.1:{port}" if local else uri.rstrip("/")
    if latest is not None and latest.report is not None:
        _say("report", latest.report)
        if latest.record is not None:
            _say("record", latest.record)
        if opens:
            _open(latest.report.absolute().as_uri())
    if not local or (latest is not None and _has(server, latest)):
        _tell_of_mlflow(server, latest, opens)
        _say("", "this server runs already")
        return 0
    check_port(port)
    try:
        _run(uri, port, server, latest, opens)
    except KeyboardInterrupt:
        print(flush=True)  # the terminal shows ^C
    return 0


def _run(uri: str, port: int, server: str, latest: "Latest | None", opens: bool) -> None:
    """Be MLflow's server until it ends, and say where its page is as soon as it answers."""
    _say("", "MLflow starts; this takes some seconds", sys.stderr)
    os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] = "false"  # several processes more
    with aside() as (screen, log):
        answers, ended = Event(), Event()

        def look() -> None:
            while not ended.wait(_LOOK):
                if _get(f"{server}/health"):
                    answers.set()
                    _tell_of_mlflow(server, latest, opens, screen)
                    _say("", "Ctrl-C stops it", screen)
                    return

        looks = Thread(target=look, name="look for the server", daemon=True)
        looks.start()
        try:
            from synthrisk.tasks.tracking.store import run_server  # MLflow takes seconds

            run_server(uri, port)
        finally:
            ended.set()
            looks.join(_PATIENCE)
        log.seek(0)
        said = log.read().decode(errors="replace")
    for secret in secrets_of(uri):
        said = said.replace(secret, "...")
    sys.stderr.write(said)
    if answers.is_set():
        raise InputError(f"the MLflow server at port {port} must run until it is stopped, but it ended: see above")
    raise InputError(f"the MLflow server must answer at port {port}, got none: what it said stands above")


def show_record(study: str, tracking_uri: str | None, workspace: Path, to: Path | None, opens: bool) -> None:
    """Say where the decision record of the latest study of a name is, copy it, or open it.

    Raises:
        InputError: There is no store, no such study in it, or no record of it in the workspace.
    """
    tracking = Tracking(uri=tracking_uri)
    check_tracking(tracking)
    latest = _latest(tracking, workspace, study)
    page = latest.record if latest is not None else None
    if page is None:
        where = f"; run {latest.run_id} of MLflow has it among its artifacts" if latest is not None else ""
        raise InputError(f"the workspace must hold the decision record of {study!r}, got none{where}")
    if to is not None:
        to.write_bytes(page.read_bytes())
    _say("record", to or page)
    if opens:
        _open((to or page).absolute().as_uri())


def _latest(tracking: Tracking, workspace: Path, study: str | None) -> "Latest | None":
    from synthrisk.tasks.tracking.history import latest_study  # MLflow takes a second and 100 MB

    return latest_study(tracking, workspace, study)


def _tell_of_mlflow(server: str, latest: "Latest | None", opens: bool, screen: TextIO | None = None) -> None:
    """Say where MLflow's page is, and open it."""
    shown = without_secrets(server)
    _say("MLflow", shown if latest is None else latest.view(shown), screen)
    if opens:
        _open(server if latest is None else latest.view(server), screen)
        if latest is not None and latest.report is None:
            _open(latest.kept_report(server), screen)


def _has(server: str, latest: "Latest") -> bool:
    """Tell whether a server that listens already holds the study."""
    return _get(f"{server}/api/2.0/mlflow/runs/get?run_id={latest.run_id}")


def _get(address: str) -> bool:
    try:
        with urlopen(address, timeout=5) as answer:  # noqa: S310 - an address of our own
            return bool(answer.status == 200)
    except (URLError, HTTPException, OSError):
        return False


def _open(address: str, screen: TextIO | None = None) -> None:
    if not webbrowser.open(address):
        _say("", f"no browser was found: open {without_secrets(address)}", screen or sys.stderr)


def _say(what: str, text: object, to: TextIO | None = None) -> None:
    Console(file=to or sys.stdout, highlight=False).print(Text(f"{what:<8}{text}"), soft_wrap=True)
