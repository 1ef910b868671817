"""``synthrisk init``: a table is looked at, asked about, tried out, and a commented study written with reasons."""

import csv
import json
import math
import os
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from importlib.resources import files
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
import typer
import yaml
from rich.console import Console

from synthrisk.conf import load, schema
from synthrisk.conf.plan import foreseen_of, plan
from synthrisk.conf.study import NOT_SAID, Study, Threshold
from synthrisk.conf.tables import Reading
from synthrisk.flows.cli.exit_codes import UsageError
from synthrisk.flows.execution.signals import stoppable
from synthrisk.flows.execution.workers import begin
from synthrisk.flows.study_course import attacks_of
from synthrisk.flows.terminal.columns import in_lines, print_words
from synthrisk.flows.terminal.proposal import mark, print_briefly, print_guesses, print_left_out, print_proposal
from synthrisk.flows.time_estimate import in_words
from synthrisk.metrics import InputError, Tables
from synthrisk.metrics.verdicts.quantities import limited
from synthrisk.tasks.attack import attack
from synthrisk.tasks.propose.measures import also_needed, check_limit, limits, measures
from synthrisk.tasks.propose.proposal import Given, Proposal, look
from synthrisk.tasks.propose.roles import Role, of_meaning
from synthrisk.tasks.sample import sample
from synthrisk.tasks.synthesize.task import generators, synthesize
from synthrisk.tasks.workspace.folders import open_workspace
from synthrisk.tasks.workspace.store import check_writable, draft_name, replace_file

LIMIT_WORDS = (
    "A limit says how much more an attacker may learn about a person because that person's record was used. With 0.05: "
    "of those whom an attacker would guess wrong without their record, at most 5 in 100 may be guessed right by it. It "
    "is set by who answers for the release (a data protection officer, a disclosure board), not by who made it. "
    "Without a limit the study shows numbers and no verdict."
)


def ask_readings(proposal: Proposal) -> dict[str, Reading]:
    """Ask how columns are read of which the cells leave it open."""
    answers = {}
    for column in proposal.columns:
        if column.reading is not None and column.other is not None:
            told = f"{column.name}: {column.question} {_in_words(column.reading)}? (no: {_in_words(column.other)})"
            yes = typer.confirm(_in_width(f"{told} [Y/n]"), default=True, show_default=False)
            answers[column.name] = column.reading if yes else column.other
    return answers


def ask_roles(proposal: Proposal, given: Given) -> Given:
    """Ask what the columns mean, where it is not given."""
    names = [column.name for column in proposal.columns]
    data, meant = proposal.data, proposal.roles
    hidden = given.sensitive or _ask_columns("What nobody should learn (sensitive)", data.guessed, names)
    known = given.quasi_identifiers or _ask_columns(
        "What an attacker knows (quasi-identifiers)", [c for c in data.quasi_identifiers if c not in hidden], names
    )
    drop = given.drop or _ask_columns("Columns to leave out", of_meaning(meant, "dropped"), names, none=True)
    entity = given.identifier or next(
        iter(_ask_columns("Column that names the person", of_meaning(meant, "identifier"), names, none=True)), None
    )
    return replace(given, sensitive=hidden, quasi_identifiers=known, drop=drop, identifier=entity, every_role=True)


def ask_limit() -> tuple[float | None, str]:
    """Ask for a limit, and who chose it."""
    typer.echo()
    print_words(LIMIT_WORDS)
    while True:
        said = _asked("Limit between 0 and 1, such as 0.05; none for no limit", "none")
        if said == "none":
            return None, ""
        try:
            value = float(said.replace(",", "."))
        except ValueError:
            value = 0.0
        if 0 < value < 1:
            return value, _asked("Who chose it", NOT_SAID)
        typer.echo(f"it must be a number between 0 and 1, got {said}")


def _asked(question: str, default: str) -> str:
    """Ask in lines of whole words."""
    return str(typer.prompt(_in_width(f"{question} [{default}]"), default=default, show_default=False))


def _in_width(question: str) -> str:
    return "\n".join(in_lines(question, Console().width - 2))  # the colon and the space behind it


def _ask_columns(question: str, default: Sequence[str], names: Sequence[str], *, none: bool = False) -> list[str]:
    while True:
        proposed = ", ".join(_quoted(name) for name in default) or "none"
        said = _asked(question, proposed)
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


def _in_words(reading: Reading) -> str:
    if reading.format:
        return reading.format
    return f"decimal mark {reading.decimal}"


_WORDS = {
    "zero_cap": "looks up who has the same quasi-identifiers, and takes their commonest value",
    "rapid": "a model learns from the release to guess",
    "singling_out": "claims that exactly one person has these values",
    "common_rows_proportion": "released as they are: equal in every column",
    "membership": "near copies: who was in the training data?",
    "distance_to_closest_record": "how much nearer the release comes to members",
    "accuracy": "utility, beside the risk",
}
"""What each recommended measure does."""
_ALSO = "in a table like yours it sees a leak that the others miss (synthrisk metrics --leaks)"
_ASKED = """\
# Limits that a release must keep, and who chose them. control_gain: of those whom an attacker guesses wrong without
# their record, the share that it gives away. memorization: what membership adds to an attack.{tpr}
"""
_TPR = """ tpr: the members
# found where 1 % of strangers are taken for one; chance is .01, so its limit is that much higher."""
_NO_LIMITS = """\
# No limits: no verdict. A limit is what a person's record may add to the attacks on that person: of those whom an
# attacker guesses wrong without it, the share that it gives away (control_gain), and the members found where 1 % of
# strangers are taken for one (tpr; .01 is chance). It is set by who answers for the release, such as a data protection
# officer or a disclosure board, never by who made it.
"""


