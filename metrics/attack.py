"""What an attack is: it sees the release and what an attacker knows of each target, and claims something or abstains.

An attack never sees the truth: the framework hands it the release, the declared columns of the targets and a
generator, and scores what it claims. One file makes a new attack::

    from synthrisk.metrics.attack import Attack

    def most_frequent(release, known, secret, rng):
        value = release[secret].mode()[0]
        return pd.DataFrame({"guessed": value, "confidence": 1.0}, index=known.index)

    MOST_FREQUENT = Attack("most_frequent", "inference", most_frequent)

and an entry point of the group ``synthrisk.attacks`` names it. ``synthrisk.metrics.testing.check_attack`` tests it.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import InputError, nearest, type_of
from synthrisk.metrics.score import said_of

AttackKind = Literal["inference", "linkability", "singling_out", "membership"]
HANDED = {
    "inference": ("release", "known", "secret", "rng"),
    "linkability": ("release", "part_a", "part_b", "rng"),
    "singling_out": ("release", "rng"),
    "membership": ("release", "known", "rng"),
}
"""What an attack of each kind is handed, in this order."""
CLAIMED = {"inference": "guessed", "linkability": "match", "singling_out": "predicate", "membership": "confidence"}
"""The column of claims that an attack of each kind returns beside ``confidence``; a missing cell abstains."""


@dataclass(frozen=True, eq=False, repr=False)
class Attack:
    """An attack of one of four kinds.

    Attributes:
        name: Register name.
        kind: ``inference``: guesses the cell of the column ``secret`` of each row of ``known``. ``linkability``:
            matches each row of ``part_a`` with a row of ``part_b`` (its index label). ``singling_out``: names for
            each row of ``release`` a predicate, or a list of predicates, each of which it takes to hold for one person
            alone: a tuple of conditions (column, operator, value) with ``==``, ``<=``, ``>=`` or ``missing``; with an
            option ``rows`` it is told the positions of the rows that count. ``membership``: says of each row of
            ``known`` how likely the synthesizer has seen it.
        function: ``function(*handed, **options)``, with what ``HANDED`` lists and options of its own as keywords;
            returns a frame with the index of the rows that it speaks about, the column that ``CLAIMED`` names
            (missing = abstains) and ``confidence``, higher where it is surer.
        reference: Source.
    """

    name: str
    kind: AttackKind
    function: Callable[..., pd.DataFrame]
    reference: str = ""

    @property
    def said(self) -> str:
        """What it does, in one line: the first of its function's docstring."""
        return said_of(self.function)

    def __repr__(self) -> str:
        """Show its name, kind and what it does."""
        return f"<Attack {self.name} ({self.kind}): {self.said}>"

    @cached_property
    def options(self) -> tuple[str, ...]:
        """The options of its own that the attack takes."""
        return tuple(inspect.signature(self.function).parameters)[len(HANDED[self.kind]) :]

    def check_options(self, options: dict[str, Any]) -> None:
        """Refuse options that the attack does not take."""
        for name in options:
            if name not in self.options:
                takes, hint = ", ".join(self.options) or "none", nearest(name, self.options)
                raise InputError(f"attack {self.name} takes no option {name!r}{hint}; it takes {takes}")

    def claims(self, index: pd.Index, *handed: Any, **options: Any) -> pd.DataFrame:
        """Run the attack and return what it claims: a row for each label of ``index``, checked."""
        return self.checked(self.function(*handed, **options), index)

    def checked(self, found: Any, index: pd.Index) -> pd.DataFrame:
        """Return what the attack returned with its confidence as numbers; refuse what breaks the contract."""
        rule = f"attack {self.name} must return a DataFrame of pandas"
        if not isinstance(found, pd.DataFrame):
            raise InputError(f"{rule}, got {type_of(found)}")
        if self.kind == "inference" and CLAIMED["inference"] not in found:
            found = found.rename(columns={"guess": CLAIMED["inference"]})  # the column's name until it had its own
        for column in dict.fromkeys([CLAIMED[self.kind], "confidence"]):
            if column not in found:
                raise InputError(f"{rule} with a column {column!r}, got {list(found.columns)!r}")
        if len(found) != len(index) or not found.index.equals(index):
            raise InputError(f"{rule} with the index that it was handed, {len(index)} rows, got {len(found)} rows")
        confidence = pd.to_numeric(found["confidence"], errors="coerce").to_numpy(dtype=float)
        if np.isinf(confidence).any():
            raise InputError(f"{rule} whose confidence is finite, got an infinity")
        return found.assign(confidence=confidence)
