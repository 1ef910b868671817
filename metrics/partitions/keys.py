"""Key classes from parts of a table, and what CAP and exact matches say by them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.cap.attribute_disclosure import MeasureName, check_measure, flags_by_name, reduce_flags
from synthrisk.metrics.cap.cap import FEW, NEARLY_ALL, reduce_claims, reduce_credits, too_fine
from synthrisk.metrics.cap.nearest_keys import nearest_keys
from synthrisk.metrics.distance.matches import reduce_hits, reduce_unique
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.partitions.parts import CONTROLS, MEMBERS, RELEASE, Coded, Partitioned
from synthrisk.metrics.release.k_anonymity import KeySizes, ReleaseKeys, key_sizes, keys_and_targets
from synthrisk.metrics.score import Reduction, Score
from synthrisk.metrics.tables.codes import Codes
from synthrisk.metrics.tables.tables import Target

_MOST = 2**62


class Step(NamedTuple):
    """One column more in a code: what was packed so far times ``size``, plus the column's code."""

    column: Any
    size: int
    ranked: np.ndarray | None  # all codes so far, ascending, where they are replaced by their ranks


class Keys(NamedTuple):
    """All combinations of values of some columns that occur."""

    steps: tuple[Step, ...]
    codes: np.ndarray  # (k,) int64, ascending
    counts: np.ndarray  # (3, k): how many members, control records and released rows have each

    @property
    def columns(self) -> tuple[Any, ...]:
        """The columns."""
        return tuple(step.column for step in self.steps)

    @property
    def real(self) -> np.ndarray:
        """How many real records have each."""
        return np.asarray(self.counts[MEMBERS] + self.counts[CONTROLS])

    @property
    def release(self) -> np.ndarray:
        """How many released rows have each."""
        return np.asarray(self.counts[RELEASE])


def keys(tables: Partitioned, columns: Sequence[Any]) -> Keys:
    """Return the combinations of some columns, counted part by part and merged as sorted arrays.

    A code is a number in mixed radix. Where it would not fit 64 bits, the codes so far are replaced by their ranks.
    """
    return tables.shared(("keys", tuple(columns)), lambda: _keys(tables, columns))


def ranks_of_real(tables: Partitioned, found: Keys) -> np.ndarray:
    """Return the place of each real record's combination among all, (n,)."""
    return tables.shared(("ranks", found.columns), lambda: tables.of_real(_ranks, found.steps, found.codes))


def decoded(found: Keys, rows: np.ndarray) -> list[np.ndarray]:
    """Return the codes of the single columns of some combinations."""
    code, columns = found.codes[rows], []
    for step in reversed(found.steps):
        code, own = np.divmod(code, step.size)
        columns.append(own)
        if step.ranked is not None:
            code = step.ranked[code]
    return columns[::-1]


def _keys(tables: Partitioned, columns: Sequence[Any]) -> Keys:
    steps: tuple[Step, ...] = ()
    size = 1
    for name in columns:
        column = tables.columns[name]
        ranked = None
        if size * column.size >= _MOST:
            ranked = _counted(tables, steps)[0]
            size = len(ranked)
        steps += (Step(name, column.size, ranked),)
        size *= column.size
    return Keys(steps, *_counted(tables, steps))


def _counted(tables: Partitioned, steps: tuple[Step, ...]) -> tuple[np.ndarray, np.ndarray]:
    found = [tables.of_side(side, _counts, steps) for side in (MEMBERS, CONTROLS, RELEASE)]
    codes = _union([codes for side in found for codes, _ in side])
    counts = np.zeros((3, len(codes)), dtype=np.int64)
    for row, side in zip(counts, found, strict=True):
        for own, numbers in side:
            row[np.searchsorted(codes, own)] += numbers  # each code once in a part
    return codes, counts


def _union(codes: Sequence[np.ndarray]) -> np.ndarray:
    every = np.concatenate(codes)
    every.sort()
    return every[np.append([True], every[1:] != every[:-1])] if len(every) else every


