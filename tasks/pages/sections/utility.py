"""How useful each release is: the risk-utility map, and the numbers."""

from collections.abc import Mapping
from typing import Any

from synthrisk.metrics.study.ledger import Measure
from synthrisk.tasks.pages.figures import svg, words_of
from synthrisk.tasks.pages.panel import Panel
from synthrisk.tasks.pages.risk_utility_map import map_of, risks_of
from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    found = shown.result.utility
    if not found:
        return None
    return {"maps": _maps(shown), "utility": [(m, [f for f in found if f.measure == m]) for m in _measures(shown)]}


def _measures(shown: Shown) -> list[Measure]:
    return list(dict.fromkeys(f.measure for f in shown.result.utility))


def _maps(shown: Shown) -> list[Panel]:
    """Return a risk-utility map for each risk with a threshold, or for the first measure where none is set."""
    panels = []
    for name in risks_of(shown.result):
        found = map_of(shown.result, name, shown.names, shown.most)
        if found is not None:
            title, utility, drawn = found
            panels.append(Panel(title, f"{utility} and {title}: {words_of(drawn)}", svg(drawn, f"map/{name}")))
    return panels


UTILITY = Section("utility", "Utility: what the releases are good for", "utility.html", _context)
