"""How useful each release is: the risk-utility map, a point a synthesizer, and the numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.verdicts.quantities import limited, quantity_of
from synthrisk.metrics.verdicts.results import StudyResult, is_reference
from synthrisk.tasks.pages.figures import (
    ACCENT,
    ALARM,
    CELL,
    DASHED,
    FAINT,
    INK,
    MUTED,
    PAPER,
    ROUND,
    SIZE,
    Panel,
    bare_axes,
    draw_limits,
    shortened,
    svg,
    text_cells,
    with_words,
    words_of,
)
from synthrisk.tasks.pages.section import Section, Shown
from synthrisk.tasks.pages.templates import cut, interval, number

_WIDTH, _HEIGHT = 3.98, 3.0  # inches of the axes
_LEFT, _RIGHT, _BOTTOM, _TOP = 0.7, 0.12, 0.5, 0.46
_CELL, _LINE = CELL, 0.16  # inches that a character and a line of text take
_MOST = 55  # characters of a label over or under the axes
_FAR = 1.5  # reference generators this many times the height of the synthesizers above them are drawn at the edge
_FEW, _COVERED = 12, 1.0  # points that all keep their names; cost from which another has none
_STRAY = 0.35  # intervals may widen an axis by this share of what the values span


@dataclass(frozen=True)
class MapPoint:
    """One synthesizer on the map."""

    name: str
    reference: bool
    utility: Estimate
    risk: Estimate
    above: bool = False  # higher than the axes reach


class _Box(NamedTuple):
    """A rectangle in inches from the lower left corner of the axes."""

    left: float
    bottom: float
    right: float
    top: float

    def shared(self, other: "_Box") -> float:
        """Return the area that two rectangles share."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(width, 0.0) * max(height, 0.0)


def risk_utility_figure(
    points: Sequence[MapPoint], utility: str, risk: str, ceiling: float = float("nan"), limit: float | None = None
) -> Figure:
    """Return the map of one measure of risk and one of utility.

    Synthesizers are filled points, reference generators hollow ones. The ``ceiling``, the utility of real records in
    place of a release, is a dashed line; the threshold of the risk, ``limit``, a red one.
    """
    figure, axes = bare_axes(_LEFT + _WIDTH + _RIGHT, _HEIGHT, _LEFT, _RIGHT, _BOTTOM, _TOP)
    axes.grid(color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    kind = "at the size of the ceiling" if np.isfinite(ceiling) else "utility"
    axes.set_xlabel(shortened(f"{utility}, {kind}", _MOST), size=SIZE, color=INK, parse_math=False, loc="right")
    above = 1 + 0.24 / _HEIGHT, (0.05 - _LEFT) / _WIDTH  # over the numbers of its axis: beside them it would be cut
    axes.set_xlim(*_limits([p.utility for p in points], [ceiling], 0.0, 1.0))
    axes.set_ylim(*_heights(points, [0.0 if risk == "memorization" else np.nan, np.nan if limit is None else limit]))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=ROUND))
    taken = _lines(axes, ceiling, limit)
    told = [f"{shortened(p.name, 60)} utility {_told(p.utility)} {risk} {_told(p.risk)}" for p in points]
    told += [f"ceiling {number(ceiling)}"] if np.isfinite(ceiling) else []
    told += [] if limit is None else [f"limit {limit:g}"]
    points = [_brought_in(axes, p) for p in points]
    for point in points:
        _mark(axes, point)
    unnamed = _label(axes, points, taken)
    beside = f" ({unnamed} names do not fit)" if unnamed else ""
    words = shortened(f"↑ {risk}", _MOST - len(beside)) + beside
    axes.text(above[1], above[0], words, transform=axes.transAxes, va="bottom", size=SIZE, color=INK, parse_math=False)
    return with_words(figure, told)


def _told(found: Estimate) -> str:
    known = np.isfinite(found.lower) and np.isfinite(found.upper)
    return number(found.value) + (f" {interval(found.lower, found.upper)}" if known else "")


def _limits(found: Sequence[Estimate], fixed: Sequence[float], lowest: float, highest: float) -> tuple[float, float]:
    """Return limits that hold all values, and what there is room for of wide intervals."""
    values = np.array([*(e.value for e in found), *fixed])
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    stray = _STRAY * max(high - low, 0.02)
    ends = np.array([x for e in found for x in (e.lower, e.upper) if np.isfinite(x)])
    ends = np.clip(ends, max(lowest, low - stray), min(highest, high + stray))
    low, high = min([low, *ends]), max([high, *ends])
    pad = 0.08 * max(high - low, 0.02)
    return low - pad, high + pad


