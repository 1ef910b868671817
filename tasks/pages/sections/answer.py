"""The answer: may it go out and why, the league table, pairs, all numbers; and what words and notes refer to."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import isnan
from typing import Any, NamedTuple

from synthrisk.metrics.catalogue import in_words
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.comparison import Comparison
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.results import COLUMNS, Headline, league, promised
from synthrisk.metrics.verdicts.tables import copy_share, details_table
from synthrisk.tasks.pages.section import Section, Shown
from synthrisk.tasks.pages.templates import beside, cause

_FEW = 12  # reasons that stand open


def _context(shown: Shown) -> Mapping[str, Any]:
    result, answers = shown.result, shown.overview.synthesizers
    return {
        "overview": shown.overview,
        "answers": answers,
        "judged": shown.overview.judged,
        "open": sum(len(a.verdicts) for a in answers) <= _FEW,
        "broken": [c for c in result.checks if not c.passed],
        "options": {name: _options(result.settings.get(name, {}), name) for name in shown.own},
    }


def _options(settings: Mapping[str, str], name: str) -> str:
    """Return what distinguishes a synthesizer from the others."""
    return ", ".join(f"{k} {v}" for k, v in settings.items() if k != "role" and v != name)


ANSWER = Section("answer", "May it go out?", "answer.html", _context)


class Standing(NamedTuple):
    """One line: the headline of a generator, and the finding whose quantity decides its word."""

    headline: Headline
    finding: Finding | None


def _context_league(shown: Shown) -> Mapping[str, Any] | None:
    if not shown.measures:
        return None
    found = {(f.synthesizer, f.measure.key): f for f in shown.result.findings}
    lines = [Standing(h, found.get((h.synthesizer, h.worst.measure)) if h.worst else None) for h in _lines(shown)]
    useful = next((line.headline.utility for line in lines if line.headline.utility), None)
    return {
        "lines": lines,
        "promised": promised(shown.result),
        "costs": shown.result.costs,
        "judged": shown.overview.judged,
        "limits": shown.result.judged_limits,
        "useful": useful,
        "meaning": in_words(METRICS[useful.measure.metric]) if useful else "",
    }


def _lines(shown: Shown) -> list[Headline]:
    """Return the headlines: synthesizers from the largest deciding quantity down, then reference generators."""
    every = shown.overview.headlines
    own = [h for h in every if h.role == "synthesizer"]
    own.sort(key=lambda h: -h.worst.excess if h.worst else float("inf"))
    return [*own, *(h for h in every if h.role != "synthesizer")]


LEAGUE = Section("league", "The generators side by side", "league.html", _context_league)

_MOST = 100  # pairs that the table holds


class Lower(NamedTuple):
    """One synthesizer, and those above it."""

    name: str
    above: Sequence[str]
    p_holm: float  # the largest of all these pairs


class Statement(NamedTuple):
    """What the pairs say in one quantity of one measure."""

    measure: Measure
    quantity: str
    lower: Sequence[Lower]  # the lowest first
    undecided: int


def _context_pairs(shown: Shown) -> Mapping[str, Any] | None:
    pairs = sorted(shown.result.comparisons, key=lambda c: (not c.lower, isnan(c.p_holm)))  # those that differ first
    return {"pairs": pairs, "most": _MOST, "statements": _statements(pairs)} if pairs else None


def _statements(pairs: Sequence[Comparison]) -> list[Statement]:
    places = {key: i for i, key in enumerate(dict.fromkeys((c.measure, c.quantity) for c in pairs))}
    ordered = sorted(pairs, key=lambda c: places[c.measure, c.quantity])
    return [_statement(list(own)) for _, own in groupby(ordered, key=lambda c: (c.measure, c.quantity))]


def _statement(pairs: Sequence[Comparison]) -> Statement:
    decided = [c for c in pairs if c.lower]
    lower = []
    for name in dict.fromkeys(c.lower for c in decided):
        own = [c for c in decided if c.lower == name]
        above = [c.second if c.first == name else c.first for c in own]
        lower.append(Lower(name, above, max(c.p_holm for c in own)))
    lower.sort(key=lambda each: -len(each.above))
    return Statement(pairs[0].measure, pairs[0].quantity, lower, len(pairs) - len(decided))


PAIRS = Section("pairs", "Which synthesizer is lower?", "pairs.html", _context_pairs)

_MOST_NUMBERS = 600  # rows of the table of details
_OF_DETAILS = {"susceptibility": "cells of its own column that can be attacked, as a share"}  # of all cells: the GDA's


def _context_numbers(shown: Shown) -> Mapping[str, Any] | None:
    result = shown.result
    if not shown.measures:
        return None
    return {
        "columns": COLUMNS,
        "league": league(result),
        "empty": result.empty,
        "beside": beside,
        "cause": cause,
        "most": _MOST_NUMBERS,
        "copy_share": lambda f: copy_share(result, f),
        "of_details": _OF_DETAILS,
        "details": details_table(result).to_dict("records"),
    }


NUMBERS = Section("numbers", "All numbers", "numbers.html", _context_numbers)


NOTES = Section("notes", "Notes", "notes.html", lambda shown: {} if shown.notes.texts else None)


def _context_definitions(shown: Shown) -> Mapping[str, Any]:
    found = shown.result.findings
    together = any(METRICS[f.measure.metric].study.together and "rapid_max" in f.details for f in found)
    forests = any(f.measure.metric in ("rapid", "membership") for f in found)
    population = any("population" in f.yardsticks for f in found)
    return {"population": population, "together": together, "forests": forests}


DEFINITIONS = Section("definitions", "How to read this", "definitions.html", _context_definitions)


PROVENANCE = Section("provenance", "Provenance", "provenance.html", lambda shown: {"settings": shown.settings})
