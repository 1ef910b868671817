"""All that is known of one metric, on the terminal."""

import inspect
import re
from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from synthrisk.flows.cli.seen_leaks import print_seen
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.names_elsewhere import METRICS_ELSEWHERE, arguments_called, ours, plain, tools_with
from synthrisk.metrics.overview import FAMILIES, names

if TYPE_CHECKING:
    from synthrisk.metrics.metric import Metric

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
    tool = next((each for each in METRICS_ELSEWHERE if plain(each) == plain(name)), None)
    if own is None and tool is not None:
        _print_tool(tool)
        return
    if own is None and (called := arguments_called(name)):
        _print_arguments(name, called)
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
    kind = "difference" if metric.difference_only else metric.label
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
