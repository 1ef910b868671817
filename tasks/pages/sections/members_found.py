"""Which members an attack finds where it may hardly ever be wrong."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    ranked = [f for f in shown.result.findings if f.tpr]
    return {"ranked": ranked} if ranked else None


MEMBERS_FOUND = Section("members-found", "Members found at a low false-positive rate", "members_found.html", _context)
