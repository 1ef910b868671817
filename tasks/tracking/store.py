"""Opening a store of MLflow: the file of a new one, its client, why it has failed, and MLflow's server."""

import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from hashlib import sha256
from pathlib import Path
from socket import socketpair
from typing import Any
from urllib.parse import unquote, urlsplit

import mlflow
import psutil
from click import Abort, ClickException
from filelock import FileLock
from mlflow import MlflowClient
from mlflow.entities import Param, Run, RunTag
from mlflow.exceptions import MlflowException, RestException
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from synthrisk.conf.secrets import mask, masked, secrets_of, without_secrets
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.digests import cache_folder
from synthrisk.tasks.workspace.store import draft_name

_STATUS = re.compile(r"error code (\d{3})\b|\b(\d{3}) (?:Client|Server) Error\b|too many (\d{3}) error")
_ECHOED = re.compile(  # what follows is what the store was told, or a page of somebody between us and it
    r"\s*(?:\[SQL:|\[parameters:|Response body:|Response text:|Response:|DETAIL:|\(Background on this error).*", re.S
)
_QUOTED = re.compile(r"""(?<!\w)(?<!host=)(['"])(?!/)(?:(?!\1).)*\1(?!\w)""", re.S)
_LOGIN = re.compile(r"\b(Basic|Bearer)\s+\S+", re.IGNORECASE)
_ADDRESS = re.compile(r"\S+://\S+")
_VARIABLES = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN", "DATABRICKS_TOKEN")
_USER = "MLFLOW_TRACKING_USERNAME"
_LONGEST = 300  # characters of a text


def reason_of(error: BaseException, uri: str, *, quote: bool = True) -> str:
    """Return in a few words why a store does not do its work: ``refused (401)``, ``failed (500)``, or what it says.

    ``quote``: repeat the words of the store where there is no status that says it; else the kind of error alone.
    """
    status = next(filter(None, map(_status, _chain(error))), 0)
    if 400 <= status < 500 and not _says_why(error):
        return f"refused ({status})"
    if status >= 500:
        return f"failed ({status})"
    if any(isinstance(each, ConnectionError | TimeoutError) or _never_answered(each) for each in _chain(error)):
        return "does not answer"
    told = text_of(error, uri).splitlines()[-1] if quote else type(error).__name__
    return f"refused ({status}): {told}" if status else f"failed: {told}"


def text_of(error: BaseException, uri: str) -> str:
    """Return what the errors say that lie below each other, a line each, the cause last.

    Passwords, tokens and users of addresses are left out, and so is all that stands in quotation marks or follows as
    statement, parameters or body: these repeat what the store was told.
    """
    lines = [f"{type(each).__name__}: {_clean(str(each), uri)}".rstrip(": ") for each in _chain(error)]
    return "\n".join(dict.fromkeys(lines))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that it was raised from, or on."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or each.__context__


def _status(error: BaseException) -> int:
    """Return the status of HTTP that an error tells of, or 0."""
    answered = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(answered, int):
        return answered
    if isinstance(error, RestException):
        return int(error.get_http_status_code())
    found = _STATUS.search(str(error))
    return int(next(filter(None, found.groups()))) if found else 0


def _says_why(error: BaseException) -> bool:
    """Tell whether it is MLflow that refuses, in words of its own, and not who is asked for a password."""
    return isinstance(error, RestException) and _status(error) not in (401, 403)


