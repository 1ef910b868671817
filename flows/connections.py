"""Whether what a study names can be used, asked at the start: servers, store, and the workspace of all workers."""

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from synthrisk.conf.loader import home
from synthrisk.conf.study import Runner, Tracking
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.tracking.addresses import uri_of
from synthrisk.tasks.workspace.folders import Shared, UnreachableError, is_shared, look, opened_in_time
from synthrisk.tasks.workspace.store import check_writable

STORES = ("http", "https", "sqlite", "postgresql", "mysql", "mssql", "file")
_PATIENCE = 5.0  # seconds
_PORTS = {"http": 80, "https": 443, "postgresql": 5432, "mysql": 3306, "mssql": 1433}
_SQLITE = b"SQLite format 3\0"  # what such a file begins with


def check_tracking(tracking: Tracking) -> None:
    """Refuse a tracking address of an unknown form, whose server does not answer, or whose file is no store.

    Raises:
        InputError: So it is; the text holds neither user nor password.
    """
    uri = None if tracking.offline else uri_of(tracking)
    if not uri:
        return
    address, named = urlsplit(uri), "tracking.block" if tracking.block else "tracking.uri"
    kind = address.scheme.partition("+")[0] or "file"
    if kind not in STORES:
        raise InputError(f"{named} must begin with one of {', '.join(STORES)}, got {address.scheme}://")
    if kind == "file":
        check_writable(named, Path(address.path), folder=True)
    elif kind == "sqlite":
        _check_sqlite(named, Path(address.path[1:]))
    elif address.hostname or kind.startswith("http"):  # a database without a host is on this machine
        _check_answer(named, address.hostname or "", _port(address) or _PORTS[kind])


def check_prefect(url: str) -> None:
    """Refuse the address of a Prefect server that is none, or at which nobody answers.

    Raises:
        InputError: So it is.
    """
    address = urlsplit(url)
    if address.scheme not in ("http", "https"):
        raise InputError("PREFECT_API_URL must be an address such as http://host:4200/api, got one without http://")
    _check_answer("PREFECT_API_URL", address.hostname or "", _port(address) or _PORTS[address.scheme])


def answers_at(url: str) -> bool:
    """Tell whether a Prefect server answers at an address, if with a refusal."""
    try:
        check_prefect(url)
    except InputError:
        return False
    return True


def check_address(runner: Runner) -> None:
    """Refuse the address of a Dask scheduler that does not answer.

    Raises:
        InputError: So it is, or it has no host and port.
    """
    if runner.address is None:
        return
    address = urlsplit(runner.address if "://" in runner.address else f"tcp://{runner.address}")
    port = _port(address)
    if not address.hostname or not port:
        raise InputError(f"runner.address must be tcp://host:port, got {runner.address!r}")
    _check_answer("runner.address", address.hostname, port)


def check_port(port: int) -> None:
    """Refuse a port of this machine at which another program listens.

    Raises:
        InputError: One does.
    """
    with socket.socket() as asked:
        if asked.connect_ex(("127.0.0.1", port)) == 0:
            raise InputError(f"--port must be one at which nobody listens yet, got {port}; give another")


def _check_sqlite(named: str, path: Path) -> None:
    check_writable(named, path, folder=False)
    if not path.parent.is_dir():
        raise InputError(f"{named} must be a file in a folder that is there, got {str(path)!r}")
    if path.exists() and path.stat().st_size:
        with path.open("rb") as file:
            begins = file.read(len(_SQLITE))
        if begins != _SQLITE:
            raise InputError(f"{named} must be an SQLite file, got {str(path)!r}, which is another kind of file")


def _port(address: SplitResult) -> int | None:
    try:
        return address.port
    except ValueError:  # no number
        return None


def _check_answer(argument: str, host: str, port: int) -> None:
    if not host:
        raise InputError(f"{argument} must name a server, as in http://host:port, got none")
    try:
        socket.create_connection((host, port), timeout=_PATIENCE).close()
    except OSError as error:
        raise InputError(
            f"{argument} must lead to a server that answers, got none at {host}:{port} ({type(error).__name__})"
        ) from None


_NAMED = 3  # workers that a sentence names


def check_workspace(workspace: str, runner: Runner) -> None:
    """Refuse a workspace that cannot be written, or that a worker does not see.

    Raises:
        InputError: So it is.
    """
    if not is_shared(workspace):
        check_writable("workspace", Path(workspace), folder=True)
        return
    check_writable("SYNTHRISK_HOME", home(), folder=True)
    try:
        shared = opened_in_time(workspace)
    except UnreachableError as error:
        raise InputError(f"workspace must be a place that answers, but {error}") from None
    if shared.url.startswith("memory:") and runner.is_ours:
        raise InputError(f"workspace memory:// is in one process alone, which workers of {runner.kind} do not see")
    if runner.address:
        _check_workers(runner.address, shared)


def _check_workers(address: str, shared: Shared) -> None:
    """Have each worker of a Dask cluster look for the workspace; ``check_address`` tells where there is no cluster."""
    import distributed

    client_of: Any = distributed.Client  # which is not typed
    try:
        with client_of(address, timeout=_PATIENCE, set_as_default=False) as client:
            found: Mapping[str, object] = client.run(look, shared.url, shared.token, on_error="return")
    except OSError:
        return
    blind = {worker: _why(said, shared.url) for worker, said in found.items() if said != ""}
    if blind:
        told = "; ".join(f"{worker} {why}" for worker, why in list(blind.items())[:_NAMED])
        raise InputError(
            f"all workers must reach the workspace, but {len(blind)} of {len(found)} do not: {told}"
            + ("; ..." if len(blind) > _NAMED else "")
        )


def _why(said: object, url: str) -> str:
    if isinstance(said, UnreachableError | InputError):
        return f"says: {said}"
    return (
        said
        if isinstance(said, str)
        else f"cannot look at {url} ({type(said).__name__}): is this version of synthrisk installed?"
    )
