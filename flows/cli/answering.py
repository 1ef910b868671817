"""Whether the store and Prefect answer, told without an address: they are asked, and nothing is made or changed."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPException
from pathlib import Path
from socket import create_connection
from threading import Thread
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlsplit, urlunsplit
from urllib.request import Request, urlopen

_PATIENCE = 5.0  # seconds of one answer
_LONGEST = 12.0  # seconds in all: looking for a name, and a server that sends a letter now and then, have no limit
_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}
_DATABASES = {"postgresql": "PostgreSQL", "mysql": "MySQL", "mssql": "SQL Server"}
_STORE = "mlflow.db"


def store_line(tracking_uri: str | None, workspace: str) -> str:
    """Return what kind of store it is, and whether it answers."""
    return _in_time(lambda: _asked_store(tracking_uri, workspace))


def prefect_line() -> str:
    """Return whether a Prefect API is configured, and whether it answers."""
    return _in_time(_asked_prefect)


def _in_time(ask: Callable[[], str]) -> str:
    """Return an answer, or that there was none; of an error only its kind, for its text may hold an address."""
    found: list[str] = []

    def run() -> None:
        try:
            found.append(ask())
        except Exception as error:  # noqa: BLE001 - whatever it is, the other lines of the screen are told
            found.append(f"cannot be asked ({type(error).__name__})")

    asking = Thread(target=run, daemon=True)
    asking.start()
    asking.join(_LONGEST)
    return found[0] if found else f"no answer in {_LONGEST:g} seconds"


def _asked_store(tracking_uri: str | None, workspace: str) -> str:
    if not tracking_uri:
        if "://" in workspace:
            return "in a workspace that is named by an address; such a workspace is not asked"
        return _workspace(Path(workspace))
    from synthrisk.conf.secrets import resolve

    try:
        filled = resolve(tracking_uri)
    except ValueError:
        return "its address takes a variable that is not set, or that SYNTHRISK_VARIABLES does not name"
    address = urlsplit(filled)
    kind = address.scheme.partition("+")[0] or "file"
    if kind in ("http", "https"):
        return _server("MLflow server", address, ("/health", "/version"))
    if kind == "sqlite":
        return f"SQLite file: {_sqlite(Path(address.path[1:]))}"
    if kind == "file":
        return f"folder: {'is there' if Path(address.path).is_dir() else 'is not there'}"
    if kind in _DATABASES:
        return _database(kind, address)
    return "its address begins with no word that is known"


def _workspace(folder: Path) -> str:
    if (folder / _STORE).exists():
        return f"SQLite in the workspace: {_sqlite(folder / _STORE)}"
    parent = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if parent.is_dir() and os.access(parent, os.W_OK):
        return "SQLite in the workspace: none yet, the first study makes it"
    return "SQLite in the workspace: none yet, and the workspace cannot be written to"


def _sqlite(file: Path) -> str:
    if not file.exists():
        return "is not there yet"
    try:
        address = f"{file.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE)) as database:
            ((experiments,),) = database.execute("select count(*) from experiments").fetchall()
    except sqlite3.Error as error:
        return f"is no store of MLflow, or cannot be read ({type(error).__name__})"
    return f"answers, with {experiments} experiment{'s' * (experiments != 1)}"


def _database(kind: str, address: SplitResult) -> str:
    name = f"{_DATABASES[kind]} {_place(address.hostname)}"
    if not address.hostname:
        return f"{name}: not asked"
    try:
        create_connection((address.hostname, address.port or _PORTS[kind]), timeout=_PATIENCE).close()
    except OSError as error:
        return f"{name}: does not answer ({type(error).__name__})"
    return f"{name}: its port is open"


def _asked_prefect() -> str:
    from synthrisk.flows.configured import is_configured

    if not is_configured():
        return "no API is configured, and none is needed"
    from prefect.settings import PREFECT_API_URL

    return _server("API", urlsplit(str(PREFECT_API_URL.value())), ("/health", "/admin/version"))


def _server(name: str, address: SplitResult, pages: tuple[str, str]) -> str:
    """Return whether a server answers at the first of its pages; its version is at the second."""
    named = f"{name} {_place(address.hostname)}"
    said = _get(address, pages[0])
    if not said.isdigit():
        return f"{named}: does not answer ({said})"
    if said != "200":
        return f"{named}: answers, with code {said}"
    version = _get(address, pages[1]).strip().strip('"')
    return f"{named}: answers{f', version {version}' if version.replace('.', '').isalnum() and '.' in version else ''}"


def _get(address: SplitResult, page: str) -> str:
    """Return the code of an answer that has no version, else the version; the kind of error where nobody answers.

    User and password of the address are not sent: that somebody answers is told without them.
    """
    server = address.netloc.rpartition("@")[2]
    asked = Request(urlunsplit((address.scheme, server, address.path.rstrip("/") + page, "", "")))  # noqa: S310
    try:
        with urlopen(asked, timeout=_PATIENCE) as answer:  # noqa: S310 - http or https, and named by the user
            text = answer.read(40).decode("ascii", "replace")
            return text if "version" in page else str(answer.status)
    except HTTPError as error:
        return str(error.code)
    except URLError as error:
        return type(error.reason).__name__ if isinstance(error.reason, Exception) else "URLError"
    except (HTTPException, OSError, ValueError) as error:
        return type(error).__name__


def _place(host: str | None) -> str:
    here = not host or host in ("localhost", "::1") or host.startswith("127.")
    return "on this machine" if here else "on another machine"
