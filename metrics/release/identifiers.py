"""Whose values are in a release: columns that no attack looks at, such as names, mail addresses and free texts."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.tables.codes import text_levels
from synthrisk.metrics.tables.kinds import kind

RELEASED = "released/identifiers"
"""The name under which such a finding stands among the limits."""
LEAST = 0.001
"""Share of the people in the data from which on it is a risk that values of theirs are released."""
WORDS = 8
"""So many words in a row are no phrase that two people happen to write."""

_LEVEL = 0.001  # of the one-sided test of each look: one column, or one pair of columns
_FEWEST = 20  # people of a control table: fewer are no comparison
_PERSONAL = 0.9  # share of the members who alone have their value: from there the column's values name persons
_ALIKE = re.compile(r"[\W_]+")
_SPACES = re.compile(r"\s+")
_APART = re.compile(r"""[\s<>()\[\]{}"',;:=|/\\]+""")  # between the words of a text that holds an identifier
_SHORTEST, _MOST_WORDS = 6, 5  # letters and digits of an identifier that is looked for inside texts, and its words

Way = Literal["as it is", "folded", "sequence", "inside"]
_IN_WORDS: Mapping[Way, tuple[str, str]] = {
    "as it is": ("values", ""),
    "folded": ("values", " (compared without case, spaces, accents and separators)"),
    "sequence": (f"sequences of {WORDS} words or more", ""),
    "inside": ("values", " (inside longer texts)"),
}


@dataclass(frozen=True)
class ReleasedColumn:
    """How many people have a value of theirs in one column of a release; no value is in it."""

    column: str  # column of the release, as it may be told
    real: str  # column of the real table whose values were looked for; empty where none has any
    way: Way  # how values were compared
    members: int  # people in the data of whom a value is in the release
    of_members: int  # people in the data who have a value
    controls: int  # the same of people whom the release never saw
    of_controls: int
    expected: float  # share of the members of whom chance alone releases a value; NaN where nothing was compared
    severity: Literal["risk", "note", ""]
    words: str  # what was seen, in a sentence; empty where nothing is worth a word


@dataclass(frozen=True)
class Released:
    """What the columns of all releases of one synthesizer hold of real people."""

    risks: tuple[str, ...] = ()  # by column: of how many people values are released, in words, where that is a risk
    share: float = float("nan")  # the largest share of the people in the data of whom a value is released so
    notes: tuple[str, ...] = ()  # what else is worth knowing, in words

    @property
    def risk(self) -> str:
        """All risks in a sentence; empty where members have no more values there than other people do."""
        return "; ".join(self.risks)


def released_values(
    real: pd.DataFrame,
    member: Any,
    release: pd.DataFrame,
    entities: np.ndarray | None = None,
    attacked: Collection[str] = (),
) -> tuple[ReleasedColumn, ...]:
    """Look in each column of a release for values that real people have.

    A person has a value released where one of his records holds a value of the column that the release holds, too:
    as it is, or after case, spaces, accents and separators are taken off (``folded``); or, of free texts, where a
    sequence of eight words of his is in a released text. Values that name persons (nine in ten people have one of their
    own) are also looked for inside the texts of every other column, and of their own: ``mailto:`` before an address
    hides nothing. x = share of the members of whom a value is released, with
    c = the same of control records. Of a column that the real table does not have, the values are looked for in all
    real columns: it may be an identifier under another name.

    Chance: a stranger's release of m rows holds the value of a member who shares it with f - 1 of the other n - 1
    with probability 1 - (1 - m/(n - 1))^(f - 1), for m < n: members are strangers to each other. Beyond n rows it is
    taken to grow in proportion, which is more than it does. Of values that one person alone has it is 0; whole
    numbers are beside what as many numbers between the smallest and the largest would meet.

    A column that is not attacked is a **risk** where x is above c, or above chance where there are fewer than 20
    control records, by one in 1,000 at least, and by Fisher's exact test at .001. Where no control record has a value
    there, members are set against control records and chance together: n + c people, of whom chance alone explains
    some. Where members have values there as often as other people do, it is a note: a public list, a shared code list.
    A column that numbers the rows is none.

    Args:
        real: Real records, with all their columns.
        member: For each True (the release may be made from it), False (a control record), or NA (neither).
        release: The released rows; any columns.
        entities: Number of each record's person; None where each is one of his own.
        attacked: Columns that attacks look at: of these only what names single persons is told, and never as a risk.

    Returns:
        One ``ReleasedColumn`` for each column that is left out or extra, and for each attacked one of texts or levels.

    Example:
        >>> people = pd.DataFrame({"mail": [f"p{i}@example.org" for i in range(200)]})
        >>> member = np.arange(200) < 100
        >>> (found,) = released_values(people, member, people[:50])
        >>> found.severity, found.words
        ('risk', 'mail: values of 50 of 100 people in the data are in the release, of 0 of 100 other people')
    """
    groups = pd.array(member, dtype="boolean")
    members, controls = (np.flatnonzero(side.fillna(False).to_numpy(bool)) for side in (groups, ~groups))
    people = _People(members, controls, np.arange(len(real)) if entities is None else entities)
    sides: dict[str, _Column] = {}

    def side(name: str) -> _Column:
        if name not in sides:
            sides[name] = _Column.of(real[name])
        return sides[name]

    known = [str(c) for c in real.columns]
    personal = [c for c in known if c not in attacked and _names_persons(side(c), people)]
    most = max((len(_APART.split(text.strip())) for name in personal for text in side(name).levels), default=0)
    found: list[ReleasedColumn] = []
    for name in map(str, release.columns):
        if name in attacked and (name not in known or kind(real[name]) != "categorical"):
            continue
        own = _Column.of(release[name])
        told = name if name in known else _told(name, len(found), [side(each) for each in known])
        if name in known:
            looks = [_look(name, side(name), own, people, name in attacked)]
        else:
            looks = [_look(told, side(each), own, people, False, each, len(known)) for each in known]
        parts = _parts(own.levels, most) if personal else set()
        for each in personal:
            hits = _inside(side(each), parts)
            looks.append(_counted(told, hits, side(each), own, people, each, len(personal), False))
        found.append(_strongest(told, looks, name in known))
    return tuple(found)


