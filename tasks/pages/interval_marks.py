"""Values with their intervals: each end is marked, and where an axis cuts an interval an arrow says so."""

import numpy as np
from matplotlib.axes import Axes

DOT, CAP = 3.4, 7.0  # points: caps are taller than the dot, so that no interval hides behind it
BEYOND = "beyond"  # class of the arrows in the SVG


def draw_interval(
    axes: Axes, lower: float, value: float, upper: float, at: float, colour: str, upright: bool = False
) -> None:
    """Draw a value as a dot, and its limits, where there are some, as a line with a cap at each end.

    The axis must have its limits. ``at`` is the height, or the place from the left where the interval is ``upright``.
    """
    draw_limits(axes, lower, upper, at, colour, upright=upright)
    place = ([at], [value]) if upright else ([value], [at])
    axes.plot(*place, "o", color=colour, markersize=DOT, zorder=3)


def draw_limits(
    axes: Axes, lower: float, upper: float, at: float, colour: str, width: float = 1.6, upright: bool = False
) -> None:
    """Draw an interval without its value: a line with caps, or an arrow where it goes on past the axis."""
    if np.isnan(lower) or np.isnan(upper):
        return
    low, high = sorted(axes.get_ylim() if upright else axes.get_xlim())
    ends = np.clip([lower, upper], low, high)
    inside = [i for i, (end, shown) in enumerate(zip((lower, upper), ends, strict=True)) if end == shown]
    cap = {"marker": "_" if upright else "|", "markersize": CAP, "markeredgewidth": 1.0, "markevery": inside}
    places = ([at, at], list(ends)) if upright else (list(ends), [at, at])
    line = axes.plot(*places, color=colour, linewidth=width, solid_capstyle="butt", zorder=2)[0]
    if inside:
        line.set(**cap)
    for i in {0, 1} - set(inside):
        arrow = ("v^" if upright else "<>")[i]
        place = [each[i : i + 1] for each in places]
        found = axes.plot(*place, arrow, color=colour, markersize=5, clip_on=False, zorder=3)[0]
        found.set_gid(BEYOND)
