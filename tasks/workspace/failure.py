"""Errors of foreign code, told without their texts: those may hold cells of the real table."""

import os
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.store import replace_file

_T = TypeVar("_T")


class CellError(RuntimeError):
    """A cell failed; its text names the kind and place of the error, and the private file with the rest."""


def told_safely(folder: Path, cell: str, action: Callable[[], _T], hide: Sequence[str] = ()) -> _T:
    """Return what ``action`` returns; turn any exception into a ``CellError`` without its text.

    The full text, without what is to ``hide``, goes to a private file. ``InputError`` passes as it is: its texts hold
    no cells.
    """
    try:
        return action()
    except (InputError, CellError):
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever foreign code raises
        text = traceback.format_exc()
        for each in hide:
            text = text.replace(each, "...")
        kept = replace_file(folder / "failures" / f"{cell}-{os.getpid()}.txt", text)
        failure = sentence_on(error, str(kept))
    raise CellError(failure)  # outside the except block, so that it does not carry the first error along


def sentence_on(error: BaseException, kept: str) -> str:
    """Return kind and place of an error, and where its full text is kept: no word of the text itself."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}, line {where.lineno}, in {where.name}"
    return f"{type(error).__name__} in {place}; the full text, which may hold data, is in {kept}"
