"""The tables behind the entry-point group ``synthrisk.data``: their names, and the options that they take."""

import inspect
from collections.abc import Callable, Mapping

import pandas as pd

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.plugins import SOURCE_GROUP, points


def sources() -> list[str]:
    """Return the names of the tables that come with the package, and with plugins."""
    return sorted(points(SOURCE_GROUP).names)


def source_function(name: str, options: Mapping[str, object]) -> Callable[..., pd.DataFrame]:
    """Return the function behind a name, once it is sure that it takes these options, whose values it checks itself.

    Raises:
        InputError: There is no such table, it cannot be loaded, or an option is unknown or absent.
    """
    known = sources()
    if name not in known:
        raise InputError(f"no table is called {name!r}{nearest(name, known)}; built in: {', '.join(known)}")
    entry = points(SOURCE_GROUP)[name]
    try:
        function = entry.load()
    except (ImportError, AttributeError) as error:
        raise InputError(f"table {name!r} ({entry.value}) cannot be loaded: {error}") from error
    if not callable(function):
        raise InputError(f"table {name!r} ({entry.value}) must be a function, got {type(function).__name__}")
    parameters = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_POSITIONAL]
    takes = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        for option in options:
            if option not in takes:
                hint = f"it takes {', '.join(takes)}" if takes else "it takes none"
                raise InputError(f"{name} takes no option {option!r}{nearest(option, takes)}; {hint}")
    for p in parameters:
        if p.name in takes and p.default is p.empty and p.name not in options:
            raise InputError(f"{name} needs the option {p.name!r}, got {sorted(options) or 'none'}")
    made: Callable[..., pd.DataFrame] = function
    return made
