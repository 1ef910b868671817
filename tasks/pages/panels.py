"""The panels that figures of an attribution are drawn on."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from synthrisk.tasks.pages.figures import FAINT, INK, MUTED, ROUND, SIZE, WIDEST, bare_axes, name_rows, with_words

ROW = 0.2  # inches a line
_LEAST = 1.5  # inches of the axes


def empty_axes(height: float, left: float, bottom: float = 0.45, right: float = 0.12) -> tuple[Figure, Axes]:
    """Return axes without a frame, ``height`` inches high, in a figure with these margins."""
    figure, axes = bare_axes(max(WIDEST, left + right + _LEAST), height, left, right, bottom)
    axes.set_axisbelow(True)
    return figure, axes


def levels_panel(labels: Sequence[str], left: float, right: float = 0.12, row: float = ROW) -> tuple[Figure, Axes]:
    """Return axes with a line, ``row`` inches high, for each label, the first on top."""
    figure, axes = empty_axes(row * len(labels) + 0.1, left, right=right)
    name_rows(axes, labels, [INK] * len(labels))
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=ROUND))
    return figure, axes


def words_alone(text: str) -> Figure:
    """Return a figure that says why there is nothing to draw."""
    figure, axes = empty_axes(ROW, 0.12, 0.1)
    axes.set_axis_off()
    axes.text(0, 0.5, text, transform=axes.transAxes, size=SIZE, color=MUTED, va="center", style="italic")
    return with_words(figure, [text])


def plain_label(text: Text) -> None:
    """Set a label in ink, its dollar signs as they are."""
    text.set(parse_math=False, color=INK, size=SIZE)
