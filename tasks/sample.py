"""The real table of a study in one step: read, typed, checked, stored, and cut into members and control records.

Who is a member and who is held out is cut once, and kept for every later run of the study.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from synthrisk.conf.loader import checked, refuse_passwords
from synthrisk.conf.study import Data, Split
from synthrisk.metrics.study.split import split_table, twins_share
from synthrisk.tasks.data.source import read
from synthrisk.tasks.data.types import typed_tables
from synthrisk.tasks.workspace.digests import code_digest, key_of, versions
from synthrisk.tasks.workspace.failures import told_safely
from synthrisk.tasks.workspace.folders import Place, keep_file, open_workspace
from synthrisk.tasks.workspace.references import Cut, Sample, Table, store
from synthrisk.tasks.workspace.store import save_array
from synthrisk.tasks.workspace.verb import check_listed, verb

_FRAME = "DataFrame"  # what a table that comes from no source is called


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


@verb("sample")
def sample(
    table: pd.DataFrame | str | Mapping[str, Any],
    quasi_identifiers: Sequence[str] | Literal["*"],
    sensitive: Sequence[str | Sequence[str]],
    *,
    folds: int | None = None,
    holdout: float | None = None,
    repetitions: int = 1,
    stratify: str | None = None,
    duplicates: Literal["together", "report"] = "report",
    identifier: str | None = None,
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
    missing: Sequence[str] = (),
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    rows: int | None = None,
    seed: int = 1,
    workspace: str = ".synthrisk",
) -> Sample:
    """Read, type, check and store the real table, and cut it.

    What is handed on is where table and cut are, never a cell.

    Args:
        table: The real table: a frame, or a source as in a study (name, path, URL, ``{url, query}``).
        quasi_identifiers: Columns that an attacker knows; ``"*"`` = all others.
        sensitive: Columns that an attacker guesses, each on its own; a list among them is guessed at once.
        folds: K, 5 unless ``holdout`` is given.
        holdout: Share of the records held out instead.
        repetitions: How often the table is cut anew.
        stratify: Column whose levels are spread evenly over the parts.
        duplicates: Exact duplicates: kept ``together``, or left as they fall and counted.
        identifier: Column that names the entity of a record.
        categorical: Numeric columns that are code lists.
        drop: Columns to leave out.
        missing: Texts that mean a missing cell in a CSV file.
        columns: How single columns are read, as in a study.
        rows: Take a random sample of this many rows.
        seed: Root of all randomness.
        workspace: Folder, or URL, of everything that is made of the table.

    Raises:
        InputError: An argument breaks its rule, or the table does not fit; no text holds a cell.
    """
    source = _FRAME if isinstance(table, pd.DataFrame) else table
    check_listed(sensitive=sensitive, **({} if quasi_identifiers == "*" else {"quasi_identifiers": quasi_identifiers}))
    hidden = [target if isinstance(target, str) else list(target) for target in sensitive]
    known = "*" if quasi_identifiers == "*" else list(quasi_identifiers)
    roles = {"source": source, "quasi_identifiers": known, "sensitive": hidden, "identifier": identifier}
    lists = {"categorical": list(categorical), "drop": list(drop), "missing": list(missing)}
    others = {"rows": rows, "columns": dict(columns or {})}
    refuse_passwords(source)
    data = checked(Data, roles | lists | others, "sample")
    parts = {"folds": folds, "holdout": holdout, "repetitions": repetitions, "stratify": stratify}
    cut = checked(Split, parts | {"duplicates": duplicates}, "sample")
    folder = open_workspace(workspace)

    def made() -> Sample:
        frame = table if isinstance(table, pd.DataFrame) else read(data.source, data.missing, data.columns, coded=True)
        people, left_out = typed_tables(frame, data, cut, seed)
        stored = store(people, folder, left_out)
        return Sample.of(data, stored, split.fn(stored, cut, identifier, str(folder), seed), str(folder), seed)

    return told_safely(folder, "sample", made)
