"""The figures of a report: a panel a measure, drawn small so that a page can set them side by side.

Intervals have a mark at each end; where an axis cuts one, an arrow says so.
"""

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from math import isnan
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from synthrisk.metrics.claims.judging import SHARES, detail_of
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.intervals.yardsticks import CURVE
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.gda import AttackView
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.results import is_reference
from synthrisk.tasks.pages.section import Shown
from synthrisk.tasks.pages.templates import cut, interval, number

INK, MUTED, ACCENT, ALARM, FAINT = "#1f2933", "#6b7280", "#1d4f91", "#b3261e", "#d5dae1"
LINES = ("#0072b2", "#d55e00", "#009e73", "#b0578d", "#8a6d00", "#3aa0d8")  # after Okabe and Ito
PAPER = "#ffffff"
_OF_PAGE = {INK: "ink", MUTED: "muted", ACCENT: "accent", ALARM: "alarm", FAINT: "line", PAPER: "paper"}
_OF_PAGE |= {colour: f"series-{i + 1}" for i, colour in enumerate(LINES)}
DASHES: tuple[tuple[int, tuple[float, ...]], ...] = ((0, ()), (0, (5, 1.6)), (0, (1.2, 1.2)))
DASHED = (0, (2.5, 1.5))
SIZE = 9.5  # points: at 330 px, the narrowest column of a page, no type of a figure of WIDEST is below 9 px
WIDEST = 4.8  # inches
CELL = 0.084  # inches that a character takes
ROUND = [1, 2, 2.5, 5, 10]  # steps of ticks
_WIDTH = 3.9  # inches
_ROW = 0.2  # inches a line
_MARGIN = 0.12  # inches to the right of the axes
_LARGEST = 1.5  # pixels a point
_NAME = 20  # characters of a name at the end of a curve


@dataclass(frozen=True)
class Row:
    """One name on the vertical axis: its finding, or why there is none."""

    name: str
    reference: bool
    finding: Finding | None = None
    absent: str = "not estimable"

    @property
    def called(self) -> str:
        """The name in the words of a figure."""
        return shortened(self.name, 60)


def memorization_figure(rows: Sequence[Row], limit: float | None = None) -> Figure:
    """Return the panel of one measure: memorization with interval, the zero line, the threshold."""
    found = [r.finding.memorization for r in rows if r.finding]
    ends = np.array([0.0, limit or 0.0, *(x for e in found for x in (e.lower, e.value, e.upper))])
    ends = ends[np.isfinite(ends)]
    low, high = ends.min(), max(ends.max(), 0.02)
    pad = 0.06 * (high - low)
    figure, axes = _panel(rows, max(-1.0, low - pad), min(1.0, high) + pad)
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    _threshold(axes, limit)
    for y, row in enumerate(rows):
        _mark(axes, y, row, row.finding.memorization if row.finding else None)
    told = [f"{row.called} {_told(row.finding.memorization) if row.finding else row.absent}" for row in rows]
    return with_words(figure, [*told, *_told_limit(limit)])


def risk_figure(rows: Sequence[Row], limit: float | None = None) -> Figure:
    """Return the panel of one measure: members' risk with interval, control hollow, guess dashed, population thin."""
    figure, axes = _panel(rows, -0.03, 1.03)
    _threshold(axes, limit)
    for y, row in enumerate(rows):
        if row.finding is not None:
            axes.vlines(row.finding.guess, y - 0.5, y + 0.5, colors=MUTED, linewidth=1, linestyles=DASHED)
            population = row.finding.population.value
            if not np.isnan(population):
                axes.vlines(population, y - 0.5, y + 0.5, colors=INK, linewidth=0.9)
            control = row.finding.risk_control.value
            axes.plot([control], [y], "o", ms=6.6, mfc="none", mec=MUTED if row.reference else INK, mew=0.9)
        _mark(axes, y, row, row.finding.risk if row.finding else None)
    return with_words(figure, [*map(_told_risk, rows), *_told_limit(limit)])


