"""References to ledgers and releases that a test has made by hand, and studies whose results it made so."""

from pathlib import Path

import numpy as np
import pandas as pd

from synthrisk.conf.study import Bootstrap
from synthrisk.metrics.study.comparison import Compared
from synthrisk.metrics.study.ledger import Cell, Measure, Planned
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.tasks.pages.report import page
from synthrisk.tasks.workspace.references import (
    Cut,
    Estimated,
    Generator,
    Judged,
    LedgerFolder,
    ReleaseFolder,
    Sample,
    Table,
    store,
)
from synthrisk.tasks.workspace.store import save_array


def ledger_in(place: Path, sample: Sample, cell: Cell, planned=(), **generator) -> LedgerFolder:
    """Return the ledger in a folder; measures without options may stand for what was planned."""
    made_by = Generator(cell.synthesizer, "cart", **generator)
    every = tuple(Planned(p) if isinstance(p, Measure) else p for p in planned)
    return LedgerFolder(ReleaseFolder(sample, made_by, cell, "unused", "unused"), every, str(place))


def sampled(table: pd.DataFrame, parts, folder: Path, releases: int = 2, **others) -> Sample:
    """Return a table and its cut, kept in a folder: of each repetition the fold in which a record is held out."""
    parts = np.array(parts, dtype=np.int16)
    save_array(parts, folder / "cut.npy")
    cut = Cut(str(folder / "cut.npy"), "cut", len(parts), releases, 0.0)
    return Sample(store(table, folder), cut, str(folder), **others)


def judged(result: StudyResult, workspace: Path | str = "unused") -> Judged:
    """Return a study with this result, of which neither table nor release is at hand."""
    sample = Sample(Table("unused", "t", 1, ()), Cut("unused", "cut", 1, 1, 0.0), str(workspace))
    return Judged(result, Estimated(sample, (), (), Bootstrap(), Compared([])))


def report_of(result: StudyResult, settings: str = "") -> str:
    """Return the report of a study with this result."""
    return page(judged(result), settings)
