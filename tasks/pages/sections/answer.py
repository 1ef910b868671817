"""The first section: may it go out, and why."""

from collections.abc import Mapping
from typing import Any

from synthrisk.tasks.pages.section import Section, Shown

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