def spread_figure(rows: Sequence[Row]) -> Figure:
    """Return the panel of one measure: memorization of single records, 1 to 99 %, middle half thick, median a dot."""
    ends = np.array([q for r in rows if r.finding for q in r.finding.spread] or [0.0])
    low, high = min(0.0, ends.min()), max(0.0, ends.max(), 0.02)
    pad = 0.06 * (high - low)
    figure, axes = _panel(rows, low - pad, high + pad)
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    for y, row in enumerate(rows):
        colour = MUTED if row.reference else ACCENT
        if row.finding is None or not row.finding.spread:
            _mark(axes, y, row, None)
            continue
        least, _, below, middle, above, _, most = row.finding.spread
        axes.plot([least, most], [y, y], color=colour, linewidth=1)
        axes.plot([below, above], [y, y], color=colour, linewidth=4, solid_capstyle="butt", alpha=0.6)
        axes.plot([middle], [y], "o", mfc=PAPER, mec=colour, mew=1.1, markersize=4.6, zorder=3)
    return with_words(figure, map(_told_spread, rows))


def curves_figure(rows: Sequence[Row]) -> Figure:
    """Return the panel of one measure: share of members at risk against the threshold, a line and band a name.

    Of a number it is drawn against the tolerance of the error, up to five times the one in force.
    """
    own = [row.finding if row.finding and row.finding.curve else None for row in rows]
    at = next((f.curve_at for f in own if f), np.array(CURVE))
    tolerance = next((f.tolerance for f in own if f), np.nan)
    whole = 1.0 if np.isnan(tolerance) else float(at[-1])  # what the right end of the axes stands for
    lines = []
    for row, finding in zip(rows, own, strict=True):
        points = np.array([(e.value, e.lower, e.upper) for e in (finding.curve if finding else ())])
        known = points.size and np.isfinite(points[:, 0]).all()
        lines.append(_Line(row, at[: len(points)] / whole, points) if known else None)
    figure, axes = _lines(lines)
    word = "threshold" if np.isnan(tolerance) else "tolerance"
    if not np.isnan(tolerance):
        axes.set_xticks(np.linspace(0, 1, 6), [f"{place:.3g}" for place in np.linspace(0, whole, 6)])
        axes.axvline(tolerance / whole, color=MUTED, linewidth=0.9, zorder=1)
    axes.set_xlabel(word, size=SIZE, color=INK)
    return with_words(figure, [_told_line(line, at, f"at {word}") for line in lines if line])


def selective_figure(rows: Sequence[Row]) -> Figure:
    """Return the panel of one attack: precision of its claims against the share of targets that it claims.

    A thin dashed line is the share that is right where any target is claimed, which differs between generators. The
    axis is logarithmic, and begins at the power of ten at or below the smallest share that is estimable.
    """
    shares = np.array(SHARES)
    found, bases = ([_by_share(row, end) for row in rows] for end in ("", "_baseline"))
    told = [np.isfinite(each) for each in found]
    decades = -int(np.floor(np.log10(min([0.1, *(shares[own].min() for own in told if own.any())])) + 1e-9))
    place = 1 + np.log10(shares) / decades
    lines = [
        _Line(row, place[own], each[own, None]) if own.any() else None
        for row, each, own in zip(rows, found, told, strict=True)
    ]
    figure, axes = _lines(lines)
    for i, (row, own, base) in enumerate(zip(rows, told, bases, strict=True)):
        if np.isfinite(base[own]).any():
            axes.plot(place[own], base[own], color=_colour(row, i), linewidth=0.6, linestyle=DASHED, zorder=1)
    ticks = range(decades + 1)
    axes.set_xticks([1 - d / decades for d in ticks], [f"{100 / 10**d:g} %" if d else "all" for d in ticks])
    axes.set_xlabel("targets claimed", size=SIZE, color=INK)
    if not any(lines):
        axes.text(0.5, 0.5, "too few claims", size=SIZE, color=MUTED, ha="center", style="italic")
    said = [
        _told_line(line, 100 * shares[own], "% of targets claimed:") + _told_base(base[own])
        for line, own, base in zip(lines, told, bases, strict=True)
        if line
    ]
    return with_words(figure, said or ["too few claims"])


def _by_share(row: Row, end: str) -> np.ndarray:
    """Return a value of the selective curve at each share that is claimed; NaN where it has none."""
    details = row.finding.details if row.finding else {}
    return np.array([details.get(f"{detail_of(share)}{end}", (np.nan,))[0] for share in SHARES])


def _told_base(base: np.ndarray) -> str:
    known = base[np.isfinite(base)]
    return f" (base rate {number(known[-1])})" if known.size else ""


def _colour(row: Row, place: int) -> str:
    """Return the colour of a line, by its place among all."""
    return MUTED if row.reference else LINES[place % len(LINES)]


class _Line(NamedTuple):
    """The line of one name: x in [0, 1], and a column of values, with two of limits where there is a band."""

    row: Row
    x: np.ndarray
    points: np.ndarray


