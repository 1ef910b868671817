"""The figures of an attribution: effects of the quasi-identifiers, predicted risk by level, two columns together."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from synthrisk.metrics.attribution import RARE, Attribution
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.subgroups import NANOSECONDS_A_DAY
from synthrisk.tasks.figures import ACCENT, DASHES, FAINT, INK, LINES, MUTED, shortened

_SIZE = 8.5
_ROW = 0.2  # inches a line
_WIDTH, _CURVES = 5.2, 2.4  # inches
_LEAST_SPAN = 0.2  # of an axis of risks


class _Line(NamedTuple):
    """A line of the panel of effects: the name of a column, a level, or how many levels are not drawn."""

    text: str
    role: str  # column, level, reference, more
    lower: float = 0.0
    effect: float = 0.0
    upper: float = 0.0
    note: str = ""


def effects_figure(found: Attribution, levels: int = 8) -> Figure:
    """Return the average marginal effects with intervals, a group a quasi-identifier, the strongest group first.

    The hollow dot is the level that the others are compared with; levels of fewer than ``RARE`` records are grey.

    Args:
        found: What ``attribution`` returns.
        levels: Most levels that are drawn of a column, those of the largest effects.
    """
    if found.reason:
        return _words(found.reason)
    shown = found.effects[found.effects["kind"] != "per_unit"]
    groups = [group for _, group in shown.groupby("column", sort=False)]
    lines = [line for group in sorted(groups, key=_size, reverse=True) for line in _lines(group, levels)]
    labels = [shortened(line.text) if line.role in ("level", "reference") else "" for line in lines]
    others = [shortened(line.text, 28) for line in lines if line.role in ("column", "more")]
    figure, axes = _axes(_ROW * len(lines) + 0.1, 0.3 + max(_inches(labels), _inches(others)))
    axes.set_ylim(len(lines) - 0.4, -0.6)
    _ticks(axes.set_yticks(range(len(lines)), labels))
    _fit_axis(axes, [end for line in lines if "collinear" not in line.note for end in (line.lower, line.upper)])
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    for y, line in enumerate(lines):
        _draw(axes, y, line, figure.get_figwidth())
    _label(axes.set_xlabel("change of the probability of being at risk"))
    return figure


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
        figure, axes = _levels_panel([shortened(level) for level in rows["level"]])
        axes.axvline(found.risk, color=MUTED, linewidth=1, linestyle=(0, (2.5, 1.5)))
        for y, (_, row) in enumerate(rows.iterrows()):
            if row["note"]:
                _say(axes, y, row["note"])
            else:
                _interval(axes, row["lower"], row["risk"], row["upper"], y, ACCENT)
        axes.set_xlim(*_span(*axes.get_xlim()))
        _label(axes.set_xlabel(f"predicted risk by {shortened(str(column))}"))
        return figure
    figure, axes = _axes(_CURVES, 0.65, 0.45)
    curve = rows[rows["value"].notna()]
    x = _values(axes, rows["kind"].iloc[0], curve["value"])
    axes.axhline(found.risk, color=MUTED, linewidth=1, linestyle=(0, (2.5, 1.5)))
    axes.fill_between(x, curve["lower"], curve["upper"], color=ACCENT, alpha=0.15, linewidth=0)
    axes.plot(x, curve["risk"], color=ACCENT, linewidth=1.5)
    for _, row in rows[rows["value"].isna() & (rows["note"] == "")].iterrows():
        _beside(axes, row)
    _risk_axis(axes, column, rows["kind"].iloc[0])
    return figure


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
    kinds = found.columns.set_index("column")["kind"]
    levels = rows.groupby("second_level", sort=False)["risk"].mean().sort_values(ascending=False).index.tolist()
    names = [shortened(level) for level in levels]
    room = 0.45 + _inches([*names, shortened(str(second))])
    if kinds[first] == "categorical":
        figure, axes = _dodged(rows, levels, names, room)
        _label(axes.set_xlabel(f"predicted risk by {shortened(str(first))}"))
    else:
        figure, axes = _axes(_CURVES, 0.65, 0.45, room)
        for i, (level, name) in enumerate(zip(levels, names, strict=True)):
            line = rows[rows["second_level"] == level]
            x = _values(axes, kinds[first], line["first_value"])
            colour, dash = _style(i)
            axes.fill_between(x, line["lower"], line["upper"], color=colour, alpha=0.12, linewidth=0)
            axes.plot(x, line["risk"], color=colour, linewidth=1.5, linestyle=dash, label=name)
        _risk_axis(axes, first, kinds[first])
    legend = axes.legend(
        title=shortened(str(second)), loc="upper left", bbox_to_anchor=(1.01, 1.03), frameon=False, fontsize=_SIZE
    )
    for text in (legend.get_title(), *legend.get_texts()):
        _label(text)
    legend.set_alignment("left")
    return figure


def interaction_figures(found: Attribution, count: int = 3) -> list[Figure]:
    """Return the panels of the strongest interactions."""
    pairs = found.interactions.head(count)
    return [interaction_figure(found, a, b) for a, b in zip(pairs["first"], pairs["second"], strict=True)]


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
        words.set(parse_math=False, size=_SIZE, color=INK if line.role == "column" else MUTED)
        words.set(weight="bold" if line.role == "column" else "normal", ha="left" if line.role == "column" else "right")
    elif line.role == "reference":
        axes.plot([0], [y], "o", markersize=4.2, mfc="white", mec=INK, mew=0.9, zorder=3)
    elif line.note.startswith("collinear"):
        _say(axes, y, line.note.split("; ")[0])
    else:
        _interval(axes, line.lower, line.effect, line.upper, y, MUTED if "few" in line.note else ACCENT)


def _say(axes: Axes, y: float, words: str) -> None:
    """Say why a line has no estimate."""
    text = axes.text(0.02, y, shortened(words, 44), transform=axes.get_yaxis_transform(), size=8, va="center")
    text.set(parse_math=False, color=MUTED, style="italic")
    text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1})


def _interval(axes: Axes, lower: float, value: float, upper: float, y: float, colour: str) -> None:
    axes.plot([lower, upper], [y, y], color=colour, linewidth=1.6, solid_capstyle="butt")
    axes.plot([value], [y], "o", color=colour, markersize=4.2, zorder=3)


def _beside(axes: Axes, row: pd.Series) -> None:
    """Draw a level that has no place on the axis, the missing cells, to the right of the curve."""
    left, right = axes.get_xlim()
    at = right + 0.06 * (right - left)
    axes.plot([at, at], [row["lower"], row["upper"]], color=ACCENT, linewidth=1.6, solid_capstyle="butt")
    axes.plot([at], [row["risk"]], "o", color=ACCENT, markersize=4.2)
    axes.text(at, 1.01, row["level"], transform=axes.get_xaxis_transform(), size=8, color=MUTED, ha="center")
    axes.set_xlim(left, right + 0.12 * (right - left))


def _dodged(rows: pd.DataFrame, levels: Sequence[str], names: Sequence[str], room: float) -> tuple[Figure, Axes]:
    """Draw a line a level of the first column, in it a dot a level of the second."""
    places = rows.drop_duplicates("first_value").sort_values("first_value")
    figure, axes = _levels_panel([shortened(level) for level in places["first_level"]], 0.11 * len(levels) + 0.1, room)
    position = {value: y for y, value in enumerate(places["first_value"])}
    for i, (level, name) in enumerate(zip(levels, names, strict=True)):
        line = rows[rows["second_level"] == level]
        y = np.array([position[v] for v in line["first_value"]]) + 0.8 * ((i + 0.5) / len(levels) - 0.5)
        colour, _ = _style(i)
        axes.hlines(y, line["lower"], line["upper"], colors=colour, linewidth=1.6)
        axes.plot(line["risk"], y, "o", color=colour, markersize=4.2, label=name)
    axes.set_xlim(*_span(*axes.get_xlim()))
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
    if kind != "date":
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    _label(axes.set_xlabel(shortened(str(column)) + (", days" if kind == "duration" else "")))
    _label(axes.set_ylabel("predicted risk"))


def _span(low: float, high: float) -> tuple[float, float]:
    """Return ends of an axis of risks, wide enough that no noise fills it."""
    spare = max(0.0, _LEAST_SPAN - (high - low)) / 2
    low, high = (low - spare, high + spare) if low > spare else (low, max(high, low + _LEAST_SPAN))
    return max(-0.02, low), min(1.02, high)


def _levels_panel(labels: Sequence[str], row: float = _ROW, room: float = 0.12) -> tuple[Figure, Axes]:
    figure, axes = _axes(row * len(labels) + 0.1, 0.25 + _inches(labels), 0.45, room)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    _ticks(axes.set_yticks(range(len(labels)), labels))
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    return figure, axes


def _fit_axis(axes: Axes, ends: Sequence[float]) -> None:
    low, high = min(0.0, *ends), max(0.02, *ends)
    pad = 0.04 * (high - low)
    axes.set_xlim(low - pad, high + pad)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.grid(axis="x", color=FAINT, linewidth=0.6)


def _axes(height: float, left: float, bottom: float = 0.45, right: float = 0.12) -> tuple[Figure, Axes]:
    top = 0.2
    total, width = height + top + bottom, max(_WIDTH, left + right + 2)
    figure = Figure(figsize=(width, total))
    figure.patch.set_visible(False)
    axes = figure.add_axes((left / width, bottom / total, (width - left - right) / width, height / total))
    axes.patch.set_visible(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=_SIZE, labelcolor=INK, pad=4)
    axes.set_axisbelow(True)
    return figure, axes


def _words(text: str) -> Figure:
    figure, axes = _axes(_ROW, 0.12, 0.1)
    axes.set_axis_off()
    axes.text(0, 0.5, text, transform=axes.transAxes, size=_SIZE, color=MUTED, va="center", style="italic")
    return figure


def _ticks(ticks: Iterable[object]) -> None:
    for tick in ticks:
        tick.label1.set_parse_math(False)  # type: ignore[attr-defined]  # a name may hold dollar signs


def _label(text: Text) -> None:
    text.set(parse_math=False, color=INK, size=_SIZE)


def _inches(texts: Iterable[str]) -> float:
    wide = (sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text) for text in texts)
    return 0.075 * max(wide, default=0)
