"""``synthrisk metrics``: the register, all that is known of one metric, and what each has seen of leaks."""

import inspect
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from math import isnan
from textwrap import indent
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from synthrisk.metrics.atlas import BY_EPSILON, Answer, Digest, dose_in_words, mostly_loud, shipped, typical
from synthrisk.metrics.catalogue import FAMILIES, Line, names, overview
from synthrisk.metrics.errors import (
    METRICS_ELSEWHERE,
    NO_MEASURES,
    InputError,
    arguments_called,
    nearest,
    ours,
    plain,
    tool_called,
    tools_with,
)

if TYPE_CHECKING:
    from synthrisk.metrics.metric import Metric

_MAIN = "memorization"
_MIND = "What was seen in these tables says little of yours: verdicts rest on your study's own reference generators."


def print_seen(console: Console, name: str) -> None:
    """Print which leaks a measure has seen; nothing where the atlas does not know it."""
    digest = shipped()
    if digest is None or not (own := digest.of(name)):
        return
    console.print(Text("\nLeaks seen", "bold"))
    console.print(Padding(Text(f"Smallest dose that four studies of five see; {digest.words}."), (0, 0, 0, 2)))
    names = digest.grid["tables"]
    known = {table: [each for each in own if each.table == table] for table in names}
    known = {table: answers for table, answers in known.items() if any(e.quantity == _MAIN for e in answers)}
    if len(known) == 1:
        ((table, answers),) = known.items()
        console.print(Padding(Text(names[table]), (0, 0, 0, 2)))
        console.print(Padding(_of_table(digest, answers), (0, 0, 0, 4), expand=False))
    else:
        console.print(Padding(_of_tables(digest, known), (0, 0, 0, 4), expand=False))
        numbered = ", ".join(f"{number} {names[table]}" for number, table in enumerate(known, 1))
        console.print(Padding(Text(f"{numbered}; . blind, ! too many false alarms"), (0, 0, 0, 4)))
    console.print(Padding(Text(_MIND), (0, 0, 0, 2)))


def _of_table(digest: Digest, answers: Sequence[Answer]) -> Table:
    """Return a line a leak: the smallest dose seen, and by which other quantity a smaller one is."""
    grid = Table.grid(padding=(0, 2))
    for leak, told in digest.leaks.items():
        grid.add_row(Text(told["words"]), Text(_seen([e for e in answers if e.leak == leak])))
    one = next(e for e in answers if e.quantity == _MAIN)
    alarms = (
        f"{one.alarms:.2f} [{one.alarms_lower:.2f}, {one.alarms_upper:.2f}] in {one.quiet} looks at nothing planted"
    )
    grid.add_row(Text("false alarms"), Text(alarms if one.quiet else "not known: no interval"))
    return grid


def _of_tables(digest: Digest, known: Mapping[str, Sequence[Answer]]) -> Table:
    """Return a line a leak, a column a table: the smallest dose seen."""
    grid = Table(box=None, padding=(0, 1), pad_edge=False)
    grid.add_column("", overflow="fold")
    for number in range(1, len(known) + 1):
        grid.add_column(str(number), justify="right", no_wrap=True)
    for leak, told in digest.leaks.items():
        cells = [_mark([e for e in own if (e.leak, e.quantity) == (leak, _MAIN)]) for own in known.values()]
        grid.add_row(f"{told['words']} ({_unit(leak)})", *cells)
    quiet = [next(e for e in own if e.quantity == _MAIN) for own in known.values()]
    grid.add_row("false alarms (%)", *(f"{100 * e.alarms:.0f}" if e.quiet else "-" for e in quiet))
    return grid


def _seen(answers: Sequence[Answer]) -> str:
    """Return the smallest dose that memorization sees, and a quantity that sees a smaller one."""
    main = next((e for e in answers if e.quantity == _MAIN), None)
    if main is None:
        return "-"
    told = _dose(main) if not main.too_loud else "cannot say: too many false alarms"
    better = [e for e in answers if not isnan(e.smallest) and not main.smallest <= e.smallest]
    if better:
        best = min(better, key=lambda e: e.smallest)
        told += f"; {best.quantity} {_dose(best)}"
    return told


