"""A Prefect server for the time of a command, started without waiting for it."""

import os
import subprocess
import sys
import time
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, socket

_LOOK = 0.05  # seconds between two looks whether it answers


class OwnServer:
    """A server process on a free port of this machine, with the database that Prefect's own temporary server has.

    Prefect's ``SubprocessASGIServer`` is the same process; to import it costs 2.4 s, and its start waits. This one
    starts while the command goes on importing.
    """

    def __init__(self) -> None:
        import prefect
        from prefect.settings import get_current_settings

        with socket(AF_INET, SOCK_STREAM) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        server = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}
        settings = get_current_settings().to_environment_variables(exclude_unset=True)
        command = [sys.executable, "-m", "synthrisk.tasks.workspace.parent", str(os.getpid()), "uvicorn"]
        application = ["--app-dir", str(Path(prefect.__file__).parents[1]), "prefect.server.api.server:create_app"]
        rest = ["--factory", "--host=127.0.0.1", f"--port={self.port}", "--log-level=error", "--lifespan=on"]
        self._process = subprocess.Popen(  # noqa: S603 - nothing of a user's is in it
            [*command, *application, *rest],
            env={**os.environ, **server, **settings},
            start_new_session=True,  # Ctrl-C is for the command, which ends it
        )

    @property
    def api_url(self) -> str:
        """Address of its API."""
        return f"http://127.0.0.1:{self.port}/api"

    def wait(self) -> None:
        """Return when it answers.

        Raises:
            RuntimeError: It has ended, or does not answer in time.
        """
        from urllib.request import urlopen  # only here: it takes a tenth of a second

        from prefect.settings import PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS

        last = time.monotonic() + PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS.value()
        while time.monotonic() < last:
            if self._process.poll() is not None:
                raise RuntimeError(f"the temporary Prefect server ended with exit code {self._process.returncode}")
            try:
                urlopen(f"{self.api_url}/health", timeout=5).close()  # noqa: S310 - of this machine
                return
            except OSError:
                time.sleep(_LOOK)
        raise RuntimeError("the temporary Prefect server did not answer in time")

    def lives(self) -> bool:
        """Tell whether its process has not ended."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End it, at once if it does not end in five seconds."""
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
