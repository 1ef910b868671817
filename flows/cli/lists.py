"""The register of metrics on the terminal: a line a metric, or the Markdown table of docs/metrics.md."""

from itertools import groupby

from rich.console import Console
from rich.text import Text

from synthrisk.metrics.overview import FAMILIES, Line, overview

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
        kind = f"{metric.label}, as member/control difference" if metric.difference_only else metric.label
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
