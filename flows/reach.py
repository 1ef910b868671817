"""Whether the servers that a study names answer: asked before anything is computed."""

import socket
from urllib.parse import SplitResult, urlsplit

from synthrisk.conf import resolve
from synthrisk.conf.study import Runner, Tracking
from synthrisk.metrics.errors import InputError

STORES = ("http", "https", "sqlite", "postgresql", "mysql", "mssql", "file")
_PATIENCE = 5.0  # seconds
_PORTS = {"http": 80, "https": 443}


def check_tracking(tracking: Tracking) -> None:
    """Refuse a tracking address of an unknown form, or whose server does not answer.

    Raises:
        InputError: So it is; the text holds neither user nor password.
    """
    if not tracking.uri:
        return
    address = urlsplit(resolve(tracking.uri))
    if not address.scheme:  # a folder
        return
    if address.scheme.partition("+")[0] not in STORES:
        raise InputError(f"tracking.uri must begin with one of {', '.join(STORES)}, got {address.scheme}://")
    if address.scheme in _PORTS:
        _check_answer("tracking.uri", address.hostname or "", _port(address) or _PORTS[address.scheme])


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


def _port(address: SplitResult) -> int | None:
    try:
        return address.port
    except ValueError:  # no number
        return None


def _check_answer(argument: str, host: str, port: int) -> None:
    try:
        socket.create_connection((host, port), timeout=_PATIENCE).close()
    except OSError as error:
        raise InputError(
            f"{argument} must lead to a server that answers, got none at {host}:{port} ({type(error).__name__})"
        ) from None
