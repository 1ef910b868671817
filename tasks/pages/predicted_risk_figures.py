"""The figures of predicted risk: by level or value of one quasi-identifier, and of two together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.exposure.attribution import Attribution
from synthrisk.metrics.exposure.risk_terms import RARE
from synthrisk.metrics.tables.value_texts import NANOSECONDS_A_DAY
from synthrisk.tasks.pages.figures import (
    ACCENT,
    DASHED,
    DASHES,
    FAINT,
    LINES,
    MUTED,
    ROUND,
    SIZE,
    WIDEST,
    say,
    shortened,
    width_of,
    with_words,
)
from synthrisk.tasks.pages.interval_marks import draw_interval, draw_limits
from synthrisk.tasks.pages.panels import empty_axes, levels_panel, plain_label
from synthrisk.tasks.pages.templates import interval, number

_CURVES = 2.4  # inches
_LEAST_SPAN = 0.2  # of an axis of risks
_NAME = 18  # characters of a level where the levels of two columns stand beside each other


def prediction_figure(found: Attribution, column: Any) -> Figure:
    """Return the predicted risk by level of a quasi-identifier with intervals; a number as a curve with its band.

    The dashed line is the risk of all records.

    Raises:
        InputError: The column has no prediction.
    """
    rows = found.predictions[found.predictions["column"] == column]
    if rows.empty:
        raise InputError(f"column must be a quasi-identifier with a prediction, got {column!r}")
    if rows["kind"].iloc[0] == "categorical" or rows["value"].isna().all():
        return _by_level(rows, column, found.risk)
    return _by_value(rows, column, found.risk)


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


def _by_level(rows: pd.DataFrame, column: Any, average: float) -> Figure:
    labels = [shortened(level) for level in rows["level"]]
    figure, axes = levels_panel(labels, 0.25 + width_of(labels))
    drawn = rows[rows["note"] == ""]
    axes.set_xlim(*_span(min([average, *drawn["lower"]]), max([average, *drawn["upper"]])))
    axes.axvline(average, color=MUTED, linewidth=1, linestyle=DASHED)
    for y, (_, row) in enumerate(rows.iterrows()):
        if row["note"]:
            say(axes, y, shortened(row["note"], 44))
        else:
            draw_interval(axes, row["lower"], row["risk"], row["upper"], y, ACCENT)
    plain_label(axes.set_xlabel(f"predicted risk by {shortened(str(column))}", loc="right"))
    return with_words(figure, _told_levels(drawn))


def _by_value(rows: pd.DataFrame, column: Any, average: float) -> Figure:
    kind = rows["kind"].iloc[0]
    figure, axes = empty_axes(_CURVES, 0.65)
    curve = rows[rows["value"].notna()]
    x = _values(axes, kind, curve["value"])
    axes.axhline(average, color=MUTED, linewidth=1, linestyle=DASHED)
    axes.fill_between(x, curve["lower"], curve["upper"], color=ACCENT, alpha=0.15, linewidth=0)
    axes.plot(x, curve["risk"], color=ACCENT, linewidth=1.5)
    for _, row in rows[rows["value"].isna() & (rows["note"] == "")].iterrows():
        _beside(axes, row)
    _risk_axis(axes, column, kind)
    return with_words(figure, _told_levels(curve.iloc[:: max(1, len(curve) // 4)]))


def _told_levels(rows: pd.DataFrame) -> list[str]:
    return [
        f"{shortened(r['level'], 60)} {number(r['risk'])} {interval(r['lower'], r['upper'])}"
        for r in rows.to_dict("records")
    ]


def _beside(axes: Axes, row: pd.Series) -> None:
    """Draw a level that has no place on the axis, the missing cells, to the right of the curve."""
    left, right = axes.get_xlim()
    at = right + 0.06 * (right - left)
    draw_interval(axes, row["lower"], row["risk"], row["upper"], at, ACCENT, upright=True)
    axes.text(at, 1.01, row["level"], transform=axes.get_xaxis_transform(), size=SIZE, color=MUTED, ha="center")
    axes.set_xlim(left, right + 0.12 * (right - left))


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
