"""What each column means to an attacker: what is known, what is sensitive, who is who; proposals with their reasons."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd

from synthrisk.conf.tables import Reading
from synthrisk.metrics.tables.kinds import kind
from synthrisk.tasks.propose.evidence import Evidence, Sure
from synthrisk.tasks.propose.names import is_outcome, is_score, is_target, says, topic, words, words_of
from synthrisk.tasks.workspace.files.cell_texts import UNNAMED

Meaning = Literal["quasi-identifier", "sensitive", "identifier", "dropped", "other"]
NEITHER = "nothing says that it is known from elsewhere, or sensitive"
_COMMONEST, _COMMONEST_NUMBER = 0.95, 0.9  # share of the commonest class, or number, from which all is guessed right
_FEWEST = 5  # records that a class should have
_MANY_CLASSES = 0.5  # classes a record from which an attribute cannot be learnt
_MOST_KEYS, _MOST_SENSITIVE = 10, 3
_FEWEST_KEYS = 3
_FILLED = 0.5  # share of the cells from which a column is chosen before one of another topic
_OFTEN = 0.9  # share of the numbers of a key that are of their own, stand together, or are as many as others
_DIRECT = 0.2  # share of texts of their own from which a column called name or address names people
_FEWEST_NAMES = 20  # texts from which a column called first or last has names
_STREET = re.compile(r"[Aa]{3}.*9|9.*[Aa]{3}")  # the form of an address; postcodes have fewer letters together
_DIALLED, _OWN, _CARD = 6, 10, 15  # digits of what is dialled, of numbers of one's own, and of cards, which no sum has
_FEWEST_KEYS_OF_PEOPLE = 10  # more numbers than that are no counts of people in a household
_NO_COUNT, _SPARSE = 1000, 20  # numbers from which, or from so many times the distinct ones, people are not counted
_NO_WORD = 3  # letters of a name up to which it says nothing: V21, col_20
_PRESENCE = Reading(type="presence")
_KNOWN_CODES = ("age", "birth", "death", "place")  # postcodes are known though everybody may have another
_SCHOOL_CLASS = re.compile(r"99?[ .]?[aA]")  # the form of 5a and 10c
_CLASSE = re.compile(r"AA9|9a{1,3}[ -]?[aA9]?")  # of CM2, 6e and 6e B
_POSTCODE = re.compile(r"[^\d.,]*9{4}")  # the form begins so: no decimals, as the scores PC1 have
_PART = re.compile(r"[^\W\d_][^\W\d_.'’\-]*(?:[.'’\-][^\W\d_]*)*")  # of the full name of a person
_BETWEEN = {"de", "del", "della", "di", "da", "dos", "du", "van", "von", "der", "den", "ten", "zu", "la", "le", "el"}
_FULL = 0.9  # share of the texts that are full names
_ICD = r"[A-Z]\d\d(?:\.?\d{1,2})?[*+†!-]?"
_ICDS = re.compile(rf"{_ICD}(?:[;,|/ ]+{_ICD})*")  # one, or all that somebody has
_ICD_SHARE, _FEWEST_ICD = 0.15, 3  # of the codes of one column that are frequent; kinds of these, and letters
_TREATMENT = re.compile(r"\d{1,4}\.\d{1,3}|\d{9}|[A-Z]\d\d[A-Z]|\d-\d{2,3}.*")  # DBC, DKG, OPS
_ANSWERS = 6  # most different answers in words
_OF_PEOPLE = ("age", "birth", "sex", "nationality", "family", "ethnicity")  # topics that only tables of people have
_FEELS = {"i", "my", "me", "ich", "mein", "meine", "meiner", "je", "mon", "ma", "mes"}  # words of a statement to judge
_STATEMENT = 4  # words from which a name may be one
_LEVELS = 100  # most levels of a category that may be a quasi-identifier by nothing but what it holds
_TOPICS = {
    "age": "the age", "birth": "when or where somebody was born", "death": "when somebody died", "sex": "the sex",
    "place": "where somebody lives", "nationality": "where somebody is from", "family": "family and household",
    "education": "education", "work": "work", "ethnicity": "ethnicity or language", "visit": "visits and stays",
    "home": "house, car or school", "health": "health", "money": "income and money",
    "belief": "religion, politics or union", "intimate": "intimate life", "law": "crime and discipline",
}  # fmt: skip
"""The words for the topics of ``names.yaml``."""


class Role(NamedTuple):
    """What one column means."""

    name: str
    meaning: Meaning
    sure: Sure
    why: str
    reading: Reading | None = None  # how the column is read in this role, where the role changes it


def roles(columns: Sequence[Evidence], table: pd.DataFrame) -> list[Role]:
    """Return what each column means.

    Args:
        columns: What the columns hold.
        table: The table as it is read, with types settled; columns that hold nothing may be left out.
    """
    found = {each.name: _apart(each, table) for each in columns}
    entity = _entity([e for e in columns if found[e.name] is None and _numbers_rows(e, table)], table)
    told = _with_several_records(columns, table, entity) or ([] if entity is None else [entity])
    found |= {role.name: role for role in told}
    found |= {each.name: found[each.name] or _stamp(each, table) for each in columns}
    people = any(topic(each.name, "known") in _OF_PEOPLE or says(each.name, "person") for each in columns)
    said = {each.name: _speaks(each, table, people) for each in columns}
    facts = [each.name for each in columns if each.kind == "constant" and said[each.name] and each.name in table]
    facts = [name for name in facts if (fact := found[name]) and fact.reading == _PRESENCE]
    left = [each for each in columns if found[each.name] is None or each.name in facts]
    hidden = _sensitive(left, table.assign(**{name: table[name].notna() for name in facts}), said)
    found |= {role.name: role._replace(reading=_PRESENCE if role.name in facts else None) for role in hidden}
    left = [each for each in left if found[each.name] is None]
    found |= {role.name: role for role in _known(left, said)}
    return [found[each.name] or Role(each.name, "other", "a guess", _why_other(each, table, said)) for each in columns]


def _why_other(each: Evidence, table: pd.DataFrame, spoken: Mapping[str, str | None]) -> str:
    """Return why a column is neither quasi-identifier nor sensitive."""
    if (spoken[each.name] or topic(each.name, "sensitive")) and not _is_score(each, table[each.name]):
        many = f"{_says_why(each.name, spoken)}, but {_MOST_SENSITIVE} such columns are enough for a first study"
        few = f"{_says_why(each.name, spoken)}, but there is too little in it that can be guessed wrong"
        return many if _can_be_guessed(table[each.name]) else few
    if said := _of_people(each):
        return f"commonly known of people: {_TOPICS[said]}; but {_MOST_KEYS} such columns are enough"
    return NEITHER


def _apart(each: Evidence, table: pd.DataFrame) -> Role | None:
    """Return the role of a column that is in no study, or only as one fact; None for all others."""
    if each.name.startswith(UNNAMED):
        return Role(each.name, "dropped", "likely", "it has no name")
    if each.kind == "empty":
        return Role(each.name, "dropped", "sure", "all its cells are missing")
    if each.kind == "container":
        return Role(each.name, "dropped", "sure", each.why)
    if each.kind == "constant":
        if each.filled == each.rows:
            return Role(each.name, "dropped", "sure", "it is the same for all records")
        why = "one text or none: it counts as one fact, present or not"
        return Role(each.name, "other", "likely", why, _PRESENCE)
    if says(each.name, "direct") and _names_people(each, table):
        return Role(each.name, "dropped", "likely", "it may name people")
    if each.kind == "text" or (each.kind == "category" and each.distinct > 2 and says(each.name, "remarks")):
        absent = 1 - each.filled / each.rows
        if absent >= 0.05:
            return Role(each.name, "other", "likely", "free text: it counts as one fact, present or not", _PRESENCE)
        return Role(each.name, "dropped", "likely", "free text, which may hold anything")
    return None


def _names_people(each: Evidence, table: pd.DataFrame) -> bool:
    """Tell whether a column that is called so names people; a surname does, however many share it."""
    texts, said = each.kind in ("category", "text", "code"), topic(each.name, "direct")
    if said == "person":
        return texts and each.distinct > 2
    if said == "whole":
        return texts and each.distinct > _FEWEST_NAMES
    plates = said == "number" and each.kind == "code" and {"9", "a"} <= {*each.form.casefold()}
    many = each.distinct > (_FEWEST_NAMES if plates else _DIRECT * each.filled)
    hidden = topic(each.name, "sensitive")
    long = _digits(each) >= (_CARD if hidden else _DIALLED)
    if not topic(each.name, "known"):
        return many and (texts or long or (each.kind == "number" and not hidden and _numbers_rows(each, table)))
    if said == "address":
        return many and each.kind == "code" and bool(_STREET.search(each.form))
    return many and said in ("contact", "number") and (long or (texts and each.distinct > _FEWEST_NAMES))


def _are_full_names(each: Evidence, column: pd.Series) -> bool:
    """Tell whether a column that is called by one word for a person holds names as MARTIN Paul and van Dam, Anna."""
    of_person = len(words(each.name)) == 1 and (says(each.name, "party") or says(each.name, "person"))
    if not of_person or each.kind != "category" or each.distinct <= _FEWEST_NAMES:
        return False
    texts = [re.split(r",? +", str(text).strip()) for text in column.dropna().unique()]
    full = [2 <= len(parts) <= 5 and all(map(_is_part, parts)) for parts in texts]
    return sum(full) >= _FULL * len(full)


def _is_part(part: str) -> bool:
    return part in _BETWEEN or (part[:1].isupper() and bool(_PART.fullmatch(part)))


def _digits(each: Evidence) -> int:
    """Return how many digits the whole numbers of a column commonly have; 0 where it has none."""
    return len(each.form) if each.kind == "number" and not each.form.strip("9") else 0


def _entity(columns: Sequence[Evidence], table: pd.DataFrame) -> Role | None:
    """Return the column that names the person of a record: by name and uniqueness."""
    people = [each for each in columns if says(each.name, "person") and each.distinct > 0.05 * each.filled]
    codes = {e.name: not (e.is_unique or _says_no_more(e.name)) for e in people}  # ward_id beside a unique id
    others = {e.name: not _is_of_people(e.name) or says(e.name, "visits") for e in people}  # households and cases
    ids = {e.name: (not says(e.name, "identifier"), others[e.name], words(e.name) == ["id"]) for e in people}
    for each in sorted(people, key=lambda e: (codes[e.name], *ids[e.name])):
        key = each.distinct > _FEWEST_KEYS_OF_PEOPLE if each.form.strip("9") == "" else len(words(each.name)) == 1
        known = says(each.name, "key")
        key = key and (known or each.kind != "number") and not (known and _may_count(each, table[each.name]))
        if key or says(each.name, "identifier"):
            return _identifier(each)
    return None


def _with_several_records(columns: Sequence[Evidence], table: pd.DataFrame, entity: Role | None) -> list[Role]:
    """Return the key of people who have several records, and what is left out beside it: the number of each record.

    Empty where no column is sure to be such a key, or where what tells people apart already is a person's own number.
    """
    named = next((each for each in columns if entity is not None and each.name == entity.name), None)
    keys = [each for each in columns if not each.is_unique and each.distinct > 0.05 * each.filled]
    keys = [each for each in keys if _numbers_rows(each, table) and _is_key_of_people(each, table[each.name])]
    keys.sort(key=lambda e: (says(e.name, "staff"), e is not named, e.filled < e.rows, says(e.name, "own_number")))
    if not keys or (named is not None and named is not keys[0] and _stays(named, keys[0])):
        return []
    key, *others = keys
    made = [_identifier(key)]
    for each in others:
        pairs = len(table[[key.name, each.name]].dropna().drop_duplicates())
        if pairs <= min(key.distinct, each.distinct) or says(each.name, "own_number"):
            made.append(Role(each.name, "dropped", "likely", f"it tells people apart, as {key.name!r} does"))
    for each in (e for e in columns if e.name not in {role.name for role in made}):
        visit = says(each.name, "visits") and _says_no_more(each.name, "visits")
        if (visit and each.is_unique and _numbers_rows(each, table)) or (
            each is named and not says(each.name, "staff")
        ):
            why = f"it numbers the records, and {key.name!r} says whose they are"
            made.append(Role(each.name, "dropped", "likely", why))
    return made


def _stays(entity: Evidence, key: Evidence) -> bool:
    """Tell whether a column that tells people apart is a person's own number, or tells no more of them than a key."""
    if _is_of_people(entity.name) and not says(entity.name, "visits"):
        return entity.is_unique or not says(entity.name, "staff")
    return entity.distinct < key.distinct


