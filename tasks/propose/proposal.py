"""A table of one's own, looked at: what its columns hold and mean, as the settings of a study."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from synthrisk.conf.loader import checked
from synthrisk.conf.study import Data
from synthrisk.conf.tables import Reading
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.tables.codes import infer
from synthrisk.tasks.data import read
from synthrisk.tasks.data.types import ONE_COLUMN, refuse_same_names
from synthrisk.tasks.propose.evidence import Evidence, evidence
from synthrisk.tasks.propose.names import says, topic
from synthrisk.tasks.propose.roles import Meaning, Role, roles, settings_of
from synthrisk.tasks.workspace.files.cell_texts import UNNAMED, read_as
from synthrisk.tasks.workspace.files.statistical import LABELS

_FEWEST = 10  # records of which anything can be told
_LONGEST = 60  # letters of a label that is asked beside a name: a question speaks of much


@dataclass(frozen=True)
class Given:
    """What somebody has said of a table's columns; all else is proposed."""

    sensitive: Sequence[str] = ()
    quasi_identifiers: Sequence[str] = ()
    missing: Sequence[str] = ()  # texts that mean a missing cell in any column
    drop: Sequence[str] = ()
    identifier: str | None = None
    categorical: Sequence[str] = ()
    every_role: bool = False  # no more is proposed: what is not named has no role


@dataclass(frozen=True, eq=False)
class Proposal:
    """What the columns of a table hold and mean."""

    columns: tuple[Evidence, ...]
    roles: tuple[Role, ...]
    data: Data  # the same as settings
    table: pd.DataFrame  # the table as a study has it: read by them, without what is left out

    @property
    def notes(self) -> list[str]:
        """What reading the source has told: of labels, sheets and missing codes."""
        return list(self.table.attrs.get("notes", ()))


def look(
    source: str, given: Given, answers: Mapping[str, Reading] | None = None, others: str | None = None
) -> Proposal:
    """Read a table, and propose how its columns are read and what they mean.

    Args:
        source: Built-in name, path or URL.
        given: What is known already: it is taken as it is.
        answers: How columns are read of which the cells leave it open.
        others: Where more people of the same table are, such as control records: what looks like two answers, yes and
            no, is none where they hold a third.

    Raises:
        InputError: The table cannot be read, a column that is named is absent, or nothing in it can be guessed.
    """
    texts = read(source, given.missing, as_texts=True)
    sheets = [note for note in texts.attrs.get("notes", ()) if note.endswith("(file#sheet)")]
    texts = texts.set_axis([str(c) for c in texts.columns], axis=1)
    try:
        _refuse_no_table(texts, given)
    except InputError as error:
        raise InputError("; ".join([str(error), *sheets])) from None
    labelled = {c: f"{c}: {said}" for c, said in texts.attrs.get(LABELS, {}).items() if len(said) <= _LONGEST}
    asked = [
        _as_treatments(_as_directions(e), texts.iloc[:, i])
        for i, e in enumerate(evidence(texts.rename(columns=labelled)))
    ]
    seen = [replace(each, name=c, why=_why(each, labelled)) for each, c in zip(asked, texts.columns, strict=True)]
    if others is not None and any(map(_has_two_answers, seen)):
        seen = _of_both(seen, texts, read(others, given.missing, as_texts=True))
    found = tuple(_answered(each, (answers or {}).get(each.name)) for each in seen)
    readings = {each.name: each.reading for each in found if each.reading is not None}
    typed = _typed(read(source, given.missing, readings), readings, found, given)
    found = tuple(_without_numbers(each, typed) for each in found)
    called = [replace(each, name=labelled.get(each.name, each.name)) for each in found]
    own = zip(roles(called, typed.rename(columns=labelled)), found, strict=True)
    meant = _said(tuple(role._replace(name=each.name, why=_why(role, labelled)) for role, each in own), given)
    settings = {"source": source, "missing": list(given.missing), **settings_of(found, meant)}
    codes = [c for c in typed.columns if c in given.categorical and c not in settings["categorical"]]
    settings["categorical"] = [*settings["categorical"], *codes]
    if not settings["sensitive"]:
        told = (
            "a study needs a sensitive column that can be guessed, and guessed wrong: each column here is constant, "
            "all but constant, or of its own for each record"
        )
        raise InputError("; ".join([told, *sheets]))
    found = tuple(_as_fact(each, role) for each, role in zip(found, meant, strict=True))
    return Proposal(found, meant, checked(Data, settings, "the proposal"), _as_studied(typed, meant))


