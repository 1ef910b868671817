"""The figures: ours as lines with bands, the paper's as hollow rings."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, MUTED, FAINT = "#1f2933", "#6b7280", "#d5dae1"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b0578d", "#8a6d00")  # after Okabe and Ito
STYLE = {
    "font.size": 9,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def panels(rows: int, columns: int, width: float, height: float) -> tuple[Figure, np.ndarray]:
    """Return a figure with a grid of axes in the house style."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = np.asarray(figure.subplots(rows, columns, squeeze=False))
    for one in axes.ravel():
        one.grid(color=FAINT, linewidth=0.5)
        one.set_axisbelow(True)
    return figure, axes


def band(axes: Axes, x: Sequence[float], values: np.ndarray, colour: str, label: str) -> None:
    """Draw the mean of the rows of ``values`` (repetitions, len(x)) with one standard deviation on either side."""
    mean = values.mean(axis=0)
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros_like(mean)
    axes.fill_between(x, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
    axes.plot(x, mean, color=colour, linewidth=1.6, label=label)


def rings(axes: Axes, x: Sequence[float], y: Sequence[float], colour: str, label: str | None = None) -> None:
    """Draw the paper's values."""
    axes.plot(x, y, "o", ms=4.2, mfc="white", mec=colour, mew=0.9, label=label, zorder=3)


def lines_figure(
    x: Sequence[float],
    ours: Mapping[str, np.ndarray],
    paper_x: Sequence[float],
    paper: Mapping[str, Sequence[float]],
    labels: tuple[str, str],
) -> Figure:
    """Return one panel of curves: ours, (repetitions, len(x)) each, and the paper's of the same names."""
    figure, ((axes,),) = panels(1, 1, 6.4, 3.7)
    for colour, (name, values) in zip(COLOURS, ours.items(), strict=False):
        band(axes, x, values, colour, name)
        if name in paper:
            rings(axes, paper_x, paper[name], colour)
    rings(axes, [], [], MUTED, "the paper")
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), reverse=True)
    return figure
