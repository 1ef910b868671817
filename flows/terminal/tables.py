"""All tables of a study on the terminal, and what must be read beside its numbers: warnings, failures, releases."""

import math
import re
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from synthrisk.flows.terminal.columns import (
    COLOURS,
    HEADS,
    Generators,
    OnLimit,
    inert,
    interval,
    judged_lines,
    league_cells,
    limits_in_head,
    number,
    style_of,
)
from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.release.nearness import first_signs
from synthrisk.metrics.release.validity import ReleaseSummary, Spread
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.verdicts.limits import is_signal
from synthrisk.metrics.verdicts.quantities import limited
from synthrisk.metrics.verdicts.results import StudyResult, league, overview, promised
from synthrisk.metrics.verdicts.tables import BESIDE, EMPTY, copy_share, limits_table
from synthrisk.metrics.verdicts.verdicts import holds_for

Told = Generators | Table | Text
_NOTES = 3
_COLUMNS = ("rows", "equal a member (by twins)", "equal a control record (by twins)", "nearer members (expected)")


def release_table(result: StudyResult) -> list[Table]:
    """Return a table of all releases; none where none was looked at."""
    if not result.releases:
        return []
    title = Text("the releases before they are judged: rows that are real records, and members near to them")
    table = Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False
    )
    table.add_column("synthesizer", no_wrap=True)
    for name in _COLUMNS:
        table.add_column(name, justify="right")
    for name, each in result.releases.items():
        table.add_row(Text(name), *_cells(each), style=style_of(_role(result, name)))
    return [table]


def release_lines(result: StudyResult) -> list[Text]:
    """Return a line for each thing that is wrong or worth knowing of the releases of a synthesizer.

    Of a reference generator nothing is told: a copy is meant to look like one.
    """
    own = [(name, each) for name, each in result.releases.items() if _role(result, name) != "reference"]
    return [line for name, each in own for line in _words(name, each)]


def _role(result: StudyResult, name: str) -> str:
    return str(result.settings.get(name, {}).get("role", "synthesizer"))


def _cells(each: ReleaseSummary) -> Sequence[str]:
    return (
        _count(each.rows),
        f"{_count(each.rows_of_members)} ({_count(each.rows_of_members_expected, 1)})",
        f"{_count(each.rows_of_controls)} ({_count(each.rows_of_controls_expected, 1)})",
        f"{number(each.nearer_members.mean)} ({number(each.nearer_expected.mean)})",
    )


def _words(name: str, each: ReleaseSummary) -> list[Text]:
    lines: list[Text] = []
    for word, text, style in (
        ("Broken", each.invalid, "bold magenta"),
        ("Copy?", first_signs(each.suspicious, 1), "bold red"),
    ):
        if text:
            lines.append(Text.assemble((f"{word:<13}", style), f"{name}: {text}"))
    shown = len(each.notes) if len(each.notes) == _NOTES + 1 else _NOTES
    lines += [Text(f"Mind         {name}: {text}", style="yellow") for text in each.notes[:shown]]
    if len(each.notes) > shown:
        lines.append(Text(f"Mind         {name}: {len(each.notes) - shown} more are in the report", style="yellow"))
    return lines


def _count(found: Spread, decimals: int = 0) -> str:
    return "-" if math.isnan(found.mean) else f"{found.mean:,.{decimals}f}"


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


def full_tables(result: StudyResult) -> list[Told]:
    """Return all tables of a study, and the lines without which they cannot be read."""
    lines: list[Told] = [
        *limits_kept(result),
        *release_table(result),
        *_leagues(result),
        *_limits(result),
        *_utilities(result),
    ]
    lines += _said_of_people(result)
    return [*lines, *filter(None, (_pairs(result), _powers(result)))]


def _said_of_people(result: StudyResult) -> list[Told]:
    """Return what each limited quantity says of people, and below it the number and why."""
    lines: list[Told] = []
    for headline in overview(result).synthesizers:
        for verdict, told in zip(headline.verdicts, headline.sentences, strict=True):
            why = f"\n{' ' * _WIDTH}{inert(verdict.quantity)}: {verdict.reason}"
            lines.append(verdict_line(verdict.word, f"{inert(headline.synthesizer)}: {told}").append(why, "dim"))
    return lines