def _identifier(each: Evidence) -> Role:
    own = "each record" if each.is_unique else f"{each.distinct} people in {each.filled} records"
    return Role(each.name, "identifier", "likely", f"its name says that it tells people apart: {own}")


def _is_of_people(name: str) -> bool:
    """Tell whether a name speaks of the number of a person, and of nothing else: patient_id, not patient_ward_no."""
    return any(says(name, of) for of in ("people", "staff", "own_number")) and _says_no_more(name)


def _says_no_more(name: str, *further: str) -> bool:
    """Tell whether a name has no other words than those for people, households, cases, and their numbers."""
    beside = ("people", "staff", "own_number", "beside_people", "identifier", "person", *further)
    said = [word for word in words(name) if word not in _BETWEEN]
    return all(any(says(word, of) for of in beside) for word in said)


def _is_key_of_people(each: Evidence, column: pd.Series) -> bool:
    """Tell whether a column is sure to say whose a record is, by its name and its cells."""
    if not _is_of_people(each.name) or topic(each.name, "known") in _KNOWN_CODES or _may_count(each, column):
        return False
    if says(each.name, "own_number", "mail"):
        return column.dropna().astype(str).str.contains("@", regex=False).mean() >= _OFTEN
    numbered = "9" in each.form and says(each.name, "key")
    return numbered or says(each.name, "identifier") or says(each.name, "own_number")


