"""The last words of a study on the terminal: league table, verdicts, and where to look further."""

import math
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from synthrisk.flows.study import Outcome
from synthrisk.metrics.estimates import Estimate
from synthrisk.metrics.results import StudyResult, league_table

SERVER = "http://127.0.0.1:5000"
_COLOURS = {
    "RISK": "bold red",
    "NO EVIDENCE": "green",
    "INCONCLUSIVE": "yellow",
    "INVALID": "bold magenta",
    "FAILED": "bold red",
}


def close(outcome: Outcome) -> None:
    """Print the league table, verdicts with reasons, failures, and links."""
    console = Console()
    result = outcome.result
    console.print(_league(result))
    for check in (c for c in result.checks if not c.passed):
        console.print(
            _line(
                "INVALID",
                f"control {check.control}, {check.measure}: expected {check.expectation}; {check.seen}",
            )
        )
    for name, reason in result.failures.items():
        console.print(_line("FAILED", f"{name}: {reason}"))
    for verdict in result.verdicts:
        console.print(_line(verdict.word, f"{verdict.synthesizer}, {verdict.quantity}: {verdict.reason}"))
    local = outcome.logged.uri.startswith("sqlite:")
    server = SERVER if local else outcome.logged.uri
    console.print(f"\nReport   {outcome.report}", soft_wrap=True, highlight=False)
    console.print(f"Compare  {outcome.logged.compare_link(server)}", soft_wrap=True, highlight=False, markup=False)
    console.print(f"Charts   {outcome.logged.list_link(server)}", soft_wrap=True, highlight=False, markup=False)
    if local:
        console.print("         (start the page first: synthrisk ui)", highlight=False)


def as_json(result: StudyResult) -> dict[str, Any]:
    """Return all numbers and verdicts as plain values; what is not defined is null."""
    rows = [{k: _plain(v) for k, v in row.items()} for row in league_table(result).to_dict("records")]
    return {
        "study_id": result.study_id,
        "exit_code": result.exit_code,
        "valid": result.valid,
        "findings": rows,
        "verdicts": [{k: _plain(v) for k, v in vars(v).items()} for v in result.verdicts],
        "checks": [vars(c) for c in result.checks],
        "failures": dict(result.failures),
        "facts": dict(result.facts),
    }


def _league(result: StudyResult) -> Table:
    table = Table(title=f"Study {result.name}", title_justify="left", header_style="bold", pad_edge=False)
    table.add_column("synthesizer", no_wrap=True)
    table.add_column("measure", no_wrap=True)
    for name in ("risk", "guess", "control", "memorization"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for name in result.synthesizers:
        findings = [f for f in result.findings if f.synthesizer == name]
        control = result.settings[name]["role"] == "control"
        for position, f in enumerate(findings):
            words = [
                v.word
                for v in result.verdicts
                if v.synthesizer == name and v.quantity.partition("/")[2] == f.measure.key
            ]
            table.add_row(
                name if position == 0 else "",
                f.measure.key,
                _interval(f.risk),
                _number(f.guess),
                _number(f.risk_control.value),
                _interval(f.memorization, signed=True),
                Text("\n").join(Text(w, style=_COLOURS[w]) for w in words)
                if words
                else Text("control" if control else "-"),
                style="dim" if control else "",
                end_section=position == len(findings) - 1,
            )
        if name in result.failures:
            table.add_row(name, "", "", "", "", "", Text("FAILED", style=_COLOURS["FAILED"]), end_section=True)
    return table


def _line(word: str, text: str) -> Text:
    return Text.assemble((f"{word:<13}", _COLOURS[word]), text)


def _interval(found: Estimate, signed: bool = False) -> str:
    form = "+.3f" if signed else ".3f"
    if math.isnan(found.value):
        return "-"
    if math.isnan(found.lower):
        return f"{found.value:{form}} [no interval]".replace("[", "\\[")
    return f"{found.value:{form}} [{found.lower:{form}}, {found.upper:{form}}]".replace("[", "\\[")


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
