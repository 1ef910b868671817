"""Figures as they are drawn: where their words stand."""

from itertools import pairwise

from matplotlib.backends.backend_agg import FigureCanvasAgg


def beyond(figure, below=True):
    """Return the words that go beyond the drawing, the numbers ``below`` a panel among them or not."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    words = []
    for axes in figure.axes:
        for axis, ends in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            low, high = sorted(ends)
            margin = 1e-9 * (high - low)
            ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            seen = below or axis is axes.yaxis
            words += [label for place, label in ticks if seen and low - margin <= place <= high + margin]
            words.append(axis.label)
        legend = axes.get_legend()
        words += [*axes.texts, axes.title, axes._left_title]
        words += [legend.get_title(), *legend.get_texts()] if legend else []
    width, height = canvas.get_width_height()
    boxes = [(word.get_text(), word.get_window_extent()) for word in words if word.get_text()]
    return [t for t, b in boxes if b.x0 < -1 or b.x1 > width + 1 or b.y0 < -1 or b.y1 > height + 1]


def boxes_below(figure, gap=0):
    """Return the boxes of the words below a panel, and none where two of them touch."""
    FigureCanvasAgg(figure).draw()
    axes = figure.axes[0]
    low, high = axes.get_xlim()
    labels = [t for t in axes.get_xticklabels() if low <= t.get_position()[0] <= high and t.get_text()]
    boxes = [label.get_window_extent() for label in labels]
    return boxes if all(a.x1 + gap < b.x0 for a, b in pairwise(boxes)) else []
