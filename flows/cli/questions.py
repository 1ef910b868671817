"""What only a person knows of a table, asked on the terminal; each question has a default."""

import csv
from collections.abc import Sequence
from dataclasses import replace

import typer

from synthrisk.conf.reading import Reading
from synthrisk.tasks.propose.proposal import Given, Proposal
from synthrisk.tasks.propose.roles import of_meaning

LIMIT_WORDS = """
A limit says how much more an attacker may learn about a person because that person's record was used. With 0.05: of
those whom an attacker would guess wrong without their record, at most 5 in 100 may be guessed right by it. It is set by
who answers for the release (a data protection officer, a disclosure board), not by who made it. Without a limit the
study shows numbers and no verdict."""


def ask_readings(proposal: Proposal) -> dict[str, Reading]:
    """Ask how columns are read of which the cells leave it open."""
    answers = {}
    for column in proposal.columns:
        if column.reading is not None and column.other is not None:
            told = f"{column.name}: {column.question} {_named(column.reading)}? (no: {_named(column.other)})"
            answers[column.name] = column.reading if typer.confirm(told, default=True) else column.other
    return answers


def ask_roles(proposal: Proposal, given: Given) -> Given:
    """Ask what the columns mean, where it is not given."""
    names = [column.name for column in proposal.columns]
    data, meant = proposal.data, proposal.roles
    hidden = given.sensitive or _columns("What nobody should learn (sensitive)", data.guessed, names)
    known = given.quasi_identifiers or _columns(
        "What an attacker knows (quasi-identifiers)", [c for c in data.quasi_identifiers if c not in hidden], names
    )
    drop = given.drop or _columns("Columns to leave out", of_meaning(meant, "dropped"), names, none=True)
    entity = given.identifier or next(
        iter(_columns("Column that names the person", of_meaning(meant, "identifier"), names, none=True)), None
    )
    return replace(given, sensitive=hidden, quasi_identifiers=known, drop=drop, identifier=entity, every_role=True)


def ask_limit() -> tuple[float | None, str]:
    """Ask for a limit, and who chose it."""
    typer.echo(LIMIT_WORDS)
    while True:
        said = typer.prompt("Limit between 0 and 1, such as 0.05; none for no limit", default="none")
        if said == "none":
            return None, ""
        try:
            value = float(said.replace(",", "."))
        except ValueError:
            value = 0.0
        if 0 < value < 1:
            return value, typer.prompt("Who chose it", default="nobody has said")
        typer.echo(f"it must be a number between 0 and 1, got {said}")


def _columns(question: str, default: Sequence[str], names: Sequence[str], *, none: bool = False) -> list[str]:
    while True:
        proposed = ", ".join(_quoted(name) for name in default) or "none"
        said = typer.prompt(question, default=proposed)
        if said == proposed and (default or none):
            return list(default)
        row = next(csv.reader([said], skipinitialspace=True), [])
        found = [] if said == "none" else [name if name in names else name.strip() for name in row if name.strip()]
        absent = [name for name in found if name not in names]
        if not absent and (found or none):
            return found
        typer.echo(f"no column is called {absent[0]}" if absent else "one column at least")


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name


def _named(reading: Reading) -> str:
    if reading.format:
        return reading.format
    return f"decimal mark {reading.decimal}"
