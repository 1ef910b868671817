"""Which of two distances is smaller, and what a tie (two equal distances) counts."""

from typing import Literal, NamedTuple

import numpy as np

from synthrisk.metrics.errors import check_word
from synthrisk.metrics.neighbours.ties import TIED

TieRule = Literal["risk", "safe", "expected"]
WEIGHTS: dict[str, float] = {"risk": 1.0, "safe": 0.0, "expected": 0.5}


class CloserOrTied(NamedTuple):
    """How two distances of each of n records compare."""

    closer: np.ndarray  # (n,) bool: the first is smaller, and not tied
    tied: np.ndarray  # (n,) bool: equal but for rounding


def compared(first: np.ndarray, second: np.ndarray) -> CloserOrTied:
    """Compare distances; those that differ by less than a share of 1e-9 are tied.

    Example:
        >>> compared(np.array([1.0, 2.0, 0.3]), np.array([2.0, 1.0, 0.1 + 0.2]))
        CloserOrTied(closer=array([ True, False, False]), tied=array([False, False,  True]))
    """
    tied = np.abs(first - second) <= TIED * np.maximum(first, second)
    return CloserOrTied((first < second) & ~tied, tied)


def flags(found: CloserOrTied, ties: TieRule) -> np.ndarray:
    """Return 1 where the first is smaller, 0 where the second is, and what the rule says of a tie.

    Example:
        >>> flags(compared(np.array([0.0, 1.0]), np.array([0.0, 2.0])), "expected").tolist()
        [0.5, 1.0]
    """
    return found.closer + WEIGHTS[ties] * found.tied


def check_ties(ties: str = "risk") -> None:
    """Refuse a rule for ties that there is not."""
    check_word("ties", ties, *WEIGHTS)
