"""What must be read beside the numbers of a study: what it warns of, what failed, what has no value and why."""

import math
import re
from collections.abc import Sequence

from rich.text import Text

from synthrisk.flows.cli.league_lines import COLOURS
from synthrisk.flows.cli.release_lines import release_lines
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.results import StudyResult

_WIDTH = 13  # of the word before a line


def notes(result: StudyResult) -> list[Text]:
    """Return a line for each thing that makes the numbers hard to read, or that has no number at all."""
    lines = [Text(f"Mind         {result.warning}", style="bold yellow")] if result.warning else []
    lines += release_lines(result)
    for check in (c for c in result.checks if not c.passed):
        told = f"expected {check.expectation}; {check.seen}"
        lines.append(verdict_line("INVALID", f"reference {check.reference}, {check.measure}: {told}"))
    lines += [Text(f"Mind         {warning}", style="yellow") for warning in _warnings(result)]
    if result.facts.get("repetitions") == "2":
        lines.append(Text("Mind         two repetitions tell little of the variance between them: take 3", "yellow"))
    lines += [Text(f"Not scored   {text}", style="yellow") for text in _absent(result.findings)]
    return lines + [verdict_line("FAILED", f"{name}: {reason}") for name, reason in result.failures.items()]


def verdict_line(word: str, text: str) -> Text:
    """Return a line that starts with a verdict in its colour."""
    return Text.assemble((f"{word:<{_WIDTH}}", COLOURS[word]), text)


def _warnings(result: StudyResult) -> list[str]:
    """Return what was seen before anything was computed, then other warnings, each once with its synthesizers."""
    told = _without_numbers(" ".join(result.warnings))  # a share among members differs a little from that among all
    names: dict[str, list[str]] = {}
    for f in (f for f in result.findings if f.warning and _without_numbers(f.warning) not in told):
        names.setdefault(f"{f.measure.key}: {f.warning}", []).append(f.synthesizer)
    return [*result.warnings, *(f"{warning} ({', '.join(each)})" for warning, each in names.items())]


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "", text)


def _absent(findings: Sequence[Finding]) -> list[str]:
    """Return why measures have no value, each reason once with the synthesizers that it holds for."""
    names: dict[tuple[str, str], list[str]] = {}
    for f in findings:
        if math.isnan(f.risk.value):
            names.setdefault((f.measure.key, f.risk.note), []).append(f.synthesizer)
    return [f"{key}: {reason} ({', '.join(each)})" for (key, reason), each in names.items()]
