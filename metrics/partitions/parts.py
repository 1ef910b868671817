"""A table in parts: what is done to each of them, wherever they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, TypeVar

_S = TypeVar("_S")


def neighbouring(items: Sequence[Any], count: int) -> list[Sequence[Any]]:
    """Return neighbouring items together, in at most ``count`` lists of nearly one length.

    Example:
        >>> neighbouring([1, 2, 3, 4, 5], 2)
        [[1, 2, 3], [4, 5]]
    """
    size = -(-len(items) // max(1, count))
    return [items[at : at + size] for at in range(0, len(items), size)]


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

    def fewer(self, function: Callable[[Sequence[Any]], Any], count: int) -> "Parts":
        """Return the parts that a function makes of ``count`` at most neighbouring lists of parts."""

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

    def fewer(self, function: Callable[[Sequence[Any]], Any], count: int) -> "Here":
        """Return the parts made of lists of parts (``Parts.fewer``)."""
        return Here([function(some) for some in neighbouring(self.parts, count)])

    def placed(self, items: Sequence[Any]) -> "Here":
        """Return other parts (``Parts.placed``)."""
        return Here(items)
