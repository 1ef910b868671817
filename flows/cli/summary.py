"""The last words of a study on the terminal: what must be read beside its numbers, then the answer."""

from math import isnan

from rich.console import Console
from rich.text import Text

from synthrisk.flows.cli.answer_lines import NOT_JUDGED, answer_lines
from synthrisk.flows.cli.fitting import inert
from synthrisk.flows.cli.full_tables import full_tables, limits_kept
from synthrisk.flows.cli.league_lines import interval
from synthrisk.flows.cli.notes import notes
from synthrisk.flows.outcome import Outcome
from synthrisk.metrics.study.previews import tried
from synthrisk.metrics.study.results import StudyResult

_FEW = 12  # rows of limits that would have been kept that are shown to everybody; the report has all


def close(outcome: Outcome, *, verbose: bool = False) -> None:
    """Print what a reader must know, the answer in at most 20 lines last of all; ``verbose``: all tables first."""
    console = Console(highlight=False)
    if not (outcome.result.limits or outcome.result.verdicts):
        console.print(NOT_JUDGED)
    brief = limits_kept(outcome.result) if len(outcome.result.kept) <= _FEW else []
    for table in full_tables(outcome.result) if verbose else brief:
        console.print(table)
    for note in [*notes(outcome.result), *tried_lines(outcome.result)]:
        console.print(note)
    for line in answer_lines(outcome, console.width):
        console.print(line, soft_wrap=True)


def tried_lines(result: StudyResult) -> list[Text]:
    """Return what was tried of an attacker who knows less: each number before the change and after it."""
    lines: list[Text] = []
    above = ""
    for each in tried(result):
        limit = "" if isnan(each.limit) else f", limit {each.limit:g}"
        head = f"{inert(each.synthesizer)}, {inert(each.quantity)}{limit}"
        signed = each.quantity.startswith("memorization")
        if head != above:
            lines.append(Text.assemble(f"Tried        {head}\n               now ", interval(each.before, signed)))
        above = head
        moved = "rises" if each.risk.lower > 0 else "falls" if each.risk.upper < 0 else "not shown to change"
        after = interval(each.after, signed)
        lines.append(Text.assemble(f"               {inert(each.words)}: ", after, f"; risk {moved}"))
    return lines
