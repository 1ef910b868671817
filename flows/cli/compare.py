"""``synthrisk compare``: what the studies of an experiment have said of each synthesizer, read back from their runs.

On a terminal: the headline, a table a measure, the trend; other forms are in ``terminal.comparison``.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from synthrisk.conf.study import Tracking
from synthrisk.flows.connections import check_tracking
from synthrisk.flows.terminal.columns import (
    COLOURS,
    HEADS,
    Column,
    Line,
    in_columns,
    in_lines,
    inert,
    interval,
    judged_lines,
    league_cells,
    number,
    style_of,
)
from synthrisk.flows.terminal.comparison import (
    WORDLESS,
    Asked,
    estimate,
    judged_measures,
    judged_of,
    known_measures,
    limits_on,
    measure_rows,
    on_limits,
    standings,
    utility_rows,
)
from synthrisk.metrics.catalogue import overview
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.verdicts.quantities import Limited, is_signed
from synthrisk.tasks.tracking.history import PastStudy, Step, studies, trend


def print_tables(asked: Asked, shown: Sequence[PastStudy], measures: Sequence[str], known: int) -> None:
    """Print what was asked, of so many of the studies that are known."""
    console = Console(highlight=False)
    latest = shown[-1]
    if asked.history:
        _print_trend(console, asked, shown, measures, known)
        return
    _print_study(console, asked, latest)
    if asked.measure is None:
        _print_headline(console, latest)
    if asked.measure is not None or asked.every:
        for measure in measures:
            _print_measure(console, latest, measure)
    _print_failures(console, latest)
    if asked.measure is None:
        _print_limits(console, latest)
        _print_more(console, asked)


def _print_study(console: Console, asked: Asked, study: PastStudy) -> None:
    when = f"{study.start:%Y-%m-%d %H:%M}"
    console.print(Text.assemble((inert(asked.experiment), "bold"), f", study of {when} UTC ({study.study_id})"))
    if "threat_model" in study.tags:
        console.print(
            Text(inert(f"{_counted(study.tags.get('records', ''))} records; {study.tags['threat_model']}"), "dim")
        )
    for tag, word, style in (("invalid", "INVALID", COLOURS["INVALID"]), ("warning", "Mind", "bold yellow")):
        if study.tags.get(tag):
            console.print(Text(f"{word:<8} {inert(study.tags[tag])}", style))
    if not on_limits(study):
        console.print(Text("No limits: no verdict. Nothing was judged.", "bold yellow"))


def _print_headline(console: Console, study: PastStudy) -> None:
    rows = standings(study)
    judged = judged_measures(study)
    worst = "what decides" if judged else "memorization"
    useful = next((row.utility_measure for row in rows if row.utility_measure), "")
    columns = [
        Column("synthesizer", folds=True),
        Column("verdict"),
        Column(worst, right=True),
        Column("in", folds=True),
    ]
    columns += [Column("utility", right=True)] if useful else []
    lines = []
    for row in rows:
        cells: list[str | Text] = [
            row.synthesizer,
            Text(row.said, COLOURS.get(row.said, "")),
            interval(row.worst, signed=is_signed(row.measure)),
            row.measure,
        ]
        cells += [Text(number(row.utility.value))] if useful else []
        lines.append(Line(cells, style_of(row.role)))
    _print(console, columns, lines)
    if useful:
        console.print(Text(f"utility: {inert(useful)}; high is good", "dim"))
    costs = [f"{inert(row.synthesizer)} {row.cost}" for row in rows if row.cost]
    if costs:
        console.print(Text(f"a release takes: {'; '.join(costs)}", "dim"))


def _print_measure(console: Console, study: PastStudy, measure: str) -> None:
    """Print one measure: of risk with the verdict on this measure alone, of utility beside its ceiling."""
    if rows := measure_rows(study, measure):
        limits = limits_on(study, measure)
        console.print()
        for line in in_lines(f"{inert(measure)}{f'  ({limits})' if limits else ''}", console.width):
            console.print(Text(line, "bold"), soft_wrap=True)
        numbers, keys = [Column(head, right=True) for head in HEADS], known_measures(study)
        lines = []
        for row in rows:
            below = judged_lines(row, judged_of(study, row.synthesizer, measure), keys)
            lines.append(Line([row.synthesizer, *league_cells(row)], style_of(row.role), below))
        _print(console, [Column("synthesizer", folds=True), *numbers, Column("verdict")], lines)
    if useful := utility_rows(study, measure):
        console.print(Text.assemble((f"\n{inert(measure)}", "bold"), "  utility: high is good"))
        columns = [Column("synthesizer", folds=True), Column("utility", right=True), Column("ceiling", right=True)]
        lines = []
        for each in useful:
            found, ceiling = estimate(each, "utility"), estimate(each, "utility_ceiling").value
            name, role = str(each["synthesizer"]), str(each["role"])
            lines.append(Line([name, interval(found), Text(number(ceiling))], style_of(role)))
        _print(console, columns, lines)


def _print_failures(console: Console, study: PastStudy) -> None:
    for row in (each for each in standings(study) if each.failure):
        console.print(Text(f"FAILED   {inert(row.synthesizer)}: {inert(row.failure)}", COLOURS["FAILED"]))


def _print_limits(console: Console, study: PastStudy) -> None:
    """Print which limits hold, and what no limit judges."""
    limits = dict.fromkeys((each.quantity, each.limit) for each in on_limits(study))
    if limits:
        told = ", ".join(f"{inert(name)} {value:g}" for name, value in limits)
        console.print(Text(f"limits: {told}", "dim"))
    judged = judged_measures(study)
    signals = [m for m in known_measures(study) if m not in judged and _is_signal(m)]
    if signals and limits:
        console.print(Text(f"no limit judges: {', '.join(map(inert, signals))}", "yellow"))


def _is_signal(measure: str) -> bool:
    """Tell whether a measure may show a risk; one of a package that is not installed may."""
    kinds = {line.name: line.kind for line in overview()}
    name = max((name for name in kinds if measure.startswith(name)), key=len, default="")
    return kinds.get(name, "signal") in ("signal", "difference")


def _print_more(console: Console, asked: Asked) -> None:
    if not asked.every:
        name = inert(asked.experiment)
        quoted = f"'{name}'" if set(name) & set(" '\"[]<>|&;$") else name
        console.print(Text(f"each measure: synthrisk compare {quoted} --all     over time: --history", "dim"))


def _print_trend(
    console: Console, asked: Asked, shown: Sequence[PastStudy], measures: Sequence[str], known: int
) -> None:
    """Print the memorization of each synthesizer in the latest studies, a table a measure."""
    latest = shown[-1]
    risks = [m for m in measures if m in known_measures(latest)]
    if asked.measure is None and not asked.every:
        risks = judged_measures(latest) or [m for m in risks if _is_signal(m)]
    told = (
        f"the latest {len(shown)} of {known} studies"
        if known > len(shown)
        else f"{known} {'study' if known == 1 else 'studies'}"
    )
    console.print(Text.assemble((inert(asked.experiment), "bold"), f", {told}"))
    steps = list(trend(shown, risks))
    for measure in risks:
        own = [step for step in steps if step.measure == measure]
        if own:
            console.print(Text(f"\nmemorization of {inert(measure)}", "bold"))
            _print_steps(console, own)
    if asked.measure is None or asked.every:
        _print_limits_over_time(console, shown)
    _print_changes(console, steps)


def _print_limits_over_time(console: Console, shown: Sequence[PastStudy]) -> None:
    """Print what limits hold for beside memorization, a table a limit: rates, gains, groups."""
    every = [(study, row) for study in shown for row in study.verdicts.to_dict("records")]
    names = dict.fromkeys(str(row["quantity"]) for _, row in every)
    for name in names:
        own = [(study, row) for study, row in every if row["quantity"] == name and not isnan(row["value"])]
        if not own or (name.startswith("memorization/") and "@" not in name):
            continue
        console.print(Text(f"\n{inert(name)}", "bold"))
        lines = []
        for synthesizer in dict.fromkeys(str(row["synthesizer"]) for _, row in own):
            lines.append(Line([synthesizer], "bold"))
            lines += [_past_limit(study, row) for study, row in own if row["synthesizer"] == synthesizer]
        numbers = [Column("value", right=True), Column("limit", right=True)]
        _print(console, [Column("study"), Column("verdict"), *numbers], lines)


def _past_limit(study: PastStudy, row: Mapping[Hashable, Any]) -> Line:
    word, found = str(row["word"]), Estimate(row["value"], row["lower"], row["upper"])
    told, value = Text(word, COLOURS.get(word, "")), interval(found, signed=is_signed(str(row["quantity"])))
    return Line([f"{study.start:%Y-%m-%d %H:%M}", told, value, Text(f"{row['limit']:g}")])


def _print_steps(console: Console, steps: Sequence[Step]) -> None:
    days = {(step.synthesizer, f"{step.study.start:%Y-%m-%d}") for step in steps}
    form = "%Y-%m-%d" if len(days) == len(steps) else "%m-%d %H:%M"
    numbers = [Column("memorization", right=True), Column("limit", right=True), Column("change", right=True)]
    columns = [Column("study"), Column("verdict"), *numbers, Column("")]
    lines = []
    for name in dict.fromkeys(step.synthesizer for step in steps):
        lines.append(Line([name], "bold"))
        lines += [
            Line([f"{step.study.start:{form}}", *_judged(step), *_changed(step)])
            for step in steps
            if step.synthesizer == name
        ]
    _print(console, columns, lines)


def _judged(step: Step) -> list[Text]:
    """Return the word on the memorization of a step, its value, and the limit that is set on it, where there is one."""
    found = interval(step.found, signed=True)
    if step.verdict in WORDLESS:
        return [Text("-"), found, Text("-")]
    name = Limited("memorization", step.measure).name
    rows = step.study.verdicts.to_dict("records")
    own = [row for row in rows if row["quantity"] == name and row["synthesizer"] == step.synthesizer]
    word = str(own[0]["word"]) if own else "-"
    return [Text(word, COLOURS.get(word, "")), found, Text(f"{own[0]['limit']:g}" if own else "-")]


def _changed(step: Step) -> list[Text]:
    if step.change is None:
        return [Text(), Text()]
    found = interval(step.change.difference, signed=True)
    mark = "" if step.change.paired else "*"
    word = step.change.word
    return [found, Text.assemble((word, "bold red" if word == "worse" else "green"), mark)]


def _print_changes(console: Console, steps: Iterable[Step]) -> None:
    """Say how changes were taken, and how many would be flagged by chance."""
    every = [step.change for step in steps if step.change is not None]
    changes = [each for each in every if not isnan(each.difference.value)]
    for why in dict.fromkeys(each.why for each in every if isnan(each.difference.value) and each.why):
        console.print(Text(f"\nnot compared: {why}", "dim"))
    if not every:
        console.print(Text("\none study: nothing to compare with", "dim"))
        return
    if not changes:
        return
    console.print(Text("\nchange: since the study before; worse, better: its interval leaves 0 out", "dim"))
    if any(each.paired for each in changes):
        console.print(Text("taken record by record, on the same people, where there is no *", "dim"))
    reasons = dict.fromkeys(each.why for each in changes if not each.paired)
    for why in reasons:
        console.print(Text(f"*        two independent estimates: {why}", "dim"))
    worse = sum(each.word == "worse" for each in changes)
    if worse:
        console.print(
            Text(
                f"{worse} of {len(changes)} changes are for the worse; by chance alone about 1 in 40 would be", "yellow"
            )
        )


def _print(console: Console, columns: Sequence[Column], lines: Sequence[Line]) -> None:
    for line in in_columns(columns, lines, console.width):
        console.print(line, soft_wrap=True)  # what does not fit is not broken


def _counted(records: str) -> str:
    return f"{int(records):,}" if records.isdecimal() else "?"


RECENT = 8
"""How many studies the trend on a terminal goes back; the other forms show all."""


def compare(asked: Asked, tracking: Tracking, workspace: Path) -> None:
    """Print what the studies of an experiment have said.

    Raises:
        InputError: There is no store, experiment, study or measure of that name.
    """
    check_tracking(tracking)
    every = studies(tracking, workspace, asked.experiment)
    known = [study for study in every if study.is_readable]
    if not known:
        older = f"; {len(every)} of an earlier version cannot be read" if every else ""
        raise InputError(f"the experiment must have a finished study, got none in {asked.experiment!r}{older}")
    most = len(known) if asked.form else RECENT
    shown = known[-most:] if asked.history else known[-1:]
    measures = measures_asked(shown, asked.measure)
    if asked.form:
        from synthrisk.flows.terminal.comparison import print_text

        print_text(asked, shown, measures)
    else:
        print_tables(asked, shown, measures, len(known))


def measures_asked(shown: Sequence[PastStudy], measure: str | None) -> list[str]:
    """Return the measures that one name means: the measure of that key, or all of that metric.

    All measures, of risk and of utility, unless one is named.
    """
    tables = [table for study in shown for table in (study.league, study.utility)]
    known = list(dict.fromkeys(str(m) for table in tables if len(table) for m in table["measure"]))
    if measure is None:
        return known
    named = [m for m in known if m == measure] or [m for m in known if m.startswith(f"{measure}.")]
    if not named:
        raise InputError(f"--measure must be one of {', '.join(known)}, got {measure!r}{nearest(measure, known)}")
    return named
