"""The GDA view: what each attack that makes claims could do, on members.

The GDA diagram: a row a synthesizer, a panel a quantity; bars are means over columns, ticks the columns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from synthrisk.metrics.claims.judging import detail_of
from synthrisk.metrics.intervals.estimates import decimals
from synthrisk.metrics.study.gda import AttackView, ColumnScore, GdaScore
from synthrisk.metrics.verdicts.tables import gda_views
from synthrisk.tasks.pages.figures import (
    ACCENT,
    FAINT,
    INK,
    MUTED,
    SIZE,
    WIDEST,
    Panel,
    name_rows,
    panels_of,
    selective_figure,
    shortened,
    svg,
    text_cells,
    width_of,
    with_words,
    words_of,
)
from synthrisk.tasks.pages.section import Section, Shown
from synthrisk.tasks.pages.templates import cut

_ROW, _TOP, _BOTTOM, _NAME = 0.24, 0.46, 0.34, 20  # inches; characters of a name
_GAP = 0.1  # inches between the number at the end of a row and the next axis
_Quantity = tuple[str, bool, Callable[[GdaScore], float], Callable[[ColumnScore], float] | None]
_SHARES: tuple[_Quantity, ...] = (
    ("confidence\nimprovement", False, lambda s: s.confidence_improvement, lambda c: c.confidence_improvement),
    ("claim\nprobability", False, lambda s: s.claim_probability, lambda c: c.claim_probability),
    ("suscepti-\nbility", False, lambda s: s.susceptibility, None),  # of the data set: no mean of its columns
)
_CELLS: tuple[_Quantity, ...] = (
    ("prior knowledge\n(cells a claim)", True, lambda s: s.prior_knowledge, lambda c: c.prior_knowledge),
    ("work\n(cells a claim)", True, lambda s: s.work, lambda c: c.work),
)


def gda_figure(views: Sequence[AttackView]) -> Figure:
    """Return the diagram of one attack on several synthesizers: three shares, and below them two numbers of cells.

    Confidence improvement is unclipped: left of zero the attack did worse than the guess. Prior knowledge and work are
    on a logarithmic scale; less of either makes an attack easier.
    """
    names = [shortened(v.synthesizer, _NAME) for v in views]
    block = _TOP + _ROW * len(views) + _BOTTOM
    figure = Figure(figsize=(WIDEST, 2 * block))
    figure.patch.set_visible(False)
    first = 0.12 + width_of(names)
    for line, quantities in enumerate((_SHARES, _CELLS)):
        room = (WIDEST - first) / len(quantities)
        bottom = (1 - line) * block + _BOTTOM
        for i, quantity in enumerate(quantities):
            numbers = [_shown(quantity[2](v.overall), quantity[1]) for v in views]
            width = room - width_of(numbers) - _GAP
            place = ((first + i * room) / WIDEST, bottom / (2 * block), width / WIDEST, _ROW * len(views) / (2 * block))
            axes = figure.add_axes(place)
            _panel(axes, views, quantity, numbers)
            if i == 0:
                name_rows(axes, names, [INK if view.role == "synthesizer" else MUTED for view in views])
    return with_words(figure, map(_told, views))


def _panel(axes: Axes, views: Sequence[AttackView], quantity: _Quantity, numbers: Sequence[str]) -> None:
    title, logarithmic, of_attack, of_column = quantity
    values = np.array([of_attack(v.overall) for v in views])
    columns = [[of_column(c) for c in v.columns] if of_column and len(v.columns) > 1 else [] for v in views]
    seen = np.array([*values, *(x for each in columns for x in each)])
    seen = seen[np.isfinite(seen)]
    axes.patch.set_visible(False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0, labelsize=SIZE, labelcolor=INK, pad=3)
    axes.set_yticks([])
    axes.set_ylim(len(views) - 0.4, -0.6)
    axes.set_title(title, size=SIZE, color=INK, loc="left", pad=6)
    low = 0.0
    if logarithmic:
        axes.set_xscale("log")
        low, high = 0.1, 1.0
        if seen.size:
            low, high = 10 ** np.floor(np.log10(max(0.9 * seen.min(), 1e-3))), seen.max() * 1.5
        axes.set_xlim(low, max(high, low * 10))
        axes.minorticks_off()
        ends = [low, 10 ** np.floor(np.log10(max(high, low * 10)))]
        axes.set_xticks(ends, [_brief(x) for x in ends])
    else:
        axes.set_xlim(min(0.0, *seen.tolist()) if seen.size else 0.0, 1)
        axes.set_xticks([0, 1])
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.axvline(1, color=FAINT, linewidth=0.8)
    for label, side in zip(axes.get_xticklabels(), ("left", "right"), strict=True):  # clear of the next axis
        label.set(ha=side)
    for y, (view, value, each) in enumerate(zip(views, values, columns, strict=True)):
        colour = ACCENT if view.role == "synthesizer" else MUTED
        if np.isnan(value):
            place = axes.get_yaxis_transform()
            axes.text(0.02, y, "no claim", transform=place, size=SIZE, va="center", color=MUTED, style="italic")
            continue
        axes.barh(y, value - low, left=low, height=0.56, color=colour, alpha=0.85)
        axes.vlines([x for x in each if np.isfinite(x)], y - 0.4, y + 0.4, color=INK, linewidth=0.9)
        axes.text(1.02, y, numbers[y], transform=axes.get_yaxis_transform(), size=SIZE, color=INK, va="center")


def _shown(value: float, logarithmic: bool) -> str:
    if np.isnan(value):
        return ""
    return _brief(value) if logarithmic and value >= 100 else decimals(value, 2)


def cells(value: float) -> str:
    """Return a number of cells in few characters, a dash where there is none.

    Example:
        >>> cells(5.0), cells(12_345.0), cells(float("nan"))
        ('5.00', '12k', '–')
    """
    return _shown(value, True) or "–"


def _brief(value: float) -> str:
    """Return a number in few characters.

    Example:
        >>> _brief(0.1), _brief(950.0), _brief(12_345.0), _brief(3_400_000.0)
        ('0.1', '950', '12k', '3.4M')
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{unit}" if text_cells(f"{value / size:.3g}") < 4 else f"{value / size:.0f}{unit}"
    return f"{value:.3g}"