def _counts(part: Coded, steps: tuple[Step, ...]) -> tuple[np.ndarray, np.ndarray]:
    codes, counts = np.unique(packed(part, steps), return_counts=True)
    return codes, counts


def _ranks(part: Coded, steps: tuple[Step, ...], codes: np.ndarray) -> np.ndarray:
    return np.searchsorted(codes, packed(part, steps)).astype(np.min_scalar_type(len(codes)))


def packed(part: Coded, steps: tuple[Step, ...]) -> np.ndarray:
    """Return one code a row of a part."""
    code = np.zeros(len(part[steps[0].column]), dtype=np.int64)
    for step in steps:
        if step.ranked is not None:
            code = np.searchsorted(step.ranked, code)
        code = code * step.size + part[step.column].astype(np.int64)
    return code


def common_rows_proportion(tables: Partitioned) -> Score:
    """Return the share of real records that occur in the release (``matches.common_rows_proportion``)."""
    rows = keys(tables, list(tables.columns))
    rank = ranks_of_real(tables, rows)
    records = pd.DataFrame({"score": (rows.release > 0).astype(float)[rank], "row": rank})
    return Score.of("common_rows_proportion", records, reduce_hits(records), {}, {})


def unique_exact_matches(tables: Partitioned) -> Score:
    """Return the share of real records that are unique and released (``unique_exact_matches``)."""
    rows = keys(tables, list(tables.columns))
    rank, unique = ranks_of_real(tables, rows), rows.real == 1
    score = (unique & (rows.release > 0)).astype(float)
    records = pd.DataFrame({"score": score[rank], "unique": unique[rank]})
    return Score.of("unique_exact_matches", records, reduce_unique(records), {}, {})


def keys_of_real(tables: Partitioned, quasi_identifiers: Sequence[str]) -> KeySizes:
    """Return with how many others the real records share their keys (``k_anonymity.keys_of_real``)."""
    found = keys(tables, quasi_identifiers)
    return key_sizes(found.real, found.real)


def values_of_real(
    tables: Partitioned, quasi_identifiers: Sequence[str], targets: Sequence[Target]
) -> dict[str, KeySizes]:
    """Return how many values share the keys of the real records (``k_anonymity.values_of_real``)."""
    found = {}
    for name, known, hidden in keys_and_targets(quasi_identifiers, targets):
        own = _classes(tables, known, hidden)
        found[name] = key_sizes(own.real_values, own.pairs.real)
    return found


def keys_of_release(
    tables: Partitioned, quasi_identifiers: Sequence[str], targets: Sequence[Target] = ()
) -> ReleaseKeys:
    """Return the same of released rows, and of members and control records in the release; and of ``targets``."""
    found, values = keys(tables, quasi_identifiers), {}
    for name, known, hidden in keys_and_targets(quasi_identifiers, targets):
        own = _classes(tables, known, hidden)
        values[name] = _looked_up(tables, own.released_values, own.pairs)
    return replace(_looked_up(tables, found.release, found), values=values)


def _looked_up(tables: Partitioned, held: np.ndarray, found: Keys) -> ReleaseKeys:
    controls = key_sizes(held, found.counts[CONTROLS]) if tables.rows[CONTROLS] else None
    return ReleaseKeys(key_sizes(held, found.release), key_sizes(held, found.counts[MEMBERS]), controls)


_CHUNK = 50_000  # keys whose nearest are sought by one task


class _Classes(NamedTuple):
    """Keys with sensitive values, a row each, and what is counted of them; ``rank`` is that of each real record."""

    known: list[str]
    hidden: list[str]
    pairs: Keys
    rank: np.ndarray  # (n,)
    total: np.ndarray  # released rows with the key
    hit: np.ndarray  # released rows with the key and the sensitive values
    real_total: np.ndarray
    real_hit: np.ndarray
    released_values: np.ndarray  # different sensitive values that the key has in the release
    real_values: np.ndarray
    frequency: np.ndarray  # share of the sensitive values among the real records
    of_target: np.ndarray  # number of real records with each of the sensitive values

    def records(self, columns: dict[str, np.ndarray]) -> pd.DataFrame:
        """Return columns of the classes as columns of the real records."""
        return pd.DataFrame({name: each[self.rank] for name, each in columns.items()})

    @property
    def guess(self) -> float:
        """The share of the commonest sensitive values."""
        return float(self.frequency.max())


