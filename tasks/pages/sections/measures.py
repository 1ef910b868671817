"""Each measure: what its attack does, its charts, curves, yardsticks, single records, and attackers who know less."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

from synthrisk.metrics.catalogue import in_words
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.results import Limit, knowledge_of
from synthrisk.metrics.verdicts.tables import judged_quantities
from synthrisk.metrics.verdicts.verdicts import holds_for
from synthrisk.tasks.pages.figures import (
    Panel,
    curves_figure,
    drawn_rows,
    memorization_figure,
    panel,
    panels_of,
    risk_figure,
    rows_of,
    spread_figure,
)
from synthrisk.tasks.pages.section import Section, Shown
from synthrisk.tasks.pages.templates import cause

_TITLES = {"memorization": "Memorization", "risk": "Risk and its yardsticks"}


class Measured(NamedTuple):
    """What the section says of one measure."""

    measure: Measure
    metric: Metric
    words: str  # what it does
    limits: Mapping[str, Limit]  # those that hold for it
    highest: Finding | None  # of the synthesizers, by memorization
    copy: Finding | None  # of the copy of the training rows
    empty: str  # why it says nothing in this study
    panels: list[Panel]
    knows: str  # what its attacker knows, where that is not what the study says of all
    # what is limited and not drawn: name of the limit, the limit, generator, what it reaches, word
    others: Sequence[tuple[str, float, str, Estimate, str]]


def _context(shown: Shown) -> Mapping[str, Any] | None:
    measures = [m for m in shown.measures if not m.variant_of]
    if not measures:
        return None
    findings = shown.result.findings
    return {
        "measures": [_measured(shown, m) for m in measures],
        "claims": any(f.is_of_claims and not isnan(f.guess) for f in findings),
        "population": any("population" in f.yardsticks for f in findings),
    }


def _measured(shown: Shown, measure: Measure) -> Measured:
    result, metric = shown.result, METRICS[measure.metric]
    known = [f for f in result.findings if f.measure == measure and not isnan(f.memorization.value)]
    own = [f for f in known if f.role == "synthesizer"]
    limits = {name: limit for name, limit in result.limits.items() if holds_for(name, measure)}
    highest = max(own, key=lambda f: f.memorization.value, default=None)
    copy = next((f for f in known if result.answers.get(f.synthesizer) == "copy"), None)
    empty = result.empty.get(measure.key, "")
    knows = knowledge_of(result, measure.key).words if measure.key in result.known else ""
    panels, others = _panels(shown, measure), _others(shown, measure)
    return Measured(measure, metric, in_words(metric), limits, highest, copy, empty, panels, knows, others)


def _others(shown: Shown, measure: Measure) -> list[tuple[str, float, str, Estimate, str]]:
    """Return what the limits on a measure hold for beside what is drawn: rates, gains, groups."""
    drawn = {f"{kind}/{key}" for kind in _TITLES for key in (measure.key, measure.label)}
    names = [n for n in shown.result.limits if holds_for(n, measure) and n not in drawn]
    return [
        (name, limit, each, found, word)
        for name, limit, reached in judged_quantities(shown.result)
        if name in names
        for each, (found, word) in reached.items()
    ]


def _panels(shown: Shown, measure: Measure) -> list[Panel]:
    panels = []
    for kind, draw in (("memorization", memorization_figure), ("risk", risk_figure)):
        limit = shown.result.limits.get(f"{kind}/{measure.key}")
        figure = draw(drawn_rows(shown, measure, kind), limit.value if limit else None)
        panels.append(panel(_TITLES[kind], kind, measure.key, figure))
    return panels


MEASURES = Section("measures", "Each measure, and what it found", "measures.html", _context)


def _context_curves(shown: Shown) -> Mapping[str, Any] | None:
    panels = panels_of(shown, "curves", lambda f: bool(f.curve), curves_figure)
    return {"curves": panels} if panels else None


_TITLE = "Share at risk, by threshold of the attack or tolerance of the error"
CURVES = Section("curves", _TITLE, "curves.html", _context_curves)

_MOST = 120  # findings that the table holds, of each measure its share
_WORDS = {"guess": "best constant guess", "control": "same attack on control records", "population": "population"}


def _context_yardsticks(shown: Shown) -> Mapping[str, Any] | None:
    """Return the findings of synthesizers that stand beside a yardstick, by measure.

    Those of reference generators are in the artifact.
    """
    found = {m: [r.finding for r in rows_of(shown, shown.own, m) if r.finding] for m in shown.measures}
    beside = [(m, [f for f in every if f.yardsticks]) for m, every in found.items()]
    told = [(m, every) for m, every in beside if every]
    if not told:
        return None
    most = max(1, _MOST // len(told))
    left = sum(max(0, len(every) - most) for _, every in told)
    isolated = any(y.attack for f in shown.result.findings for y in f.yardsticks.values())
    return {
        "yardsticks": [(m, every[:most]) for m, every in told],
        "left": left,
        "yardstick_words": _WORDS,
        "isolated": isolated,
        "transformed": any(METRICS[m.metric].records.transform for m, _ in told),
        "cause": cause,
    }


YARDSTICKS = Section("yardsticks", "Each yardstick, with the gain over it", "yardsticks.html", _context_yardsticks)


def _context_records(shown: Shown) -> Mapping[str, Any] | None:
    panels = panels_of(shown, "spread", lambda f: bool(f.spread), spread_figure)
    apart = [f for f in shown.result.findings if f.groups and f.role == "synthesizer"]
    return {"spread": panels, "apart": apart, "most": _MOST} if panels else None


RECORDS = Section("records", "Single records, and those an attacker would pick", "records.html", _context_records)


def _context_members_found(shown: Shown) -> Mapping[str, Any] | None:
    ranked = [f for f in shown.result.findings if f.tpr]
    return {"ranked": ranked} if ranked else None


MEMBERS_FOUND = Section(
    "members-found", "Members found at a low false-positive rate", "members_found.html", _context_members_found
)


def _context_what_if(shown: Shown) -> Mapping[str, Any] | None:
    """Return the findings of what-ifs, each after the finding that it varies."""
    findings = shown.result.findings
    own = {(f.synthesizer, f.measure.label, f.measure.sensitive): f for f in findings}
    varied = [f for f in findings if f.measure.variant_of]
    variants = [(own[f.synthesizer, str(f.measure.variant_of), f.measure.sensitive], f) for f in varied]
    return {"variants": variants} if variants else None


WHAT_IF = Section("what-if", "What if columns were coarser?", "what_if.html", _context_what_if)
