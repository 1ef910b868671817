"""What there is by name: ours and that of installed plugins, found by entry point.

Which attack is meant: by register name, or as an object.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint
from typing import Any, TypeVar

from synthrisk.metrics.attack import Attack, AttackKind
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.plugins import ATTACK_GROUP, METRIC_GROUP, points
from synthrisk.metrics.score import table

_T = TypeVar("_T", Metric, Attack)


class Register(Mapping[str, _T]):
    """Things of one type by name, from a group of entry points in its order; each is loaded on first use."""

    def __init__(self, group: str, kind: type[_T]):
        self._group = group
        self._kind: type[_T] = kind

    @cached_property
    def _entries(self) -> dict[str, EntryPoint]:
        return {e.name: e for e in points(self._group)}

    def __getitem__(self, name: str) -> _T:
        word = self._kind.__name__
        if name not in self._entries:
            raise KeyError(f"no {word.lower()} is called {name!r}{nearest(str(name), self._entries)}")
        found = self._entries[name].load()
        if not isinstance(found, self._kind) or found.name != name:
            got = type(found).__name__
            raise InputError(f"entry point {self._group}:{name} must give an object {word} of that name, got {got}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        """Show the names, without loading what they name."""
        return f"<{len(self)} {self._kind.__name__.lower()}s by name: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        rows = [(name, getattr(each, "group", getattr(each, "kind", "")), each.said) for name, each in self.items()]
        return table([self._kind.__name__.lower(), "family", "says"], rows)


METRICS = Register(METRIC_GROUP, Metric)
ATTACKS = Register(ATTACK_GROUP, Attack)


def named_attack(kind: AttackKind, attacker: Any, also: Iterable[str] = ()) -> Attack:
    """Return the attack of a kind that ``attacker`` names or is; ``also`` are names that the caller knows himself.

    Raises:
        InputError: There is none of that name and kind, or it is no attack.

    Example:
        >>> named_attack("linkability", "shared_neighbour").kind
        'linkability'
    """
    if isinstance(attacker, str):
        known = [name for name, attack in ATTACKS.items() if attack.kind == kind]
        if attacker not in known:
            every = [*known, *also]
            hint = nearest(attacker, every)
            raise InputError(f"attacker must be one of {', '.join(every)}, or an Attack, got {attacker!r}{hint}")
        return ATTACKS[attacker]
    if not isinstance(attacker, Attack) or attacker.kind != kind:
        got = attacker.kind if isinstance(attacker, Attack) else type(attacker).__name__
        raise InputError(f"attacker must be an attack of the kind {kind}, got {got}")
    return attacker