def categorical_cap(tables: Partitioned, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str) -> Score:
    """Return CAP (``cap.categorical_cap``)."""
    own = _classes(tables, quasi_identifiers, sensitive)
    credit = np.divide(own.hit, own.total, out=np.full(len(own.total), np.nan), where=own.total > 0)
    return _score("categorical_cap", tables, own, credit)


def zero_cap(tables: Partitioned, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str) -> Score:
    """Return zero CAP (``cap.zero_cap``)."""
    own = _classes(tables, quasi_identifiers, sensitive)
    return _score("zero_cap", tables, own, own.hit / np.maximum(own.total, 1))


def generalized_cap(tables: Partitioned, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str) -> Score:
    """Return generalized CAP (``cap.generalized_cap``); the nearest of unseen keys are sought in parts of these."""
    own = _classes(tables, quasi_identifiers, sensitive)
    total, hit, distance = own.total.astype(float), own.hit.astype(float), np.zeros(len(own.total))
    unseen = np.flatnonzero((own.total == 0) & (own.pairs.real > 0))
    if len(unseen):
        sizes = [step.size for step in own.pairs.steps]
        released = np.flatnonzero(own.pairs.release > 0)
        release, weights = decoded(own.pairs, released), own.pairs.release[released]
        chunks = [decoded(own.pairs, unseen[at : at + _CHUNK]) for at in range(0, len(unseen), _CHUNK)]
        places = tables.parts[MEMBERS]
        assert places is not None  # noqa: S101
        found = places.placed(chunks).each(_nearest, release, weights, sizes, len(own.known)).all()
        total[unseen], hit[unseen], distance[unseen] = (np.concatenate(each) for each in zip(*found, strict=True))
    credit = np.divide(hit, total, out=np.full(len(total), np.nan), where=total > 0)
    return _score("generalized_cap", tables, own, credit, {"distance": distance})


def targeted_cap(tables: Partitioned, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str) -> Score:
    """Return targeted CAP (``cap.targeted_cap``)."""
    own = _classes(tables, quasi_identifiers, sensitive)
    claim, seen = own.released_values == 1, own.total > 0
    columns = {"score": np.where(claim, own.hit > 0, np.nan), "claim": claim}
    records = own.records(columns | {"baseline": own.frequency, "seen": seen})
    ceiling = 1.0 if ((own.real_values == 1) & (own.pairs.real > 0)).any() else float("nan")
    return _of("targeted_cap", tables, own, records, reduce_claims, {"guess": own.guess, "ceiling": ceiling})


def attribute_disclosure(
    tables: Partitioned,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] | str,
    measure: MeasureName = "di_sco",
) -> Score:
    """Return a table measure of disclosure (``attribute_disclosure.attribute_disclosure``)."""
    check_measure(measure)
    own = _classes(tables, quasi_identifiers, sensitive)
    flags = _flags(own, own.total, own.hit, own.released_values)
    of_real = _flags(own, own.real_total, own.real_hit, own.real_values)
    columns = {"score": flags[measure].astype(float), **flags, "claim": flags["di_s"], "baseline": own.frequency}
    records, weights = own.records(columns), own.pairs.real
    details = {}
    if measure == "di_sco":
        details["guess"] = own.guess
    if measure == "di_sdi_o":
        most = np.bincount(own.of_target, weights * of_real["di_s"], minlength=1).max()
        details["guess"] = float(int(most) / tables.real_rows)
    details["ceiling"] = float(int(weights[of_real[measure]].sum()) / tables.real_rows)
    return _of("attribute_disclosure", tables, own, records, reduce_flags, details, {"measure": measure}, "i_s")


