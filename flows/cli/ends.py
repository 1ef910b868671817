"""How a command ends that does not end well: one sentence, and an exit code that says whose turn it is."""

import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from synthrisk.metrics.errors import InputError

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
        from synthrisk.tasks.workspace.failure import RunError, full, is_full, sentence_on

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
