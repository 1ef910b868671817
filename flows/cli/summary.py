"""The last words of a study on the terminal: league table, verdicts, and where to look further."""

import math
import re
from collections.abc import Sequence
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from synthrisk.flows.cli.league_lines import (
    COLOURS,
    HEADS,
    interval,
    league_cells,
    number,
    style_of,
    table_of_generators,
)
from synthrisk.flows.cli.release_lines import release_lines
from synthrisk.flows.study import Outcome
from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.release.summary import releases_table
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.league import league
from synthrisk.metrics.study.quantities import limited
from synthrisk.metrics.study.result_tables import BESIDE, EMPTY, TABLES, copy_share, league_table, limits_table
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.utility import utility_table
from synthrisk.metrics.study.verdicts import is_signal

_WIDTH = 13  # of the word before a line
_KEYS = {"comparison": "comparisons"}  # of tables that JSON calls otherwise
SERVER = "http://127.0.0.1:5000"


def close(outcome: Outcome) -> None:
    """Print the league table, verdicts with reasons, failures, and links."""
    console = Console(highlight=False)
    result = outcome.result
    if not result.limits:
        console.print(Text("No limits: no verdict. Nothing was judged.", style="bold yellow"))
    console.print(
        f"Study [bold]{result.name}[/bold], {result.facts['records']} records, {result.facts['releases']} releases"
    )
    if result.warning:
        console.print(Text(f"Mind         {result.warning}", style="bold yellow"))
    console.print(
        *_kept(result), *release_lines(result), *_leagues(result), *_limits(result), *_utilities(result), sep=""
    )
    for check in (c for c in result.checks if not c.passed):
        told = f"expected {check.expectation}; {check.seen}"
        console.print(_line("INVALID", f"reference {check.reference}, {check.measure}: {told}"))
    for warning in _warnings(result):
        console.print(Text(f"Mind         {warning}", style="yellow"))
    if result.facts.get("repetitions") == "2":
        console.print(Text("Mind         two repetitions tell little of the variance between them: take 3", "yellow"))
    for text in _absent(result.findings):
        console.print(Text(f"Not scored   {text}", style="yellow"))
    for name, reason in result.failures.items():
        console.print(_line("FAILED", f"{name}: {reason}"))
    for verdict in result.verdicts:
        console.print(_line(verdict.word, f"{verdict.synthesizer}, {verdict.quantity}: {verdict.reason}"))
    for lines in filter(None, (_pairs(result), _powers(result))):
        console.print(lines)
    local = outcome.logged.uri.startswith("sqlite:")
    server = SERVER if local else outcome.logged.uri
    console.print(f"\nReport   {outcome.report}", soft_wrap=True)
    for path in outcome.exposures.values():
        console.print(f"Exposure {path}", soft_wrap=True)
    console.print(f"Compare  {outcome.logged.compare_link(server)}", soft_wrap=True, markup=False)
    console.print(f"Charts   {outcome.logged.list_link(server)}", soft_wrap=True, markup=False)
    if local:
        console.print("         (start the page first: synthrisk ui)")


def as_json(result: StudyResult) -> dict[str, Any]:
    """Return all numbers and verdicts as plain values; what is not defined is null."""
    return {
        "study_id": result.study_id,
        "exit_code": result.exit_code,
        "valid": result.valid,
        "warning": result.warning or None,
        "warnings": list(result.warnings),
        "says_nothing": result.empty,
        "releases": _rows(releases_table(result.releases)),
        "findings": _rows(league_table(result)),
        "utility": _rows(utility_table(result.utility)),
        "verdicts": [{name: _plain(value) for name, value in vars(v).items()} for v in result.verdicts],
        "checks": [vars(c) for c in result.checks],
        "invalid": result.invalid or None,
        **{_KEYS.get(name, name): _rows(table_of(result)) for name, table_of in TABLES.items()},
        "failures": dict(result.failures),
        "facts": dict(result.facts),
    }


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(k): _plain(v) for k, v in row.items()} for row in table.to_dict("records")]


