"""The last words of a study on the terminal: what must be read beside its numbers, then the answer."""

from rich.console import Console

from synthrisk.flows.cli.answer_lines import NOT_JUDGED, answer_lines
from synthrisk.flows.cli.full_tables import full_tables, limits_kept
from synthrisk.flows.cli.notes import notes
from synthrisk.flows.outcome import Outcome

_FEW = 12  # rows of limits that would have been kept that are shown to everybody; the report has all


def close(outcome: Outcome, *, verbose: bool = False) -> None:
    """Print what a reader must know, the answer in at most 20 lines last of all; ``verbose``: all tables first."""
    console = Console(highlight=False)
    if not (outcome.result.limits or outcome.result.verdicts):
        console.print(NOT_JUDGED)
    brief = limits_kept(outcome.result) if len(outcome.result.kept) <= _FEW else []
    for table in full_tables(outcome.result) if verbose else brief:
        console.print(table)
    for note in notes(outcome.result):
        console.print(note)
    for line in answer_lines(outcome, console.width):
        console.print(line, soft_wrap=True)
