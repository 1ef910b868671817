"""The form in which earlier versions kept studies that wait to be logged: pickles, of which little is believed."""

import builtins
import datetime
import pickle
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from io import BytesIO
from typing import Any, TypeVar

from pydantic import BaseModel

from synthrisk.metrics.intervals.scale import MetricTransform
from synthrisk.metrics.register import METRICS
from synthrisk.tasks.workspace.codec import as_json, from_text
from synthrisk.tasks.workspace.shared import Place

_T = TypeVar("_T")
_PLAIN = {"set", "frozenset", "complex", "bytearray", "slice", "range"}
_TIMES = {"date", "datetime", "time", "timedelta", "timezone"}
_MOVED: dict[str, str] = {}  # modules of earlier versions, or "module:name" of a value: where it is now
_NUMPY = {"scalar", "_reconstruct", "_frombuffer", "ndarray", "dtype"}


def unpickled(kind: type[_T], content: bytes) -> _T:
    """Return the value of a pickle that an earlier version has written, with the fields that this one has.

    Only our own frozen values, settings and plain values are made; nothing that the file names is called beside them.
    The function of a metric, which findings held once, becomes its name.

    Raises:
        ValueError: The pickle holds something else, or what it holds no longer fits.
    """
    try:
        found = _OurValues(BytesIO(content)).load()
    except Exception as error:  # noqa: BLE001 - a damaged pickle raises whatever its bytes lead to
        raise ValueError(f"{type(error).__name__} in a pickle") from None
    if not isinstance(found, kind):
        raise ValueError(f"a pickle of {type(found).__name__}")
    _complete(found)
    return from_text(kind, as_json(kind, found))


def _complete(value: object) -> None:
    """Give our values the fields that have come since: a default that is made for each is not found in the class."""
    if is_dataclass(value):
        for field in fields(value):
            if not hasattr(value, field.name) and field.default_factory is not MISSING:
                object.__setattr__(value, field.name, field.default_factory())
            _complete(getattr(value, field.name, None))
    elif isinstance(value, BaseModel):
        _complete(dict(value))
    elif isinstance(value, Mapping):
        _complete(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            _complete(each)


class _OurValues(pickle.Unpickler):
    """Makes our own values and plain ones alone."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class of ours, one of plain values, or the name of a metric's function."""
        if module == "builtins" and name in _PLAIN:
            return getattr(builtins, name)
        if module == "datetime" and name in _TIMES:
            return getattr(datetime, name)
        if module.partition(".")[0] == "numpy" and name in _NUMPY:
            return getattr(import_module(module), name)
        module = _MOVED.get(f"{module}:{name}", _MOVED.get(module, module))
        if module.startswith("synthrisk."):
            found = getattr(import_module(module), name, None)
            if isinstance(found, type) and found.__module__ == module and _is_value(found):
                return found
        for metric in METRICS.values():
            stated = metric.transform
            if (getattr(stated, "__module__", None), getattr(stated, "__qualname__", None)) == (module, name):
                return MetricTransform(metric.name)
        raise pickle.UnpicklingError(f"{module}.{name}")


def _is_value(kind: type) -> bool:
    return is_dataclass(kind) or kind is Place or issubclass(kind, BaseModel | tuple)
