"""What all tests share: Hypothesis' profile, a Prefect home, and a Prefect server for those that run flows."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings

# the same examples tomorrow; others with --hypothesis-profile=search, wherever a test names no number of its own
settings.register_profile("same", max_examples=20, derandomize=True, deadline=None, print_blob=True)
settings.register_profile("search", max_examples=500, deadline=None, print_blob=True)
settings.load_profile("same")

MEMORY, ROOM = "/dev/shm", 6 << 30  # bytes that a whole run may write
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    # each commit of SQLite waits for a disk; set TMPDIR to have what a test has written afterwards
    os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="sr-", dir=MEMORY)  # short: sockets below it have 107 letters
    tempfile.tempdir = None  # asked for again
    atexit.register(shutil.rmtree, os.environ["TMPDIR"], ignore_errors=True)
HOME = tempfile.mkdtemp(prefix="synthrisk-prefect-")  # before prefect is imported anywhere
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
os.environ["PREFECT_HOME"] = HOME
os.environ.pop("PREFECT_API_URL", None)
os.environ.pop("PREFECT_PROFILE", None)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of small products wait for each other beside other tests

from synthrisk.flows.cli.exit_codes import set_up  # noqa: E402

set_up()  # variables that prefect and mlflow read when they are imported


@pytest.fixture(scope="session")
def prefect_database() -> Iterator[Path]:
    """Run a Prefect server for the flow tests, as a command starts it; give the file of its database."""
    from prefect.server.api.server import SubprocessASGIServer
    from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL
    from prefect.testing.utilities import prefect_test_harness

    from synthrisk.flows.orchestration.server import OwnServer

    def start(server: SubprocessASGIServer) -> subprocess.Popen[bytes]:
        ours = OwnServer()
        server.port = ours.port
        return ours._process

    # Prefect's own answers that it is busy, upon which each task waits for two seconds
    with patch.object(SubprocessASGIServer, "_run_uvicorn_command", start), prefect_test_harness(240):
        yield Path(str(PREFECT_API_DATABASE_CONNECTION_URL.value()).partition(":///")[2])


@pytest.fixture(scope="session")
def s3() -> Iterator[dict[str, str]]:
    """Run an S3 server with the bucket ``studies``; give the environment in which it is reached."""
    script = Path(__file__).with_name("s3_server.py")
    keys = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1"}
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield {"AWS_ENDPOINT_URL": server.stdout.readline().strip(), **keys}
        server.kill()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of the site of the docs: that of ``make site``, where nothing has changed since it was built."""
    root = Path(__file__).parents[1]
    stamp, rooms = root / "build" / "site.stamp", ("docs", "metrics", "conf", "tasks", "flows")
    sources = [root / "mkdocs.yml", *(path for room in rooms for path in (root / room).rglob("*.*"))]
    if stamp.exists() and all(
        path.stat().st_mtime < stamp.stat().st_mtime for path in sources if "__pycache__" not in path.parts
    ):
        return root / "build" / "site"
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(place)]
    done = subprocess.run(command, cwd=root, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return place


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait longer than a user would for a server that others keep busy here."""
    monkeypatch.setattr("synthrisk.tasks.workspace.folders._PATIENCE", 120.0)


@pytest.fixture(scope="session")
def logged_of() -> Callable[..., Any]:
    """Give a function that logs a study of which no ledgers are kept."""
    from synthrisk.conf.study import Bootstrap
    from synthrisk.metrics.study.comparison import Compared
    from synthrisk.tasks.log import log
    from synthrisk.tasks.tracking.addresses import Pages
    from synthrisk.tasks.workspace.references import Cut, Estimated, Judged, Sample

    def logged(result: Any, table: Any, folder: Path, report: str = "", pages: Any = None, **options: Any) -> Any:
        sample = Sample(table, Cut("unused", "cut", 1, 1, 0.0), str(folder))
        if not report:
            (folder / "empty.html").touch()
        written = pages or Pages(report or str(folder / "empty.html"))
        judged = Judged(result, Estimated(sample, (), (), Bootstrap(), Compared([])))
        return log.fn(judged, settings="name: people\n", pages=written, **options)

    return logged
