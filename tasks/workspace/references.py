"""References that tasks hand to each other: data travel by path and digest, never by value.

Once releases are attacked, numbers are handed on by value and records by path.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from synthrisk.conf.study import GENERATOR_NAME, Bootstrap, Data
from synthrisk.conf.tables import FileForm
from synthrisk.metrics.errors import InputError, is_whole
from synthrisk.metrics.plugins import Answer
from synthrisk.metrics.release import identifiers
from synthrisk.metrics.release.columns import Problem
from synthrisk.metrics.release.identifiers import ReleasedColumn
from synthrisk.metrics.release.k_anonymity import ReleaseKeys, keys_from_plain
from synthrisk.metrics.release.validity import ReleaseCheck, from_plain
from synthrisk.metrics.study.comparison import Compared
from synthrisk.metrics.study.findings import Finding, Usefulness
from synthrisk.metrics.study.ledger import Cell, Measure, Planned, Said, values_from_plain
from synthrisk.metrics.tables.entities import entity_numbers
from synthrisk.metrics.tables.tables import ValueSets, columns_of
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.tasks.workspace.folders import Place, keep_file, there
from synthrisk.tasks.workspace.records import read_where
from synthrisk.tasks.workspace.store import read_typed, write_typed
from synthrisk.tasks.workspace.work_limits import TAKEN, Taken

RELEASE, USED, LEDGER, VALUES = "release.parquet", "used.npy", "ledger.parquet", "values.json"
KEYS = "keys.json"
CHECK = "check.json"
BESIDE, RELEASED, TOLD, SETS = "beside.parquet", "released.json", "told.json", "sets.json"
LINKS = "links.npy"
SECOND_LEDGER, SECOND_VALUES = "second-ledger.parquet", "second-values.json"


FRAMES = ".given-"
"""How folders begin in which data frames lie for as long as they are judged: nobody is told their addresses."""
FRAME = "a data frame"


@dataclass(frozen=True)
class Table:
    """A typed table in the workspace."""

    path: str  # its Parquet file
    digest: str  # first 16 hexadecimal digits of the SHA-256 of its content
    rows: int
    columns: tuple[str, ...]
    left_out: "Table | None" = None  # the columns that the study leaves out, as texts: nothing attacks them
    told: tuple[str, ...] = ()  # what is to be minded of how it, and its control records, were read

    def read(self) -> pd.DataFrame:
        """Return the table; callers share one frame and must not change it."""
        return _read_table(self.path, self.digest)


@dataclass(frozen=True)
class Cut:
    """Who is held out where."""

    path: str  # file of the assignments
    digest: str  # digest of the assignments
    repetitions: int  # R
    releases: int  # releases a repetition: K folds, or 1 for a holdout
    twins_share: float  # share of the records that have an exact twin on the other side, mean over releases

    @property
    def is_one(self) -> bool:
        """Whether there is one split alone, in which each record is a member or a control record for good."""
        return self.repetitions == self.releases == 1

    def read(self) -> np.ndarray:
        """Return the fold in which each record is held out, (R, n); -1 = never."""
        return np.load(there(self.path), allow_pickle=False)


@dataclass(frozen=True)
class Sample:
    """The real table with its splits, and what every later task needs to know of it."""

    table: Table
    cut: Cut  # who is held out where
    workspace: str  # folder in which all that is made of it is kept
    seed: int = 1  # root of all randomness
    # columns that an attacker knows; ``"*"`` = all but the one that is guessed
    quasi_identifiers: tuple[str, ...] | Literal["*"] = ()
    sensitive: tuple[str | tuple[str, ...], ...] = ()  # columns that an attacker guesses, or several at once
    identifier: str | None = None  # column that names the entity of a record, or None
    form: FileForm = field(default_factory=FileForm)  # how releases that come as files are read
    title: str = ""  # what the table is called
    source: str = ""  # where it comes from, without secrets
    drawn: bool = False  # whether its rows are so many of the source's as were asked for, at random
    control: str = ""  # where records come from that were given as held out, without secrets; empty where none were

    @property
    def columns(self) -> list[str]:
        """The columns without the identifier: those that are released and attacked."""
        return [c for c in self.table.columns if c != self.identifier]

    @property
    def key(self) -> list[str]:
        """The quasi-identifiers by name: none of them is guessed."""
        known = self.quasi_identifiers
        return [c for c in self.columns if c not in self.guessed] if known == "*" else list(known)

    @property
    def guessed(self) -> list[str]:
        """All columns that are guessed, alone or with others."""
        return list(dict.fromkeys(column for target in self.sensitive for column in columns_of(target)))

    @classmethod
    def of(cls, data: Data, table: Table, cut: Cut, workspace: str, seed: int) -> "Sample":
        """Return the sample of a table whose roles are settled."""
        known: Any = data.quasi_identifiers if data.quasi_identifiers == "*" else tuple(data.quasi_identifiers)
        hidden = tuple(target if isinstance(target, str) else tuple(target) for target in data.sensitive)
        roles = known, hidden, data.identifier
        told = data.form, data.title, data.address
        return cls(table, cut, Place(workspace), seed, *roles, *told, drawn=data.rows is not None)

    def cell(self, name: str, repetition: int, fold: int) -> Cell:
        """Return a place of the study.

        Raises:
            InputError: It has no such place, or the name is none that files may bear.
        """
        if not (isinstance(name, str) and re.fullmatch(GENERATOR_NAME, name)):
            raise InputError(f"name must be letters, digits, - and _, got {name!r}")
        self.check_place(repetition, fold)
        return Cell(name, int(repetition), int(fold))

    def check_place(self, repetition: int, fold: int) -> None:
        """Refuse a place that the study has not: nobody is held out there, so that everybody would be a member."""
        for what, number, size in (("repetition", repetition, self.cut.repetitions), ("fold", fold, self.cut.releases)):
            if not is_whole(number, 0, size - 1):
                raise InputError(f"{what} must be a whole number in [0, {size}), got {number!r}")

    def members(self, repetition: int = 0, fold: int = 0) -> pd.DataFrame:
        """Return the records that a release of this place may be made from.

        Raises:
            InputError: There is no such place.
        """
        return self.records()[~self.held_out(repetition, fold)].reset_index(drop=True)

    def records(self) -> pd.DataFrame:
        """Return the real records without their identifier, as they are attacked."""
        frame = self.table.read()
        return frame if self.identifier is None else frame.drop(columns=self.identifier)

    def unattacked(self) -> pd.DataFrame:
        """Return the columns of the real records that nothing attacks: the identifier, and those left out, as texts."""
        parts = [self.table.read()[[self.identifier]]] if self.identifier is not None else []
        parts += [self.table.left_out.read()] if self.table.left_out is not None else []
        return pd.concat(parts, axis=1) if parts else pd.DataFrame(index=pd.RangeIndex(self.table.rows))

    def entities(self) -> np.ndarray | None:
        """Return the number of each record's entity, or None where each is its own."""
        if self.identifier is None:
            return None
        return entity_numbers(self.table.read()[self.identifier])

    def how_many_entities(self) -> int:
        """Return how many entities the records are of."""
        entities = self.entities()
        return self.table.rows if entities is None else len(np.unique(entities))

    def how_many(self, repetition: int, fold: int) -> tuple[int, int]:
        """Return how many members and control records a release has; where people have several records, people."""
        held_out, entities = self.held_out(repetition, fold), self.entities()
        whose = np.arange(len(held_out)) if entities is None else entities
        return len(np.unique(whose[~held_out])), len(np.unique(whose[held_out]))

    def held_out(self, repetition: int, fold: int) -> np.ndarray:
        """Return which records the release of this place never saw, (n,) booleans.

        Raises:
            InputError: There is no such place.
        """
        self.check_place(repetition, fold)
        return np.asarray(self.cut.read()[repetition] == fold)

    def sizes_held_out(self) -> list[int]:
        """Return how many records each release of the first repetition never saw; empty where none is held out."""
        parts = self.cut.read()[0]
        return np.bincount(parts[parts >= 0]).tolist()

    def holds_out(self) -> bool:
        """Tell whether any record is held out: without control records none is."""
        return bool((self.cut.read() >= 0).any())


