"""Which attack is meant: by register name, or as an object."""

from collections.abc import Iterable
from typing import Any

from synthrisk.metrics.attack import Attack, AttackKind
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.register import ATTACKS


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
