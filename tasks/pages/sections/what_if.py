"""The same releases, attacked by someone who knows less."""

from collections.abc import Mapping
from typing import Any

from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.results import StudyResult
from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown) -> Mapping[str, Any] | None:
    variants = _variants(shown.result)
    return {"variants": variants} if variants else None


def _variants(result: StudyResult) -> list[tuple[Finding, Finding]]:
    """Return the findings of what-ifs, each after the finding that it varies."""
    own = {(f.synthesizer, f.measure.label, f.measure.sensitive): f for f in result.findings}
    varied = [f for f in result.findings if f.measure.variant_of]
    return [(own[f.synthesizer, str(f.measure.variant_of), f.measure.sensitive], f) for f in varied]


WHAT_IF = Section("what-if", "What if the attacker knew less?", "what_if.html", _context)
