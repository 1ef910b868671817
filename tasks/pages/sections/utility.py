"""How useful each release is: the risk-utility map, and the numbers."""

from collections.abc import Mapping
from math import isnan
from typing import Any

from synthrisk.metrics.study.league import is_reference
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.quantities import limited, quantity_of
from synthrisk.tasks.pages.figures import svg, words_of
from synthrisk.tasks.pages.panel import Panel
from synthrisk.tasks.pages.risk_utility_figure import MapPoint, risk_utility_figure
from synthrisk.tasks.pages.section import Section, Shown
from synthrisk.tasks.pages.templates import cut


def _context(shown: Shown) -> Mapping[str, Any] | None:
    found = shown.result.utility
    if not found:
        return None
    return {"maps": _maps(shown), "utility": [(m, [f for f in found if f.measure == m]) for m in _measures(shown)]}


def _measures(shown: Shown) -> list[Measure]:
    return list(dict.fromkeys(f.measure for f in shown.result.utility))


def _maps(shown: Shown) -> list[Panel]:
    """Return a risk-utility map for each risk with a threshold, or for the first measure where none is set.

    The utility is the study's first, at the size of its ceiling.
    """
    result = shown.result
    if not result.findings:
        return []
    across = {f.synthesizer: f for f in result.utility if f.measure == _measures(shown)[0]}
    first = result.findings[0].measure.key
    known = any(not isnan(f.memorization.value) for f in result.findings if f.measure.key == first)
    wanted: dict[str, float | None] = {n: limit.value for n, limit in result.limits.items()}
    panels = []
    for name, limit in (wanted or {f"{'memorization' if known else 'risk'}/{first}": None}).items():
        what = limited(name, [f.measure.key for f in result.findings])
        own = [f for f in result.findings if f.measure.key == what.key]
        up = {f.synthesizer: quantity_of(f, what.quantity, what.group) for f in own}
        points = [
            MapPoint(cut(n), is_reference(result, n), across[n].at_one_size, up[n])
            for n in shown.names
            if n in across and n in up
        ]
        points = [p for p in points if not isnan(p.utility.value) and not isnan(p.risk.value)]
        high = sorted((p for p in points if not p.reference), key=lambda p: -p.risk.value)[: shown.most]
        points = [p for p in points if p.reference or p in high]
        if points:
            measure = across[points[0].name].measure
            ceilings = [across[p.name].ceiling.value for p in points if not p.reference] or [float("nan")]
            drawn = risk_utility_figure(points, measure.key, what.words, ceilings[0], limit)
            text = f"{measure.key} and {what.words} by {what.key}: {words_of(drawn)}"
            panels.append(Panel(f"{what.words} by {what.key}", text, svg(drawn, f"map/{name}")))
    return panels


UTILITY = Section("utility", "Utility: what the releases are good for", "utility.html", _context)
