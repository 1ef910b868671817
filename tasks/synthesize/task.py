"""Fit one synthesizer on the members of one place of the study, and keep its release."""

from pathlib import Path
from typing import Any

import numpy as np
from prefect import task

from synthrisk.metrics.plugins import SYNTHESIZER_GROUP
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.ledger import Cell
from synthrisk.tasks.synthesize import Job, run, synthesizer
from synthrisk.tasks.workspace.code import code_digest, entry_point_code
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.parquet import write_typed
from synthrisk.tasks.workspace.references import RELEASE, USED, ReleaseFolder, Sample
from synthrisk.tasks.workspace.store import file_digest, keep, key_of, versions

_DECIDE = ("synthrisk.tasks.synthesize", "synthrisk.tasks.workspace.parquet")
"""The modules that decide what is released, whatever the synthesizer."""


@task(name="synthesize", task_run_name="synthesize {cell.name}")
def synthesize(
    sample: Sample, cell: Cell, kind: str, options: dict[str, Any], seed: int, workspace: str
) -> ReleaseFolder:
    """Make one release; one that is there already is found again by its key."""
    own = synthesizer(kind)
    drawn = seed_of(seed, cell.repetition, cell.fold, cell.synthesizer)

    def write(draft: Path) -> None:
        records = sample.records()
        held_out = sample.held_out(cell.repetition, cell.fold)
        train = records[~held_out].reset_index(drop=True)
        rest = records[held_out].reset_index(drop=True)
        releases = sample.cut.repetitions * sample.cut.releases
        whose = sample.entities()
        whose = None if whose is None else whose[held_out]
        job = Job(train, rest, len(train), drawn, cell.repetition, cell.fold, releases, sample.missing, whose)
        release = run(job, own, options)
        write_typed(release.synthetic, draft / RELEASE)
        np.save(draft / USED, release.used, allow_pickle=False)

    def kept() -> ReleaseFolder:
        ours, others = entry_point_code(SYNTHESIZER_GROUP, [kind])
        inputs = own.inputs(options, cell.repetition, cell.fold) if own.inputs else []
        key = key_of(
            sample.table.digest,
            sample.cut.digest,
            (sample.cut.repetitions * sample.cut.releases, sample.identifier, sample.missing),
            (cell.repetition, cell.fold, kind, options, drawn),
            [file_digest(path) for path in inputs],
            code_digest([*ours, *_DECIDE], alone=[__name__]),
            others,
            versions(own.packages),
        )
        return ReleaseFolder(cell, str(keep(Path(workspace) / "releases" / key, write)), key)

    return told_safely(Path(workspace), f"synthesize-{cell.name}", kept)