def in_all(looks: Sequence[Sequence[ReleasedColumn]]) -> Released:
    """Combine what was seen in all releases of one synthesizer: of each column what is worst, with how often.

    Example:
        >>> people = pd.DataFrame({"mail": [f"p{i}@example.org" for i in range(100)]})
        >>> some = released_values(people, np.ones(100, dtype=bool), people[:40])
        >>> in_all([some, ()]).risk
        '1 of 2 releases: mail: values of 40 of 100 people in the data are in the release'
    """
    told: dict[tuple[str, str], list[ReleasedColumn]] = {}
    for each in (column for look in looks for column in look if column.words):
        told.setdefault((each.severity, each.column), []).append(each)
    words: dict[str, list[str]] = {"risk": [], "note": []}
    for (severity, _), own in told.items():
        worst = max(own, key=lambda each: each.members)
        words[severity].append(("" if len(looks) == 1 else f"{len(own)} of {len(looks)} releases: ") + worst.words)
    shares = [e.members / e.of_members for (severity, _), own in told.items() if severity == "risk" for e in own]
    return Released(tuple(words["risk"]), max(shares, default=float("nan")), tuple(words["note"]))


def as_plain(looks: Sequence[ReleasedColumn]) -> list[dict[str, Any]]:
    """Return what was seen as plain values, for JSON."""
    return [asdict(each) for each in looks]


def from_plain(values: Sequence[Mapping[str, Any]]) -> tuple[ReleasedColumn, ...]:
    """Return what ``as_plain`` has made plain.

    Example:
        >>> seen = released_values(pd.DataFrame({"x": ["a"]}), [True], pd.DataFrame({"x": ["a"]}))
        >>> from_plain(as_plain(seen)) == seen
        True
    """
    return tuple(ReleasedColumn(**each) for each in values)


def folded(text: str) -> str:
    """Return a text without case, accents and all that is no letter or digit; of a number without leading zeros.

    Example:
        >>> folded(" José  O'Neill-Łopez "), folded("0043 664/123"), folded("--")
        ('joseoneillłopez', '43664123', '')
    """
    return _without_zeros(_bare(text))


def _bare(text: str) -> str:
    if not text.isascii():
        text = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return _ALIKE.sub("", text.casefold())


def _without_zeros(bare: str) -> str:
    return (bare.lstrip("0") or "0") if bare.isdigit() else bare


class _People(NamedTuple):
    members: np.ndarray  # positions of their records
    controls: np.ndarray
    whose: np.ndarray  # (n,) number of each record's person


class _Column(NamedTuple):
    """A column as texts."""

    codes: np.ndarray  # (n,) number of each cell's level; -1 missing
    levels: list[str]

    @classmethod
    def of(cls, column: pd.Series) -> "_Column":
        return cls(*text_levels(column))


class _Hits(NamedTuple):
    """Of the levels of a real column: whether the release holds one, and the keys by which levels are alike."""

    way: Way
    levels: np.ndarray  # (levels,) whether the release holds it
    keys: Sequence[Collection[str | int]]  # of each level; none where it has no part in the comparison