def _leagues(result: StudyResult) -> list[Told]:
    """Return one table a measure, and below it what its values cannot be read without."""
    tables: list[Told] = []
    rows, epsilons = league(result), promised(result)
    failed = rows.pop("", [])
    judged: dict[tuple[str, str], list[OnLimit]] = {}
    for v in result.verdicts:
        found = OnLimit(v.synthesizer, v.quantity, v.limit, Estimate(v.value, v.lower, v.upper), v.word)
        judged.setdefault((v.synthesizer, limited(v.quantity, rows).key), []).append(found)
    for key, own in rows.items():
        findings = {row.synthesizer: row.finding for row in own if row.finding}
        guesses = [f.guess for f in findings.values()]
        of_claims = any(f.is_of_claims for f in findings.values())  # their guess S stands below
        guess = guesses[0] if len(set(guesses)) == 1 and not of_claims else math.nan
        ceiling = next(iter(findings.values())).details.get("ceiling", (math.nan,))[0]
        population = next(iter(findings.values())).population.value
        known = {"constant guess": guess, "population": population, "ceiling": ceiling}
        yardsticks = ", ".join(f"{name}: {number(value)}" for name, value in known.items() if not math.isnan(value))
        measure = next(iter(findings.values())).measure
        names = (measure.key, measure.label)
        limits = [(name, limit.value) for name, limit in result.limits.items() if holds_for(name, measure)]
        beside = "; ".join(filter(None, (limits_in_head(limits, names), yardsticks)))
        table = Generators(f"{key}  ({beside})" if beside else key, HEADS)
        table.add_column("verdict")
        if epsilons:
            table.add_column("epsilon", right=True)
        for row in (*own, *failed):
            promise = [Text(epsilons.get(row.synthesizer, "-"))] if epsilons else []
            below = judged_lines(row, judged.get((row.synthesizer, key), ()), names)
            table.add_row(Text(row.synthesizer), *league_cells(row), *promise, style=style_of(row.role), below=below)
        tables.append(table)
        if key in result.empty:
            tables.append(Text(f"{EMPTY}: {result.empty[key]}\n", style="yellow"))
        # the ceiling is one for all: it stands in the title
        tables += [_beside(words, detail, findings) for detail, words in BESIDE.items() if detail != "ceiling"]
        tables += [_isolated_shares(findings), _of_a_copy(result, findings), _found(findings)]
    return [each for each in tables if not isinstance(each, Text) or each.plain]


def _limits(result: StudyResult) -> list[Generators]:
    """Return one table a limit on what the league tables do not show: a gain over a yardstick, a rate, a group."""
    tables, rows = [], limits_table(result)
    keys = [f.measure.key for f in result.findings]
    for name, limit in result.limits.items():
        what = limited(name, keys)
        if what.quantity in ("risk", "memorization") and not what.group:
            continue
        table = Generators(f"{name}  (limit {limit.value:g})", (what.quantity,))
        table.add_column("verdict")
        for row in rows[rows["name"] == name].to_dict("records") if len(rows) else []:
            found = Estimate(row["value"], row["lower"], row["upper"])
            word = Text(row["word"], style=COLOURS.get(row["word"], "")) if row["word"] else Text("reference")
            table.add_row(Text(row["synthesizer"]), interval(found), word, style=style_of(row["role"]))
        tables.append(table)
    return tables


def limits_kept(result: StudyResult) -> list[Told]:
    """Return which limits would have been kept, where none is set."""
    if not result.kept:
        return []
    table = Generators("the least limit that would have been kept, had it been set", ("limit",))
    table.add_column("of", folds=True)
    for each in result.kept:
        least = "none" if math.isnan(each.least) else f"{each.least:g}"
        table.add_row(Text(each.synthesizer), least, Text(each.quantity))
    unshown = {each.reason: None for each in result.kept if math.isnan(each.least)}
    return [table, *(Text(f"none: {reason}\n", style="dim") for reason in unshown)]


def _utilities(result: StudyResult) -> list[Generators]:
    """Return one table a utility measure: how useful, beside what control records reach."""
    tables = []
    for measure in dict.fromkeys(f.measure for f in result.utility):
        heads = ("utility", "at the size of the ceiling", "ceiling")
        table = Generators(f"{measure.key}  (utility: high is good)", heads)
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
