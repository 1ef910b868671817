"""Synthesizers in pairs: which is lower?"""

from collections.abc import Mapping
from math import isnan
from typing import Any

from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    pairs = sorted(shown.result.comparisons, key=lambda c: (not c.lower, isnan(c.p_holm)))  # those that differ first
    return {"pairs": pairs} if pairs else None


PAIRS = Section("pairs", "Which synthesizer is lower?", "pairs.html", _context, folded=True)