def _look(
    told: str, real: _Column, own: _Column, people: _People, attacked: bool, renamed: str = "", looks: int = 1
) -> ReleasedColumn:
    """Return what one column of the release holds of one real column, in the way that shows most."""
    found = [_counted(told, hits, real, own, people, renamed, looks, attacked) for hits in _ways(real, own, attacked)]
    return _strongest(told, found, renamed == "")


def _strongest(told: str, looks: Sequence[ReleasedColumn], known: bool = False) -> ReleasedColumn:
    order = ("", "note", "risk")
    worst = max(looks, key=lambda each: (order.index(each.severity), each.severity != "" and each.members))
    if worst.severity or known:
        return worst
    words = f"{told}: a column that the real table does not have; it holds no more values of the people in the data"
    return ReleasedColumn(told, "", "as it is", 0, 0, 0, 0, float("nan"), "note", f"{words} than of other people")


def _ways(real: _Column, own: _Column, attacked: bool) -> list[_Hits]:
    there = set(own.levels)
    ways = [_hits("as it is", [[each] for each in real.levels], there)]
    if attacked:
        return ways
    bare = {folded(each) for each in own.levels} - {""}
    ways.append(_hits("folded", [[each] if each else [] for each in map(folded, real.levels)], bare))
    spoken = [_sequences(each) for each in real.levels]
    if sum(map(bool, spoken)) >= max(1, 0.01 * len(spoken)):
        ways.append(_hits("sequence", spoken, set().union(*map(_sequences, own.levels))))
    return ways


def _hits(way: Way, keys: Sequence[Collection[str | int]], there: AbstractSet[str | int]) -> _Hits:
    return _Hits(way, np.array([not there.isdisjoint(each) for each in keys], dtype=bool), keys)


def _inside(real: _Column, parts: AbstractSet[str]) -> _Hits:
    """Look for the values of a column that names persons among the parts of texts."""
    keys = [[key] if (key := _identifier(each)) else [] for each in real.levels]
    return _hits("inside", keys, parts)


def _identifier(text: str) -> str:
    """Return what is looked for inside texts; nothing of what is short, or a text itself."""
    bare = folded(text)
    return bare if len(bare) >= _SHORTEST and len(_APART.split(text.strip())) <= _MOST_WORDS else ""


def _parts(texts: Sequence[str], most: int) -> set[str]:
    """Return all sequences of up to so many words of texts, without what folding takes off."""
    bare: dict[str, str] = {}
    parts = set()
    for text in texts:
        words = []
        for word in _APART.split(text):
            if word not in bare:
                bare[word] = _bare(word)
            if bare[word]:
                words.append(bare[word])
        for i in range(len(words)):
            joined = ""
            for word in words[i : i + min(most, _MOST_WORDS)]:
                joined += word
                if len(joined) >= _SHORTEST:
                    parts.add(joined)
                    if joined[0] == "0":
                        parts.add(_without_zeros(joined))
    return parts


def _names_persons(real: _Column, people: _People) -> bool:
    """Tell whether nearly every member has a value of his own that is no short code and no text."""
    none = _inside(real, set())
    if sum(map(bool, none.keys)) < _PERSONAL * max(len(none.keys), 1):
        return False
    return _by_chance(none, real, people, 0)[0] >= _PERSONAL


def _sequences(text: str) -> set[int]:
    """Return numbers that stand for the sequences of eight words of a text."""
    words = [bare for word in _SPACES.split(text) if (bare := folded(word))] if text.count(" ") >= WORDS - 1 else []
    return {hash(tuple(words[i : i + WORDS])) for i in range(len(words) - WORDS + 1)}


