"""How a command ends: its exit codes, what is said with them, and what programs of others say meanwhile.

Also the environment that it sets for itself, and what it does when it leaves.
"""

import atexit
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple, NoReturn, TextIO

import typer
from typer.core import TyperGroup

from synthrisk.metrics.errors import InputError, nearest

QUIET = {
    "DO_NOT_TRACK": "true",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}
_PATIENT = {"PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "240"}
_SILENT = {
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",  # the closing table says what failed
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",  # each event that a server which is gone does not take
    "MLFLOW_LOGGING_LEVEL": "WARNING",  # a new store is no news
}
_ASLEEP = {"OMP_WAIT_POLICY": "passive"}  # threads of models that wait would turn in circles on cores that others need
_BOUNDED = {  # MLflow's own retries take minutes, request after request: a study that cannot be logged waits
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "5",  # a minute in all, while a server starts again
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",  # seconds
}


def set_up() -> None:
    """Set what is not set, before prefect and mlflow are imported."""
    for name, value in (QUIET | _PATIENT | _SILENT | _ASLEEP | _BOUNDED).items():
        os.environ.setdefault(name, value)


class Aside(NamedTuple):
    """Where things are said meanwhile."""

    screen: TextIO  # standard output as it was
    log: IO[bytes]  # what is printed


@contextmanager
def aside() -> Iterator[Aside]:
    """Keep what this process, and all that it starts, prints and warns of in the block in a file."""
    with ExitStack() as stack:
        log = stack.enter_context(TemporaryFile())
        screen = stack.enter_context(os.fdopen(os.dup(1), "w", encoding=sys.stdout.encoding, errors="replace"))
        for end, stream in ((1, sys.stdout), (2, sys.stderr)):
            stream.flush()
            stack.callback(os.close, kept := os.dup(end))
            stack.callback(os.dup2, kept, end)
            stack.callback(stream.flush)
            os.dup2(log.fileno(), end)
        yield Aside(screen, log)


WRONG_INPUT, BROKEN = 2, 4
"""Exit codes; 0: limits are kept or none is set, 1: not kept or not shown, 3: INVALID (``StudyResult.exit_code``)."""


class UsageError(InputError):
    """A command that is called wrongly, whatever tables hold: an option that is none, or two that exclude each other.

    It is told apart from wrong input, which is of a study or a table, by its first words.
    """


@contextmanager
def told() -> Iterator[None]:
    """End the process with ``WRONG_INPUT`` for what a user can mend, with ``BROKEN`` where the run itself failed."""
    try:
        yield
    except InputError as error:
        _end(str(error), WRONG_INPUT, "Usage error" if isinstance(error, UsageError) else "Error")
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in a store, a disk or a worker
        from synthrisk.tasks.workspace.failures import RunError, full, is_full, sentence_on

        if is_full(error):
            _end(str(full(error)), BROKEN)
        if isinstance(error, RunError):
            _end(str(error), BROKEN)
        _end(f"the run failed: {sentence_on(error, _kept(traceback.format_exc()))}", BROKEN)


def _end(sentence: str, code: int, kind: str = "Error") -> NoReturn:
    from synthrisk.conf.secrets import mask

    typer.secho(f"{kind}: {mask(sentence)}", err=True, fg="red" if sys.stderr.isatty() else None)
    sys.exit(code)


def _kept(text: str) -> str:
    """Write a text into a private file, and return its path."""
    from synthrisk.conf.secrets import mask

    try:
        handle, path = tempfile.mkstemp(prefix="synthrisk-failure-", suffix=".txt")  # mode 0600
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(mask(text))
    except OSError:
        return "no file, for none could be written"
    return path


class Leaving:
    """Ends the process with a code once everything that is to be done at its end is done.

    What is done last has to be registered first: make it before anything is imported that has something to do then.
    """

    def __init__(self) -> None:
        self._code: int | None = None
        atexit.register(self._leave)

    def with_code(self, code: int) -> None:
        """Let the process end at once, with this exit code."""
        self._code = code

    def _leave(self) -> None:
        if self._code is None:
            return
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:  # closed by whoever started the command
                    stream.flush()
        except (OSError, ValueError):
            return  # Python tells of it
        os._exit(self._code)


class Commands(TyperGroup):
    """Commands that know which of their options people mean who bring its name from another tool."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # its own type of a context is private
        """Run the command that is named.

        Raises:
            UsageError: It is called wrongly.
        """
        with _in_our_words():
            return super().invoke(ctx)

    def make_context(self, info_name: str | None, *arguments: Any, **named: Any) -> Any:
        """Read what is said before the name of a command.

        Raises:
            UsageError: It is said wrongly.
        """
        with _in_our_words():
            return super().make_context(info_name, *arguments, **named)


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Say what Typer finds wrong with a command as what we find wrong: in one sentence, with the option that is meant.

    Another tool may call one of the options so, or the name is mistyped.
    """
    try:
        yield
    except Exception as error:  # what Typer raises has no public name
        message, asked = getattr(error, "format_message", None), getattr(error, "ctx", None)
        if message is None or type(error).__name__ == "NoArgsIsHelpError":
            raise
        place = " ".join(filter(None, ("synthrisk", asked.info_name if asked is not None and asked.parent else "")))
        name, hint = getattr(error, "option_name", None), ""
        if name is not None and asked is not None:
            hint = nearest(name, [option for each in asked.command.params for option in each.opts])
            hint = hint and f"{asked.info_name} takes no option {name}{hint}"
        raise UsageError(hint or f"{message().rstrip('.')}; see {place} --help") from None


TOGETHER = 200_000
"""Records: of more the releases are attacked one after the other, for each takes 2.5 kB a record."""
_BLOCK = 2**22  # bytes read at once


def is_long(path: str | None) -> bool:
    """Tell whether a CSV file on this machine has more lines than records that are attacked together.

    No cell is looked at: it is asked before anything is imported, and decides only how soon an answer is there.
    """
    lines = 0
    try:
        if path is None or not path.endswith(".csv") or not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            while lines <= TOGETHER and (block := file.read(_BLOCK)):
                lines += block.count(b"\n")
    except (OSError, ValueError):
        return False  # whoever reads it says why
    return lines > TOGETHER
