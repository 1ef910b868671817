"""The figures of an attribution: effects of quasi-identifiers, and predicted risk by two or three of them together."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, MaxNLocator

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.exposure.attribution import Attribution
from synthrisk.metrics.exposure.risk_terms import RARE
from synthrisk.metrics.tables.kinds import NANOSECONDS_A_DAY
from synthrisk.tasks.pages.figures import (
    ACCENT,
    DASHES,
    FAINT,
    INK,
    LINES,
    MUTED,
    PAPER,
    ROUND,
    SIZE,
    WIDEST,
    bare_axes,
    draw_interval,
    draw_limits,
    name_rows,
    say,
    shortened,
    width_of,
    with_words,
)
from synthrisk.tasks.pages.templates import interval, number

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


_CURVES = 2.4  # inches
_LEAST_SPAN = 0.2  # of an axis of risks
_NAME = 18  # characters of a level where the levels of two columns stand beside each other


def interaction_figure(found: Attribution, first: Any, second: Any) -> Figure:
    """Return the predicted risk against one column, a colour a level of the other, with intervals.

    Combinations of fewer than ``RARE`` records are not drawn: the model has no term of their own for them.

    Raises:
        InputError: The pair has no grid.
    """
    grids = found.grids
    rows = grids[(grids["first"] == first) & (grids["second"] == second) & (grids["records"] >= RARE)]
    if rows.empty:
        raise InputError(f"first and second must be a pair with a grid, got {first!r} and {second!r}")
    return _crossed(found, rows, first, second)


def triple_figures(found: Attribution, panels: int = 3) -> list[Figure]:
    """Return the strongest three-way interaction: a panel as ``interaction_figure`` for each level of the third column.

    Of more than ``panels`` levels those of most records are drawn. Nothing where no triple is shown to interact: its p,
    adjusted for all triples, is not below 1 - confidence.
    """
    if found.triples.empty or not found.triples["p_holm"].iloc[0] < 1 - found.confidence:
        return []
    first, second, third = found.triples[["first", "second", "third"]].iloc[0]
    grids = found.triple_grids
    rows = grids[(grids["first"] == first) & (grids["second"] == second) & (grids["third"] == third)]
    rows = rows[rows["records"] >= RARE]
    counts = rows.groupby("third_level", sort=False)["records"].sum().sort_values(ascending=False, kind="stable")
    figures = []
    for level in counts.index[:panels]:
        figure = _crossed(found, rows[rows["third_level"] == level], first, second)
        plain_label(figure.axes[0].set_title(shortened(f"{third}: {level}"), fontsize=SIZE, loc="left"))
        figures.append(figure)
    return figures


def _crossed(found: Attribution, rows: pd.DataFrame, first: Any, second: Any) -> Figure:
    kinds = found.columns.set_index("column")["kind"]
    levels = rows.groupby("second_level", sort=False)["risk"].mean().sort_values(ascending=False).index.tolist()
    names = [shortened(level, _NAME) for level in levels]
    room = 0.4 + width_of([*names, shortened(str(second), _NAME)])
    if kinds[first] == "categorical":
        figure, axes = _dodged(rows, levels, names, room)
        plain_label(axes.set_xlabel(f"predicted risk by {shortened(str(first))}", loc="right"))
    else:
        figure, axes = empty_axes(_CURVES, 0.65, right=room)
        for i, (level, name) in enumerate(zip(levels, names, strict=True)):
            line = rows[rows["second_level"] == level]
            x = _values(axes, kinds[first], line["first_value"])
            colour, dash = _style(i)
            axes.fill_between(x, line["lower"], line["upper"], color=colour, alpha=0.12, linewidth=0)
            axes.plot(x, line["risk"], color=colour, linewidth=1.5, linestyle=dash, label=name)
        _risk_axis(axes, first, kinds[first])
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.03)}
    legend = axes.legend(title=shortened(str(second), _NAME), handlelength=1.4, frameon=False, fontsize=SIZE, **place)
    for text in (legend.get_title(), *legend.get_texts()):
        plain_label(text)
    legend.set_alignment("left")
    return with_words(figure, _told_grid(rows, first, second))


def _told_grid(rows: pd.DataFrame, first: Any, second: Any) -> list[str]:
    """Return up to four points of each line, spread over it."""
    one, two = (shortened(str(name), 60) for name in (first, second))
    return [
        f"{one} {shortened(row['first_level'], 60)}, {two} {shortened(str(level), 60)} "
        f"{number(row['risk'])} {interval(row['lower'], row['upper'])}"
        for level, line in rows.groupby("second_level", sort=False)
        for row in line.iloc[:: max(1, -(-len(line) // 4))].to_dict("records")
    ]


def interaction_figures(found: Attribution, count: int = 3) -> list[Figure]:
    """Return the panels of the strongest interactions."""
    pairs = found.interactions.head(count)
    return [interaction_figure(found, a, b) for a, b in zip(pairs["first"], pairs["second"], strict=True)]


def _dodged(rows: pd.DataFrame, levels: Sequence[str], names: Sequence[str], room: float) -> tuple[Figure, Axes]:
    """Draw a line a level of the first column, in it a dot a level of the second."""
    places = rows.drop_duplicates("first_value").sort_values("first_value")
    labels = [shortened(level, _NAME) for level in places["first_level"]]
    figure, axes = levels_panel(labels, 0.25 + width_of(labels), room, max(0.2, 0.11 * len(levels) + 0.1))
    axes.set_xlim(*_span(rows["lower"].min(), rows["upper"].max()))
    position = {value: y for y, value in enumerate(places["first_value"])}
    for i, (level, name) in enumerate(zip(levels, names, strict=True)):
        line = rows[rows["second_level"] == level]
        y = np.array([position[v] for v in line["first_value"]]) + 0.8 * ((i + 0.5) / len(levels) - 0.5)
        colour, _ = _style(i)
        for at, lower, upper in zip(y, line["lower"], line["upper"], strict=True):
            draw_limits(axes, lower, upper, float(at), colour)
        axes.plot(line["risk"], y, "o", color=colour, markersize=3.4, label=name, zorder=3)
    return figure, axes


def _style(i: int) -> tuple[str, tuple[int, tuple[float, ...]]]:
    return LINES[i % len(LINES)], DASHES[i // len(LINES) % len(DASHES)]


def _values(axes: Axes, kind: str, values: pd.Series) -> np.ndarray:
    """Return values as the axis shows them: dates as dates, durations in days."""
    if kind == "duration":
        return values.to_numpy() / NANOSECONDS_A_DAY
    if kind != "date":
        return values.to_numpy()
    locator = AutoDateLocator(minticks=3)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    return values.round().astype("int64").astype("datetime64[ns]").to_numpy()


def _risk_axis(axes: Axes, column: Any, kind: str) -> None:
    axes.set_ylim(*_span(*axes.get_ylim()))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.grid(color=FAINT, linewidth=0.5)
    figure = axes.get_figure(root=True)
    room = axes.get_position().width * figure.get_figwidth() if figure else WIDEST
    if kind != "date":
        axes.xaxis.set_major_locator(MaxNLocator(min(6, max(2, int(room / 0.62))), steps=ROUND))
    else:
        low, high = axes.get_xlim()
        ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
        apart = -(-len(ticks) * 0.52 // room)  # so that no two labels touch
        axes.xaxis.set_major_locator(FixedLocator(ticks[:: max(1, int(apart))]))
    plain_label(axes.set_xlabel(shortened(str(column)) + (", days" if kind == "duration" else "")))
    plain_label(axes.set_ylabel("predicted risk"))


def _span(low: float, high: float) -> tuple[float, float]:
    """Return ends of an axis of risks, wide enough that no noise fills it."""
    spare = max(0.0, _LEAST_SPAN - (high - low)) / 2
    low, high = (low - spare, high + spare) if low > spare else (low, max(high, low + _LEAST_SPAN))
    return max(-0.02, low), min(1.02, high)
