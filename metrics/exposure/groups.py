"""Groups of records by one or two columns: their risk, beside guess, control and what their presence adds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from synthrisk.metrics.exposure.subgroups import means_of_groups

COLUMNS = 24
"""Most columns of which all pairs are looked at."""
_NUMBERS = ["risk", "lower", "upper", "guess", "control", "adds", "adds_lower", "adds_upper"]


@dataclass(frozen=True, eq=False)
class Reached:
    """What an attack reached on each record: (n,) floats, NaN where not known."""

    as_member: np.ndarray  # mean score over the releases that were made with the record
    as_control: np.ndarray  # the same over those made without it
    guess: np.ndarray  # whether somebody without a release is right about it: ``constant_guess``

    @property
    def adds(self) -> np.ndarray:
        """What its presence adds to its own risk: as member minus as control."""
        return self.as_member - self.as_control


@dataclass(frozen=True, eq=False)
class Groups:
    """A table of groups, and how many there are.

    ``rows`` holds ``group`` (its columns with their bands, a tuple of pairs), ``records`` (scored), ``risk``,
    ``lower``, ``upper``, ``guess``, ``control``, ``adds``, ``adds_lower``, ``adds_upper``; NaN where not known.
    """

    rows: pd.DataFrame
    looked_at: int


def groups(
    reached: Reached,
    banded: pd.DataFrame,
    crossed: int = 1,
    *,
    confidence: float = 0.95,
    fewest: int = 10,
    simultaneous: bool = True,
    entities: np.ndarray | None = None,
) -> Groups:
    """Return the groups of ``fewest`` or more records that each column makes, or each pair of columns.

    Intervals are those of ``subgroups.risk_by``, given these records. Where ``simultaneous`` they are widened for all
    groups and both quantities (Bonferroni), so that the highest of many may be picked. Guess and control are means over
    the same records, those that have one. Of more than ``COLUMNS`` columns the pairs are those of the ones with the
    highest lower limits.

    Args:
        reached: What the attack reached, n records.
        banded: (n, p) ordered categories without missing cells, as ``bands`` makes them.
        crossed: 1 or 2 columns at a time.
        confidence: Confidence level.
        fewest: Fewest records of a group; where there are ``entities``, fewest of these.
        simultaneous: Whether intervals are widened.
        entities: (n,) number of the entity of each record.

    Example:
        >>> table = pd.DataFrame({"sex": list("fm") * 10}, dtype="category")
        >>> reached = Reached(np.tile([1.0, 0.0], 10), np.tile([0.5, 0.0], 10), np.ones(20))
        >>> found = groups(reached, table)
        >>> found.rows[["group", "records", "risk", "guess", "control", "adds"]].to_dict("records")[0]
        {'group': (('sex', 'f'),), 'records': 10, 'risk': 1.0, 'guess': 1.0, 'control': 0.5, 'adds': 0.5}
    """
    known = ~np.isnan(reached.as_member)
    parts = Reached(reached.as_member[known], reached.as_control[known], reached.guess[known])
    own = banded[known]
    people = None if entities is None else entities[known]
    columns = [str(c) for c in banded.columns]
    if crossed == 2:
        columns = _strongest(parts, own, confidence, fewest, people)
    sets = [_Partition.of(own, names, fewest, people) for names in combinations(columns, crossed)]
    looked_at = sum(len(each.places) for each in sets)
    share = (1 - confidence) / max(2 * looked_at, 1) if simultaneous else 1 - confidence
    tables = [each.table(parts, 1 - share) for each in sets if len(each.places)]
    empty = pd.DataFrame(columns=["group", "records", *_NUMBERS])
    return Groups(pd.concat(tables, ignore_index=True) if tables else empty, looked_at)


def all_records(reached: Reached, confidence: float = 0.95) -> pd.Series:
    """Return the row of all scored records together, as in the table of groups."""
    everybody = pd.DataFrame({"": pd.Categorical(np.zeros(len(reached.as_member), dtype=int))})
    return groups(reached, everybody, confidence=confidence, fewest=1, simultaneous=False).rows.iloc[0]


def _strongest(
    reached: Reached, banded: pd.DataFrame, confidence: float, fewest: int, entities: np.ndarray | None
) -> list[str]:
    """Return the columns that have a group at risk, or one whose presence adds, by the lower limits: half of each."""
    columns = [str(c) for c in banded.columns]
    if len(columns) <= COLUMNS:
        return columns
    rows = groups(reached, banded, confidence=confidence, fewest=fewest, entities=entities).rows
    column = rows["group"].map(lambda group: group[0][0])
    chosen: list[str] = []
    for quantity in ("adds_lower", "lower"):
        best = rows[quantity].groupby(column).max().dropna().sort_values(ascending=False, kind="stable").index
        chosen += [str(c) for c in best if c not in chosen][: COLUMNS // 2]
    return [c for c in columns if c in chosen]


@dataclass(frozen=True, eq=False)
class _Partition:
    """The groups that some columns make of the records."""

    names: Sequence[tuple[tuple[str, str], ...]]  # of each group
    places: np.ndarray  # the groups with enough records
    codes: np.ndarray  # (n,) group of each record

    @classmethod
    def of(cls, banded: pd.DataFrame, columns: Sequence[str], fewest: int, entities: np.ndarray | None) -> "_Partition":
        packed, sizes = np.zeros(len(banded), dtype=np.int64), []
        for column in columns:
            sizes.append(len(banded[column].cat.categories))
            packed = packed * sizes[-1] + banded[column].cat.codes.to_numpy()
        values, codes, counts = np.unique(packed, return_inverse=True, return_counts=True)
        if entities is not None:
            _, units = np.unique(entities, return_inverse=True)
            pairs = np.unique(codes * (int(units.max(initial=0)) + 1) + units)
            counts = np.bincount(pairs // (int(units.max(initial=0)) + 1), minlength=len(values))
        levels = np.unravel_index(values, sizes)
        texts = [banded[c].cat.categories[place] for c, place in zip(columns, levels, strict=True)]
        names = [tuple(zip(columns, map(str, each), strict=True)) for each in zip(*texts, strict=True)]
        return cls(names, np.flatnonzero(counts >= fewest), codes)

    def table(self, reached: Reached, confidence: float) -> pd.DataFrame:
        at = self.places
        risk = self._means(reached.as_member, confidence)
        adds = self._means((reached.adds + 1) / 2, confidence)  # a mean of scores in [0, 1], and back
        found = {"records": risk["records"].astype(int), **{c: risk[c] for c in ("risk", "lower", "upper")}}
        found["guess"] = self._means(reached.guess, confidence)["risk"]
        found["control"] = self._means(reached.as_control, confidence)["risk"]
        found |= {name: 2 * adds[c] - 1 for name, c in zip(_NUMBERS[-3:], ("risk", "lower", "upper"), strict=True)}
        return pd.DataFrame({"group": [self.names[i] for i in at], **{c: v.to_numpy()[at] for c, v in found.items()}})

    def _means(self, values: np.ndarray, confidence: float) -> pd.DataFrame:
        """Return means of the values that are there, a row a group; NaN where there are none."""
        there = ~np.isnan(values)
        kept, codes = np.unique(self.codes[there], return_inverse=True)
        rows = pd.DataFrame(np.nan, index=range(len(self.names)), columns=["records", "risk", "lower", "upper"])
        rows["records"] = 0
        if len(kept):
            rows.loc[kept] = means_of_groups(values[there], codes, len(kept), confidence).to_numpy()
        return rows