def study_text(study: Study, proposal: Proposal, limits: Mapping[str, float], to: Path, time: str) -> str:
    """Return the text of a study's file, with the reasons of its roles.

    Args:
        study: The study.
        proposal: What its columns hold and mean.
        limits: The limits that could be set, where the study has none.
        to: The file.
        time: How long the study will take, in words.
    """
    data, meant = study.data, {role.name: role for role in proposal.roles}
    template = (files(__package__) / "new_study.yaml.txt").read_text("utf-8")
    return template.format(
        schema=to.with_suffix(".schema.json").name,
        file=to,
        name=_json(study.name),
        source=_json(data.source),
        known=_columns_with_reasons(list(data.quasi_identifiers), meant),
        hidden=_columns_with_reasons(data.guessed, meant),
        entity=_entity(data.identifier),
        drop=_columns_with_reasons(data.drop, meant),
        categorical=_json(data.categorical),
        missing=_json(data.missing),
        columns=_readings({name: each.model_dump(exclude_unset=True) for name, each in data.columns.items()}),
        rows=_rows(data.rows, len(proposal.table), time),
        split=f"{{folds: {study.split.folds}, repetitions: {study.split.repetitions}}}",
        metrics="\n".join(_metrics([_settings(each) for each in study.metrics])),
        limits=_limits(study, limits),
        workers=study.runner.workers,
    )