def _lines(lines: Sequence[_Line | None]) -> tuple[Figure, Axes]:
    """Return axes with the lines drawn and named at their right ends; colours follow the place in the sequence."""
    drawn = [(i, line) for i, line in enumerate(lines) if line is not None]
    height = max(2.4, _ROW * len(drawn))
    right = 0.45 + width_of(shortened(line.row.name, _NAME) for _, line in drawn)
    figure, axes = bare_axes(WIDEST, height, 0.45, right, 0.45)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.grid(color=FAINT, linewidth=0.5)
    drawn.sort(key=lambda each: (each[1].points[-1, 0], each[1].points[:, 0].mean()))
    places = _spread([line.points[-1, 0] for _, line in drawn], (_ROW - 0.02) / height, 1.0)
    for (i, line), place in zip(drawn, places, strict=True):
        row, values = line.row, line.points[:, 0]
        colour = _colour(row, i)
        dash = DASHES[(i if row.reference else i // len(LINES)) % len(DASHES)]
        width = 0.9 if row.reference else 1.5
        marker = "o" if len(values) == 1 else ""
        axes.plot(line.x, values, color=colour, linewidth=width, linestyle=dash, marker=marker, markersize=3)
        if line.points.shape[1] > 1:
            axes.fill_between(line.x, *line.points[:, 1:].T, color=colour, alpha=0.15, linewidth=0)
        leader = "-" if line.x[-1] == 1 else (0, (1, 6))  # which is no part of a line that ends before
        axes.plot([line.x[-1], 1.04], [values[-1], place], color=colour, linewidth=0.4, linestyle=leader, clip_on=False)
        axes.plot([1.04, 1.12], [place] * 2, color=colour, linewidth=width, linestyle=dash, clip_on=False)
        ink = MUTED if row.reference else INK
        axes.text(1.14, place, shortened(row.name, _NAME), color=ink, size=SIZE, va="center", parse_math=False)
    return figure, axes


def svg(figure: Figure, salt: str) -> Markup:
    """Return the figure as an SVG element: the same bytes each time, and no id that another panel has.

    Its colours are those of the page (``--ink``, ``--muted``, ``--line``, ``--paper``, ``--accent``, ``--alarm``,
    ``--series-1`` ...) where the page names them, so that a dark page has figures to read.
    """
    text = StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the browser's fonts have it
        FigureCanvasSVG(figure).print_svg(text, metadata=nothing)
    body = text.getvalue()
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body[body.index("<svg") :], count=1, flags=re.DOTALL)
    body = re.sub(rf'<g id="{BEYOND}"', f'<g class="{BEYOND}"', body)
    body = re.sub(r'(?<= style=")[^"<>]*(?=")', lambda found: _of_page(found[0]), body)
    body = body.replace("<svg ", f'<svg style="max-width: {_LARGEST * 72 * figure.get_figwidth():.0f}px" ', 1)
    return Markup(re.sub(r'<g id="[^"<>]*"', "<g", body).strip())  # noqa: S704 - matplotlib escapes the texts in it


def _of_page(style: str) -> str:
    """Return a style in which each colour of ours is taken from the page."""
    return re.sub(r"#[0-9a-f]{6}", lambda c: f"var(--{_OF_PAGE[c[0]]}, {c[0]})" if c[0] in _OF_PAGE else c[0], style)


def with_words(figure: Figure, parts: Iterable[str]) -> Figure:
    """Return the figure with its numbers in words, for those who do not see it: ``words_of``."""
    figure.set_label("; ".join(parts))
    return figure


def words_of(figure: Figure) -> str:
    """Return the numbers of a figure in words."""
    return str(figure.get_label())


def shortened(name: str, width: int = 24) -> str:
    """Return a name that fits a panel: both its ends, and what is between left out."""
    printable = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    if text_cells(printable) <= width:
        return _isolated(printable)
    half = (width - 1) // 2
    head, tail = printable[:half], printable[-half:]
    while text_cells(head) > half:
        head = head[:-1]
    while text_cells(tail) > half:
        tail = tail[1:]
    return _isolated(f"{head}…{tail}")


def _isolated(text: str) -> str:
    """Return text that is read from right to left so that it leaves the order of what stands around it alone."""
    from_right = any(unicodedata.bidirectional(c) in ("R", "AL") for c in text)
    return f"\u2068{text}\u2069" if from_right else text


def text_cells(text: str) -> int:
    """Return how many characters wide a text is; wide ones count twice."""
    return sum(0 if c in "\u2068\u2069" else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def width_of(texts: Iterable[str]) -> float:
    """Return the inches that the longest text takes."""
    return CELL * max(map(text_cells, texts), default=0)


def bare_axes(
    width: float, height: float, left: float, right: float, bottom: float = 0.25, top: float = 0.2
) -> tuple[Figure, Axes]:
    """Return axes without a frame, ``height`` inches high, in a figure ``width`` inches wide with these margins."""
    total = height + top + bottom
    figure = Figure(figsize=(width, total))
    figure.patch.set_visible(False)
    axes = figure.add_axes((left / width, bottom / total, (width - left - right) / width, height / total))
    axes.patch.set_visible(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=SIZE, labelcolor=INK, pad=4)
    return figure, axes


def _panel(rows: Sequence[Row], low: float, high: float) -> tuple[Figure, Axes]:
    names = [shortened(row.name) for row in rows]
    figure, axes = bare_axes(_WIDTH, 0.2 * len(rows) + 0.1, 0.12 + width_of(names), 0.12)
    axes.set_xlim(low, high)
    name_rows(axes, names, [MUTED if row.reference else INK for row in rows])
    room = axes.get_position().width * _WIDTH
    axes.xaxis.set_major_locator(MaxNLocator(min(5, max(2, int(room / 0.55))), steps=ROUND))
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure, axes


def name_rows(axes: Axes, names: Sequence[str], colours: Sequence[str]) -> None:
    """Name the rows of axes, the first on top."""
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(range(len(names)))
    for label, colour in zip(axes.set_yticklabels(names), colours, strict=True):
        label.set(parse_math=False, color=colour)  # a name may hold dollar signs


def say(axes: Axes, y: float, words: str) -> None:
    """Say why a row has no estimate."""
    text = axes.text(0.02, y, words, transform=axes.get_yaxis_transform(), size=SIZE, va="center")
    text.set(parse_math=False, color=MUTED, style="italic")
    text.set_bbox({"facecolor": PAPER, "edgecolor": "none", "pad": 1})


def _threshold(axes: Axes, limit: float | None) -> None:
    if limit is None:
        return
    low, high = axes.get_xlim()
    text = f"limit {limit:g}"
    room = (high - limit) / (high - low) * axes.get_position().width * _WIDTH
    side = "right" if limit > (low + high) / 2 or room + _MARGIN < width_of([text]) else "left"
    axes.axvline(limit, color=ALARM, linewidth=1.1, zorder=1)
    said = axes.annotate(text, (limit, 1), (0, 2), xycoords=axes.get_xaxis_transform(), textcoords="offset points")
    said.set(color=ALARM, size=SIZE, ha=side, va="bottom")


def _mark(axes: Axes, y: int, row: Row, found: Estimate | None) -> None:
    if found is None or np.isnan(found.value):
        say(axes, y, row.absent if found is None else "not estimable")
    else:
        draw_interval(axes, found.lower, found.value, found.upper, y, MUTED if row.reference else ACCENT)


def _told(found: Estimate) -> str:
    if np.isnan(found.value):
        return "not estimable"
    known = not (np.isnan(found.lower) or np.isnan(found.upper))
    return number(found.value) + (f" {interval(found.lower, found.upper)}" if known else "")


def _told_risk(row: Row) -> str:
    if row.finding is None:
        return f"{row.called} {row.absent}"
    beside = {"control": row.finding.risk_control.value, "guess": row.finding.guess}
    beside["population"] = row.finding.population.value
    words = ", ".join(f"{name} {number(value)}" for name, value in beside.items() if not np.isnan(value))
    return f"{row.called} {_told(row.finding.risk)}" + (f" ({words})" if words else "")


def _told_spread(row: Row) -> str:
    if row.finding is None or not row.finding.spread:
        return f"{row.called} {row.absent}"
    least, _, below, middle, above, _, most = map(number, row.finding.spread)
    return f"{row.called} median {middle}, middle half {below} to {above}, middle 98 % {least} to {most}"


def _told_limit(limit: float | None) -> list[str]:
    return [] if limit is None else [f"limit {limit:g}"]


def _told_line(line: "_Line", places: Sequence[float] | np.ndarray, words: str) -> str:
    """Return up to five points of a line, spread over it."""
    chosen = np.unique(np.linspace(0, len(line.points) - 1, min(5, len(line.points))).round().astype(int))
    after = words.endswith(":")
    texts = []
    for i in chosen:
        point = line.points[i]
        value = _told(Estimate(*point)) if len(point) > 1 else number(point[0])
        texts.append(f"{places[i]:g} {words} {value}" if after else f"{value} {words} {places[i]:g}")
    return f"{line.row.called} " + ", ".join(texts)


def _spread(targets: Sequence[float], gap: float, top: float) -> list[float]:
    """Return places for labels near their ascending targets that are ``gap`` apart and not above ``top``."""
    places: list[float] = []
    for target in targets:
        places.append(max(target, places[-1] + gap) if places else target)
    return [min(place, top - (len(places) - 1 - i) * gap) for i, place in enumerate(places)]


DOT, CAP = 3.4, 7.0  # points: caps are taller than the dot, so that no interval hides behind it
BEYOND = "beyond"  # class of the arrows in the SVG


def draw_interval(axes: Axes, lower: float, value: float, upper: float, at: float, colour: str) -> None:
    """Draw a value as a dot, and its limits, where there are some, as a line with a cap at each end.

    The axis must have its limits.
    """
    draw_limits(axes, lower, upper, at, colour)
    axes.plot([value], [at], "o", color=colour, markersize=DOT, zorder=3)


def draw_limits(
    axes: Axes, lower: float, upper: float, at: float, colour: str, width: float = 1.6, upright: bool = False
) -> None:
    """Draw an interval without its value: a line with caps, or an arrow where it goes on past the axis.

    ``at`` is the height, or the place from the left where the interval is ``upright``.
    """
    if np.isnan(lower) or np.isnan(upper):
        return
    low, high = sorted(axes.get_ylim() if upright else axes.get_xlim())
    ends = np.clip([lower, upper], low, high)
    inside = [i for i, (end, shown) in enumerate(zip((lower, upper), ends, strict=True)) if end == shown]
    places = ([at, at], list(ends)) if upright else (list(ends), [at, at])
    line = axes.plot(*places, color=colour, linewidth=width, solid_capstyle="butt", zorder=2)[0]
    if inside:
        line.set(marker="_" if upright else "|", markersize=CAP, markeredgewidth=1.0, markevery=inside)
    for i in {0, 1} - set(inside):
        arrow = ("v^" if upright else "<>")[i]
        place = [each[i : i + 1] for each in places]
        found = axes.plot(*place, arrow, color=colour, markersize=5, clip_on=False, zorder=3)[0]
        found.set_gid(BEYOND)


class Panel(NamedTuple):
    """One figure of one measure, or of one attack with its ``views``."""

    title: str
    text: str  # what it shows, for those who do not see it
    drawing: Markup
    views: Sequence[AttackView] = ()


def rows_of(shown: Shown, names: Sequence[str], measure: Measure) -> list[Row]:
    """Return a row a name: its finding in a measure, or why there is none."""
    found = {f.synthesizer: f for f in shown.result.findings if f.measure == measure}
    absent = {n: "failed" if n in shown.result.failures else "not estimable" for n in names}
    return [Row(n, is_reference(shown.result, n), found.get(n), absent[n]) for n in names]


def drawn_rows(shown: Shown, measure: Measure, quantity: str = "memorization") -> list[Row]:
    """Return the rows of a figure: all, or of many synthesizers the highest and the reference generators."""
    own = rows_of(shown, shown.own, measure)
    high = set(sorted(range(len(own)), key=lambda i: -_height(own[i], quantity))[: shown.most])
    kept = {own[i].name for i in high}
    drawn = rows_of(shown, [n for n in shown.names if n in kept or n not in shown.own], measure)
    return [replace(row, name=cut(row.name)) for row in drawn]


def _height(row: Row, quantity: str) -> float:
    """Return the place of a row among others; one that failed or has no value stands last."""
    value = getattr(row.finding, quantity).value if row.finding else float("nan")
    return float("-inf") if isnan(value) else float(value)


def panel(title: str, kind: str, key: str, figure: Figure) -> Panel:
    """Return a figure of one measure, with its numbers in words."""
    return Panel(title, f"{kind} by {key}: {words_of(figure)}", svg(figure, f"{kind}/{key}"))


def panels_of(
    shown: Shown,
    kind: str,
    has: Callable[[Finding], bool],
    draw: Callable[[Sequence[Row]], Figure],
    quantity: str = "memorization",
) -> list[Panel]:
    """Return a figure of each measure in which some generator drawn has what the figure shows."""
    every = ((measure.key, drawn_rows(shown, measure, quantity)) for measure in shown.measures)
    return [panel(key, kind, key, draw(rows)) for key, rows in every if any(r.finding and has(r.finding) for r in rows)]
