"""The share of members at risk, by threshold of the attack or tolerance of the error."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.figures import curves_figure
from synthrisk.tasks.pages.panel import panels_of
from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    panels = panels_of(shown, "curves", lambda f: bool(f.curve), curves_figure)
    return {"curves": panels} if panels else None


_TITLE = "Share at risk, by threshold of the attack or tolerance of the error"
CURVES = Section("curves", _TITLE, "curves.html", _context)
