"""The GDA view: what each attack that makes claims could do, on members."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

from synthrisk.metrics.claims.selective_curve import detail_of
from synthrisk.metrics.study.gda import GdaScore
from synthrisk.metrics.study.gda_view import AttackView
from synthrisk.metrics.study.result_tables import gda_views
from synthrisk.tasks.pages.figures import selective_figure, svg, words_of
from synthrisk.tasks.pages.gda_figure import cells, gda_figure
from synthrisk.tasks.pages.panel import Panel, panels_of
from synthrisk.tasks.pages.section import Section, Shown
from synthrisk.tasks.pages.templates import cut


def _context(shown: Shown) -> Mapping[str, Any] | None:
    attacks = _attacks(shown)
    if not attacks:
        return None
    return {"attacks": attacks, "selective": _selective(shown), "together": _together, "cells": cells}


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


def _selective(shown: Shown) -> list[Panel]:
    return panels_of(shown, "selective", lambda f: detail_of(1.0) in f.details, selective_figure, "risk")


def _together(view: AttackView) -> dict[str, GdaScore]:
    """Return the scores over several columns, each once, by what the columns are; nothing where there is one alone."""
    every = len(view.columns)
    counts = {len(score.columns): score for score in view.weakest.values()} if every > 1 else {}
    names = {every: "all columns", 1: "the worst"}
    return {names.get(count, f"the {count} worst"): score for count, score in counts.items()}


GDA = Section("gda", "Attacks that make claims: the GDA view", "gda.html", _context)
