"""The Prefect server of a command: the configured one, or one of our own that all processes share; when it goes away.

Every request to a server that is gone is tried again for a minute, in the tasks too. So somebody has to look whether it
is there: a thread of the command, which says so once, and from then on nothing is asked of Prefect.

Nothing here imports Prefect before it is needed, which takes a second; so the flow run is asked for here, too.
"""

import logging
import os
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import active_children
from pathlib import Path
from socket import AF_INET, SOCK_STREAM, socket
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from prefect.context import FlowRunContext

    from synthrisk.flows.outcome import Outcome


def flow_run() -> "FlowRunContext | None":
    """Return its context; None where there is none, such as where nothing has imported Prefect yet."""
    if "prefect.context" not in sys.modules:
        return None
    from prefect.context import FlowRunContext

    return FlowRunContext.get()


_OURS = logging.getLogger("synthrisk")
_OURS.addHandler(logging.NullHandler())  # commands say themselves what is to be known


def run_log() -> "logging.Logger | logging.LoggerAdapter[Any]":
    """Return where lines go that Prefect's pages shall show, where there is a flow run."""
    if flow_run() is None:
        return _OURS
    from prefect import get_run_logger

    return get_run_logger()


_VARIABLES = ("PREFECT_API_URL", "PREFECT_API", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH", "PREFECT_HOME")


def is_configured() -> bool:
    """Tell whether a Prefect API is configured."""
    if "prefect" not in sys.modules and not any(_hints()):
        return False
    from prefect.settings import PREFECT_API_URL

    return bool(PREFECT_API_URL.value())


def _hints() -> Iterator[bool]:
    """Yield of each place that Prefect reads settings from whether it may name an API, or lead to one that does."""
    yield any(name.upper() in _VARIABLES for name in os.environ)
    yield Path("~/.prefect/profiles.toml").expanduser().is_file()
    yield Path("prefect.toml").is_file()
    yield "prefect_" in _text(Path(".env")).lower()
    yield _has_table(_text(Path("pyproject.toml")))


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8") if file.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return "PREFECT_"  # Prefect may be able to read it


def _has_table(text: str) -> bool:
    try:
        return "prefect" in tomllib.loads(text).get("tool", {})
    except (tomllib.TOMLDecodeError, TypeError):
        return True


PATIENCE = 45.0  # seconds in which a server that others run may start again: below the minute of Prefect's retries
_DRAIN = 10.0  # seconds for what is still to be sent when a command ends
_LOOK = 1.0
_GONE, _UNSENT = threading.Event(), threading.Event()
_SETTINGS: list[Any] = []  # of Prefect, in the time of ``watched``: each block of settings has its own
_BEFORE: list[tuple[Any, int, bool]] = []  # such settings, with what they said while there was a server
_ENDED: "list[Outcome]" = []


def is_gone() -> bool:
    """Tell whether the Prefect server of this command has gone."""
    return _GONE.is_set()


@contextmanager
def watched(answers: Callable[[], bool], patience: float) -> Iterator[None]:
    """Look in the time of the block whether a server is there; it has gone when it is away for so many seconds."""
    _ENDED.clear()  # of a flow that nobody watched
    over = threading.Event()
    thread = threading.Thread(target=_watch, args=(answers, patience, over), name="Prefect is there", daemon=True)
    also_quiet()
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        _send_the_rest()
        _GONE.clear()
        for settings, retries, logs in reversed(_BEFORE):
            settings.client.max_retries, settings.logging.to_api.enabled = retries, logs
        _BEFORE.clear()
        _SETTINGS.clear()
        _ENDED.clear()


def also_quiet() -> None:
    """Have the settings of Prefect that hold here ask nothing once its server has gone."""
    from prefect.settings import get_current_settings

    _SETTINGS.append(get_current_settings())
    if is_gone():
        _be_quiet()


def remember(outcome: "Outcome") -> None:
    """Remember what the study has ended in: Prefect loses it where its server cannot hear of it."""
    _ENDED[:] = [outcome]


def with_or_without(run: "Callable[[], Outcome]", without: "Callable[[], Outcome]") -> "Outcome":
    """Return what the study ends in, though the server goes in the middle; ``without`` runs it without Prefect.

    Cells that are finished are found again.
    """
    try:
        return run()
    except Exception as error:
        import httpx  # only here: it takes a tenth of a second

        if isinstance(error, httpx.TransportError):
            _GONE.wait(PATIENCE + 2 * _LOOK)  # it may have gone just now
        if not is_gone():
            raise
    return _ENDED[0] if _ENDED else without()


def leave(code: int) -> None:
    """End the process at once where Prefect would go on for minutes to send what nobody hears."""
    if _UNSENT.is_set():
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for each in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                each.kill()
        os._exit(code)


def _watch(answers: Callable[[], bool], patience: float, over: threading.Event) -> None:
    last = time.monotonic()
    while not over.wait(_LOOK):
        if answers():
            last = time.monotonic()
        elif time.monotonic() - last >= patience and not over.is_set():
            _GONE.set()
            _be_quiet()
            _end_workers()
            print("the Prefect server has gone: the study goes on without it", file=sys.stderr, flush=True)
            return


def _be_quiet() -> None:
    for settings in _SETTINGS:
        _BEFORE.append((settings, settings.client.max_retries, settings.logging.to_api.enabled))
        settings.client.max_retries = 0
        settings.logging.to_api.enabled = False


def _end_workers() -> None:
    """End worker processes, which would go on to ask a server that has gone, and keep the flow from ending."""
    for each in active_children():
        each.kill()


def _send_the_rest() -> None:
    """Send logs and events that are still to be sent, for some seconds at most."""
    if is_gone():
        _UNSENT.set()
        return
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    last = time.monotonic() + _DRAIN
    for each in (APILogWorker, EventsWorker):
        left: Any = each.drain_all(timeout=max(0.1, last - time.monotonic()))
        if left.not_done:
            _UNSENT.set()


_BUSY = 503  # as HTTP says it
_LONGEST, _WAIT = 2.0, 0.02  # seconds in which a request is tried again, and before each time


class Patient:
    """An application that tries a request again which Prefect's database, a file, was too busy for.

    Each task run asks for slots by its tags. Prefect reads there, and writes then: SQLite refuses that at once where
    another has written meanwhile. Prefect answers 503, upon which its clients wait two seconds, in every tenth task.
    """

    def __init__(self, application: Callable[..., Awaitable[None]]) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer as ASGI says."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        import asyncio  # only in the server: it takes a tenth of a second

        body = [await receive()]
        while body[-1].get("more_body"):
            body.append(await receive())
        last, busy = time.monotonic() + _LONGEST, True
        while busy:
            again, busy = iter(body), False

            async def asked(again: Any = again) -> Any:
                return next(again, None) or await receive()

            async def answer(message: Any) -> None:
                nonlocal busy
                busy = busy or (message.get("status") == _BUSY and time.monotonic() < last)
                if not busy:
                    await send(message)

            try:
                await self._application(dict(scope), asked, answer)
            except Exception:  # which it raises once more when it has answered
                if not busy:
                    raise
            if busy:
                await asyncio.sleep(_WAIT)


def application() -> Callable[..., Awaitable[None]]:
    """Return Prefect's server as the temporary one runs it."""
    from prefect.server.api.server import create_app

    return Patient(create_app())


_LOOK_OWN_SERVER = 0.05  # seconds between two looks whether it answers


class OwnServer:
    """A server process on a free port of this machine, with the database that Prefect's own temporary server has.

    Prefect's ``SubprocessASGIServer`` is the same process; to import it costs 2.4 s, and its start waits. This one
    starts while the command goes on importing.
    """

    def __init__(self) -> None:
        with socket(AF_INET, SOCK_STREAM) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        server = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}
        command = [sys.executable, "-m", "synthrisk.tasks.workspace.parent_process", str(os.getpid()), "uvicorn"]
        installed = Path(str(find_spec("prefect").origin)).parents[1]  # type: ignore[union-attr]  # it is needed
        application = ["--app-dir", str(installed), "synthrisk.flows.orchestration.server:application"]
        rest = ["--factory", "--host=127.0.0.1", f"--port={self.port}", "--log-level=error", "--lifespan=on"]
        self._process = subprocess.Popen(  # noqa: S603 - nothing of a user's is in it
            [*command, *application, *rest],
            env={**os.environ, **server, **_settings_here()},
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
                time.sleep(_LOOK_OWN_SERVER)
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


def _settings_here() -> dict[str, str]:
    """Return the settings of Prefect that hold in this process, as variables; none where it is not imported yet."""
    if "prefect" not in sys.modules:
        return {}
    from prefect.settings import get_current_settings

    return get_current_settings().to_environment_variables(exclude_unset=True)


_BEGUN: list[OwnServer] = []  # for ``prefect_api``


@contextmanager
def begun_early(*, wanted: bool) -> Iterator[None]:
    """Have an own server start where one is ``wanted`` and no API is configured, before anything else is imported."""
    if wanted and not is_configured():
        _BEGUN.append(OwnServer())
    try:
        yield
    finally:
        while _BEGUN:  # an error came before it was needed
            _BEGUN.pop().stop()


@contextmanager
def prefect_api(meanwhile: str = "") -> Iterator[str]:
    """Yield the address of the Prefect API.

    Without one configured, worker processes would each start a server of their own on one SQLite file; so one
    is started here, and its address put where worker processes look. While it starts, the module ``meanwhile`` is
    imported: what the block needs.

    Raises:
        InputError: The configured one does not answer.
    """
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from synthrisk.flows.connections import answers_at, check_prefect

    configured = PREFECT_API_URL.value()
    if configured:
        check_prefect(configured)
        with watched(partial(answers_at, configured), PATIENCE):
            yield configured
        return

    with _ended(_BEGUN.pop() if _BEGUN else OwnServer()) as server, _in_environment(server.api_url):
        if meanwhile:
            import_module(meanwhile)
        server.wait()
        with temporary_settings({PREFECT_API_URL: server.api_url}), watched(server.lives, 0):
            yield server.api_url


@contextmanager
def _ended(server: "OwnServer") -> Iterator["OwnServer"]:
    """End a server after the block."""
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def _in_environment(url: str) -> Iterator[None]:
    """Put the address where worker processes look, and Prefect's own threads, which would start one more server."""
    from prefect.context import refresh_global_settings_context

    before = os.environ.get("PREFECT_API_URL")
    os.environ["PREFECT_API_URL"] = url
    refresh_global_settings_context()
    try:
        yield
    finally:
        os.environ.pop("PREFECT_API_URL")
        if before is not None:
            os.environ["PREFECT_API_URL"] = before
        refresh_global_settings_context()


@contextmanager
def workers_share_the_api() -> Iterator[None]:
    """Have worker processes use the API of the flow that is under way: without one configured it has one of its own."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    url = PREFECT_API_URL.value()
    if not url:
        from prefect.server.api.server import SubprocessASGIServer

        url = SubprocessASGIServer().api_url
    with temporary_settings({PREFECT_API_URL: url}):
        also_quiet()
        yield


if __name__ == "__main__":  # at set-up: Prefect's own database is made, which takes the first study some seconds
    with suppress(Exception), prefect_api():
        pass
