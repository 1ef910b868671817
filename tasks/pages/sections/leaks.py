"""What the study would have seen: planted leaks, by measure."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    powers = shown.result.powers
    if not powers and not shown.overview.leaks:
        return None
    return {"power_shares": sorted({share for power in powers.values() for share, _ in power.seen})}


LEAKS = Section("leaks", "Which leak would have been seen?", "leaks.html", _context)
