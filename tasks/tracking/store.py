"""Opening a store: one process at a time makes or migrates its tables."""

import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from synthrisk.conf.secrets import mask, without_secrets
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.tracking.client import StudyClient
from synthrisk.tasks.tracking.empty_store import copied, keep_copy
from synthrisk.tasks.tracking.store_failure import reason_of, text_of
from synthrisk.tasks.workspace.store import draft_name

_LOCKS = {  # of databases: said, waited for, and given back with the connection
    "postgresql": "SELECT pg_advisory_lock(:key)",
    "mysql": "SELECT GET_LOCK(CAST(:key AS CHAR), 600)",
}

FAULTS = (MlflowException, SQLAlchemyError, OSError)
"""What is raised where a store, or the disk below it, does not do its work."""
_PATIENCE = 5.0  # seconds


class StoreError(InputError):
    """A store cannot be opened."""

    def __init__(self, place: str, reason: str, text: str = "") -> None:
        super().__init__(place, reason, text)  # its arguments travel between processes
        self.reason, self.text = reason, text  # why, in a few words, and in those of the store

    def __str__(self) -> str:
        return f"tracking.uri must lead to a store that can be opened, got {self.args[0]} ({self.reason})"


def opened(uri: str) -> MlflowClient:
    """Return a client of a store whose tables are there and of this version.

    MLflow makes and migrates the tables when a store is first used, with no regard for other processes that do so too:
    of four that open a new SQLite file at once three fail, and the file stays broken, as it does where one is killed.

    Raises:
        StoreError: It cannot be opened; the text holds neither user nor password.
    """
    try:
        with _alone(uri):
            _make(uri)
            client = StudyClient(uri)
            client.search_experiments(max_results=1)
    except FAULTS as error:
        raise StoreError(mask(without_secrets(uri)), mask(reason_of(error, uri)), mask(text_of(error, uri))) from None
    return client


def answers(uri: str) -> bool:
    """Tell within seconds whether somebody listens where a store is; what has no host is on this machine."""
    try:
        address = urlsplit(uri)
        port = address.port or {"http": 80, "https": 443, "postgresql": 5432, "mysql": 3306, "mssql": 1433}.get(
            address.scheme.partition("+")[0]
        )
        if address.hostname and port:
            socket.create_connection((address.hostname, port), timeout=_PATIENCE).close()
    except (OSError, ValueError):
        return False
    return True


def _make(uri: str) -> None:
    """Make a SQLite store that is not there under another name, so that one with half its tables is never seen."""
    file = Path(_file(uri))
    if not _file(uri) or file.exists():
        return
    draft = file.with_name(f"{draft_name()}{file.name}")
    try:
        ready = copied(draft)
        MlflowClient(make_url(uri).set(database=str(draft)).render_as_string(hide_password=False))
        if not ready:
            keep_copy(draft)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)


def _file(uri: str) -> str:
    """Return the file of a SQLite store, or an empty string."""
    if uri.partition(":")[0].partition("+")[0] != "sqlite":
        return ""
    file = make_url(uri).database or ""
    return "" if file == ":memory:" else file


def _alone(uri: str) -> AbstractContextManager[object]:
    """Return what keeps other processes out: a lock beside a file, or one of the database; servers see to it."""
    kind = uri.partition(":")[0].partition("+")[0]
    if file := _file(uri):
        return FileLock(f"{file}.lock")
    return _locked(uri, _LOCKS[kind]) if kind in _LOCKS else nullcontext()


@contextmanager
def _locked(uri: str, statement: str) -> Iterator[None]:
    key = int(sha256(b"synthrisk opens this store").hexdigest()[:12], 16)
    with create_engine(uri, poolclass=NullPool).connect() as connection:
        connection.execute(text(statement), {"key": key})
        yield
