"""Results as JSON and back: what a kept file holds is read off the type hints of our frozen values.

So a new field needs no code here. Numbers come back to the bit; those that are not finite are the words ``NaN``,
``Infinity`` and ``-Infinity``, as Python's own ``json`` writes them. A field that a file lacks, for it was written
before there was one, takes its default; one that a file has too much is left out.
"""

from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import from_json

_T = TypeVar("_T")
_EXACT = ConfigDict(ser_json_inf_nan="constants")


def as_json(kind: type[_T], value: _T) -> str:
    """Return a value as JSON text.

    Args:
        kind: Its type: a frozen dataclass, a named tuple, or a type made of those, of settings and of plain values.
        value: The value. What options hold beside plain values (an estimator, say) is written as its text.

    Example:
        >>> from synthrisk.metrics.intervals.estimates import Estimate
        >>> text = as_json(Estimate, Estimate(0.1, float("-inf"), float("nan")))
        >>> text[:45]
        '{"value":0.1,"lower":-Infinity,"upper":NaN,"m'
        >>> from_text(Estimate, text).value
        0.1
    """
    # settings tell what was given from what was left out, and some refuse the one where they take the other
    written = _adapter(cast(Hashable, kind)).dump_json((value,), exclude_unset=True, fallback=_plain, warnings="none")
    return written.decode()[1:-1]


def from_text(kind: type[_T], text: str) -> _T:
    """Return the value of a JSON text that ``as_json`` has written, of this version or another.

    Raises:
        ValueError: The text is none, or lacks a field that has no default.
    """
    return from_plain(kind, from_json(text, allow_inf_nan=True))


def from_plain(kind: type[_T], plain: Any) -> _T:
    """Return the value of what a JSON text holds, in dictionaries and lists.

    Raises:
        ValueError: It lacks a field that has no default, or one is of another type.
    """
    try:
        return cast(_T, _adapter(cast(Hashable, kind)).validate_python((plain,))[0])
    except ValidationError as error:
        unknown = [each["loc"] for each in error.errors(include_input=False) if each["type"] == "extra_forbidden"]
        if len(unknown) < error.error_count():
            raise
    for _, *path, name in unknown:  # settings refuse what they do not know, for users write them
        holds = plain
        for step in path:
            holds = holds[step]
        del holds[name]
    return from_plain(kind, plain)


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(tuple[kind], config=_EXACT)  # type: ignore[valid-type]


def _plain(value: object) -> Any:
    """Return what stands for a value that JSON has no form of."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value)
