"""How the memorization of each synthesizer has changed from study to study."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, TESTED, Estimate, Prior
from synthrisk.metrics.study.change import Change, independent_change, paired_change, prior_of
from synthrisk.tasks.tracking.past import PastStudy

_QUANTITY = "memorization"
_NEW_MEANING = {"2": ("singling_out", "membership")}
"""By version of the methods (``METHODS``): the measures of which numbers of earlier versions mean something else."""
_CLOSE = 1e-6  # between a value and the mean of its contributions, both rounded alike


@dataclass(frozen=True, eq=False)
class Step:
    """One synthesizer in one measure of one study, and what has changed since the study before it."""

    synthesizer: str
    measure: str
    study: PastStudy
    verdict: str  # on this measure; why there is none where no limit holds for it
    found: Estimate  # memorization
    change: Change | None = None  # None in the first study that has a value


@dataclass
class _Contributed:
    """What the records of one study contribute, read once."""

    study: PastStudy
    tables: dict[str, pd.DataFrame] = field(init=False)  # by synthesizer
    wide: dict[tuple[str, str], pd.DataFrame] = field(init=False)  # by synthesizer and measure
    prior: Prior | None = field(init=False)

    def __post_init__(self) -> None:
        table = self.study.contributions()
        self.tables = {str(name): own for name, own in table.groupby("synthesizer")} if len(table) else {}
        measures = [str(c).removeprefix(f"{_QUANTITY}/") for c in table if str(c).startswith(f"{_QUANTITY}/")]
        self.wide = {(n, m): _array(own, f"{_QUANTITY}/{m}") for n, own in self.tables.items() for m in measures}
        self.prior = prior_of([each.to_numpy() for each in self.wide.values() if len(each.columns)])

    def of(self, synthesizer: str, measure: str) -> pd.DataFrame:
        """Return contributions, a row a repetition, a column a record; no columns where there are none."""
        return self.wide.get((synthesizer, measure), pd.DataFrame())

    def entities(self, synthesizer: str) -> pd.Series | None:
        """Return the entity of each record, where one has several."""
        own = self.tables[synthesizer]
        return own.drop_duplicates("record").set_index("record")["entity"] if "entity" in own else None


def trend(studies: Sequence[PastStudy], measures: Sequence[str]) -> Iterator[Step]:
    """Return the steps of each synthesizer in some measures, by measure and synthesizer, the oldest study first.

    The change is paired record by record where both studies are of the same data and keep what their records
    contribute; elsewhere it is that of two independent estimates, and says why.
    """
    read: dict[str, _Contributed] = {}
    rows = {study.study_id: _rows(study) for study in studies}
    names = dict.fromkeys(name for study in reversed(studies) for name, _ in rows[study.study_id])
    for measure in measures:
        for name in names:
            before: Step | None = None
            for study in studies:
                row = rows[study.study_id].get((name, measure))
                if row is None:
                    continue
                value, lower, upper = (float(row[f"{_QUANTITY}{end}"]) for end in ("", "_lower", "_upper"))
                step = Step(name, measure, study, str(row["verdict"]), Estimate(value, lower, upper))
                if np.isnan(step.found.value):
                    yield step
                    continue
                change = None if before is None else _change(before, step, read)
                before = step
                yield Step(name, measure, study, step.verdict, step.found, change)


def _rows(study: PastStudy) -> dict[tuple[str, str], pd.Series]:
    table = study.league
    if not len(table):
        return {}
    own = table[table["role"] == "synthesizer"].to_dict("records")
    return {(str(row["synthesizer"]), str(row["measure"])): pd.Series(row) for row in own}


def _change(before: Step, after: Step, read: dict[str, _Contributed]) -> Change:
    old, new = (int(each.study.tags.get("methods", "1")) for each in (before, after))
    if any(old < int(since) <= new and after.measure.startswith(names) for since, names in _NEW_MEANING.items()):
        return Change(NOT_ESTIMABLE, paired=False, why="the earlier number is of another meaning or attack")
    why, found = _paired(before, after, read)
    if found is not None:
        return Change(found, paired=True)
    return Change(independent_change(before.found, after.found), paired=False, why=why)


def _paired(before: Step, after: Step, read: dict[str, _Contributed]) -> tuple[str, Estimate | None]:
    """Return the paired change, or why there is none."""
    digests = {each.study.tags.get("data_digest", each.study.study_id) for each in (before, after)}
    if len(digests) > 1:
        return "other data", None
    for each in (before, after):
        if each.study.study_id not in read:
            read[each.study.study_id] = _Contributed(each.study)
    kept = [read[each.study.study_id] for each in (before, after)]
    own = [k.of(step.synthesizer, step.measure) for k, step in zip(kept, (before, after), strict=True)]
    if not all(len(each.columns) for each in own):
        return "what each record adds was not kept", None
    same = own[0].columns.equals(own[1].columns)
    if not same and not set(own[0].columns) & set(own[1].columns):
        return "kept in another workspace: records have other names", None
    if any(
        abs(np.nanmean(each.to_numpy()) - step.found.value) > _CLOSE
        for each, step in zip(own, (before, after), strict=True)
    ):
        return "the value is no mean over records", None
    records = own[0].columns if same else own[0].columns.union(own[1].columns)
    arrays = [each.to_numpy() if same else each.reindex(columns=records).to_numpy() for each in own]
    entities = kept[1].entities(after.synthesizer)
    codes = None if entities is None else pd.factorize(entities.reindex(records).fillna(pd.Series(records, records)))[0]
    return "", paired_change(arrays[0], arrays[1], TESTED, codes, (kept[0].prior, kept[1].prior))


def _array(own: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return contributions, a row a repetition, a column a record; records that contribute nothing are left out."""
    repetition, repetitions = pd.factorize(own["repetition"], sort=True)
    record, records = pd.factorize(own["record"], sort=True)
    wide = np.full((len(repetitions), len(records)), np.nan)
    wide[repetition, record] = own[column]
    known = ~np.isnan(wide).any(axis=0)
    return pd.DataFrame(wide[:, known], index=repetitions, columns=records[known])
