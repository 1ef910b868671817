"""The tasks that others chain in flows of their own, each in the file of its name; loaded when they are asked for.

Each takes what its predecessor returns: where tables and ledgers are, never a cell. Submitted to any task runner or
called as they are inside a flow; without Prefect's server through ``.fn``. ``fit_release`` alone is no task: it reads a
release for who calls metrics from Python.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from synthrisk.tasks.attack import attack
    from synthrisk.tasks.estimate import estimate
    from synthrisk.tasks.judge import judge
    from synthrisk.tasks.log import log
    from synthrisk.tasks.sample import sample
    from synthrisk.tasks.synthesize.column_matching import fit_release
    from synthrisk.tasks.synthesize.task import release, synthesize

__all__ = ["attack", "estimate", "fit_release", "judge", "log", "release", "sample", "synthesize"]
_ELSEWHERE = dict.fromkeys(("release", "synthesize"), "synthesize.task")
_ELSEWHERE |= {"fit_release": "synthesize.column_matching"}


class _Tasks(ModuleType):
    """A package of which some names are tasks, though modules are called so too."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in __all__:  # importing a module puts it here under its name
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{self.__name__}.{_ELSEWHERE.get(name, name)}"), name)


sys.modules[__name__].__class__ = _Tasks
