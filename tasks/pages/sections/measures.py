"""Each measure: what its attack does, where it is from, and its charts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from synthrisk.metrics.in_words import in_words
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.metric import Metric
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.headlines import knowledge_of
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.result_tables import judged_quantities
from synthrisk.metrics.study.results import Limit
from synthrisk.metrics.study.verdicts import holds_for
from synthrisk.tasks.pages.figures import memorization_figure, risk_figure
from synthrisk.tasks.pages.panel import Panel, drawn_rows, panel
from synthrisk.tasks.pages.section import Section, Shown

_TITLES = {"memorization": "Memorization", "risk": "Risk and its yardsticks"}


@dataclass(frozen=True)
class Measured:
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
    return Measured(
        measure,
        metric,
        in_words(metric),
        {name: limit for name, limit in result.limits.items() if holds_for(name, measure)},
        max(own, key=lambda f: f.memorization.value, default=None),
        next((f for f in known if result.answers.get(f.synthesizer) == "copy"), None),
        result.empty.get(measure.key, ""),
        _panels(shown, measure),
        knowledge_of(result, measure.key).words if measure.key in result.known else "",
        _others(shown, measure),
    )


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
        rows = drawn_rows(shown, measure, kind)
        figure = draw(rows, limit.value if limit else None)
        panels.append(panel(_TITLES[kind], kind, measure.key, figure))
    return panels


MEASURES = Section("measures", "Each measure, and what it found", "measures.html", _context)
