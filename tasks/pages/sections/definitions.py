"""What the words of the page mean."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any]:
    return {"population": any("population" in f.yardsticks for f in shown.result.findings)}


DEFINITIONS = Section("definitions", "How to read this", "definitions.html", _context, folded=True)