def _refuse_no_table(texts: pd.DataFrame, given: Given) -> None:
    """Refuse texts that are no table of which anything can be told, or not that of the names given."""
    refuse_same_names(texts)
    if len(texts.columns) < 2:
        raise InputError(ONE_COLUMN)
    refuse_no_header(texts)
    _check_names(given, list(texts.columns))
    if len(texts) < _FEWEST:
        raise InputError(f"the table must hold at least {_FEWEST} records for a study, got {len(texts)}")


def _why(asked: Evidence | Role, labelled: Mapping[str, str]) -> str:
    return asked.why.replace("its name", "its name or label") if asked.name in labelled.values() else asked.why


def _has_two_answers(column: Evidence) -> bool:
    return column.reading is not None and column.reading.type == "boolean"


def _as_directions(each: Evidence) -> Evidence:
    """Return the evidence of a place of north and south, which is none of yes and no (sim, não), as one of texts."""
    if each.reading is None or not _has_two_answers(each) or topic(each.name, "known") != "place":
        return each
    if {text.strip().casefold() for text in (*each.reading.true_values, *each.reading.false_values)} != {"n", "s"}:
        return each
    reading = Reading(missing=each.reading.missing) if each.reading.missing else None
    why = each.why.replace("its two answers mean yes and no", "texts of a place")
    return replace(each, kind="category", sure="likely", why=why, reading=reading)


def _as_treatments(each: Evidence, texts: pd.Series) -> Evidence:
    """Return the evidence of numbers that are codes of treatments, 070.123, as one of codes."""
    if each.kind != "number" or not says(each.name, "treatments"):
        return each
    codes = texts.dropna().astype(str).str.strip().str.fullmatch(r"\d{3,4}\.\d{3}|\d{9}").all()
    return replace(each, kind="code", sure="likely", why="its numbers are codes of treatments") if codes else each


def _as_fact(each: Evidence, role: Role) -> Evidence:
    """Return the evidence of one sign, or no sign, as one of a fact, which is no constant."""
    if each.kind != "constant" or role.reading is None or role.reading.type != "presence":
        return each
    why = each.why.replace("all its cells are the same", "one sign where it is so, and an empty cell where not")
    return replace(each, kind="boolean", sure="likely", why=why)


def _of_both(found: Sequence[Evidence], texts: pd.DataFrame, others: pd.DataFrame) -> list[Evidence]:
    """Return the evidence, of a column of two answers in which other people have a third by the cells of both."""
    others = others.set_axis([str(c) for c in others.columns], axis=1)
    seen = []
    for each in found:
        reading, kept = each.reading, each
        if reading is not None and _has_two_answers(each) and each.name in others.columns:
            known = {*reading.true_values, *reading.false_values, *reading.missing}
            third = others.loc[~others[each.name].isin(known) & others[each.name].notna(), [each.name]]
            if len(third):
                (kept,) = evidence(pd.concat([texts[[each.name]], third], ignore_index=True))
        seen.append(kept)
    return seen


def _as_studied(typed: pd.DataFrame, meant: Sequence[Role]) -> pd.DataFrame:
    """Return the table without what is left out; of texts that count as one fact, whether there is one."""
    facts = {role.name for role in meant if role.reading is not None and role.reading.type == "presence"}
    kept = {role.name for role in meant if role.meaning != "dropped"}
    table = typed[[name for name in typed.columns if name in kept]]
    return table.assign(**{name: table[name].notna() for name in table.columns if name in facts})


def _answered(each: Evidence, reading: Reading | None) -> Evidence:
    return each if reading is None else replace(each, reading=reading, question="", other=None, sure="sure")