def _counted(
    told: str, hits: _Hits, real: _Column, own: _Column, people: _People, renamed: str, looks: int, attacked: bool
) -> ReleasedColumn:
    taken = np.array([bool(each) for each in hits.keys] + [False])
    hit = np.append(hits.levels, [False])
    k, n = _persons(people.members, real.codes, hit, taken, people.whose)
    controls, c = _persons(people.controls, real.codes, hit, taken, people.whose)
    alone, expected = _by_chance(hits, real, people, int((own.codes >= 0).sum()))
    if c < _FEWEST:
        controls, c = 0, 0
        expected = max(expected, _density(real.levels, own.levels))
    column = ReleasedColumn(told, renamed or told, hits.way, k, n, controls, c, expected, "", "")
    if not k:
        return column
    others, of_others = (controls, c) if c else (int(np.ceil(expected * n)), n)
    luck = _by_luck(k, n, others, of_others)
    if c and not controls:  # nothing speaks for a list that both share: that members share no values counts, too
        by_chance = max(expected, _density(real.levels, own.levels))
        luck = min(luck, _by_luck(k, n, int(np.ceil(by_chance * n)), n + c))
    is_more = k / n - others / of_others >= LEAST and luck < _LEVEL / looks
    what, how = _IN_WORDS[hits.way]
    place = "inside its texts" if hits.way == "inside" else "in the release under this name"
    where = f"values of column {renamed!r} are {place}, of" if renamed else f"{what} of"
    words = f"{told}: {where} {k:,} of {n:,} people in the data" + ("" if renamed else " are in the release")
    words += (f", of {controls:,} of {c:,} other people" if c else "") + how
    if attacked:
        noted = is_more and alone >= _PERSONAL
        return _said(column, "note", f"{words}; set a limit on one_person_values") if noted else column
    if is_more and not _numbers_rows(own):
        explained = round(expected * n)
        return _said(column, "risk", words + (f"; chance explains {explained:,}" if explained and not c else ""))
    beyond = int(np.ceil(expected * n))
    if not renamed and k / n - beyond / n >= LEAST and _by_luck(k, n, beyond, n) < _LEVEL:
        why = "it numbers the rows" if _numbers_rows(own) else "no more than others, as of a list that both share"
        return _said(column, "note", f"{words}: {why}")
    return column


def _said(column: ReleasedColumn, severity: Literal["risk", "note"], words: str) -> ReleasedColumn:
    return ReleasedColumn(**asdict(column) | {"severity": severity, "words": words})


def _persons(
    rows: np.ndarray, codes: np.ndarray, hit: np.ndarray, taken: np.ndarray, whose: np.ndarray
) -> tuple[int, int]:
    """Return how many persons have a value that the release holds, and how many have a value."""
    own = rows[taken[codes[rows]]]
    return len(np.unique(whose[own[hit[codes[own]]]])), len(np.unique(whose[own]))


def _by_chance(hits: _Hits, real: _Column, people: _People, rows: int) -> tuple[float, float]:
    """Return the share of the members who alone have their value, and of whom chance alone releases one."""
    held = np.unique(np.column_stack([people.whose[people.members], real.codes[people.members]]), axis=0)
    held = held[held[:, 1] >= 0]
    sharing: Counter[str | int] = Counter()
    for code, persons in zip(*np.unique(held[:, 1], return_counts=True), strict=True):
        sharing.update(dict.fromkeys(hits.keys[code], int(persons)))
    most = np.array([max((sharing[key] for key in keys), default=0) for keys in hits.keys], dtype=float)
    held = held[most[held[:, 1]] > 0] if len(most) else held
    persons = np.unique(held[:, 0], return_inverse=True)[1]
    n = int(persons.max()) + 1 if len(persons) else 0
    if n < 2:
        return 0.0, 0.0
    with_most = np.zeros(n)
    np.maximum.at(with_most, persons, most[held[:, 1]])
    share = rows / (n - 1)
    expected = float(np.mean(1 - (1 - min(share, 1.0)) ** (with_most - 1)))
    return float((with_most == 1).mean()), min(1.0, expected * max(share, 1.0))


def _density(real: Sequence[str], own: Sequence[str]) -> float:
    """Return which share of the whole numbers of a column's range the release holds; 0 of anything else."""
    texts = [*real, *own]
    if not own or not all(each.removeprefix("-").isdecimal() and len(each) < 16 for each in texts):
        return 0.0
    numbers = [int(each) for each in texts]
    return len(set(own)) / (max(numbers) - min(numbers) + 1)


def _numbers_rows(own: _Column) -> bool:
    """Tell whether a released column is 0, 1, 2 ... or 1, 2, 3 ... in the order of the rows."""
    if len(own.codes) != len(own.levels) or not all(map(str.isdecimal, own.levels[:2])):
        return False
    first = int(own.levels[0])
    return first in (0, 1) and own.levels == [str(first + i) for i in range(len(own.levels))]


def _by_luck(k: int, n: int, others: int, of_others: int) -> float:
    """Return how likely luck gives the first group k or more of the k + others that there are: Fisher's exact test."""
    from scipy.stats import hypergeom

    return float(hypergeom.sf(k - 1, n + of_others, k + others, n))


def _told(name: str, place: int, real: Sequence[_Column]) -> str:
    """Return how an extra column is called: by its name, unless a part of this is a value of the real table."""
    parts = {folded(name), *map(folded, re.split(r"[\W_]+", name))} - {""}
    if any(folded(each) in parts for column in real for each in column.levels):
        return f"column {place + 1} beside those attacked"
    return name
