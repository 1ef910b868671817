"""The one exception that tells a user what is wrong with an argument."""

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral


class InputError(ValueError):
    """Wrong input, said in one sentence: the argument, the rule, and what was got.

    Its text never holds a cell of the real table: only names, types, counts and settings.
    """


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for the known name nearest to ``name``, or an empty string."""
    close = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


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
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InputError(f"{name} must be {rule}, got {value!r}")
    return float(value)
