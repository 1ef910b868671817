"""Synthesizers in pairs: which is lower?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isnan
from typing import Any

from synthrisk.metrics.study.comparison import Comparison
from synthrisk.metrics.study.ledger import Measure
from synthrisk.tasks.pages.section import Section, Shown

_MOST = 100  # pairs that the table holds


@dataclass(frozen=True)
class Lower:
    """One synthesizer, and those above it."""

    name: str
    above: Sequence[str]
    p_holm: float  # the largest of all these pairs


@dataclass(frozen=True)
class Statement:
    """What the pairs say in one quantity of one measure."""

    measure: Measure
    quantity: str
    lower: Sequence[Lower]  # the lowest first
    undecided: int


def _context(shown: Shown) -> Mapping[str, Any] | None:
    pairs = sorted(shown.result.comparisons, key=lambda c: (not c.lower, isnan(c.p_holm)))  # those that differ first
    return {"pairs": pairs, "most": _MOST, "statements": _statements(pairs)} if pairs else None


def _statements(pairs: Sequence[Comparison]) -> list[Statement]:
    places = {key: i for i, key in enumerate(dict.fromkeys((c.measure, c.quantity) for c in pairs))}
    ordered = sorted(pairs, key=lambda c: places[c.measure, c.quantity])
    return [_statement(list(own)) for _, own in groupby(ordered, key=lambda c: (c.measure, c.quantity))]


def _statement(pairs: Sequence[Comparison]) -> Statement:
    decided = [c for c in pairs if c.lower]
    lower = []
    for name in dict.fromkeys(c.lower for c in decided):
        own = [c for c in decided if c.lower == name]
        above = [c.second if c.first == name else c.first for c in own]
        lower.append(Lower(name, above, max(c.p_holm for c in own)))
    lower.sort(key=lambda each: -len(each.above))
    return Statement(pairs[0].measure, pairs[0].quantity, lower, len(pairs) - len(decided))


PAIRS = Section("pairs", "Which synthesizer is lower?", "pairs.html", _context)
