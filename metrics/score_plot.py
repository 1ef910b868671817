"""The picture of one score: how its records are spread, its value, and its yardsticks."""

from typing import TYPE_CHECKING, Any

import numpy as np

from synthrisk.metrics.score import Score
from synthrisk.metrics.shown import YARDSTICKS, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES: tuple[Any, ...] = ("--", ":", "-.", (0, (1, 4)))  # one a yardstick


def plot_score(score: Score, axes: "Axes | None" = None) -> "Axes":
    """Draw the share of records with at least a score; return the axes. Value and yardsticks are vertical lines.

    A score of which no records are kept is its value and its yardsticks alone.
    """
    if axes is None:
        from matplotlib import pyplot as plt

        axes = plt.subplots()[1]
    records = np.array([]) if score.records is None else score.records["score"].to_numpy(dtype=float)
    scores = np.sort(records[~np.isnan(records)])
    if len(scores):
        share = 1 - np.arange(len(scores)) / len(scores)
        axes.step(scores, share, where="pre", label=f"{len(scores):,} records")
        axes.set_ylabel("share of records with at least this score")
    lines: list[tuple[str, float, Any]] = [("value", score.value, "-")]
    known = [(name, score.details[name]) for name in YARDSTICKS if name in score.details]
    lines += [(name, value, dash) for (name, value), dash in zip(known, _DASHES, strict=False)]
    for name, value, dash in lines:
        if np.isfinite(value):
            axes.axvline(value, linestyle=dash, color="black", label=f"{name} {number(value)}")
    axes.set_title(score.metric)
    axes.set_xlabel("score" if len(scores) else "value")
    axes.set_ylim(bottom=0)
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    return axes
