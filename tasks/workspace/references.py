"""References that tasks hand to each other: data travel by path and digest, never by value."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from synthrisk.metrics.release.check import ReleaseCheck, from_plain
from synthrisk.metrics.release.k_anonymity import KeySizes, ReleaseKeys
from synthrisk.metrics.study.ledger import Cell, Measure
from synthrisk.metrics.study.said import Said, values_from_plain
from synthrisk.metrics.tables.entities import entity_numbers
from synthrisk.tasks.workspace.parquet import read_typed

RELEASE, USED, LEDGER, VALUES = "release.parquet", "used.npy", "ledger.parquet", "values.json"
KEYS = "keys.json"
CHECK = "check.json"


@dataclass(frozen=True)
class Table:
    """A typed table in the workspace.

    Attributes:
        path: Its Parquet file.
        digest: First 16 hexadecimal digits of the SHA-256 of its content.
        rows: Number of rows.
        columns: Names of the columns.
    """

    path: str
    digest: str
    rows: int
    columns: tuple[str, ...]

    def read(self) -> pd.DataFrame:
        """Return the table; callers share one frame and must not change it."""
        return _read_table(self.path, self.digest)


@dataclass(frozen=True)
class Cut:
    """Who is held out where.

    Attributes:
        path: File of the assignments.
        digest: Digest of the assignments.
        repetitions: R.
        releases: Releases a repetition: K folds, or 1 for a holdout.
        twins_share: Share of the records that have an exact twin on the other side, mean over releases.
    """

    path: str
    digest: str
    repetitions: int
    releases: int
    twins_share: float

    def read(self) -> np.ndarray:
        """Return the fold in which each record is held out, (R, n); -1 = never."""
        return np.load(self.path, allow_pickle=False)


@dataclass(frozen=True)
class Sample:
    """The real table with its splits."""

    table: Table
    cut: Cut
    identifier: str | None = None
    missing: tuple[str, ...] = ()

    def records(self) -> pd.DataFrame:
        """Return the real records without their identifier, as they are attacked."""
        frame = self.table.read()
        return frame if self.identifier is None else frame.drop(columns=self.identifier)

    def entities(self) -> np.ndarray | None:
        """Return the number of each record's entity, or None where each is its own."""
        if self.identifier is None:
            return None
        return entity_numbers(self.table.read()[self.identifier])

    def how_many_entities(self) -> int:
        """Return how many entities the records are of."""
        entities = self.entities()
        return self.table.rows if entities is None else len(np.unique(entities))

    def held_out(self, repetition: int, fold: int) -> np.ndarray:
        """Return which records the release of this place never saw, (n,) booleans."""
        return np.asarray(self.cut.read()[repetition] == fold)

    def holds_out(self) -> bool:
        """Tell whether any record is held out: without control records none is."""
        return bool((self.cut.read() >= 0).any())


@dataclass(frozen=True)
class ReleaseFolder:
    """Where one release is."""

    cell: Cell
    path: str
    key: str

    def synthetic(self) -> pd.DataFrame:
        """Return the release."""
        return read_typed(Path(self.path) / RELEASE)

    def used(self) -> np.ndarray:
        """Return positions among the held-out records of those that the release was drawn from."""
        return np.asarray(np.load(Path(self.path) / USED, allow_pickle=False))


@dataclass(frozen=True)
class LedgerFolder:
    """Where the ledger of one release is."""

    cell: Cell
    path: str

    def ledger(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the ledger, or some of its columns."""
        return pd.read_parquet(Path(self.path) / LEDGER, columns=None if columns is None else list(columns))

    def of(self, measure: Measure, columns: Sequence[str]) -> pd.DataFrame:
        """Return some columns of one measure's rows, in the order of the records."""
        own = [("metric", "==", measure.label)]
        if measure.sensitive is not None:
            own.append(("sensitive", "==", measure.sensitive))
        return pd.read_parquet(Path(self.path) / LEDGER, columns=list(columns), filters=own)

    def values(self) -> dict[str, Said]:
        """Return what each measure says beside its scores, by key."""
        return values_from_plain(json.loads((Path(self.path) / VALUES).read_text()))

    def keys(self) -> ReleaseKeys:
        """Return the sizes of the release's keys, where the study declares any."""
        told = json.loads((Path(self.path) / KEYS).read_text())
        return ReleaseKeys(
            **{n: each and KeySizes(**each | {"counts": tuple(each["counts"])}) for n, each in told.items()}
        )

    def check(self) -> ReleaseCheck:
        """Return what a look at the release has shown before it was attacked."""
        return from_plain(json.loads((Path(self.path) / CHECK).read_text()))


@lru_cache(maxsize=2)
def _read_table(path: str, _digest: str) -> pd.DataFrame:
    return read_typed(Path(path))