def _heights(points: Sequence[MapPoint], fixed: Sequence[float]) -> tuple[float, float]:
    """Return limits that hold all synthesizers, and the reference generators not far above them, as a copy is."""
    judged = [p.risk for p in points if not p.reference] or [p.risk for p in points]
    top = _limits(judged, fixed, -1.0, 1.0)[1]
    low = min(top, *(p.risk.value for p in points))
    near = [p.risk for p in points if p.risk.value <= top + _FAR * max(top - low, 0.05)]
    return _limits(near, fixed, -1.0, 1.0)


def _brought_in(axes: Axes, point: MapPoint) -> MapPoint:
    """Return a point above the axes as one at their upper edge, named with its value."""
    top = axes.get_ylim()[1]
    if point.risk.value <= top:
        return point
    edge = top - 0.04 * (top - axes.get_ylim()[0])
    at_edge = Estimate(edge, float("nan"), float("nan"))
    return replace(point, name=f"{shortened(point.name, 20)} ({number(point.risk.value)})", risk=at_edge, above=True)


def _lines(axes: Axes, ceiling: float, limit: float | None) -> list[_Box]:
    """Draw ceiling and threshold, with their names at the margin; return what room they take."""
    taken = []
    if np.isfinite(ceiling):
        axes.axvline(ceiling, color=MUTED, linewidth=1, linestyle=DASHED, zorder=1)
        place, x = axes.get_xaxis_transform(), _inches(axes, ceiling, 0)[0]
        side = "right" if x > _WIDTH / 2 else "left"
        axes.text(ceiling, 1.02, "ceiling", transform=place, color=MUTED, size=SIZE, ha=side, va="bottom")
        taken.append(_Box(x - 0.02, 0, x + 0.02, _HEIGHT))
    if limit is not None:
        axes.axhline(limit, color=ALARM, linewidth=1.1, zorder=1)
        y, text = _inches(axes, 0, limit)[1], f"limit {limit:g}"
        place = axes.get_yaxis_transform()
        said = axes.text(0.01, limit, text, transform=place, color=ALARM, size=SIZE, ha="left", va="bottom", zorder=4)
        said.set_bbox({"facecolor": PAPER, "edgecolor": "none", "pad": 0.6, "alpha": 0.85})
        taken += [_Box(0, y - 0.02, _WIDTH, y + 0.02), _Box(0, y, _CELL * len(text), y + _LINE)]
    if axes.get_ylim()[0] < 0:
        axes.axhline(0, color=INK, linewidth=0.9, zorder=1)
        zero = _inches(axes, 0, 0)[1]
        taken.append(_Box(0, zero - 0.015, _WIDTH, zero + 0.015))
    return taken


def _mark(axes: Axes, point: MapPoint) -> None:
    x, y = point.utility, point.risk
    colour, filled = (MUTED, PAPER) if point.reference else (ACCENT, ACCENT)
    width = 0.9 if point.reference else 1.5
    draw_limits(axes, x.lower, x.upper, y.value, colour, width)
    draw_limits(axes, y.lower, y.upper, x.value, colour, width, upright=True)
    axes.plot([x.value], [y.value], "^" if point.above else "o", ms=4.5, mfc=filled, mec=colour, mew=1.2, zorder=3)