def _never_answered(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in ("requests", "urllib3") and any(
        word in type(error).__name__ for word in ("Connect", "Timeout")
    )


def _clean(text: str, uri: str) -> str:
    text = _ECHOED.sub("", text)
    for secret in (*secrets_of(uri), *filter(None, map(os.environ.get, _VARIABLES))):
        text = text.replace(secret, "...")
    for user in filter(None, (_user(uri), os.environ.get(_USER))):
        text = re.sub(rf"(?<!\w){re.escape(user)}(?!\w)", "...", text)
    text = _ADDRESS.sub(lambda found: without_secrets(found.group()), _LOGIN.sub(r"\1 ...", text))
    text = " ".join(_QUOTED.sub(r"\1...\1", text).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _user(uri: str) -> str:
    """Return the user of an address, decoded; empty where there is none."""
    named = re.match(r"[\w+.-]+://([^/@:]+)(?::[^@]*)?@", uri)
    return unquote(named.group(1)) if named else ""


_ATTEMPTS = 8
_TAKEN = re.compile(
    r"IntegrityError|UniqueViolation|UNIQUE constraint|duplicate key|Duplicate entry|deadlock|0 were matched", re.I
)
_GONE = "RESOURCE_DOES_NOT_EXIST"


class StudyClient(MlflowClient):  # type: ignore[misc]  # MLflow is not typed
    """A client that says again what another process has said to the store in the same moment.

    MLflow looks whether a tag of an experiment, or a data set, is there, and then puts it there. Where two processes
    look before either has put it, the store refuses the second: studies that end at the same time in one workspace log
    the same real table, and write the note and the colours of one experiment. The second attempt finds what the other
    process has put there. It tells the store no value of a variable that an address has taken.
    """

    def create_run(self, *arguments: Any, **named: Any) -> Run:
        """Make a run, its name and tags masked."""
        return super().create_run(*masked(arguments), **masked(named))

    def set_tag(self, *arguments: Any, **named: Any) -> None:
        """Set a tag of a run, masked."""
        super().set_tag(*masked(arguments), **masked(named))

    def log_text(self, *arguments: Any, **named: Any) -> None:
        """Write a text as an artifact, masked."""
        super().log_text(*masked(arguments), **masked(named))

    def log_batch(self, run_id: str, metrics: Any = (), params: Any = (), tags: Any = (), **named: Any) -> Any:
        """Write metrics, and params and tags masked."""
        params = [Param(each.key, mask(each.value)) for each in params]
        tags = [RunTag(each.key, mask(each.value)) for each in tags]
        return super().log_batch(run_id, metrics, params, tags, **named)

    def set_experiment_tag(self, experiment_id: str, key: str, value: Any) -> None:
        """Set a tag of an experiment, masked."""
        told = masked(value)
        _again(lambda: super(StudyClient, self).set_experiment_tag(experiment_id, key, told))

    def delete_experiment_tag(self, experiment_id: str, key: str) -> None:
        """Delete a tag of an experiment, if another process has not."""
        try:
            _again(lambda: super(StudyClient, self).delete_experiment_tag(experiment_id, key))
        except MlflowException as error:
            if error.error_code != _GONE:
                raise

    def log_inputs(self, run_id: str, datasets: Any = None, models: Any = None) -> None:
        """Write which data sets and models went into a run."""
        _again(lambda: super(StudyClient, self).log_inputs(run_id, datasets, models))

    def set_registered_model_alias(self, name: str, alias: str, version: str) -> None:
        """Let an alias of a registered model name a version."""
        _again(lambda: super(StudyClient, self).set_registered_model_alias(name, alias, version))


def _again(say: Callable[[], object]) -> None:
    """Say something to the store, and again where somebody else has just put there what it was to hold."""
    for attempt in range(_ATTEMPTS):
        try:
            say()
        except MlflowException as error:
            if attempt == _ATTEMPTS - 1 or not _TAKEN.search(str(error)):
                raise
            time.sleep(random.uniform(0, 0.02 * 2**attempt))  # noqa: S311 - so that two do not meet again
        else:
            return


def copied(to: Path) -> bool:
    """Copy the empty store of this version of MLflow to a file; return whether there is a whole one."""
    kept = _kept()
    if kept is None:
        return False
    with suppress(OSError, sqlite3.Error):
        shutil.copyfile(kept, to)
        with closing(sqlite3.connect(to)) as store:
            whole = store.execute("PRAGMA quick_check").fetchone() == ("ok",)
            if whole and store.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,):
                return True
    to.unlink(missing_ok=True)
    return False


def keep_copy(of: Path) -> None:
    """Keep a copy of a SQLite store that holds nothing but its tables yet, where the cache folder can be written.

    The experiment that MLflow puts into each store is left out, for it names the folder of that one; MLflow puts one
    into a store that has none.
    """
    kept = _kept()
    if kept is None:
        return
    draft = kept.with_name(f"{draft_name()}{kept.name}")
    with suppress(OSError, sqlite3.Error):
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(of, draft)
            with closing(sqlite3.connect(draft)) as store:
                store.execute("PRAGMA secure_delete = ON")  # else what was deleted stays in the file
                store.execute("DELETE FROM experiments")
                store.commit()
            draft.replace(kept)
        finally:
            draft.unlink(missing_ok=True)


def _kept() -> Path | None:
    """Return where the empty store is kept; None where the user has no cache folder."""
    folder = cache_folder()
    return folder and folder / f"mlflow-{mlflow.__version__}.db"


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


_GRACE = 15  # seconds that a request under way has when the server ends


def run_server(uri: str, port: int) -> None:
    """Run ``mlflow server`` on this machine alone until it ends; a signal that ends this process ends it.

    Beside this process there is one more, the server's only worker, which says nothing but errors. What is wrong with
    the store or with options of the environment is said on standard error.

    Raises:
        KeyboardInterrupt: SIGINT or SIGTERM came.
    """
    from mlflow.cli import cli  # warns of types of its own

    worker = f"--log-level error --timeout-graceful-shutdown {_GRACE}"
    options = {"backend-store-uri": uri, "host": "127.0.0.1", "port": port, "workers": 1, "uvicorn-opts": worker}
    given = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    with _interrupting():
        try:
            cli.main(["server", *given], prog_name="mlflow", standalone_mode=False)
        except (Abort, SystemExit):  # Ctrl-C before there is a worker; the store cannot be opened
            return
        except ClickException as error:
            error.show()
        except MlflowException as error:
            print(error, file=sys.stderr)
        finally:
            _end_worker()


def _end_worker() -> None:
    """End the worker, where a signal came just when it was started."""
    left = []
    for each in psutil.Process().children():
        with suppress(psutil.Error):  # it has just ended
            if "uvicorn" in each.cmdline():
                each.terminate()
                left.append(each)
    for each in psutil.wait_procs(left, timeout=_GRACE)[1]:
        with suppress(psutil.Error):
            each.kill()


@contextmanager
def _interrupting() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` after the block if a signal came: MLflow's handlers return as if none had."""
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    come, write = socketpair()
    for end in (come, write):
        end.setblocking(False)
    signal.set_wakeup_fd(write.fileno())
    with come, write:
        try:
            yield
        finally:
            signal.set_wakeup_fd(-1)
            for each, handler in before.items():
                signal.signal(each, handler)
        try:
            came = come.recv(1)
        except BlockingIOError:
            came = b""
    if came:
        raise KeyboardInterrupt
