"""What the name of a column says, in the languages that tables are written in: ``names.yaml`` lists the words."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files

import yaml

from synthrisk.tasks.workspace.files.cell_texts import folded

_HEAD, _STEM = 5, 6  # letters of a word, or of its beginning, from which it is known at the end of a compound
_BEFORE = 3  # letters that stand before it
_BETWEEN = r"(?:(?![\u0900-\u0963\u0966-\u0dff])[\W_])+"  # words; Indian vowels are no letters to Python


def words(name: str) -> list[str]:
    """Return the words of a column's name, folded; numbers are left out.

    Example:
        >>> words("dateOfBirth"), words("Geburts-Datum_2"), words("CASE_ID")
        (['date', 'of', 'birth'], ['geburts', 'datum'], ['case', 'id'])
    """
    return [folded(word) for word in _written(name)]


def _written(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-zà-ÿ0-9])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zà-ÿ])", " ", name)
    return [word for word in re.split(_BETWEEN, re.sub(r"\d+", " ", spaced)) if word]


def says(name: str, list_of: str, topic: str = "") -> bool:
    """Tell whether the name of a column is in a list of words, or in one topic of it.

    Example:
        >>> says("Wohnort", "known", "place"), says("wage_eur", "known", "age"), says("person_id", "identifier")
        (True, False, True)
        >>> says("Hauptdiagnose", "sensitive", "health"), says("Heimatregion", "known", "place")
        (True, True)
    """
    entries = _lists()[list_of]
    texts = [entries] if isinstance(entries, str) else [entries[topic]] if topic else list(entries.values())
    return any(_is_in(name, text) for text in texts)


def is_target(name: str, *, last: bool = False) -> bool:
    """Tell whether the name of a column says that models of its table are made for it; the last one needs to say less.

    Example:
        >>> is_target("Class"), is_target("loan_default"), is_target("class_size"), is_target("Ziel")
        (True, True, False, True)
    """
    topics: dict[str, str] = _lists()["target"]  # type: ignore[assignment]
    whole = topics["whole"].split() + (topics["last"].split() if last else [])
    return "_".join(words(name)) in whole or says(name, "target", "word")


def is_outcome(values: Iterable[object]) -> bool:
    """Tell whether each of some values is one that models are made to tell.

    Example:
        >>> is_outcome(["Good", "Bad"]), is_outcome(["yes", "no"])
        (True, False)
    """
    topics: dict[str, str] = _lists()["target"]  # type: ignore[assignment]
    return {folded(str(value).strip()) for value in values} <= set(topics["answers"].split())


_SCORES = {"handicap": ((-10, 54),), "golf_handicap": ((-10, 54),), "voto": ((18, 31), (60, 112))}


def is_score(name: str, low: float, high: float) -> bool:
    """Tell whether numbers from one to another are a golfer's handicap or marks of an exam: no illness, and no vote.

    Example:
        >>> is_score("Handicap", 0, 36), is_score("handicap", 20, 99), is_score("Voto", 18, 30), is_score("voto", 1, 4)
        (True, False, True, False)
    """
    return any(first <= low < high <= last for first, last in _SCORES.get("_".join(words(name)), ()))


def topic(name: str, list_of: str) -> str | None:
    """Return the first topic of a list that the name of a column belongs to."""
    entries = _lists()[list_of]
    topics = {} if isinstance(entries, str) else entries
    return next((each for each, words in topics.items() if _is_in(name, words)), None)


def words_of(list_of: str) -> frozenset[str]:
    """Return the words of a list without topics."""
    return frozenset(str(_lists()[list_of]).split())


@cache
def _lists() -> dict[str, str | dict[str, str]]:
    return yaml.safe_load((files(__package__) / "names.yaml").read_text("utf-8"))


@lru_cache(100_000)
def _is_in(name: str, entries: str) -> bool:
    found = words(name)
    beside = "_".join(found)
    found = [*found, *(word.casefold() for word in _written(name))]  # Lön is no lon
    fitting = [entry for entry in entries.split() if _fits(entry.removeprefix("!"), found, beside)]
    return bool(fitting) and not any(entry.startswith("!") for entry in fitting)


def _fits(entry: str, found: list[str], beside: str) -> bool:
    bare = entry.strip("*=~")
    if entry.startswith("="):
        return beside == bare
    if "_" in bare:
        return beside == bare or beside.startswith(f"{bare}_") or beside.endswith(f"_{bare}") or f"_{bare}_" in beside
    if entry.startswith("*") and entry.endswith("*"):
        return bare in beside
    if entry.startswith("*"):
        return any(word.endswith(bare) for word in found)
    begins, alone = entry.endswith("*"), entry.startswith("~")
    return any(
        (word.startswith(bare) if begins else word == bare) or (not alone and _is_compound(word, bare, begins))
        for word in found
    )


def _is_compound(word: str, bare: str, begins: bool) -> bool:
    """Tell whether a word ends in one of the lists, as compounds do: Hauptdiagnose, kuukausipalkka, Wohnkanton."""
    if len(bare) < (_STEM if begins else _HEAD) or len(word) < len(bare) + _BEFORE:
        return False
    return bare in word[_BEFORE:] if begins else word.endswith(bare)