def _dose(answer: Answer) -> str:
    if isnan(answer.smallest):
        seen = f" (at full dose {answer.seen_full:.0%} of studies)" if answer.seen_full else ""
        return f"blind{seen}"
    return dose_in_words(answer.leak, answer.smallest)


def print_leaks() -> None:
    """Print a line a measure, a column a leak: the smallest dose that memorization sees."""
    console, digest = Console(highlight=False), shipped()
    if digest is None:
        console.print("This installation has no atlas; make one with: synthrisk atlas")
        return
    leaks, own = digest.leaks, dict[tuple[str, str], list[Answer]]()
    for each in (e for e in digest.answers if e.quantity == _MAIN):
        own.setdefault((each.measure, each.leak), []).append(each)
    measures = list(dict.fromkeys(measure for measure, _ in own))
    columns = [
        [f"{number}", *(_mark(own.get((m, leak), [])) for m in measures)] for number, leak in enumerate(leaks, 1)
    ]
    width, widths = max(map(len, measures)), [max(map(len, column)) for column in columns]
    for measure, *marks in zip(["", *measures], *columns, strict=True):
        cells = "".join(f" {mark:>{wide}}" for mark, wide in zip(marks, widths, strict=True))
        console.print(Text(f"{measure:<{width}}{cells}"), soft_wrap=True)
    for number, (leak, known) in enumerate(leaks.items(), 1):
        console.print(Text(f"{number}  {known['words']} ({_unit(leak)})", "dim"))
    several = " and in half of the tables" if len(digest.grid["tables"]) > 1 else ""
    by_table = "\nTable by table: synthrisk metrics NAME" if several else ""
    legend = f"Smallest dose that memorization sees in four studies of five{several}; . blind, ! too many false alarms."
    left_out = f" Not run: {', '.join(digest.grid['left_out'])}." if digest.grid["left_out"] else ""
    console.print(Text(f"{legend}{by_table}\n{_MIND}\n{digest.words}.{left_out}", "dim"))


def _unit(leak: str) -> str:
    return "epsilon" if leak == BY_EPSILON else "%"


def _mark(answers: Sequence[Answer]) -> str:
    """Return the dose that is seen in half of some tables."""
    if not answers:
        return "-"
    if mostly_loud(answers):
        return "!"
    dose = typical(answers)
    if isnan(dose):
        return "."
    return f"{dose:g}" if answers[0].leak == BY_EPSILON else f"{100 * dose:g}"


_HEADS = ("metric", "what it says", "needs", "scores", "kind", "source")
_MARKS = {"difference": "*", "sanity": "-"}
_SHORT = {"quasi_identifiers": "QI", "sensitive": "S", "control": "C", "columns_a": "A", "columns_b": "B"}
_LEGEND = """\
needs  QI quasi-identifiers, S sensitive column, C control records,
       A and B two sets of columns of the same people
*      only what members have more than control records may be in a verdict
-      a sanity check: never in a verdict
All of one metric: synthrisk metrics NAME; leaks it sees: --leaks"""


def markdown_table() -> str:
    """Return the register as the Markdown table of docs/metrics.md."""
    from synthrisk.metrics.metric import Metric
    from synthrisk.metrics.register import METRICS

    def facts(metric: Metric) -> tuple[str, ...]:
        kind = f"{metric.label}, as member/control difference" if metric.study.difference_only else metric.label
        scores = "release" if metric.is_utility else metric.scores
        return metric.name, metric.said, ", ".join(metric.needs) or "-", scores, kind, metric.reference

    lines = [f"| {' | '.join(_HEADS)} |", f"|{'---|' * len(_HEADS)}"]
    ordered = sorted(METRICS.values(), key=lambda m: (m.group, m.name))
    return "\n".join([*lines, *(f"| {' | '.join(facts(m))} |" for m in ordered)])


