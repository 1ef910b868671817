"""The last step of a command: to take apart all that it has imported takes Python most of a second."""

import atexit
import os
import sys


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
