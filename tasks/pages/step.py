"""One thing to do next, and how its numbers are written."""

from collections.abc import Sequence
from dataclasses import dataclass

from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.tasks.pages.templates import interval, number

NAMED = 3
"""Columns, measures or synthesizers that a sentence names."""


@dataclass(frozen=True)
class Step:
    """One thing to do or to know."""

    words: str
    code: str = ""  # lines of a study, or a command
    points: Sequence[str] = ()


def with_interval(found: Estimate, sign: bool = False) -> str:
    """Return an estimate with its interval."""
    return f"{number(found.value, sign)} {interval(found.lower, found.upper, sign)}"