def print_metrics() -> None:
    """Print one line a metric, by family: name, mark of its kind, what it needs, what it sees."""
    console = Console(highlight=False)
    lines = list(overview())
    name, needs = (max(map(len, each)) for each in (map(_named, lines), map(_needed, lines)))
    for family, own in groupby(lines, key=lambda line: line.family):
        heading = Text.assemble((family, "bold"), f"  {FAMILIES[family]}" if family in FAMILIES else "")
        console.print(heading, overflow="ellipsis", no_wrap=True)
        for line in own:
            text = f"  {_named(line):<{name}}  {_needed(line):<{needs}}  {line.sees}"
            console.print(Text(text), overflow="ellipsis", no_wrap=True)
    console.print(Text(_LEGEND, "dim"))


def _named(line: Line) -> str:
    return f"{line.name} {_MARKS[line.kind]}" if line.kind in _MARKS else line.name


def _needed(line: Line) -> str:
    return " ".join(_SHORT.get(need, need) for need in line.needs)


_SECTION = re.compile(r"^(Args|Returns|Raises|Example|Examples|Attributes|Note|References):\s*$", re.MULTILINE)
_SHARED = {
    "quasi_identifiers": "Columns that the attacker knows.",
    "sensitive": "Column or columns that the attacker guesses.",
    "control": "Real records that the synthesizer never saw.",
    "bins": "Coarser columns: parts of all numeric ones, or a mapping from column to parts.",
    "binning": "``quantile`` (parts of equal counts) or ``width`` (of equal length).",
    "identifier": "Column that names the entity of a record.",
    "seed": "Seed of all that is drawn.",
}
"""What arguments mean that a function may leave to all metrics to say."""
_DEFAULTS = {"binning": "quantile", "seed": 0}
_KINDS = {
    "signal": "signal: may carry a verdict",
    "difference": "signal: only the member/control difference may carry a verdict",
    "sanity": "sanity check: never in a verdict",
    "utility": "utility: no risk; beside it stands what real records reach",
}


def print_metric(name: str) -> None:
    """Print what a metric measures, takes and is from; a name of another tool leads to the metric that it is here.

    Raises:
        InputError: No metric has that name.
    """
    known = names()
    own = name if name in known else ours(name, known)
    tool = tool_called(name)
    if own is None and tool is not None:
        _print_tool(tool)
        return
    if own is None and (called := arguments_called(name)):
        _print_arguments(name, called)
        return
    if counted := next((words for each, words in NO_MEASURES.items() if plain(each) == plain(name)), ""):
        Console(highlight=False).print(Text(f"{counted}: no measure; the report has it under How rare keys are."))
        return
    if own is None:
        hint = nearest(name, known) or "; `synthrisk metrics` lists them"
        raise InputError(f"NAME must be that of a metric, got {name!r}{hint}")
    from synthrisk.metrics.register import METRICS

    metric, asked, name = METRICS[own], name, own
    console = Console(highlight=False)
    if asked != own:
        tools = tools_with(asked)
        console.print(Text(f"{asked}{' of ' + ' and '.join(tools) if tools else ''} is here called {own}.\n"))
    console.print(Text(metric.name, "bold"))
    parts = sections(inspect.getdoc(metric.function) or "")
    console.print(_indented(_plain(parts[""])))
    low, high = metric.range
    best = "most useful" if metric.is_utility else "no privacy left"
    kind = "difference" if metric.study.difference_only else metric.label
    family = f"{metric.group}: {FAMILIES[metric.group]}" if metric.group in FAMILIES else metric.group
    scored = "the release as a whole" if metric.is_utility else f"{metric.scores} records"
    facts = {
        "family": family,
        "kind": _KINDS[kind],
        "range": f"{low:g} to {high:g}; {high:g} = {best}",
        "scores": scored if metric.per_record else f"{scored}; the value follows from no scores of single records",
        "source": metric.reference or "not named",
    }
    if metric.package:
        facts["package"] = f"{metric.package}{'' if metric.installed else ', which is not installed'}"
    console.print(Text("\nFacts", "bold"))
    grid = Table.grid(padding=(0, 2))
    for title, text in facts.items():
        grid.add_row(Text(title), Text(text))
    console.print(Padding(grid, (0, 0, 0, 2), expand=False))
    told = {**_SHARED, **arguments(parts.get("Args", ""))}
    for title, options in (("Needs", metric.needs), ("Options", [o for o in metric.options if o not in metric.needs])):
        if options:
            console.print(Text(f"\n{title}", "bold"))
        for option in options:
            value = "" if option in metric.needs else f" = {_default(metric, option)!r}"
            console.print(Text(f"  {option}{value}"))
            if option in told:
                console.print(_indented(_plain(told[option]), 6))
    print_seen(console, name)
    if "Returns" in parts:
        console.print(Text("\nReturns", "bold"))
        console.print(_indented(_plain(parts["Returns"])))
    if "Example" in parts:
        console.print(Text("\nExample", "bold"))
        console.print(Text(indent(parts["Example"], "  ")), soft_wrap=True)  # lines of code are not broken