def study_name(source: str) -> str:
    """Return a name for a study of a table, of the letters that names may have."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", Path(source).stem).strip("-") or "study"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _columns_with_reasons(names: Sequence[str], meant: Mapping[str, Role]) -> str:
    if not names:
        return " []"
    return "".join(f"\n    - {_json(name)}   # {mark(meant[name].sure)}{meant[name].why}" for name in names)


def _entity(identifier: str | None) -> str:
    line = f"identifier: {_json(identifier)}" if identifier else "# identifier: person_id"
    return (
        "  # Column that names the person, where one has several rows: they stay on one side of every split.\n"
        f"  {line}\n"
    )


def _readings(columns: Mapping[str, Mapping[str, Any]]) -> str:
    if not columns:
        return " {}"
    return "".join(f"\n    {_json(name)}: {_json(reading)}" for name, reading in columns.items())


def _rows(rows: int | None, records: int, time: str) -> str:
    if rows is None:
        return f"  # All {records} records are used: {time}.\n  # rows: 1000"
    return f"  # A random sample of the {records} records: {time}. null takes all.\n  rows: {rows}"


def _settings(choice: Any) -> dict[str, Any]:
    """Return a metric as it is written: its name, and what was said beside it."""
    own = choice.model_dump(exclude_defaults=True, exclude={"label", "options"})
    return {"name": choice.name, **own, **choice.options}


def _metrics(chosen: Sequence[Mapping[str, Any]]) -> list[str]:
    lines, told = [], set()
    for each in chosen:
        words = "" if each["name"] in told else f"   # {_WORDS.get(each['name'], _ALSO)}"
        told.add(each["name"])
        lines.append(f"  - {_json(each)}{words}")
    return [
        *lines,
        "  # - {name: inference, attackers: [nearest_record, key_class]}   # claims, as the GDA Score judges",
    ]


def _limits(study: Study, could: Mapping[str, float]) -> str:
    if study.thresholds:
        own = [
            f"  {_json(name)}: {_json({'value': limit.value, 'source': limit.source})}"
            for name, limit in study.thresholds.items()
        ]
        tpr = any(limited(name).quantity == "tpr" for name in study.thresholds)
        return _ASKED.format(tpr=_TPR if tpr else "") + "limits:\n" + "\n".join(own)
    lines = [f'#   {_json(name)}: {{value: {value:g}, source: "who chose it"}}' for name, value in could.items()]
    return _NO_LIMITS + "# limits:\n" + "\n".join(lines)


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
        answers = ask_readings(proposal)
        print_briefly(proposal, every=True)  # what was told of each column may be out of sight
        given = ask_roles(proposal, given)
        limit = limit if limit.value is not None else Limit(*ask_limit())
        proposal = look(source, given, answers)
    else:
        print_guesses(proposal)
    study = _study(source, proposal, EFFORTS[effort])
    _tell(study, proposal)
    typer.echo("Trying how long a study takes ...", err=True)
    with stoppable("stopped: nothing was written"):
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
        print_words("No limits: the study will show numbers and no verdict. Set one with --limit, or in the file.")
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
        print_words(f"Mind         {warning}", indent=13)


def _check(given: Given, limit: Limit) -> None:
    if limit.value is not None:
        check_limit(limit.value)
    if limit.source and limit.value is None:
        raise UsageError("--limit-source must stand beside --limit, got no --limit")
    both = [name for name in given.quasi_identifiers if name in given.sensitive]
    if both:
        raise InputError(f"quasi_identifiers and sensitive must be different columns, got {both[0]!r} in both")


SIZES = (100, 400, 1600)  # the first one is not timed: it loads what is loaded once
_BEND = 0.1  # by which times grow faster than the number of records; measured on Adult up to 10,000
_START, _REST, _PER_RECORD = 12.0, 12.0, 0.0006  # seconds of the server, of report and log, and of intervals


@dataclass(frozen=True)
class Pilot:
    """How long all generators of a study take once, synthesized and attacked, on samples of its table."""

    sizes: Sequence[int]  # records
    seconds: Sequence[float]  # of one core, at each size

    def expected(self, study: Study, records: int) -> float:
        """Return the seconds that a study of so many records will take: a line through the samples, bent a little."""
        first, last = self.sizes[0], self.sizes[-1]
        slope = (self.seconds[-1] - self.seconds[0]) / (last - first) if last > first else self.seconds[0] / first
        once = self.seconds[0] + max(slope, 0.0) * (records - first) * max(records / last, 1.0) ** _BEND
        cells = study.split.repetitions * (study.split.folds or 1)
        generators = len(study.synthesizers) + len(study.references)
        return _START + _REST + _PER_RECORD * records * generators + once * cells / study.runner.workers


def pilot(study: Study, table: pd.DataFrame) -> Pilot:
    """Run the generators of a study on samples of its table, in a process such as its workers are.

    Of the reference generators one is run: they are attacked alike.

    Args:
        study: The study.
        table: Its table, read.
    """
    warm, *sizes = [n for n in SIZES if n < len(table)]
    parts = [table.sample(n, random_state=study.seed).reset_index(drop=True) for n in (warm, *sizes)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=begin) as pool:
        seconds = [pool.submit(_timed, study, part).result() for part in parts]
    return Pilot(sizes, seconds[1:])


def _timed(study: Study, table: pd.DataFrame) -> float:
    """Return the seconds that one release of each generator takes."""
    data, seconds = study.data, 0.0
    with tempfile.TemporaryDirectory(prefix=draft_name(), dir=open_workspace(study.workspace)) as folder:
        cut = sample.fn(
            table,
            data.quasi_identifiers,
            data.sensitive,
            holdout=1 / (study.split.folds or 2),
            identifier=data.identifier,
            categorical=[name for name in data.categorical if name in table],
            workspace=folder,
            seed=study.seed,
        )
        planned = plan(study.metrics, cut.columns, data.quasi_identifiers, data.sensitive)
        attacks = attacks_of(study, cut, planned, generators(study))
        first = next((made_by for made_by, _ in attacks if made_by.role == "reference"), None)
        for made_by, measured in attacks:
            if made_by.role != "reference" or made_by == first:
                began = time.process_time()
                attack.fn(synthesize.fn(cut, made_by), measured)
                seconds += (time.process_time() - began) * (len(study.references) if made_by == first else 1)
    return seconds


_FEWEST = 1000  # records below which no sample is taken


@dataclass(frozen=True)
class Effort:
    """The work of a study."""

    folds: int
    repetitions: int
    seconds: float  # in which it shall be done


EFFORTS = {"quick": Effort(2, 3, 75), "usual": Effort(3, 3, 210), "thorough": Effort(5, 5, math.inf)}


def sized(study: Study, table: pd.DataFrame, effort: Effort) -> tuple[Study, str]:
    """Return the study with as many records as can be done in the time of an effort, and how long it will take.

    How long is tried out on samples; a table of few records is not, as it takes hardly longer than the start.
    """
    records = len(table)
    if records <= SIZES[1]:
        return study, "about a minute"
    tried = pilot(study, table)
    rows = records
    while rows > _FEWEST and tried.expected(study, rows) > effort.seconds:
        rows = max(_round(rows * 0.9), _FEWEST)
    time = in_words(tried.expected(study, rows))
    if rows == records:
        return study, time
    smaller = study.model_copy(update={"data": study.data.model_copy(update={"rows": rows})})
    return smaller, f"{time} (all {records}: {in_words(tried.expected(study, records))})"


def _round(rows: float) -> int:
    """Return a number with two digits and zeros."""
    step = 10 ** (len(str(int(rows))) - 2)
    return int(rows // step * step)


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
    """Return the limits that one number means; each record, or person of several, is control once a repetition."""
    data = study.data
    people = len(table) if data.identifier is None else table[data.identifier].nunique()
    controls = round(people * min((data.rows or len(table)) / len(table), 1)) * study.split.repetitions
    planned = plan(
        study.metrics, [c for c in table.columns if c != data.identifier], data.quasi_identifiers, data.sensitive
    )
    found = limits([p.measure for p in planned], limit, controls, controls)
    if found.left_out:
        print_left_out(found.left_out)
    return found.values
