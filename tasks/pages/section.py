"""What a section of the report is, and what it is shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.results import (
    Overview,
    StudyResult,
    is_reference,
    ordered_measures,
    ordered_names,
    overview,
)
from synthrisk.tasks.workspace.references import Judged

MOST = 12
"""Synthesizers that a figure draws; the tables have all."""


class Notes:
    """Reasons and limits, numbered in the order in which the page refers to them."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def number(self, text: str) -> int:
        """Return the number of a note; 0 for an empty one."""
        if text and text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1 if text else 0


@dataclass(frozen=True)
class Shown:
    """What the sections of one page are made of."""

    judged: Judged  # the study: its result, and the table and releases that it is said of
    settings: str  # what was asked, as YAML
    notes: Notes = field(default_factory=Notes)
    most: int = MOST  # synthesizers that a figure draws

    @property
    def result(self) -> StudyResult:
        """What the study says."""
        return self.judged.result

    @cached_property
    def overview(self) -> Overview:
        """The answer of the study, in the words that every place has."""
        return overview(self.result)

    @cached_property
    def names(self) -> list[str]:
        """The names of all generators, in the order of every table and figure."""
        return ordered_names(self.result)

    @cached_property
    def own(self) -> list[str]:
        """The names of those that are no reference generators."""
        return [name for name in self.names if not is_reference(self.result, name)]

    @cached_property
    def measures(self) -> list[Measure]:
        """The measures in the order of the study."""
        return ordered_measures(self.result)


@dataclass(frozen=True)
class Section:
    """One section of the report: the first stands open, all others are closed until somebody opens them.

    Attributes:
        name: Its anchor, and its name in the register.
        title: Its heading, and its line in the list of contents.
        template: A template of ``tasks/pages/sections``, or ``<package>:<file>`` in a package of one's own. It has what
            ``context`` gives, ``shown``, and the functions and macros of ``macros.html``.
        context: What the template needs of what is shown; None where the section has nothing to say and is left out.
        private: Whether it names values of the real table, be it of groups of records alone: it stays in the workspace,
            and tracking gets the page without it (``without_values``), unless the study tracks full records.
    """

    name: str
    title: str
    template: str
    context: Callable[[Shown], Mapping[str, Any] | None]
    private: bool = False
