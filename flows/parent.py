"""Child processes that end when the process that started them is gone, however it went.

    python -m synthrisk.flows.parent MODULE [ARGUMENT ...]

runs a module as ``python -m`` does, for as long as the parent lives.
"""

import os
import sys
import threading
import time
from runpy import run_module

_LOOK = 2.0  # seconds


def end_with_parent() -> None:
    """Have this process end within seconds of its parent: a killed one cannot end its children itself."""
    threading.Thread(target=_watch, args=(os.getppid(),), name="end with parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


def main() -> None:
    """Run the module that the command line names."""
    end_with_parent()
    del sys.argv[0]
    run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
