"""What the releases have shown before they were judged: broken, copies, verbatim rows."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    releases = shown.result.releases
    looked_at = {name: releases[name] for name in shown.names if name in releases}
    return {"looked_at": looked_at} if looked_at else None


RELEASES = Section("releases", "The releases before they are judged", "releases.html", _context)
