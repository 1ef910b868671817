"""The notes that the numbers refer to."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    return {} if shown.notes.texts else None


NOTES = Section("notes", "Notes", "notes.html", _context)
