"""The tasks that read the table of a study: ``data``, and ``given`` where somebody else has made the split."""

from pathlib import Path

import numpy as np
import pandas as pd

from synthrisk.conf.study import Data, Split
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.kinds import kind
from synthrisk.metrics.tables.value_types import precision_of
from synthrisk.tasks.data.source import read
from synthrisk.tasks.data.types import infer, left_out, typed
from synthrisk.tasks.workspace.digests import key_of
from synthrisk.tasks.workspace.files.cell_texts import empty_columns
from synthrisk.tasks.workspace.folders import Place, keep_file
from synthrisk.tasks.workspace.references import Cut, Table, store
from synthrisk.tasks.workspace.store import save_array
from synthrisk.tasks.workspace.verb import verb


@verb("data")
def data(settings: Data, split: Split, folder: str, seed: int) -> Table:
    """Read, type, check and store the real table in the workspace ``folder``; return where it is.

    Raises:
        InputError: The source cannot be read, or the table does not fit the settings.
    """
    frame = read(settings.source, settings.missing, settings.columns, coded=True)
    return store(typed(frame, settings, split, seed), Path(folder), left_out(frame, settings, seed))


@verb("data")
def given(data: Data, control: str | None, seed: int, workspace: str) -> tuple[Table, Cut]:
    """Read, type and store real and control records as one table, and who of them is control."""
    members = read(data.source, data.missing, data.columns, coded=control is None)
    parts = [members]
    if control is not None:
        held_out = read(control, data.missing, data.columns)
        absent = [c for c in members.columns if c not in held_out.columns and c not in data.drop]
        extra = [c for c in held_out.columns if c not in members.columns]
        if absent or extra:  # names of the control file are not told: without a header they are cells
            told = absent if _has_its_roles(members, data) else len(absent)  # nor of a real table without a header
            raise InputError(f"control must have the columns of real, got {told!r} absent and {len(extra)} others")
        if len(held_out) < 2:
            raise InputError(f"control must hold at least two records, got {len(held_out)}")
        if data.identifier in members:
            both = int(held_out[data.identifier].dropna().isin(members[data.identifier]).sum())
            if both:
                raise InputError(f"control must hold no entity of real, got {both} records of such")
        _refuse_codes_for_labels(members, held_out)
        parts = _at_one_precision([members, held_out.reindex(columns=members.columns)])
    frame = members if control is None else pd.concat(parts, ignore_index=True)
    people = typed(frame, data, Split(holdout=0.5, repetitions=1), seed)
    if control is not None:
        _refuse_other_types(members, held_out, people, data)
    table = store(people, Path(workspace), left_out(frame, data, seed))
    parts_of = np.where(np.arange(len(frame)) < len(members), -1, 0).astype(np.int16)[None, :]
    digest = key_of("given", table.digest, len(members))
    path = keep_file(Path(workspace) / "split" / f"{digest}.npy", lambda draft: save_array(parts_of, draft))
    return table, Cut(Place(path), digest, 1, 1, float("nan"))


def _has_its_roles(members: pd.DataFrame, data: Data) -> bool:
    """Tell whether all columns that the study names are there: else the names may be cells."""
    known = [] if data.quasi_identifiers == "*" else data.quasi_identifiers
    return {*known, *data.guessed, *filter(None, [data.identifier])} <= set(members.columns)


def _refuse_codes_for_labels(members: pd.DataFrame, held_out: pd.DataFrame) -> None:
    """Value labels are taken where all codes have one, which may be so in one file alone: nothing would match then."""
    for name in (c for c in members.columns if c in held_out.columns):
        labelled = [isinstance(part[name].dtype, pd.CategoricalDtype) for part in (members, held_out)]
        numeric = [pd.api.types.is_numeric_dtype(part[name].dtype) for part in (members, held_out)]
        if (labelled[0] and numeric[1]) or (numeric[0] and labelled[1]):
            due, got = ("labels", "numbers") if labelled[0] else ("numbers", "labels")
            raise InputError(f"control must hold {due} in column {name!r} as real does, got {got}")


def _at_one_precision(parts: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """Return tables whose numbers are singles in all of them where they are in one: no control would equal a member."""
    parts = [part.copy(deep=False) for part in parts]
    for name in parts[0].columns:
        columns = [part[name] for part in parts]
        if not all(pd.api.types.is_numeric_dtype(column.dtype) for column in columns):
            continue
        precision = min(map(precision_of, columns), key=lambda dtype: dtype.itemsize)
        if precision != np.float64:
            for part, column in zip(parts, columns, strict=True):
                part[name] = column.to_numpy(dtype=float, na_value=np.nan).astype(precision)
    return parts


def _refuse_other_types(members: pd.DataFrame, held_out: pd.DataFrame, people: pd.DataFrame, data: Data) -> None:
    """Refuse control records with an empty column, or through which numbers or dates have become texts."""
    if empty := empty_columns(held_out, members[list(people.columns)]):
        raise InputError(f"control must hold values in column {empty[0]!r}, as real does, got missing cells only")
    for name in people.columns:
        if name not in (*data.categorical, data.identifier) and kind(people[name]) == "categorical":
            own = infer(members[name])
            if kind(own) != "categorical" and own.notna().any():
                raise InputError(
                    f"control must hold values of the types of real, got texts in column {name!r}, which real has none "
                    "in; name it as categorical if it is a code list"
                )