def _leagues(result: StudyResult) -> list[Table | Text]:
    """Return one table a measure, and below it what its values cannot be read without."""
    tables: list[Table | Text] = []
    rows = league(result)
    failed = rows.pop("", [])
    for key, own in rows.items():
        findings = {row.synthesizer: row.finding for row in own if row.finding}
        guesses = [f.guess for f in findings.values()]
        of_claims = any(f.is_of_claims for f in findings.values())  # their guess S stands below
        guess = guesses[0] if len(set(guesses)) == 1 and not of_claims else math.nan
        ceiling = next(iter(findings.values())).details.get("ceiling", (math.nan,))[0]
        population = next(iter(findings.values())).population.value
        known = {"constant guess": guess, "population": population, "ceiling": ceiling}
        yardsticks = ", ".join(f"{name}: {number(value)}" for name, value in known.items() if not math.isnan(value))
        table = table_of_generators(f"{key}  ({yardsticks})" if yardsticks else key, HEADS)
        table.add_column("verdict", no_wrap=True)
        for row in (*own, *failed):
            table.add_row(Text(row.synthesizer), *league_cells(row), style=style_of(row.role))
        tables.append(table)
        if key in result.empty:
            tables.append(Text(f"{EMPTY}: {result.empty[key]}\n", style="yellow"))
        # the ceiling is one for all: it stands in the title
        tables += [_beside(words, detail, findings) for detail, words in BESIDE.items() if detail != "ceiling"]
        tables += [_isolated_shares(findings), _of_a_copy(result, findings), _found(findings)]
    return tables


def _limits(result: StudyResult) -> list[Table]:
    """Return one table a limit on what the league tables do not show: a gain over a yardstick, a rate, a group."""
    tables, rows = [], limits_table(result)
    keys = [f.measure.key for f in result.findings]
    for name, limit in result.limits.items():
        what = limited(name, keys)
        if what.quantity in ("risk", "memorization") and not what.group:
            continue
        table = table_of_generators(f"{name}  (limit {limit.value:g})", (what.quantity,))
        table.add_column("verdict", no_wrap=True)
        for row in rows[rows["name"] == name].to_dict("records") if len(rows) else []:
            found = Estimate(row["value"], row["lower"], row["upper"])
            word = Text(row["word"], style=COLOURS.get(row["word"], "")) if row["word"] else Text("reference")
            table.add_row(Text(row["synthesizer"]), interval(found), word, style=style_of(row["role"]))
        tables.append(table)
    return tables


def _warnings(result: StudyResult) -> list[str]:
    """Return what was seen before anything was computed, then other warnings, each once with its synthesizers."""
    told = _without_numbers(" ".join(result.warnings))  # a share among members differs a little from that among all
    names: dict[str, list[str]] = {}
    for f in (f for f in result.findings if f.warning and _without_numbers(f.warning) not in told):
        names.setdefault(f"{f.measure.key}: {f.warning}", []).append(f.synthesizer)
    return [*result.warnings, *(f"{warning} ({', '.join(each)})" for warning, each in names.items())]


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "", text)


def _kept(result: StudyResult) -> list[Table | Text]:
    """Return which limits would have been kept, where none is set."""
    if not result.kept:
        return []
    table = table_of_generators("the least limit that would have been kept, had it been set", ("limit",))
    table.add_column("of")
    for each in result.kept:
        least = "none" if math.isnan(each.least) else f"{each.least:g}"
        table.add_row(Text(each.synthesizer), least, Text(each.quantity))
    unshown = {each.reason: None for each in result.kept if math.isnan(each.least)}
    return [table, *(Text(f"none: {reason}\n", style="dim") for reason in unshown)]


def _absent(findings: Sequence[Finding]) -> list[str]:
    """Return why measures have no value, each reason once with the synthesizers that it holds for."""
    names: dict[tuple[str, str], list[str]] = {}
    for f in findings:
        if math.isnan(f.risk.value):
            names.setdefault((f.measure.key, f.risk.note), []).append(f.synthesizer)
    return [f"{key}: {reason} ({', '.join(each)})" for (key, reason), each in names.items()]


