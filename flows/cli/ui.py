"""The MLflow page of a workspace, and the pages of its latest study."""

import os
import signal
import subprocess
import sys
import time
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryFile
from types import FrameType
from typing import IO, TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

from rich.console import Console
from rich.text import Text

from synthrisk.conf.secrets import without_secrets
from synthrisk.conf.study import Tracking
from synthrisk.flows.reach import check_port, check_tracking
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.tracking.address import store_of

if TYPE_CHECKING:
    from synthrisk.tasks.tracking.latest import Latest

_PATIENCE = 300.0  # seconds for the first answer, on a busy machine
_GRACE = 15.0  # seconds for the server to end


def serve(port: int, tracking_uri: str | None, workspace: Path, study: str | None = None, opens: bool = False) -> int:
    """Run MLflow's server on this machine alone until it is stopped; return its exit code.

    Args:
        port: Where it listens.
        tracking_uri: The store; SQLite in the workspace unless given.
        workspace: Folder of the store and of the reports.
        study: Name of a study: say where the report of the latest one is, and where MLflow shows it.
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
        if opens:
            _open(latest.report.absolute().as_uri())
    if not local or (latest is not None and _has(server, latest)):
        _tell_of_mlflow(server, latest, opens)
        _say("", "this server runs already")
        return 0
    check_port(port)
    try:
        with _running(_command(uri, port)) as (process, log):
            _say("", "MLflow starts; this takes some seconds", err=True)
            if not _answers(server, process):
                log.seek(0)
                sys.stderr.write(log.read().decode(errors="replace"))
                raise InputError(f"the MLflow server must answer at port {port}, got none: what it said stands above")
            _tell_of_mlflow(server, latest, opens)
            _say("", "Ctrl-C stops it")
            return process.wait()
    except KeyboardInterrupt:
        print(flush=True)  # the terminal shows ^C
        return 0


def _latest(tracking: Tracking, workspace: Path, study: str | None) -> "Latest | None":
    from synthrisk.tasks.tracking.latest import latest_study  # MLflow takes a second and 100 MB

    return latest_study(tracking, workspace, study)


def _tell_of_mlflow(server: str, latest: "Latest | None", opens: bool) -> None:
    """Say where MLflow's page is, and open it."""
    shown = without_secrets(server)
    _say("MLflow", shown if latest is None else latest.runs(shown))
    if opens:
        _open(server if latest is None else latest.view(server))
        if latest is not None and latest.report is None:
            _open(latest.kept_report(server))


def _command(uri: str, port: int) -> Sequence[str]:
    """Return the command of a small server: one worker, which says nothing but errors."""
    options = {"backend-store-uri": uri, "host": "127.0.0.1", "port": str(port), "workers": "1"}
    given = [part for name, value in options.items() for part in (f"--{name}", value)]
    return [sys.executable, "-m", "mlflow", "server", *given, "--uvicorn-opts", "--log-level error"]


@contextmanager
def _running(command: Sequence[str]) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """Run a server, with all that it starts, for the time of the block; give it and what it says.

    It ends with the block; SIGTERM is as Ctrl-C.
    """
    environment = os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    before = signal.signal(signal.SIGTERM, _interrupt)
    with TemporaryFile() as log:
        # a session of its own: the signal of Ctrl-C comes to this process alone, which then ends the server once
        process = subprocess.Popen(  # noqa: S603 - our own command
            command, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield process, log
        finally:
            _end(process)
            signal.signal(signal.SIGTERM, before)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _end(process: subprocess.Popen[bytes]) -> None:
    for word in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, word)
        except ProcessLookupError:  # all have ended
            break
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            continue
        deadline = time.monotonic() + _GRACE
        while _lives(process.pid) and time.monotonic() < deadline:  # its worker ends after it
            time.sleep(0.05)


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _answers(server: str, process: subprocess.Popen[bytes]) -> bool:
    """Wait until the server answers; return whether it does, and has not ended instead."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if _get(f"{server}/health"):
            return True
        time.sleep(0.2)
    return False


def _has(server: str, latest: "Latest") -> bool:
    """Tell whether a server that listens already holds the study."""
    return _get(f"{server}/api/2.0/mlflow/runs/get?run_id={latest.run_id}")


def _get(address: str) -> bool:
    try:
        with urlopen(address, timeout=5) as answer:  # noqa: S310 - an address of our own
            return bool(answer.status == 200)
    except (URLError, HTTPException, OSError):
        return False


def _open(address: str) -> None:
    if not webbrowser.open(address):
        _say("", f"no browser was found: open {without_secrets(address)}", err=True)


def _say(what: str, text: object, err: bool = False) -> None:
    console = Console(stderr=err, highlight=False)
    console.print(Text(f"{what:<8}{text}"), soft_wrap=True)
