"""The last words of a study on the terminal: what must be read beside its numbers, then the answer."""

from rich.console import Console

from synthrisk.flows.cli.answer_lines import answer_lines
from synthrisk.flows.cli.full_tables import full_tables
from synthrisk.flows.cli.notes import notes
from synthrisk.flows.study import Outcome


def close(outcome: Outcome, *, verbose: bool = False) -> None:
    """Print what a reader must know, the answer in at most 20 lines last of all; ``verbose``: all tables first."""
    console = Console(highlight=False)
    for table in full_tables(outcome.result) if verbose else ():
        console.print(table)
    for note in notes(outcome.result):
        console.print(note)
    for line in answer_lines(outcome, console.width):
        console.print(line, soft_wrap=True)
