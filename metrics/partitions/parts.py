"""A table in parts: what is done to each of them, wherever they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, TypeVar

_S = TypeVar("_S")


class Parts(Protocol):
    """Parts in one order, each in one place: on this machine, or on a worker."""

    def each(self, function: Callable[..., Any], *shared: Any) -> "Parts":
        """Return the parts that ``function(part, *shared)`` makes; they stay where they are made."""

    def all(self) -> list[Any]:
        """Return all parts, in order."""

    def fold(self, function: Callable[..., _S], state: _S, *shared: Any) -> _S:
        """Return the last state of ``state = function(part, state, *shared)``, one part after the other."""

    def joined(self, function: Callable[[Any, Any], Any]) -> Any:
        """Return what ``function(one, other)`` makes of all parts, two and two; their order may not matter."""

    def placed(self, items: Sequence[Any]) -> "Parts":
        """Return other parts in the same places."""


@dataclass(frozen=True, eq=False)
class Here:
    """Parts in the memory of this process."""

    parts: Sequence[Any]

    def each(self, function: Callable[..., Any], *shared: Any) -> "Here":
        """Return what the function makes of each part (``Parts.each``)."""
        return Here([function(part, *shared) for part in self.parts])

    def all(self) -> list[Any]:
        """Return all parts (``Parts.all``)."""
        return list(self.parts)

    def fold(self, function: Callable[..., _S], state: _S, *shared: Any) -> _S:
        """Return the last state (``Parts.fold``)."""
        for part in self.parts:
            state = function(part, state, *shared)
        return state

    def joined(self, function: Callable[[Any, Any], Any]) -> Any:
        """Return what the function makes of all parts (``Parts.joined``)."""
        return reduce(function, self.parts)

    def placed(self, items: Sequence[Any]) -> "Here":
        """Return other parts (``Parts.placed``)."""
        return Here(items)
