"""The figure of effects: average marginal effects of the quasi-identifiers, a group each."""

from typing import NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from synthrisk.metrics.exposure.attribution import Attribution
from synthrisk.metrics.exposure.risk_terms import RARE
from synthrisk.tasks.pages.figures import ACCENT, INK, MUTED, PAPER, SIZE, say, shortened, width_of, with_words
from synthrisk.tasks.pages.interval_marks import draw_interval
from synthrisk.tasks.pages.panels import levels_panel, plain_label, words_alone
from synthrisk.tasks.pages.templates import interval, number

_MOST = 12  # columns drawn


class _Line(NamedTuple):
    """A line of the panel of effects: the name of a column, a level, or how many levels are not drawn."""

    text: str
    role: str  # column, level, reference, more
    lower: float = 0.0
    effect: float = 0.0
    upper: float = 0.0
    note: str = ""


def effects_figure(found: Attribution, levels: int = 6) -> Figure:
    """Return the average marginal effects with intervals, a group a quasi-identifier, the strongest group first.

    The hollow dot is the level that the others are compared with; levels of fewer than ``RARE`` records are grey. At
    most ``levels`` of a column are drawn, those of the largest effects, of at most 12 columns.
    """
    if found.reason:
        return words_alone(found.reason)
    shown = found.effects[found.effects["kind"] != "per_unit"]
    groups = [group for _, group in shown.groupby("column", sort=False)]
    groups.sort(key=_size, reverse=True)
    lines = [line for group in groups[:_MOST] for line in _lines(group, levels)]
    if len(groups) > _MOST:
        lines.append(_Line(f"{len(groups) - _MOST} more columns", "more"))
    labels = [shortened(line.text) if line.role in ("level", "reference") else "" for line in lines]
    others = [shortened(line.text, 28) for line in lines if line.role in ("column", "more")]
    figure, axes = levels_panel(labels, 0.3 + width_of([*labels, *others]))
    ends = [end for line in lines if "collinear" not in line.note for end in (line.lower, line.upper)]
    low, high = min(0.0, *ends), max(0.02, *ends)
    pad = 0.04 * (high - low)
    axes.set_xlim(low - pad, high + pad)
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    for y, line in enumerate(lines):
        _draw(axes, y, line, figure.get_figwidth())
    plain_label(axes.set_xlabel("change of the probability of being at risk", loc="right"))
    return with_words(figure, [text for group in groups[:_MOST] for text in _told(group, levels)])


def _told(group: pd.DataFrame, levels: int) -> list[str]:
    """Return the effects that are drawn of a column, in words."""
    kept = group.loc[group["effect"].abs().nlargest(levels).index]
    return [
        f"{shortened(str(row['column']), 60)} {shortened(row['level'], 60)} against {shortened(row['reference'], 60)} "
        f"{number(row['effect'], sign=True)} {interval(row['lower'], row['upper'], sign=True)}"
        for row in kept.to_dict("records")
        if not row["note"].startswith("collinear")
    ]


def _size(group: pd.DataFrame) -> float:
    return float(group["effect"].abs().where(~group["note"].str.startswith("collinear"), 0).max())


def _lines(group: pd.DataFrame, levels: int) -> list[_Line]:
    """Return the name of a column, its effects from the largest to the smallest, and what is not drawn."""
    kept = group.loc[group["effect"].abs().nlargest(levels).index]
    drawn = []
    for row in kept.to_dict("records"):
        text = row["level"] if row["reference"] != "mean" else f"{row['level']} against mean"
        note = row["note"] or ("few" if row["records"] < RARE else "")
        drawn.append(_Line(text, "level", row["lower"], row["effect"], row["upper"], note))
    first = group.iloc[0]
    if first["kind"] == "level" and first["reference"] != "mean":
        drawn.append(_Line(first["reference"], "reference"))
    drawn.sort(key=lambda line: -line.effect)
    more = len(group) - len(kept)
    rest = [_Line(f"{more} more with smaller effects", "more")] if more else []
    return [_Line(str(first["column"]), "column"), *drawn, *rest]


def _draw(axes: Axes, y: int, line: _Line, width: float) -> None:
    if line.role in ("column", "more"):
        place = 0.1 / width if line.role == "column" else axes.get_position().x0 - 4 / 72 / width
        words = axes.annotate(shortened(line.text, 28), (place, y), xycoords=("figure fraction", "data"), va="center")
        words.set(parse_math=False, size=SIZE, color=INK if line.role == "column" else MUTED)
        words.set(weight="bold" if line.role == "column" else "normal", ha="left" if line.role == "column" else "right")
    elif line.role == "reference":
        axes.plot([0], [y], "o", markersize=4.2, mfc=PAPER, mec=INK, mew=0.9, zorder=3)
    elif line.note.startswith("collinear"):
        say(axes, y, shortened(line.note.split("; ")[0], 44))
    else:
        draw_interval(axes, line.lower, line.effect, line.upper, y, MUTED if "few" in line.note else ACCENT)
