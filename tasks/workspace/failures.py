"""Errors of foreign code, such as generators, told without their texts, and what it prints: both may hold cells."""

import errno
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from threading import Lock
from typing import TypeVar

from synthrisk.conf.secrets import mask
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.store import replace_file

_T = TypeVar("_T")
NO_SPACE = "the run failed: a disk takes no more"
"""What the sentence on a full disk begins with."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


class RunError(RuntimeError):
    """The run itself failed; its text is a sentence that can be shown, for it holds no data."""


class CellError(RunError):
    """A cell failed; its text names the kind and place of the error, and the private file with the rest."""


class DiskError(RunError):
    """A disk takes no more: no other cell can be kept either."""


def is_full(error: BaseException) -> bool:
    """Tell whether an error says that a disk takes no more."""
    return isinstance(error, OSError) and error.errno in _FULL


def full(error: BaseException) -> DiskError:
    """Return what is told of an error that says that a disk takes no more."""
    word = errno.errorcode[error.errno] if isinstance(error, OSError) and error.errno else "error"
    return DiskError(f"{NO_SPACE} ({word}); what is finished is kept, and the same command goes on from there")


def told_safely(folder: Path, cell: str, action: Callable[[], _T], hide: Sequence[str] = ()) -> _T:
    """Return what ``action`` returns; turn any exception into a ``CellError`` without its text.

    The full text, without what is to ``hide``, goes to a private file. ``InputError`` passes as it is: its texts hold
    no cells. Where a disk takes no more it is a ``DiskError``.
    """
    failure: RunError
    try:
        return action()
    except (InputError, RunError):
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever foreign code raises
        text = mask(traceback.format_exc())
        for each in hide:
            text = text.replace(each, "...")
        try:
            kept = replace_file(folder / "failures" / f"{cell}-{os.getpid()}.txt", text)
            failure = full(error) if is_full(error) else CellError(sentence_on(error, str(kept)))
        except OSError as beside:
            failure = full(error if is_full(error) else beside)
    raise failure  # outside the except block, so that it does not carry the first error along


def sentence_on(error: BaseException, kept: str) -> str:
    """Return kind and place of an error, and where its full text is kept: no word of the text itself."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}, line {where.lineno}, in {where.name}"
    return f"{type(error).__name__} in {place}; the full text, which may hold data, is in {kept}"


_ONE = Lock()


@contextmanager
def printed_to(path: Path) -> Iterator[None]:
    """Have all that is printed for the time of the block written to a private file instead; none where nothing is.

    Of several threads one has the say: standard output is one for all, and what the others print is in its file.
    """
    if not _ONE.acquire(blocking=False):
        yield
        return
    told = StringIO()
    try:
        with redirect_stdout(told), redirect_stderr(told):
            yield
    finally:
        _ONE.release()
        if told.getvalue():
            replace_file(path, mask(told.getvalue()))
