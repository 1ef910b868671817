"""The picture of one score: how its records are spread or its curve over the threshold, its value, its yardsticks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from synthrisk.metrics.intervals.yardsticks import (
    CURVE,
    CURVE_NAMES,
    NUMBER_CURVE_NAMES,
    TOLERANCES,
    threshold_curve,
    tolerance_curve,
)
from synthrisk.metrics.score import Score
from synthrisk.metrics.shown import YARDSTICKS, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES: tuple[Any, ...] = ("--", ":", "-.", (0, (1, 4)))  # one a yardstick
_OWN = "#0072b2"
_COLOURS = ("#d55e00", "#009e73", "#b0578d", "#8a6d00", "#3aa0d8")  # one an attacker model


def plot_score(score: Score, axes: "Axes | None" = None) -> "Axes":
    """Draw a score; return the axes.

    A measure with a threshold (RAPID): the share at risk against it, with the curve of control records and that of the
    null, and of several attacker models the curve of each, their mean and the largest of them at each threshold.
    Others: the share of records with at least a score; value and yardsticks are vertical lines. A score of which no
    records are kept is its value and its yardsticks alone.
    """
    if axes is None:
        from matplotlib import pyplot as plt

        axes = plt.subplots()[1]
    axes.set_title(score.metric)
    if CURVE_NAMES[0] in score.details or NUMBER_CURVE_NAMES[0] in score.details:
        _draw_curves(score, axes)
    else:
        _draw_spread(score, axes)
    axes.set_ylim(bottom=0)
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    return axes


def _draw_spread(score: Score, axes: "Axes") -> None:
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
    axes.set_xlabel("score" if len(scores) else "value")


def _draw_curves(score: Score, axes: "Axes") -> None:
    """Draw the share at risk against the threshold; the numbers in the legend are those at the threshold in force."""
    details, of_gain = score.details, CURVE_NAMES[0] in score.details
    if of_gain:
        names, places, limit, said = CURVE_NAMES, CURVE, score.settings["threshold"], "threshold of the gain (tau)"
    else:
        limit = details["tolerance"]
        names, places, said = NUMBER_CURVE_NAMES, TOLERANCES * limit, "tolerance of the error (epsilon)"
    models = list(_curves_of_models(score, places, of_gain))
    for (name, curve), colour in zip(models, _COLOURS * len(models), strict=False):
        axes.plot(places, curve, color=colour, linewidth=1, label=f"{name} {number(details[f'value_{name}'])}")
    if models:
        mean, best = np.mean([curve for _, curve in models], axis=0), details["rapid_envelope"]
        axes.plot(places, mean, "-.", color=_OWN, label=f"rapid_mean {number(details['rapid_mean'])}")
        axes.plot([limit], [best], "o", color=_OWN, label=f"rapid_envelope {number(best)}")
    lines = [("", "rapid_max" if models else "value", details.get("rapid_max", score.value), _OWN, "-")]
    of_control = details.get("control_rapid_max", details.get("control", np.nan))
    lines += [("control_", "control", of_control, "black", "--")]
    lines += [("null_real_", "null", details.get("null_real_mean", np.nan), "black", ":")]
    for before, called, at_limit, colour, dash in lines:
        if before + names[0] in details:
            own = [details[before + name] for name in names]
            label = f"{called} {number(at_limit)}"
            axes.plot(places, own, color=colour, linestyle=dash, linewidth=1.2 if before else 2, label=label)
    axes.axvline(limit, color="grey", linewidth=0.8, label=f"{'threshold' if of_gain else 'tolerance'} {limit:g}")
    axes.set_xlabel(said)
    axes.set_ylabel("share of records at risk")
    axes.set_ylim(top=1.02)


def _curves_of_models(score: Score, places: np.ndarray, of_gain: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Return the curve of each of several attacker models."""
    if score.records is None:
        return
    before, curve = ("gain_", threshold_curve) if of_gain else ("error_", tolerance_curve)
    for column in score.records:
        if str(column).startswith(before):
            yield str(column).removeprefix(before), curve(score.records[column].to_numpy(dtype=float), places)
