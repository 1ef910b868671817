"""The league table: a line a generator."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    return {} if shown.measures else None


LEAGUE = Section("league", "The generators side by side", "league.html", _context)
