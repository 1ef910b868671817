"""References to ledgers and releases that a test has made by hand."""

from pathlib import Path

from synthrisk.metrics.study.ledger import Cell, Measure
from synthrisk.metrics.study.planned import Planned
from synthrisk.tasks.workspace.references import Generator, LedgerFolder, ReleaseFolder, Sample


def ledger_in(place: Path, sample: Sample, cell: Cell, planned=(), **generator) -> LedgerFolder:
    """Return the ledger in a folder; measures without options may stand for what was planned."""
    made_by = Generator(cell.synthesizer, "cart", **generator)
    every = tuple(Planned(p) if isinstance(p, Measure) else p for p in planned)
    return LedgerFolder(ReleaseFolder(sample, made_by, cell, "unused", "unused"), every, str(place))
