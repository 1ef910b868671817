"""Risk beside utility: which generators a map shows, at which numbers."""

from collections.abc import Sequence
from math import isnan

from matplotlib.figure import Figure

from synthrisk.metrics.study.league import is_reference
from synthrisk.metrics.study.quantities import limited, quantity_of
from synthrisk.metrics.study.results import StudyResult
from synthrisk.tasks.pages.risk_utility_figure import MapPoint, risk_utility_figure
from synthrisk.tasks.pages.templates import cut


def risks_of(result: StudyResult) -> list[str]:
    """Return the risks that have a threshold, or that of the first measure where none has; none without utility."""
    if not result.findings or not result.utility:
        return []
    first = result.findings[0].measure.key
    known = any(not isnan(f.memorization.value) for f in result.findings if f.measure.key == first)
    return list(result.limits) or [f"{'memorization' if known else 'risk'}/{first}"]


def map_of(result: StudyResult, name: str, names: Sequence[str], most: int) -> tuple[str, str, Figure] | None:
    """Return what a map shows: the risk in words, the measure of utility, and the figure; None without a point.

    The utility is the study's first, at the size of its ceiling.

    Args:
        result: What the study says.
        name: The risk, such as ``memorization/rapid.income``.
        names: The generators, in order.
        most: Synthesizers drawn, those of the highest risk first.
    """
    limit = result.limits[name].value if name in result.limits else None
    across = {f.synthesizer: f for f in result.utility if f.measure == result.utility[0].measure}
    what = limited(name, [f.measure.key for f in result.findings])
    own = [f for f in result.findings if f.measure.key == what.key]
    up = {f.synthesizer: quantity_of(f, what.quantity, what.group) for f in own}
    points = [
        MapPoint(cut(n), is_reference(result, n), across[n].at_one_size, up[n])
        for n in names
        if n in across and n in up
    ]
    points = [p for p in points if not isnan(p.utility.value) and not isnan(p.risk.value)]
    high = sorted((p for p in points if not p.reference), key=lambda p: -p.risk.value)[:most]
    points = [p for p in points if p.reference or p in high]
    if not points:
        return None
    measure = across[points[0].name].measure
    ceilings = [across[p.name].ceiling.value for p in points if not p.reference] or [float("nan")]
    drawn = risk_utility_figure(points, measure.key, what.words, ceilings[0], limit)
    return f"{what.words} by {what.key}", measure.key, drawn
