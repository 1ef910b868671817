"""The league table: a line a generator."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.headlines import Headline
from synthrisk.metrics.study.league import promised
from synthrisk.tasks.pages.section import Section, Shown


@dataclass(frozen=True)
class Standing:
    """One line: the headline of a generator, and the finding whose quantity decides its word."""

    headline: Headline
    finding: Finding | None


def _context(shown: Shown) -> Mapping[str, Any] | None:
    if not shown.measures:
        return None
    found = {(f.synthesizer, f.measure.key): f for f in shown.result.findings}
    lines = [Standing(h, found.get((h.synthesizer, h.worst.measure)) if h.worst else None) for h in _lines(shown)]
    return {
        "lines": lines,
        "promised": promised(shown.result),
        "judged": shown.overview.judged,
        "useful": any(line.headline.utility for line in lines),
    }


def _lines(shown: Shown) -> list[Headline]:
    """Return the headlines: synthesizers from the largest deciding quantity down, then reference generators."""
    every = shown.overview.headlines
    own = [h for h in every if h.role == "synthesizer"]
    own.sort(key=lambda h: -h.worst.excess if h.worst else float("inf"))
    return [*own, *(h for h in every if h.role != "synthesizer")]


LEAGUE = Section("league", "The generators side by side", "league.html", _context)