def _label(axes: Axes, points: Sequence[MapPoint], taken: Sequence[_Box]) -> int:
    """Write each name where it covers least, the nearest such place; a thin line leads to one that is far.

    Of many points those keep no name that would cover others: return how many.
    """
    unnamed = 0
    centres = [_inches(axes, p.utility.value, p.risk.value) for p in points]
    marks = [_Box(x - 0.06, y - 0.06, x + 0.06, y + 0.06) for x, y in centres]
    obstacles = [*taken, *(b for p in points for b in _bars(axes, p))]
    labels: list[_Box] = []
    for point in points:
        x, y = _inches(axes, point.utility.value, point.risk.value)
        name = point.name if point.above else shortened(point.name, 20)
        bars = [b for b in _bars(axes, point) if b.right - b.left < 1.2 and b.top - b.bottom < 1.2]
        reach = [max([0.1, *ends]) for ends in _reaches(x, y, bars)]
        places = [_place(x, y, side, reach, away, name) for away in (0, 0.12, 0.3, 0.5) for side in _SIDES]
        costs = [
            sum(100 * box.shared(b) for b in (*marks, *labels))
            + sum(40 * box.shared(b) for b in obstacles)
            + 100 * _outside(box)
            for box in places
        ]
        best = places[int(np.argmin(np.round(costs, 4) + 0.01 * np.arange(len(places))))]
        if len(points) > _FEW and min(costs) > _COVERED:
            unnamed += 1
            continue
        labels.append(best)
        ink = MUTED if point.reference else INK
        middle = (best.left + best.right) / 2, (best.bottom + best.top) / 2
        text = axes.text(middle[0] / _WIDTH, middle[1] / _HEIGHT, name, transform=axes.transAxes)
        text.set(size=SIZE, color=ink, ha="center", va="center", zorder=4, parse_math=False)
        near = min(max(x, best.left), best.right), min(max(y, best.bottom), best.top)
        if np.hypot(near[0] - x, near[1] - y) > max(reach) + 0.1:
            ends = [x / _WIDTH, near[0] / _WIDTH], [y / _HEIGHT, near[1] / _HEIGHT]
            axes.plot(*ends, transform=axes.transAxes, color=ink, linewidth=0.5, zorder=2)
    return unnamed


_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))


def _reaches(x: float, y: float, bars: Sequence[_Box]) -> tuple[list[float], list[float]]:
    """Return how far intervals reach sideways and up or down, and some room beyond."""
    return [max(b.right - x, x - b.left) + 0.06 for b in bars], [max(b.top - y, y - b.bottom) + 0.06 for b in bars]


def _place(x: float, y: float, side: tuple[int, int], reach: Sequence[float], away: float, name: str) -> _Box:
    """Return the rectangle of a name at a side of a point: beyond its interval, or beside it at a corner."""
    width, height = _CELL * text_cells(name), _LINE
    own = [r + away for r in reach] if 0 in side else [0.06 + away, 0.06 + away]
    left = x + side[0] * own[0] - (0, width / 2, width)[1 - side[0]]
    bottom = y + side[1] * own[1] - (0, height / 2, height)[1 - side[1]]
    return _Box(left, bottom, left + width, bottom + height)


def _bars(axes: Axes, point: MapPoint) -> list[_Box]:
    x, y, thin = point.utility, point.risk, 0.02
    boxes = []
    if np.isfinite(x.lower):
        (a, b), (c, _) = _inches(axes, x.lower, y.value), _inches(axes, x.upper, y.value)
        boxes.append(_Box(a, b - thin, c, b + thin))
    if np.isfinite(y.lower):
        (a, b), (_, c) = _inches(axes, x.value, y.lower), _inches(axes, x.value, y.upper)
        boxes.append(_Box(a - thin, b, a + thin, c))
    return boxes


def _outside(box: _Box) -> float:  # inches
    return max(0.0, -box.left) + max(0.0, box.right - _WIDTH) + max(0.0, -box.bottom) + max(0.0, box.top - _HEIGHT)


def _inches(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """Return where a value lies, in inches from the lower left corner of the axes."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    return float((x - left) / (right - left) * _WIDTH), float((y - bottom) / (top - bottom) * _HEIGHT)


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
    known = [n for n in names if n in across and n in up]
    points = [MapPoint(cut(n), is_reference(result, n), across[n].at_one_size, up[n]) for n in known]
    points = [p for p in points if not isnan(p.utility.value) and not isnan(p.risk.value)]
    high = sorted((p for p in points if not p.reference), key=lambda p: -p.risk.value)[:most]
    points = [p for p in points if p.reference or p in high]
    if not points:
        return None
    measure = across[points[0].name].measure
    ceilings = [across[p.name].ceiling.value for p in points if not p.reference] or [float("nan")]
    drawn = risk_utility_figure(points, measure.key, what.words, ceilings[0], limit)
    return f"{what.words} by {what.key}", measure.key, drawn


def _context(shown: Shown) -> Mapping[str, Any] | None:
    found = shown.result.utility
    if not found:
        return None
    measures = dict.fromkeys(f.measure for f in found)
    return {"maps": _maps(shown), "utility": [(m, [f for f in found if f.measure == m]) for m in measures]}


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
