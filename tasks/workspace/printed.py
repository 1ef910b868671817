"""What foreign code prints: it may hold cells of the real table, and would bury what a study says."""

from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from threading import Lock

from synthrisk.conf.secrets import mask
from synthrisk.tasks.workspace.store import replace_file

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
