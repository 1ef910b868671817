"""The one exception that tells a user what is wrong with an argument."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from math import inf, nextafter
from numbers import Integral, Real
from typing import cast

from synthrisk.metrics.names_elsewhere import ours

ABOVE_0, BELOW_1 = nextafter(0, 1), nextafter(1, 0)
"""The ends of (0, 1) for ``check_range``."""


class InputError(ValueError):
    """Wrong input, said in one sentence: the argument, the rule, and what was got.

    Its text never holds a cell of the real table: only names, types, counts and settings.
    """


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the known name nearest to ``name``, or an empty string.

    A name is near where another tool calls the same so, and where it is mistyped (most letters are the same, more of
    them where the first is another), written in other capitals, or cut short.

    Example:
        >>> nearest("aeg", ["age", "wage"]), nearest("kart", ["cart"]), nearest("colour", ["holdout", "columns"])
        (" (did you mean 'age'?)", " (did you mean 'cart'?)", '')
        >>> nearest("key_fields", ["sensitive", "quasi_identifiers"])
        " (did you mean 'quasi_identifiers'?)"
    """
    known = list(known)
    if (own := ours(name, known)) is not None:
        return f" (did you mean {own!r}?)"
    names = {k.strip().casefold(): k for k in reversed(known)}
    low = name.strip().casefold()
    close = [k for k in get_close_matches(low, names, n=3, cutoff=0.65) if k[:1] == low[:1] or _is_near(low, k)]
    close = close or [k for k in names if len(low) > 2 and k.startswith(low)]
    return f" (did you mean {names[close[0]]!r}?)" if close else ""


def _is_near(name: str, other: str) -> bool:
    return SequenceMatcher(None, other, name).ratio() >= 0.75


def is_whole(value: object, low: float, high: float = float("inf")) -> bool:
    """Tell whether a value is a whole number inside [``low``, ``high``]; a boolean is none.

    Example:
        >>> is_whole(3, 1), is_whole(True, 1), is_whole(3.0, 1), is_whole(0, 1)
        (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return low <= int(value) <= high


def check_range(name: str, value: object, low: float, high: float, rule: str) -> float:
    """Return ``value`` as a float inside [``low``, ``high``]; ``rule`` says the range in words."""
    if isinstance(value, bool) or not isinstance(value, Real) or not low <= cast(float, value) <= high:
        raise InputError(f"{name} must be {rule}, got {value!r}")
    return float(value)


def check_whole(name: str, value: object, low: int, high: float = inf, rule: str = "") -> None:
    """Refuse what is no whole number inside [``low``, ``high``]; ``rule`` says the range in words."""
    if not is_whole(value, low, high):
        raise InputError(f"{name} must be {rule or f'a whole number of at least {low}'}, got {value!r}")


def check_word(name: str, value: object, *known: str) -> None:
    """Refuse what is none of some words."""
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name} must be {', '.join(known[:-1])} or {known[-1]}, got {value!r}")