def _may_count(each: Evidence, column: pd.Series) -> bool:
    """Tell whether numbers may be counts: small ones that many share, neither in order nor as many of each."""
    texts = column.dropna().astype(str)
    cells = pd.to_numeric(texts, errors="coerce")
    if cells.isna().any() or texts.str.match("0\\d").any() or each.distinct >= _OFTEN * each.filled:
        return False
    if cells.max() >= min(_NO_COUNT, _SPARSE * each.distinct):
        return False
    together = (cells != cells.shift()).sum() <= each.distinct / _OFTEN
    return not together and cells.value_counts().value_counts(normalize=True).max() < _OFTEN


def _numbers_rows(each: Evidence, table: pd.DataFrame) -> bool:
    """Tell whether a column may number records or people; decimals do not."""
    if each.kind not in ("number", "code", "category") or each.filled == 0 or each.distinct < 3:
        return False
    return table[each.name].dtype.kind != "f" or bool((table[each.name].dropna() % 1 == 0).all())


def _stamp(each: Evidence, table: pd.DataFrame) -> Role | None:
    """Return the role of a column that numbers records or says when each was written."""
    born = topic(each.name, "known") in ("age", "birth")
    timed = ":" in each.form or (each.reading is not None and "%H" in (each.reading.format or ""))
    if each.kind == "date" and each.is_unique and timed and not born:
        return Role(each.name, "dropped", "likely", "a time of its own for nearly every record")
    if _are_full_names(each, table[each.name]):
        return Role(each.name, "dropped", "likely", "it may name people")
    if not each.is_unique:
        return None
    if _numbers_rows(each, table) and (says(each.name, "identifier") or says(each.name, "key")):
        return Role(each.name, "dropped", "likely", "it numbers the records: unique, and called so")
    if each.kind == "number" and _counts_on(table[each.name]):
        return Role(each.name, "dropped", "likely", "it numbers the records one by one")
    if _are_long_digits(each, table[each.name]):
        return Role(each.name, "dropped", "likely", "long digits, of their own for nearly every record")
    if each.kind == "category" or (each.kind == "code" and topic(each.name, "known") not in _KNOWN_CODES):
        return Role(each.name, "dropped", "likely", "a value of its own for nearly every record")
    return None