def _without_numbers(each: Evidence, table: pd.DataFrame) -> Evidence:
    """Return the evidence of a column, as codes where its numbers are too large to be read as such."""
    if each.kind != "number" or table[each.name].dtype.kind in "biuf":
        return each
    return replace(each, kind="code", why="digits that 64 bits cannot hold are codes, not numbers")


def _typed(
    frame: pd.DataFrame, readings: Mapping[str, Reading], found: Sequence[Evidence], given: Given
) -> pd.DataFrame:
    frame = frame.set_axis([str(c) for c in frame.columns], axis=1)
    codes = {each.name for each in found if each.kind == "code"} | set(given.categorical)
    columns = {}
    for each in found:
        if each.kind not in ("empty", "container"):
            own = readings.get(each.name)
            column = frame[each.name] if own is None else read_as(frame[each.name], own)
            columns[each.name] = infer(column, code=each.name in codes)
    table = pd.DataFrame(columns)
    table.attrs.update(frame.attrs)
    return table


def _check_names(given: Given, columns: Collection[str]) -> None:
    entity = [] if given.identifier is None else [given.identifier]
    for argument, names in (
        ("--sensitive", given.sensitive),
        ("--quasi-identifiers", given.quasi_identifiers),
        ("--drop", given.drop),
        ("--identifier", entity),
        ("--categorical", given.categorical),
    ):
        for name in names:
            if name not in columns:
                raise InputError(f"{argument} must name a column of the table, got {name!r}{nearest(name, columns)}")


def _said(found: tuple[Role, ...], given: Given) -> tuple[Role, ...]:
    """Return the roles with those that are given in place of the proposals."""
    said: dict[str, Meaning] = {}
    said |= dict.fromkeys(given.quasi_identifiers, "quasi-identifier")
    said |= dict.fromkeys(given.sensitive, "sensitive")
    said |= dict.fromkeys(given.drop, "dropped")
    said |= {} if given.identifier is None else {given.identifier: "identifier"}
    settled = {"sensitive"} if given.sensitive else set()
    settled |= {"quasi-identifier"} if given.quasi_identifiers else set()
    settled |= {"identifier"} if given.identifier else set()
    settled |= {"sensitive", "quasi-identifier", "identifier", "dropped"} if given.every_role else set()
    return tuple(
        _confirmed(role, said[role.name])
        if role.name in said
        else Role(role.name, "other", "likely", "not among those that are given", role.reading)
        if role.meaning in settled and not (role.meaning == "dropped" and role.sure == "sure")
        else role
        for role in found
    )


def _confirmed(role: Role, meaning: Meaning) -> Role:
    """Return the role that is given; where the same was proposed, its reason stays."""
    why = role.why if role.meaning == meaning and role.reading is None else "given"
    return Role(role.name, meaning, "sure", why)


def refuse_no_header(texts: pd.DataFrame) -> None:
    """Refuse a table of texts of which most names are values of their columns, one that is no number among them.

    Names that are numbers alone say nothing: columns may be named by years.

    Raises:
        InputError: So it is, or the names stand again as a line of their own, as they do in files that are joined; the
            sentence names no column, for their names may be cells.
    """
    same = {name: texts[name].astype(str).eq(name) for name in texts.columns if not name.startswith(UNNAMED)}
    words = sum(not _is_number(name) and bool(cells.any()) for name, cells in same.items())
    again = pd.DataFrame(same, texts.index).all(axis=1) if words else pd.Series(dtype=bool)
    if again.any() and all(cells.sum() == again.sum() for cells in same.values()):
        raise InputError(
            f"the line of column names must stand once, got it {again.sum()} times more among the records: delete these"
        )
    numbers = sum(_is_number(name) and _is_between(float(name), texts[name]) for name in texts.columns)
    if words and 2 * (words + numbers) > len(texts.columns):
        raise InputError(
            "the table must begin with a line of column names, got a first line of cells, such as other lines hold too"
        )


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _is_between(number: float, texts: pd.Series) -> bool:
    values = pd.to_numeric(texts.astype(str), errors="coerce").dropna()
    return not values.empty and bool(values.min() <= number <= values.max())