def _utilities(result: StudyResult) -> list[Table]:
    """Return one table a utility measure: how useful, beside what control records reach."""
    tables = []
    for measure in dict.fromkeys(f.measure for f in result.utility):
        heads = ("utility", "at the size of the ceiling", "ceiling")
        table = table_of_generators(f"{measure.key}  (utility: high is good)", heads)
        for f in (f for f in result.utility if f.measure == measure):
            cells = interval(f.value), number(f.thinned.value), number(f.ceiling.value)
            table.add_row(Text(f.synthesizer), *cells, style=style_of(f.role))
        tables.append(table)
    return tables


def _beside(words: str, detail: str, findings: dict[str, Finding]) -> Text:
    """Return a line with one detail of each synthesizer; nothing where the measure has none."""
    values = {name: f.details[detail][0] for name, f in findings.items() if detail in f.details}
    told = ", ".join(f"{name} {number(value)}" for name, value in values.items())
    return Text(f"{words}: {told}\n", style="dim") if told else Text()


def _isolated_shares(findings: dict[str, Finding]) -> Text:
    """Return a line with the share of members among isolated records, and what it is if nobody is remembered."""
    beside = [(name, each) for name, f in findings.items() for each in f.yardsticks.values()]
    told = ", ".join(f"{n} {number(y.attack.value)} and {number(y.success.value)}" for n, y in beside if y.attack)
    words = "share of members among isolated records, and by chance"
    return Text(f"{words}: {told}\n", style="dim") if told else Text()


def _found(findings: dict[str, Finding]) -> Text:
    """Return a line a synthesizer: members found at low false-positive rates, and the lower bound of epsilon."""
    lines = []
    for name, f in findings.items():
        rates = [f"{number(e.value)} at FPR {rate:.1%}" for rate, e in f.tpr.items() if not math.isnan(e.value)]
        bound = [] if f.epsilon is None else [f"epsilon at least {f.epsilon.epsilon:.2f}"]
        lines += [f"{name}: members found {', '.join([*rates, *bound])}\n"] if rates else []
    return Text("".join(lines), style="dim")


def _of_a_copy(result: StudyResult, findings: dict[str, Finding]) -> Text:
    """Return lines that make memorization readable: its share of a copy's, and whether it is another measure's too."""
    shares = {name: copy_share(result, f).value for name, f in findings.items()}
    told = ", ".join(f"{name} {number(value)}" for name, value in shares.items() if not math.isnan(value))
    lines = [f"share of a copy's memorization: {told}\n"] if told else []
    same = next(iter(findings.values())).same_difference_as
    lines += [f"memorization: the same difference as that of {same}\n"] if same else []
    return Text("".join(lines), style="dim")


def _pairs(result: StudyResult) -> Text:
    """Return a line for each quantity of a measure in which a pair differs, or one that says that none does."""
    signals = [c for c in result.comparisons if is_signal(METRICS[c.measure.metric], c.quantity)]
    lines: dict[str, list[str]] = {}
    for c in (c for c in signals if c.lower):
        told = "< .001" if c.p_holm < 0.001 else number(c.p_holm)
        upper = c.second if c.lower == c.first else c.first
        lines.setdefault(f"{c.quantity}/{c.measure.key}", []).append(f"{c.lower} < {upper} (p {told})")
    if signals and not lines:
        return Text("Pairs        no pair of synthesizers differs (p adjusted by Holm)")
    return Text("\n").join(Text(f"Pairs        {name}: {', '.join(each)}") for name, each in lines.items())


def _powers(result: StudyResult) -> Text:
    """Return a line that says which leak each measure sees; nothing without the ``power`` option."""
    told = ", ".join(f"{key} {power.leak}" for key, power in result.powers.items())
    return Text(f"Power        leak seen in four studies of five: {told}" if told else "")


def _line(word: str, text: str) -> Text:
    return Text.assemble((f"{word:<{_WIDTH}}", COLOURS[word]), text)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