def _print_tool(tool: str) -> None:
    """Print what the measures of another tool are called here."""
    console = Console(highlight=False)
    console.print(Text(f"{tool}: what it measures, and what that is called here", "bold"))
    for own, theirs in METRICS_ELSEWHERE[tool].items():
        console.print(_indented(f"{own}: {', '.join(theirs)}"))


def _print_arguments(name: str, called: Sequence[str]) -> None:
    """Print what an argument of another tool is called here, and which metrics take it."""
    from synthrisk.metrics.register import METRICS

    console, tools = Console(highlight=False), tools_with(name)
    whose = f"{name} of {' and '.join(tools)} is here the argument" if tools else "Argument"
    for each in called:
        own = [metric.name for metric in METRICS.values() if each in (*metric.options, "real", "synthetic")]
        taken = "all metrics" if len(own) == len(METRICS) else ", ".join(own) or "studies alone"
        said = f" {_SHARED[each]}" if each in _SHARED else ""
        console.print(Text(f"{whose} {each}.{said} Taken by {taken}."))


def sections(docstring: str) -> Mapping[str, str]:
    r"""Return the sections of a docstring in Google's form by title, what stands before them under an empty one.

    Example:
        >>> sections("Mean.\n\nArgs:\n    x: Number.\n\nReturns:\n    It.")
        {'': 'Mean.', 'Args': 'x: Number.', 'Returns': 'It.'}
    """
    first, *rest = _SECTION.split(docstring)
    told = {"": first.strip()}
    for title, text in zip(rest[::2], rest[1::2], strict=True):
        told[title] = inspect.cleandoc(text)
    return told


def arguments(text: str) -> Mapping[str, str]:
    r"""Return what is said of each argument.

    Example:
        >>> arguments("x: A number,\n    or two.\ny: Another.")
        {'x': 'A number, or two.', 'y': 'Another.'}
    """
    told: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, said = line.partition(":")
        if colon and name.isidentifier():
            told[name] = said.strip()
        elif told:
            last = list(told)[-1]
            told[last] = f"{told[last]} {line.strip()}".strip()
    return told


def _default(metric: "Metric", option: str) -> object:
    """Return what holds where an option is not given."""
    own = inspect.signature(metric.function).parameters
    return own[option].default if option in own else _DEFAULTS.get(option)


def _plain(text: str) -> str:
    """Return paragraphs without marks of code, each on one line; lists and formulas keep their lines."""
    joined = re.sub(r"(?<!\n)\n(?!\n| {2,}|[-*] )", " ", text.replace("``", ""))
    return joined.strip()


def _indented(text: str, by: int = 2) -> Padding:
    return Padding(Text(text), (0, 0, 0, by), expand=False)
