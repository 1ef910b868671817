"""What a table's columns hold and mean, as lines for the terminal: no cell, but for missing codes."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from synthrisk.flows.terminal.columns import print_words
from synthrisk.metrics.verdicts.limit_sentences import columns_named
from synthrisk.tasks.propose.evidence import Evidence
from synthrisk.tasks.propose.measures import singled_out
from synthrisk.tasks.propose.proposal import Proposal
from synthrisk.tasks.propose.roles import NEITHER, Role

_GROUPS = {
    "quasi-identifier": "What an attacker may know (quasi-identifiers)",
    "sensitive": "What nobody should learn (sensitive)",
    "identifier": "Who is who (identifier)",
    "dropped": "Left out",
    "other": "Synthesized too, neither known nor sensitive",
}
_BRIEFLY = {
    "Known": "quasi-identifier",
    "Guessed": "sensitive",
    "Who is who": "identifier",
    "Dropped": "dropped",
    "Neither": "other",
}
_INDENT = 13  # letters before the text of a line


def print_proposal(proposal: Proposal) -> None:
    """Print what each column holds and means, with reasons, and what of it is a guess."""
    console = Console(highlight=False)
    console.print(
        f"{len(proposal.table)} records, {len(proposal.columns)} columns  (9 stands for a digit, a for a letter)"
    )
    columns = {column.name: column for column in proposal.columns}
    for meaning, words in _GROUPS.items():
        own = [role for role in proposal.roles if role.meaning == meaning]
        if own:
            console.print()
            console.print(Text(words, "bold"))
            console.print(_table([(Text(role.name), Text(_held(columns[role.name])), _why(role)) for role in own]))
    console.print()
    _print_doubts(proposal)
    keys = list(proposal.data.quasi_identifiers)
    console.print(f"The quasi-identifiers single out {singled_out(proposal.table, keys, {}):.0%} of the records.")


def _print_doubts(proposal: Proposal) -> None:
    """Print what somebody has to know, or to say, of the columns."""
    for note in proposal.notes:
        print_words(f"Mind         {note}", "yellow", _INDENT)
    for column in proposal.columns:
        if column.question:
            told = f"Open         {column.name}: {column.question} Taken: {_taken(column)}."
            print_words(told, "yellow", _INDENT)


def print_roles(proposal: Proposal) -> None:
    """Print what the columns are taken for, a line each, and how to say otherwise."""
    print_briefly(proposal)
    change = "-v says why; --quasi-identifiers, --sensitive, --identifier and --drop change it"
    print_words(f"{'':{_INDENT}}{change}", "dim", _INDENT)
    _print_doubts(proposal)


def print_briefly(proposal: Proposal, *, every: bool = False) -> None:
    """Print what the columns are taken for, a line each; with ``every`` no column is left to be counted."""
    for word, meaning in _BRIEFLY.items():
        names = [role.name for role in proposal.roles if role.meaning == meaning]
        if names:
            print_words(f"{word:<12} {', '.join(names) if every else columns_named(names)}", indent=_INDENT)


def _table(rows: list[tuple[Text, Text, Text]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(min_width=14)
    table.add_column(ratio=3)
    table.add_column(ratio=2, style="dim")
    for row in rows:
        table.add_row(*row)
    return table


def print_guesses(proposal: Proposal) -> None:
    """Print what is a guess among the readings and roles, where nobody is asked."""
    found = [
        f"{role.name} is {role.meaning}"
        for role in proposal.roles
        if role.sure == "a guess" and role.meaning != "other"
    ]
    found += [f"{each.name} is a {each.kind}" for each in proposal.columns if each.sure == "a guess"]
    for each in proposal.columns:
        texts = each.reading.missing if each.reading is not None else ()
        found += [f"{', '.join(map(repr, texts))} in {each.name} means a missing cell"] if texts else []
    if found:
        told = f"Taken as guesses, for nobody was asked: {'; '.join(found)}."
        print_words(told, "yellow")


def print_left_out(words: str) -> None:
    """Print which limits are left out of those that one number means, and what they would take."""
    print_words(f"Not limited  {words}", "yellow", _INDENT)


def _held(column: Evidence) -> str:
    counted = column.kind not in ("constant", "empty", "boolean")
    sure = "" if column.sure == "sure" else f" ({column.sure})"
    parts = [column.kind + sure + (f", {column.distinct} values" if counted else "")]
    parts += [column.form] if column.form and column.kind in ("date", "code", "category") else []
    absent = 1 - column.filled / column.rows if column.rows else 0.0
    parts += [f"{absent:.0%} missing"] if absent >= 0.005 and counted else []
    told = column.sure != "sure" or column.reading is not None or column.kind == "constant"
    return ", ".join(parts) + (f"; {column.why}" if told else "")


def _why(role: Role) -> Text:
    return Text("" if role.why == NEITHER else mark("" if role.meaning == "other" else role.sure) + role.why)


def mark(sure: str) -> str:
    """Return what stands before a reason that is a guess; empty where it is none."""
    return "a guess: " if sure == "a guess" else ""


def _taken(column: Evidence) -> str:
    reading = column.reading
    if reading is None:
        return "as it stands"
    if reading.format:
        return f"dates as {reading.format}"
    return f"decimal mark {reading.decimal!r}" + (f", thousands {reading.thousands!r}" if reading.thousands else "")
