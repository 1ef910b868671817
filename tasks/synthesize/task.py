"""The tasks ``synthesize`` and ``release``: a release is made for one place of a study, or brought into it."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from synthrisk.conf import Study
from synthrisk.metrics.errors import InputError, type_of
from synthrisk.metrics.models.threads import one_thread
from synthrisk.metrics.plugins import SYNTHESIZER_GROUP
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.ledger import Cell
from synthrisk.tasks.synthesize import Job, Release, Synthesizer, check_options, find_synthesizer, run
from synthrisk.tasks.synthesize.column_matching import fitted
from synthrisk.tasks.synthesize.files import read_release
from synthrisk.tasks.workspace.digests import code_digest, entry_point_code, file_digest, key_of, versions
from synthrisk.tasks.workspace.failures import printed_to, told_safely
from synthrisk.tasks.workspace.folders import Place
from synthrisk.tasks.workspace.references import (
    BESIDE,
    LINKS,
    RELEASE,
    SETS,
    TOLD,
    USED,
    Generator,
    ReleaseFolder,
    Sample,
    digest,
    in_words,
)
from synthrisk.tasks.workspace.store import write_typed
from synthrisk.tasks.workspace.verb import check_given, found_or_made, verb
from synthrisk.tasks.workspace.work_limits import NO_LIMITS, Limits, within


def generators(study: Study) -> list[Generator]:
    """Return the synthesizers of a study, its reference generators, and a ``leaky`` for each share of ``power``.

    A share that one of the reference generators leaks already is not run twice.

    Raises:
        InputError: An option is wrong or an extra absent; a reference generator declares no answer; a name is used
            twice.
    """
    found = [generator(each.name, each.kind, each.options) for each in study.synthesizers]
    found += [reference(each.name, each.kind, each.options) for each in study.references]
    run = {each.leaked for each in found}
    found += [_leaky(share) for share in (study.power.shares if study.power else []) if share not in run]
    names = [each.name for each in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"synthesizers and references must have distinct names, got {twice!r} twice")
    return found


def generator(name: str, kind: str, options: Mapping[str, Any]) -> Generator:
    """Return a generator that is judged.

    Raises:
        InputError: There is no such kind, it does not take these options, or needs an extra that is not installed.
    """
    own = find_synthesizer(kind)
    check_options(own, options)
    return Generator(name, kind, dict(options), folder=str(Path.cwd()), epsilon=_promised(own, options))


def reference(name: str, kind: str, options: Mapping[str, Any]) -> Generator:
    """Return a reference generator, with what its kind declares of its releases.

    Raises:
        InputError: As for ``generator``, or the kind declares no ``answer``.
    """
    own = find_synthesizer(kind)
    if own.answer is None:
        raise InputError(f"references must be generators that declare an answer, got {kind!r}, which declares none")
    check_options(own, options)
    leaked = own.leaked(**options) if own.leaked else {"ideal": 0.0}.get(own.answer)
    promised = _promised(own, options)
    return Generator(name, kind, dict(options), "reference", own.answer, leaked, str(Path.cwd()), promised)


def _promised(own: Synthesizer, options: Mapping[str, Any]) -> float | None:
    return own.epsilon(**options) if own.epsilon else None


def _leaky(share: float) -> Generator:
    percent = f"{100 * share:.6g}".replace(".", "_")
    return reference(f"leaky-{percent}pct", "leaky", {"share": share})


_DECIDE = ("synthrisk.tasks.synthesize", "synthrisk.tasks.workspace.store")
"""The modules that decide what is released, whatever the synthesizer."""
_PATHS = ("path", "links")
"""Options of synthesizers that are paths."""
_ROLES = {"synthesizer": generator, "reference": reference}


def _title(parameters: dict[str, Any]) -> str:
    made_by = parameters["kind"]
    name = made_by.name if isinstance(made_by, Generator) else parameters["name"] or made_by
    return f"synthesize {in_words(parameters['sample'], name, parameters['repetition'], parameters['fold'])}"


@verb("synthesize", _title)
def synthesize(
    sample: Sample,
    kind: str | Generator,
    repetition: int = 0,
    fold: int = 0,
    name: str | None = None,
    role: Literal["synthesizer", "reference"] = "synthesizer",
    limits: Limits = NO_LIMITS,
    **options: Any,
) -> ReleaseFolder:
    """Fit a synthesizer on the members of one place, and keep what it releases.

    A release that is there already, by all that decides it, is found again.

    Args:
        sample: The real table with its splits.
        kind: Name of a synthesizer, or a generator of a study.
        repetition: Number of the repetition, from 0.
        fold: Number of the fold that is held out, from 0.
        name: What the generator is called in results; the kind unless given.
        role: ``reference`` where its answer is known and shall be checked.
        limits: What it may take.
        **options: Options of the synthesizer.

    Raises:
        InputError: There is no such synthesizer or place, or an option is wrong.
        CellError: The synthesizer failed, or took more than a limit; its own words are in a private file.
    """
    check_given("sample", sample, Sample, "sample")
    if role not in _ROLES:
        raise InputError(f"role must be one of {', '.join(_ROLES)}, got {role!r}")
    made_by = kind if isinstance(kind, Generator) else _ROLES[role](name or kind, kind, options)
    folder = Path(sample.workspace)

    def kept() -> ReleaseFolder:
        place = place_of(sample, made_by, repetition, fold)
        found_or_made("synthesize", Path(place.path), lambda draft: within(limits, folder, cell, _write, draft, place))
        return place

    cell = f"synthesize-{sample.cell(made_by.name, repetition, fold).name}"
    return told_safely(folder, cell, kept)


def place_of(sample: Sample, made_by: Generator, repetition: int, fold: int) -> ReleaseFolder:
    """Return where the release of one place is, or will be: a folder named by all that decides what is released."""
    own, options = find_synthesizer(made_by.kind), dict(made_by.options)
    left_out = sample.table.left_out.digest if own.unattacked and sample.table.left_out is not None else None
    ours, others = entry_point_code(SYNTHESIZER_GROUP, [made_by.kind])
    inputs = own.inputs(_located(made_by), repetition, fold) if own.inputs else []
    key = key_of(
        sample.table.digest,
        sample.cut.digest,
        (sample.cut.repetitions * sample.cut.releases, sample.identifier, sample.form.model_dump()),
        (repetition, fold, made_by.kind, options, seed_of(sample.seed, repetition, fold, made_by.name)),
        [file_digest(path) for path in inputs],
        code_digest([*ours, *_DECIDE], alone=[__name__]),
        others,
        versions(own.packages),
        *filter(None, [left_out]),
    )
    cell = sample.cell(made_by.name, repetition, fold)
    return ReleaseFolder(sample, made_by, cell, Place(Path(sample.workspace) / "releases" / key), key)


def _located(made_by: Generator) -> dict[str, Any]:
    """Return the options with absolute paths, for a worker in another folder; the key has them as written."""
    located, options = find_synthesizer(made_by.kind).located, dict(made_by.options)
    if located is None or not made_by.folder:
        return options
    relative = {name: options[name] for name in _PATHS if isinstance(options.get(name), str)}
    return options | {name: located(path, Path(made_by.folder)) for name, path in relative.items()}


def _write(draft: Path, release: ReleaseFolder) -> None:
    sample, made_by, cell = release.sample, release.generator, release.cell
    records, whose = sample.records(), sample.entities()
    held_out = sample.held_out(cell.repetition, cell.fold)
    train, rest = (records[own].reset_index(drop=True) for own in (~held_out, held_out))
    releases = sample.cut.repetitions * sample.cut.releases
    drawn = seed_of(sample.seed, cell.repetition, cell.fold, made_by.name)
    whose, own = None if whose is None else whose[held_out], find_synthesizer(made_by.kind)
    aside = sample.unattacked()[~held_out].reset_index(drop=True) if own.unattacked else None
    job = Job(train, rest, len(train), drawn, cell.repetition, cell.fold, releases, sample.form, whose, aside)
    with one_thread(), printed_to(Path(sample.workspace) / "printed" / f"{cell.name}.txt"):
        made = run(job, own, _located(made_by))
    write_typed(made.synthetic, draft / RELEASE)
    write_beside(made, draft)
    np.save(draft / USED, made.used, allow_pickle=False)


def write_beside(made: Release, draft: Path) -> None:
    """Write the released columns that nothing attacks, what had to be done, links and sets, where there are any."""
    if made.links is not None:
        np.save(draft / LINKS, np.asarray(made.links, dtype=np.int64), allow_pickle=False)
    if made.beside.shape[1]:
        write_typed(made.beside, draft / BESIDE)
    if made.told:
        (draft / TOLD).write_text(json.dumps([asdict(each) for each in made.told]))
    if made.sets:
        (draft / SETS).write_text(json.dumps(made.sets.as_plain()))


_DECIDE_RELEASE = ("synthrisk.tasks.synthesize.files", "synthrisk.tasks.workspace.store")


def _title_release(parameters: dict[str, Any]) -> str:
    return f"release {in_words(*(parameters[each] for each in ('sample', 'name', 'repetition', 'fold')))}"


@verb("release", _title_release)
def release(
    sample: Sample, table: pd.DataFrame | str, repetition: int = 0, fold: int = 0, name: str = "release"
) -> ReleaseFolder:
    """Keep a table that was made from the members of one place, as ``synthesize`` keeps what it makes.

    Args:
        sample: The real table with its splits; ``sample.members(repetition, fold)`` are the records to learn from.
        table: The release: a frame, or a ``.parquet``, ``.csv`` or ``.csv.gz`` path or URL. Its columns are those of
            the real table in any order; its values are cast to their types. Others are looked at for values of real
            people.
        repetition: Number of the repetition, from 0.
        fold: Number of the fold that it was not made from, from 0.
        name: What the generator is called in results.

    Raises:
        InputError: There is no such place, or the table cannot be read, holds no rows or does not fit.
    """
    check_given("sample", sample, Sample, "sample")
    cell = sample.cell(name, repetition, fold)

    def kept() -> ReleaseFolder:
        given = _given(sample, cell, table)
        of = sample.table.digest, sample.cut.digest, repetition, fold
        told, sets = [asdict(each) for each in given.told], given.sets.as_plain()
        made = digest(given.synthetic), digest(given.beside), told, sets
        key = key_of("release", of, made, code_digest(_DECIDE_RELEASE, alone=[__name__]))

        def write(draft: Path) -> None:
            write_typed(given.synthetic, draft / RELEASE)
            write_beside(given, draft)
            np.save(draft / USED, np.empty(0, dtype=np.int64), allow_pickle=False)

        folder = Path(sample.workspace) / "releases" / key
        return ReleaseFolder(sample, Generator(name, "release"), cell, found_or_made("release", folder, write), key)

    return told_safely(Path(sample.workspace), f"release-{cell.name}", kept)


def _given(sample: Sample, cell: Cell, table: pd.DataFrame | str) -> Release:
    train = sample.members(cell.repetition, cell.fold)
    if not isinstance(table, (pd.DataFrame, str, os.PathLike)):
        raise InputError(f"table must be a DataFrame of pandas, a path or a URL, got {type_of(table)}")
    if not isinstance(table, pd.DataFrame):
        held_out = sample.records()[sample.held_out(cell.repetition, cell.fold)]
        return read_release(Job(train, held_out, len(train), 0, form=sample.form), str(table), str(table))
    if not len(table):
        raise InputError("table must hold rows, got none")
    return fitted(table, train, sample.form, "table")