def _are_long_digits(each: Evidence, column: pd.Series) -> bool:
    """Tell whether a column holds longer digits than sums have, or long ones of one length, as phones do."""
    digits = _digits(each)
    if digits < _OWN or says(each.name, "counted") or says(each.name, "amounts"):
        return False
    even = digits < _CARD and column.dropna().between(10 ** (digits - 1), 10**digits - 1).all()
    return digits >= _CARD or bool(even and not topic(each.name, "sensitive"))


def _counts_on(column: pd.Series) -> bool:
    """Tell whether a column of numbers counts the records."""
    numbers = column.dtype.kind in "iuf"
    return bool(numbers and column.notna().all() and column.nunique() == len(column) == column.max() - column.min() + 1)


def _speaks(each: Evidence, table: pd.DataFrame, people: bool) -> str | None:
    """Return what a column's name, or its cells in a table of people, say of it that nobody should learn."""
    if topic(each.name, "known") in ("age", "birth"):
        return None
    said = topic(each.name, "sensitive")
    if said or not people or each.name not in table or each.kind not in ("constant", "boolean", "category", "code"):
        return said
    cells = table[each.name].dropna().astype(str).str.strip()
    if each.kind in ("category", "code") and _are_illnesses(each.name, cells):
        return "health"
    if says(each.name, "treatments") and cells.str.fullmatch(_TREATMENT).all():
        return "health"
    answers = each.kind == "boolean" or (each.distinct <= _ANSWERS and not cells.str.contains(r"\d").any())
    return topic(each.name, "short") if answers else None