@dataclass(frozen=True)
class Generator:
    """Who makes releases: a kind of synthesizer with its options, under a name of its own."""

    name: str  # name in tables and in MLflow
    kind: str  # name of the synthesizer
    options: Mapping[str, Any] = field(default_factory=dict)
    # ``synthesizer``: judged. ``reference``: its answer is known. ``yardstick``: real non-members.
    role: Literal["synthesizer", "reference", "yardstick"] = "synthesizer"
    answer: Answer | None = None  # what is known of the releases of a reference generator
    leaked: float | None = None  # share of training rows in its releases, where that is known
    folder: str = ""  # where relative paths among its options begin; that of the process unless given
    epsilon: float | None = None  # the bound of differential privacy that it promises


def _taken(folder: str) -> Taken | None:
    path = there(folder) / TAKEN
    return Taken(**json.loads(path.read_text())) if path.exists() else None


@dataclass(frozen=True)
class ReleaseFolder:
    """Where one release is, who made it, and of what."""

    sample: Sample
    generator: Generator
    cell: Cell
    path: str
    key: str

    def synthetic(self) -> pd.DataFrame:
        """Return the release, with the sets of values beside it that cells of it stand for."""
        path, release = there(self.path) / SETS, read_typed(there(self.path) / RELEASE)
        return ValueSets.from_plain(json.loads(path.read_text())).beside(release) if path.exists() else release

    def beside(self) -> pd.DataFrame:
        """Return the released columns that nothing attacks, as texts: those that are left out, or that are new."""
        path = there(self.path) / BESIDE
        return read_typed(path) if path.exists() else pd.DataFrame(index=pd.RangeIndex(len(self.synthetic())))

    def told(self) -> tuple[Problem, ...]:
        """Return what had to be done to read the release as the real table is read."""
        path = there(self.path) / TOLD
        return tuple(Problem(**each) for each in json.loads(path.read_text())) if path.exists() else ()

    def used(self) -> np.ndarray:
        """Return positions among the held-out records of those that the release was drawn from."""
        return np.asarray(np.load(there(self.path) / USED, allow_pickle=False))

    def links(self) -> np.ndarray | None:
        """Return the real record that each released one was made from, (m,) positions, -1 for none; None: unknown."""
        path = there(self.path) / LINKS
        if not path.exists():
            return None
        links = np.load(path, allow_pickle=False)
        members = np.flatnonzero(~self.sample.held_out(self.cell.repetition, self.cell.fold))
        return np.append(members, -1)[links]

    def taken(self) -> Taken | None:
        """Return what it took to make it, the first time; None where that was not measured."""
        return _taken(self.path)

    def membership(self) -> pd.api.extensions.ExtensionArray:
        """Return True for members, False for control records, NA for held-out ones that the release was drawn from."""
        held_out = self.sample.held_out(self.cell.repetition, self.cell.fold)
        member = pd.array(~held_out, dtype="boolean")
        member[np.flatnonzero(held_out)[self.used()]] = pd.NA
        return member