def _flags(own: _Classes, total: np.ndarray, hit: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
    """Return what the measures of ``attribute_disclosure`` say of each class, from its rows of one table."""
    return flags_by_name(own.real_total == 1, total, hit, values == 1, own.real_values == 1)


def _score(
    name: str, tables: Partitioned, own: _Classes, credit: np.ndarray, more: dict[str, np.ndarray] | None = None
) -> Score:
    ceiling = own.real_hit / np.maximum(own.real_total, 1)
    columns = {"score": credit, "baseline": own.frequency, "seen": own.total > 0, "ceiling": ceiling}
    return _of(name, tables, own, own.records(columns | (more or {})), reduce_credits, {"guess": own.guess})


def _of(
    name: str,
    tables: Partitioned,
    own: _Classes,
    records: pd.DataFrame,
    reduce: Callable[[pd.DataFrame], Reduction],
    details: dict[str, float],
    settings: dict[str, Any] | None = None,
    seen: str = "seen",
) -> Score:
    said = {"quasi_identifiers": own.known, "sensitive": own.hidden} | (settings or {})
    unseen = 1 - records[seen].mean()
    return Score.of(name, records, reduce(records), details, said, _continuity(tables, own.known, unseen))


def _continuity(tables: Partitioned, known: Sequence[str], unseen: float) -> str | None:
    if unseen < NEARLY_ALL:
        return None
    columns = [tables.columns[c] for c in known]
    fine = []
    for column in columns:
        real = column.counts[:RELEASE].sum(axis=0)
        apart = real[column.counts[RELEASE] == 0].sum() / tables.real_rows
        if apart >= 0.5 and column.kind == "numeric" and np.count_nonzero(real[:-1]) > FEW:
            fine.append(column.name)
    return too_fine(unseen, fine)


def _classes(tables: Partitioned, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str) -> _Classes:
    known = list(quasi_identifiers)
    hidden = [sensitive] if isinstance(sensitive, str) else list(sensitive)
    for argument, columns in (("quasi_identifiers", known), ("sensitive", hidden)):
        for column in columns:
            if column not in tables.columns:
                raise InputError(f"{argument} must name columns of the table, got {column!r}")
    if both := [c for c in known if c in hidden]:
        raise InputError(f"quasi_identifiers and sensitive must be different columns, got {both[0]!r} in both")
    return tables.shared(("classes", tuple(known), tuple(hidden)), lambda: _cells_counted(tables, known, hidden))


def _cells_counted(tables: Partitioned, known: list[str], hidden: list[str]) -> _Classes:
    pairs = keys(tables, [*known, *hidden])
    columns = decoded(pairs, np.arange(len(pairs.codes)))
    key, targets = _numbered(columns[: len(known)]), _numbered(columns[len(known) :])
    of_target = np.bincount(targets, pairs.real).astype(np.int64)
    return _Classes(
        known,
        hidden,
        pairs,
        ranks_of_real(tables, pairs),
        _summed(key, pairs.release),
        pairs.release,
        _summed(key, pairs.real),
        pairs.real,
        _summed(key, pairs.release > 0),
        _summed(key, pairs.real > 0),
        (of_target / tables.real_rows)[targets],
        targets,
    )


def _summed(key: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.bincount(key, counts).astype(np.int64)[key]  # whole numbers below 2^53: exact as floats


def _numbered(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return one number for each combination of codes, (k,)."""
    number = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        number = np.unique(number * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return number


def _nearest(
    chunk: list[np.ndarray], release: list[np.ndarray], weights: np.ndarray, sizes: list[int], known: int
) -> tuple[np.ndarray, ...]:
    """Return what ``nearest_keys`` finds of some keys; the sensitive columns are one code."""
    sizes = [int(size) for size in sizes]
    both = [np.concatenate(each) for each in zip(chunk[known:], release[known:], strict=True)]
    targets, rows = _numbered(both), len(chunk[0])
    codes = [Codes((q, s), size) for q, s, size in zip(chunk, release, sizes, strict=True)][:known]
    target = Codes((targets[:rows], targets[rows:]), int(targets.max()) + 1)
    return tuple(nearest_keys(codes, target, np.arange(rows), weights))