def _are_illnesses(name: str, cells: pd.Series) -> bool:
    """Tell whether cells are codes of illnesses: I50, J18.9; many begin with one that many people have, as few others.

    Codes of three signs are those of seats and areas too: more must be such ones, of several letters.
    """
    codes = cells[cells.str.fullmatch(_ICDS)].str.split(r"[;,|/ ]", n=1, regex=True).str[0]
    place = topic(name, "known") in ("place", "home", "work", "education")
    if len(codes) < _OFTEN * max(len(cells), 1) or place or says(name, "not_illness") or says(name, "direct"):
        return False
    begins = codes.str[:3]
    frequent = begins[begins.isin(words_of("frequent_illnesses"))]
    share, letters = len(frequent) / len(codes), frequent.str[0].nunique()
    least = _ICD_SHARE if (codes.str.len() > len("I50")).mean() >= 1 - _FULL else 2 * _ICD_SHARE
    return frequent.nunique() >= _FEWEST_ICD and share >= (least if letters >= _FEWEST_ICD else _OFTEN)


def _says_why(name: str, spoken: Mapping[str, str | None]) -> str:
    said = topic(name, "sensitive") or topic(name, "short")
    if said or says(name, "treatments"):
        return f"its name speaks of {_TOPICS[said or 'health']}"
    return "its cells are written as codes of illnesses are" if spoken[name] else ""


def _is_score(each: Evidence, column: pd.Series) -> bool:
    return each.kind == "number" and is_score(each.name, column.min(), column.max())


