"""The GDA diagram: a row a synthesizer, a panel a quantity; bars are means over columns, ticks the columns."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from synthrisk.metrics.study.gda import ColumnScore, GdaScore
from synthrisk.metrics.study.gda_view import AttackView
from synthrisk.tasks.pages.figures import ACCENT, FAINT, INK, MUTED, SIZE, name_rows, shortened

_ROW, _TOP, _BOTTOM, _LEFT, _PANEL, _GAP = 0.24, 0.42, 0.3, 1.55, 1.2, 0.42  # inches
_Quantity = tuple[str, bool, Callable[[GdaScore], float], Callable[[ColumnScore], float] | None]
_QUANTITIES: tuple[_Quantity, ...] = (
    ("confidence\nimprovement", False, lambda s: s.confidence_improvement, lambda c: c.confidence_improvement),
    ("claim\nprobability", False, lambda s: s.claim_probability, lambda c: c.claim_probability),
    ("susceptibility", False, lambda s: s.susceptibility, None),  # of the data set: no mean of its columns
    ("prior knowledge\n(cells a claim)", True, lambda s: s.prior_knowledge, lambda c: _per(c.cells_known, c)),
    ("work\n(cells a claim)", True, lambda s: s.work, lambda c: _per(c.cells_read, c)),
)


def gda_figure(views: Sequence[AttackView]) -> Figure:
    """Return the diagram of one attack on several synthesizers.

    Confidence improvement is unclipped: left of zero the attack did worse than the guess. Prior knowledge and work are
    on a logarithmic scale; less of either makes an attack easier.
    """
    width = _LEFT + len(_QUANTITIES) * (_PANEL + _GAP)
    height = _TOP + _ROW * len(views) + _BOTTOM
    figure = Figure(figsize=(width, height))
    figure.patch.set_visible(False)
    for i, quantity in enumerate(_QUANTITIES):
        left = _LEFT + i * (_PANEL + _GAP)
        axes = figure.add_axes((left / width, _BOTTOM / height, _PANEL / width, _ROW * len(views) / height))
        _panel(axes, views, quantity)
        if i == 0:
            colours = [INK if view.role == "synthesizer" else MUTED for view in views]
            name_rows(axes, [shortened(v.synthesizer) for v in views], colours)
    return figure


def _panel(axes: Axes, views: Sequence[AttackView], quantity: _Quantity) -> None:
    title, logarithmic, of_attack, of_column = quantity
    values = np.array([of_attack(v.overall) for v in views])
    columns = [[of_column(c) for c in v.columns] if of_column and len(v.columns) > 1 else [] for v in views]
    seen = np.array([*values, *(x for each in columns for x in each)])
    seen = seen[np.isfinite(seen)]
    axes.patch.set_visible(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=SIZE, labelcolor=INK, pad=3)
    axes.set_yticks([])
    axes.set_ylim(len(views) - 0.4, -0.6)
    axes.set_title(title, size=SIZE, color=INK, loc="left", pad=6)
    low = 0.0
    if logarithmic:
        axes.set_xscale("log")
        low, high = 0.1, 1.0
        if seen.size:
            low, high = 10 ** np.floor(np.log10(max(0.9 * seen.min(), 1e-3))), seen.max() * 1.5
        axes.set_xlim(low, max(high, low * 10))
        axes.minorticks_off()
        ends = [low, 10 ** np.floor(np.log10(max(high, low * 10)))]
        axes.set_xticks(ends, [f"{x:,g}" for x in ends])
    else:
        axes.set_xlim(min(0.0, *seen.tolist()) if seen.size else 0.0, 1)
        axes.set_xticks([0, 1])
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.axvline(1, color=FAINT, linewidth=0.8)
    for y, (view, value, each) in enumerate(zip(views, values, columns, strict=True)):
        colour = ACCENT if view.role == "synthesizer" else MUTED
        if np.isnan(value):
            place = axes.get_yaxis_transform()
            axes.text(0.02, y, "no claim", transform=place, size=8, va="center", color=MUTED, style="italic")
            continue
        axes.barh(y, value - low, left=low, height=0.56, color=colour, alpha=0.85)
        axes.vlines([x for x in each if np.isfinite(x)], y - 0.4, y + 0.4, color=INK, linewidth=0.9)
        shown = f"{value + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "−")
        shown = f"{value:,.0f}" if logarithmic and value >= 100 else shown
        axes.text(1.02, y, shown, transform=axes.get_yaxis_transform(), size=SIZE, color=INK, va="center")


def _per(cells: float, column: ColumnScore) -> float:
    return cells / column.claims if column.claims else float("nan")