def _told(view: AttackView) -> str:
    own = [f"{title.replace('-' + chr(10), '').replace(chr(10), ' ')} {_shown(of(view.overall), log)}"
           for title, log, of, _ in (*_SHARES, *_CELLS) if not np.isnan(of(view.overall))]  # fmt: skip
    return f"{shortened(view.synthesizer, 60)} " + (", ".join(own) or "no claim")


def _context(shown: Shown) -> Mapping[str, Any] | None:
    attacks = _attacks(shown)
    if not attacks:
        return None
    selective = panels_of(shown, "selective", lambda f: detail_of(1.0) in f.details, selective_figure, "risk")
    return {"attacks": attacks, "selective": selective, "together": _together, "cells": cells}


def _attacks(shown: Shown) -> list[Panel]:
    """Return the GDA view of each attack that makes claims, synthesizers in the order of every table."""
    views = gda_views(shown.result)
    panels = []
    for attack in dict.fromkeys(v.attack for v in views):
        own = sorted((v for v in views if v.attack == attack), key=lambda v: shown.names.index(v.synthesizer))
        figure = gda_figure(_highest(shown, own))
        text = f"GDA view of {attack}: {words_of(figure)}"
        panels.append(Panel(attack, text, svg(figure, f"gda/{attack}"), own))
    return panels


def _highest(shown: Shown, views: Sequence[AttackView]) -> list[AttackView]:
    """Return the views to draw: the synthesizers that learn most, and the reference generators, in their order."""

    def learned(view: AttackView) -> float:
        value = view.overall.confidence_improvement
        return float("-inf") if isnan(value) else value

    own = sorted((v for v in views if v.role == "synthesizer"), key=learned, reverse=True)
    kept = {v.synthesizer for v in own[: shown.most]}
    drawn = [v for v in views if v.role != "synthesizer" or v.synthesizer in kept]
    return [replace(v, synthesizer=cut(v.synthesizer)) for v in drawn]


def _together(view: AttackView) -> dict[str, GdaScore]:
    """Return the scores over several columns, each once, by what the columns are; nothing where there is one alone."""
    every = len(view.columns)
    counts = {len(score.columns): score for score in view.weakest.values()} if every > 1 else {}
    names = {every: "all columns", 1: "the worst"}
    return {names.get(count, f"the {count} worst"): score for count, score in counts.items()}


GDA = Section("gda", "Attacks that make claims: the GDA view", "gda.html", _context)