def _sensitive(columns: Sequence[Evidence], table: pd.DataFrame, spoken: Mapping[str, str | None]) -> list[Role]:
    """Return the columns that nobody should learn and that can be guessed wrong, by what each is ``spoken`` to be."""
    can = {each.name: each for each in columns if _can_be_guessed(table[each.name])}
    found = {
        name: Role(name, "sensitive", "likely", f"{_says_why(name, spoken)}; {_spread(table[name])}")
        for name in can
        if spoken[name] and not _is_score(can[name], table[name])
    }
    found = dict(sorted(found.items(), key=lambda item: table[item[0]].notna().mean() < _FILLED))  # these come last
    targets = _targets([name for name in can if name not in found], columns, table)
    if found or any(role.sure == "likely" for role in targets.values()):
        return _most_wanted(found, targets, list(can), spoken)
    can = {name: each for name, each in can.items() if not says(name, "direct")}
    unknown = [name for name, each in can.items() if _of_people(each) is None] or list(can)
    perhaps = [name for name in unknown if topic(name, "perhaps")]
    classes = [name for name in unknown if kind(table[name]) == "categorical"]
    none = "no column whose name speaks of something sensitive can be guessed"
    none = none if any(spoken.values()) else "no name speaks of something sensitive"
    for names, why in (
        (perhaps, "its name speaks of a result"),
        (classes, f"{none}; it is the last column of classes"),
        (unknown, f"{none}; it is the last column that varies"),
    ):
        if names:
            return [Role(names[-1], "sensitive", "a guess", f"{why}; {_spread(table[names[-1]])}")]
    return []


def _targets(names: Sequence[str], columns: Sequence[Evidence], table: pd.DataFrame) -> dict[str, Role]:
    """Return the columns that models of the table are made for: by their names, by their two values, or by place."""
    classes = [each.name for each in columns if _is_school_class(each)]
    able = [name for name in names if topic(name, "known") is None and not says(name, "direct")]
    found = {
        name: Role(name, "sensitive", "likely", f"its name says that models are made for it; {_spread(table[name])}")
        for name in able
        if is_target(name, last=name == columns[-1].name) and name not in classes
    }
    two = [each for each in columns if each.name in able and each.distinct == 2 and each.name not in found]
    for each in two:
        if is_outcome(table[each.name].dropna().unique()):
            why = f"its two values are what models are made for; {_spread(table[each.name])}"
            found[each.name] = Role(each.name, "sensitive", "likely", why)
    if not found and two and two[-1] is columns[-1] and max(map(len, words(two[-1].name)), default=0) <= _NO_WORD:
        why = f"its name says nothing, and it is the last column, of two values; {_spread(table[two[-1].name])}"
        found[two[-1].name] = Role(two[-1].name, "sensitive", "a guess", why)
    return found


def _most_wanted(
    found: Mapping[str, Role], targets: Mapping[str, Role], order: Sequence[str], spoken: Mapping[str, str | None]
) -> list[Role]:
    """Return as many columns as a study takes, in order: what models are made for first, then one of each topic."""
    by_name = [name for name in found if is_target(name)] + [n for n, role in targets.items() if role.sure == "likely"]
    topics = [spoken[name] for name in found]
    each_first = sorted(enumerate(found), key=lambda at: topics[: at[0]].count(topics[at[0]]))
    wanted = dict.fromkeys([*sorted(by_name, key=order.index), *(name for _, name in each_first), *targets])
    chosen = list(wanted)[:_MOST_SENSITIVE]
    return [{**found, **targets}[name] for name in order if name in chosen]


def _can_be_guessed(column: pd.Series) -> bool:
    """Tell whether a column can be guessed, and guessed wrong."""
    present = column.dropna()
    if not len(present):
        return False
    counts = present.value_counts()
    counts = counts[counts > 0]
    if kind(column) == "numeric":
        return column.dtype.kind != "M" and len(counts) > 2 and counts.iloc[0] <= _COMMONEST_NUMBER * len(present)
    often = counts[counts >= _FEWEST].sum() / len(present)
    return bool(len(counts) > 1 and counts.iloc[0] <= _COMMONEST * len(present) and often >= _MANY_CLASSES)


