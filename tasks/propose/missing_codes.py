"""Cells that rather say that an answer is missing than that they are one."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from synthrisk.tasks.propose.cells import Cells
from synthrisk.tasks.propose.names import says, words_of
from synthrisk.tasks.workspace.folded import folded

_TWO_LETTERS = re.compile(r"[A-Z]{2}")
_COUNTRIES = 10  # two-letter codes from which NA is Namibia
_NAMED_COUNTRIES = 3  # the same in a column that is called country
_MOST_WORDS, _FEWEST_NUMBERS = 3, 20
_FEWEST_CELLS = 5  # that one word or number must have, so that what a single person has is no code
_MOST_OF_WORDS = 0.5  # share of the cells that words for a missing number may have
_NINES = re.compile(r"-?(9{2,}|8{2,}|7{2,})|-?[1-9]|-?9\d")
_FAR = 0.5  # of the range of all other numbers: how far off a code lies
_HEAP = 5  # times as frequent as the numbers beside it


def markers(cells: Cells, *, of_categories: bool) -> list[str]:
    """Return the texts that mean a missing cell wherever they stand; in ``of_categories`` some are answers."""
    codes = [t for t in cells.counts.index if _TWO_LETTERS.fullmatch(t)]
    known = words_of("missing") if of_categories else words_of("missing") | words_of("no_answer")
    found = [t for t in cells.counts.index if folded(t).replace(" ", "-") in known]
    enough = _NAMED_COUNTRIES if says(cells.name, "country") else _COUNTRIES
    countries = len(codes) > enough and len(codes) > 0.9 * len(cells.counts)
    return [t for t in found if not (countries and t == "NA")]


def words_among_numbers(cells: Cells) -> list[str]:
    """Return the few words that stand again and again among many numbers or dates: they say that none is known."""
    words = [text for text in cells.counts.index if not re.search(r"\d", text)]
    often = all(cells.counts[text] >= _FEWEST_CELLS for text in words)
    rare = cells.counts[words].sum() <= _MOST_OF_WORDS * cells.filled
    few = 0 < len(words) <= _MOST_WORDS and len(cells.counts) - len(words) >= _FEWEST_NUMBERS
    return words if few and often and rare else []


def number_codes(numbers: pd.Series, counts: np.ndarray) -> list[str]:
    """Return the numbers that rather mean a missing cell: negative ones among others that are not, and far-off nines.

    Args:
        numbers: Each distinct number, by its text.
        counts: How many cells each has.
    """
    suspects = [t for t in numbers.index if _NINES.fullmatch(re.sub(r"\.0+$", "", t))]
    found: list[str] = []
    left = pd.Series(counts, index=numbers.index)
    for text in sorted(suspects, key=lambda t: -abs(numbers[t])):
        others = numbers.drop([text, *found])
        if len(others) > 1 and _is_code(float(numbers[text]), int(left[text]), others, left[others.index]):
            found.append(text)
    return found


def _is_code(number: float, count: int, others: pd.Series, counts: pd.Series) -> bool:
    if count < _FEWEST_CELLS:
        return False
    plain = others[others > 0] if number < 0 else others
    if number < 0:
        small = others[others < 0]
        all_suspect = all(_NINES.fullmatch(re.sub(r"\.0+$", "", t)) for t in small.index)
        return number.is_integer() and all_suspect and len(small) <= 4 and len(plain) >= 2
    top, low = float(others.max()), float(others.min())
    if number <= top or not set(str(int(number))) <= {"7", "8", "9"}:
        return False
    if number < 10:  # a code list such as 1, 2, 9
        return (
            len(others) <= 7
            and number - top >= 2
            and bool((others % 1 == 0).all())
            and bool(others.between(0, 7).all())
        )
    far = number - top > _FAR * (top - low)
    beside = counts[others.nlargest(10).index].mean()
    return bool(far or (number - top >= 2 and count > _HEAP * beside))


def spelled(texts: Sequence[str]) -> str:
    """Return missing codes as words."""
    return ", ".join(repr(text) for text in texts)
