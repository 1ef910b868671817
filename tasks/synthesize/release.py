"""Bring a release that somebody else's task made into a study."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.study.ledger import Cell
from synthrisk.tasks.synthesize import Job, Release
from synthrisk.tasks.synthesize.files import read_release
from synthrisk.tasks.synthesize.fit import fitted
from synthrisk.tasks.synthesize.task import write_beside
from synthrisk.tasks.workspace.code import code_digest
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.parquet import write_typed
from synthrisk.tasks.workspace.references import RELEASE, USED, Generator, ReleaseFolder, Sample, in_words
from synthrisk.tasks.workspace.store import key_of
from synthrisk.tasks.workspace.table import digest
from synthrisk.tasks.workspace.verb import check_given, found_or_made, verb

_DECIDE = ("synthrisk.tasks.synthesize.files", "synthrisk.tasks.workspace.parquet")


def _title(parameters: dict[str, Any]) -> str:
    return f"release {in_words(*(parameters[each] for each in ('sample', 'name', 'repetition', 'fold')))}"


@verb("release", _title)
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
        code = code_digest(_DECIDE, alone=[__name__])
        key = key_of(
            "release",
            (sample.table.digest, sample.cut.digest, repetition, fold),
            (
                digest(given.synthetic),
                digest(given.beside),
                [asdict(each) for each in given.told],
                given.sets.as_plain(),
            ),
            code,
        )

        def write(draft: Path) -> None:
            write_typed(given.synthetic, draft / RELEASE)
            write_beside(given, draft)
            np.save(draft / USED, np.empty(0, dtype=np.int64), allow_pickle=False)

        folder = Path(sample.workspace) / "releases" / key
        return ReleaseFolder(sample, Generator(name, "release"), cell, found_or_made("release", folder, write), key)

    return told_safely(Path(sample.workspace), f"release-{cell.name}", kept)


def _given(sample: Sample, cell: Cell, table: pd.DataFrame | str) -> Release:
    train = sample.members(cell.repetition, cell.fold)
    if not isinstance(table, pd.DataFrame):
        held_out = sample.records()[sample.held_out(cell.repetition, cell.fold)]
        return read_release(Job(train, held_out, len(train), 0, form=sample.form), str(table), str(table))
    if not len(table):
        raise InputError("table must hold rows, got none")
    return fitted(table, train, sample.form, "table")
