"""Who is a member and who is held out: cut once, and kept for every later run of the study."""

import hashlib
from pathlib import Path

import numpy as np

from synthrisk.conf.study import Split
from synthrisk.metrics.study.split import split_table, twins_share
from synthrisk.tasks.workspace.digests import code_digest, key_of, versions
from synthrisk.tasks.workspace.folders import Place, keep_file
from synthrisk.tasks.workspace.references import Cut, Table
from synthrisk.tasks.workspace.store import save_array
from synthrisk.tasks.workspace.verb import verb


@verb("split")
def split(table: Table, settings: Split, identifier: str | None, folder: str, seed: int) -> Cut:
    """Cut the table, or find the cut of an earlier run; return where it is."""
    code = code_digest([split_table.__module__], alone=[__name__])
    packages = versions(("numpy", "pandas", "scikit-learn", "scipy"))
    key = key_of(table.digest, settings.model_dump(), identifier, seed, code, packages)
    path = (Path(folder) / "split" / f"{key}.npy").absolute()
    frame = table.read()
    entities = frame[identifier] if identifier is not None else None
    frame = frame.drop(columns=[identifier] if identifier is not None else [])
    keep_file(path, lambda draft: save_array(split_table(frame, settings, entities, seed), draft))
    parts = np.load(path, allow_pickle=False)
    digest = hashlib.sha256(parts.astype("<i2").tobytes() + repr(parts.shape).encode()).hexdigest()[:16]
    return Cut(Place(path), digest, settings.repetitions, settings.releases, twins_share(frame, parts))