def _spread(column: pd.Series) -> str:
    if kind(column) == "numeric":
        return "a number"
    counts = column.value_counts()
    return f"{int((counts > 0).sum())} classes, the commonest with {counts.iloc[0] / counts.sum():.0%}"


def _is_school_class(each: Evidence) -> bool:
    french = "classe" in words(each.name) and _CLASSE.fullmatch(each.form)
    return says(each.name, "school") and bool(french or _SCHOOL_CLASS.fullmatch(each.form))


def _of_people(each: Evidence) -> str | None:
    """Return what is commonly known of people that a column speaks of; cp is a postcode only where its cells are."""
    if is_target(each.name) and _is_school_class(each):
        return "home"
    other = says(each.name, "postcode") and not _POSTCODE.match(each.form)
    said = words(each.name)
    states = len(said) >= _STATEMENT and not _FEELS.isdisjoint(said)
    months = each.kind == "number" and said == ["tenure"]
    known = None if other or states or months else topic(each.name, "known")
    decimals = each.kind == "number" and re.search(r"[.,]99", each.form)
    if known == "death" and each.kind not in ("date", "number"):  # whether somebody died, not when
        return None
    return None if known in ("sex", "ethnicity") and decimals else known


def _known(columns: Sequence[Evidence], spoken: Mapping[str, str | None]) -> list[Role]:
    """Return the columns that an attacker may know from elsewhere; one ``spoken`` of as sensitive only by name."""
    found = []
    for each in columns:
        said = _of_people(each) or ("place" if says(each.name, "direct", "address") else None)
        if said:
            found.append(Role(each.name, "quasi-identifier", "likely", _TOPICS[said]))
    topics = [topic(role.name, "known") for role in found]
    order = sorted(range(len(found)), key=lambda i: topics[:i].count(topics[i]))  # the first of each topic first
    found = [found[i] for i in sorted(order[:_MOST_KEYS])]
    names = {role.name for role in found}
    why = "too little is known by name; it has few enough values to be known"
    for each in columns:
        few = each.kind in ("category", "code", "boolean") and each.distinct <= _LEVELS
        few = few and not says(each.name, "direct") and not spoken[each.name]
        if len(found) < _FEWEST_KEYS and each.name not in names and few and each.kind != "constant":
            found.append(Role(each.name, "quasi-identifier", "a guess", why))
    for each in columns:
        if len(found) < 2 and each.name not in {role.name for role in found} and each.kind in ("number", "date"):
            found.append(Role(each.name, "quasi-identifier", "a guess", "too little is known by name"))
    return found


def of_meaning(found: Sequence[Role], meaning: Meaning) -> list[str]:
    """Return the names of the columns of one meaning."""
    return [role.name for role in found if role.meaning == meaning]


def _read(own: Reading | None, role: Reading | None) -> Reading | None:
    """Return the reading that the role asks for, with the missing codes of the column."""
    return role.model_copy(update={"missing": own.missing}) if role and own and own.missing else role or own


def settings_of(columns: Sequence[Evidence], found: Sequence[Role]) -> dict[str, Any]:
    """Return the settings of a study that say how the columns are read and what they mean."""
    readings = {each.name: _read(each.reading, role.reading) for each, role in zip(columns, found, strict=True)}
    kept = [role.name for role in found if role.meaning != "dropped"]
    entity = of_meaning(found, "identifier")
    own = {name: reading for name, reading in readings.items() if reading is not None and name in kept}
    codes = [each.name for each in columns if each.kind == "code" and each.name in kept and each.name not in entity]
    return {
        "quasi_identifiers": of_meaning(found, "quasi-identifier"),
        "sensitive": of_meaning(found, "sensitive"),
        "categorical": codes,
        "identifier": entity[0] if entity else None,
        "drop": of_meaning(found, "dropped"),
        "columns": {name: reading.model_dump(exclude_unset=True) for name, reading in own.items()},
    }
