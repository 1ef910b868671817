"""Where the numbers come from, and what was asked."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any]:
    return {}


PROVENANCE = Section("provenance", "Provenance", "provenance.html", _context)
