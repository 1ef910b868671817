"""Whether the reference generators behave."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any]:
    return {}


REFERENCES = Section(
    "references", "Reference generators: does this study see what it should?", "references.html", _context
)
