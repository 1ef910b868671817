"""Tell which cells of a study need nothing: their ledgers are in the workspace already."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from synthrisk.metrics.study.ledger import Cell
from synthrisk.metrics.study.planned import Planned
from synthrisk.tasks.attack import ledger_of
from synthrisk.tasks.synthesize.task import place_of
from synthrisk.tasks.workspace.kept import kept_names
from synthrisk.tasks.workspace.references import Generator, LedgerFolder, Sample
from synthrisk.tasks.workspace.verb import verb


@verb("found again")
def found_again(sample: Sample, attacks: Sequence[tuple[Generator, Sequence[Planned]]]) -> dict[Cell, LedgerFolder]:
    """Return the ledgers that an earlier run has left, of all cells of a study, each generator with its measures.

    One look at the workspace in place of two task runs a cell. A cell whose key cannot be told, such as one whose file
    is not there, is not among them: its own task says why.
    """
    found = {}
    releases, ledgers = (kept_names(Path(sample.workspace) / kind) for kind in ("releases", "ledgers"))
    for each, measured in attacks:
        for repetition in range(sample.cut.repetitions):
            for fold in range(sample.cut.releases):
                with suppress(Exception):
                    ledger = ledger_of(place_of(sample, each, repetition, fold), measured)
                    if Path(ledger.release.path).name in releases and Path(ledger.path).name in ledgers:
                        found[ledger.release.cell] = ledger
    return found