@dataclass(frozen=True)
class LedgerFolder:
    """Where the ledger of one release is, and what was measured."""

    release: ReleaseFolder
    planned: tuple[Planned, ...]
    path: str
    second: bool = False  # whether it is what attacks say of the second reading of a release that is far off

    @property
    def again(self) -> "LedgerFolder | None":
        """What attacks say of the second reading of the release; None where it was read once."""
        return replace(self, second=True) if (there(self.path) / SECOND_LEDGER).exists() else None

    def taken(self) -> Taken | None:
        """Return what it took to make its release; None where that was not measured."""
        return _taken(self.path)

    @property
    def cell(self) -> Cell:
        """The place of the release in the study."""
        return self.release.cell

    def ledger(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the ledger, or some of its columns."""
        return pd.read_parquet(there(self.path) / LEDGER, columns=None if columns is None else list(columns))

    def of(self, measure: Measure, columns: Sequence[str]) -> pd.DataFrame:
        """Return some columns of one measure's rows, in the order of the records."""
        own = {"metric": measure.label} | ({} if measure.sensitive is None else {"sensitive": measure.sensitive})
        return read_where(there(self.path) / (SECOND_LEDGER if self.second else LEDGER), columns, own)

    def values(self) -> dict[str, Said]:
        """Return what each measure says beside its scores, by key."""
        name = SECOND_VALUES if self.second else VALUES
        return values_from_plain(json.loads((there(self.path) / name).read_text()))

    def keys(self) -> ReleaseKeys:
        """Return the sizes of the release's keys, where the study declares any."""
        return keys_from_plain(json.loads((there(self.path) / KEYS).read_text()))

    def check(self) -> ReleaseCheck:
        """Return what a look at the release has shown before it was attacked."""
        return from_plain(json.loads((there(self.path) / CHECK).read_text()))

    def released(self) -> tuple[ReleasedColumn, ...]:
        """Return whose values the columns of the release hold, above all those that nothing attacks."""
        return identifiers.from_plain(json.loads((there(self.path) / RELEASED).read_text()))


def in_words(sample: Any, name: Any, repetition: Any, fold: Any) -> str:
    """Return a place of the study as names of task runs have it; what is no place, which the task refuses, as it is."""
    if not (isinstance(sample, Sample) and is_whole(repetition, 0) and is_whole(fold, 0)):
        return f"{name}"
    return Cell(f"{name}", repetition, fold).in_words(sample.cut.releases)


@lru_cache(maxsize=2)
def _read_table(path: str, _digest: str) -> pd.DataFrame:
    return read_typed(there(path))


@dataclass(frozen=True)
class Found:
    """What was found of one generator."""

    ledgers: tuple[LedgerFolder, ...]  # its ledgers
    findings: tuple[Finding, ...]  # its risks
    utility: tuple[Usefulness, ...]  # how useful its releases are
    exposed: str  # path of its table of exposed records
    contributions: str  # path of what each record adds to each finding

    @property
    def generator(self) -> Generator:
        """Whose releases they are."""
        return self.ledgers[0].release.generator

    @property
    def name(self) -> str:
        """The generator's name."""
        return self.generator.name

    @property
    def sample(self) -> Sample:
        """What the releases were made of."""
        return self.ledgers[0].release.sample

    @property
    def planned(self) -> tuple[Planned, ...]:
        """What was measured."""
        return self.ledgers[0].planned


@dataclass(frozen=True)
class Estimated:
    """What a study has found, before it is judged."""

    sample: Sample  # the real table
    generators: tuple[Generator, ...]  # all that ran, in order; those that failed too
    found: tuple[Found, ...]  # what was found of each that did not fail
    settings: Bootstrap  # how intervals were made
    compared: Compared  # the findings of all beside each other
    failures: Mapping[str, str] = field(default_factory=dict)  # why a generator failed, by its name


@dataclass(frozen=True)
class Judged:
    """A study that is judged."""

    result: StudyResult  # what it says
    estimated: Estimated  # what that is said of


def store(frame: pd.DataFrame, folder: Path, left_out: pd.DataFrame | None = None) -> Table:
    """Write a typed table under its digest, readable by its owner alone, unless it is there already.

    So are the columns that the study leaves out, a table of their own with the same rows.
    """
    aside = None if left_out is None or left_out.empty else store(left_out, folder)
    key = digest(frame)
    path = (folder / "data" / f"{key}.parquet").absolute()
    keep_file(path, lambda draft: write_typed(frame, draft))
    return Table(Place(path), key, len(frame), tuple(frame.columns), aside)


def digest(frame: pd.DataFrame) -> str:
    """Return a digest of the names, types and values of a typed table, in order.

    It does not depend on category codes, the index, or how a file stores the table.
    """
    total = hashlib.sha256(json.dumps([len(frame), list(frame.columns)]).encode())
    for name in frame.columns:
        column = frame[name]
        values = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else column
        missing = column.isna().to_numpy()
        if column.dtype == "Int64" or column.dtype == "boolean":  # what lies under the mask is not content
            column = column.fillna(0).astype("int64") if column.dtype == "Int64" else column.fillna(False).astype(bool)
        hashes = pd.util.hash_pandas_object(column, index=False).to_numpy()
        is_category = isinstance(column.dtype, pd.CategoricalDtype)
        total.update(json.dumps([is_category, values.dtype.kind]).encode())
        total.update(np.where(missing, 0, hashes).astype("<u8").tobytes() + np.packbits(missing).tobytes())
    return total.hexdigest()[:16]
