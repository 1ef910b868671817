"""A first study for a table: looked at, asked about, tried out, and written with reasons."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import typer
import yaml

from synthrisk.conf import load, schema
from synthrisk.conf.foreseen import foreseen_of
from synthrisk.conf.plan import plan
from synthrisk.conf.study import Study, Threshold
from synthrisk.flows.cli.ends import UsageError
from synthrisk.flows.cli.proposal_lines import print_guesses, print_left_out, print_proposal
from synthrisk.flows.cli.questions import ask_limit, ask_readings, ask_roles
from synthrisk.flows.cli.study_file import study_name, study_text
from synthrisk.flows.effort import EFFORTS, Effort, sized
from synthrisk.metrics import InputError, Tables
from synthrisk.tasks.propose.measures import also_needed, check_limit, limits, measures
from synthrisk.tasks.propose.proposal import Given, Proposal, look
from synthrisk.tasks.workspace.store import check_writable, replace_file

NOT_SAID = "nobody has said"
USUAL = 0.05  # what a limit is written with where none is set


@dataclass(frozen=True)
class Limit:
    """What a person's record may add to the attacks on that person."""

    value: float | None = None
    source: str = ""


def new_study(source: str, to: Path, given: Given, limit: Limit, effort: str, *, force: bool, asks: bool) -> None:
    """Look at a table, ask what only a person knows, try out how long a study takes, and write it.

    Raises:
        InputError: The file is there already, the table cannot be read, or a column is absent.
    """
    check_writable("--to", to, folder=False)
    if to.exists() and not force:
        raise UsageError(f"--to must be a new file (or give --force), got {str(to)!r}, which is there")
    _check(given, limit)
    proposal = look(source, given)
    print_proposal(proposal)
    if asks:
        answers, given = ask_readings(proposal), ask_roles(proposal, given)
        limit = limit if limit.value is not None else Limit(*ask_limit())
        proposal = look(source, given, answers)
    else:
        print_guesses(proposal)
    study = _study(source, proposal, EFFORTS[effort])
    _tell(study, proposal)
    typer.echo("Trying how long a study takes ...", err=True)
    study, time = sized(study, proposal.table, EFFORTS[effort])
    named = _named(study, limit.value or USUAL, proposal.table)
    if limit.value is not None:
        source = limit.source or NOT_SAID
        own = {name: Threshold(value=value, source=source) for name, value in named.items()}
        study = study.model_copy(update={"thresholds": own})
    text = study_text(study, proposal, named, to, time)
    load(yaml.safe_load(text))
    replace_file(to, text)
    replace_file(to.with_suffix(".schema.json"), json.dumps(schema(), indent=1))
    typer.echo(f"wrote {to} and {to.with_suffix('.schema.json')}: {time} on this machine")
    if limit.value is None:
        typer.echo("No limits: the study will show numbers and no verdict. Set one with --limit, or in the file.")
    typer.echo(f"run it with: synthrisk benchmark {to}")


def _tell(study: Study, proposal: Proposal) -> None:
    """Tell what the study will say little about, before anything is computed.

    Raises:
        InputError: No number of it could mean anything.
    """
    found = foreseen_of(study, proposal.table)
    if found.refusals:
        raise InputError("; ".join(found.refusals))
    for warning in found.warnings:
        typer.echo(f"Mind         {warning}")


def _check(given: Given, limit: Limit) -> None:
    if limit.value is not None:
        check_limit(limit.value)
    if limit.source and limit.value is None:
        raise UsageError("--limit-source must stand beside --limit, got no --limit")
    both = [name for name in given.quasi_identifiers if name in given.sensitive]
    if both:
        raise InputError(f"quasi_identifiers and sensitive must be different columns, got {both[0]!r} in both")


def _study(source: str, proposal: Proposal, effort: Effort) -> Study:
    data = proposal.data
    Tables(proposal.table.head(1), proposal.table.head(1)).check_roles(list(data.quasi_identifiers), data.guessed)
    controls = len(proposal.table) * effort.repetitions  # each record is one, once a repetition
    settings: Mapping[str, Any] = {
        "name": study_name(source),
        "data": data.model_dump(exclude_unset=True),
        "split": {"folds": effort.folds, "repetitions": effort.repetitions},
        "synthesizers": ["cart"],
        "references": ["copy", "near_copy", "repelled", {"name": "leaky", "share": 0.1}, "fresh", "marginals"],
        "metrics": [*measures(proposal.table, data), *also_needed(proposal.table, data, controls)],
        "runner": {"workers": min(os.cpu_count() or 1, 8)},
    }
    return load(settings)


def _named(study: Study, limit: float, table: pd.DataFrame) -> dict[str, float]:
    """Return the limits that one number means; each record is a control record once a repetition."""
    controls = min(study.data.rows or len(table), len(table)) * study.split.repetitions
    data = study.data
    planned = plan(
        study.metrics, [c for c in table.columns if c != data.identifier], data.quasi_identifiers, data.sensitive
    )
    found = limits([p.measure for p in planned], limit, controls, controls)
    if found.left_out:
        print_left_out(found.left_out)
    return found.values
