"""What a program of others says that is run in this process: kept in a file, for when it goes wrong."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryFile
from typing import IO, NamedTuple, TextIO


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
