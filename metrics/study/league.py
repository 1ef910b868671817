"""The league table, whoever draws it: its rows and columns, what each cell holds, and the verdict of a row.

The terminal, the page and ``synthrisk compare`` choose how it looks, not what it says.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import isnan
from typing import get_args

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.study.answer import Answer
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import holds_for, worst

_NO_GUESS = "nothing is guessed here, so there is no guess to compare with"
_NO_S = (
    "the risk is the share of the members that are found, not of the claims that are right, so the statistical guess "
    "S, which is a share of claims, is no yardstick of it"
)


@dataclass(frozen=True)
class Column:
    """A column of numbers."""

    name: str
    signed: bool = False  # whether its values are gains or differences, which carry their sign
    has_interval: bool = False  # whether its cells read ``value [lower, upper]``
    is_brief: bool = False  # whether the narrow tables of the terminal have it too


COLUMNS = (
    Column("risk", has_interval=True, is_brief=True),
    Column("guess"),
    Column("gain over guess", signed=True),
    Column("control", is_brief=True),
    Column("gain over control", signed=True),
    Column("memorization", signed=True, has_interval=True, is_brief=True),
)
BRIEF = tuple(c for c in COLUMNS if c.is_brief)


@dataclass(frozen=True)
class LeagueRow:
    """One row: what a study says of a synthesizer or reference generator, and a measure."""

    synthesizer: str  # name of the generator
    role: str  # ``synthesizer`` or ``reference``
    measure: str  # key of the measure; empty for a generator that failed, which has one row and no cells
    # value of each column by its name; the note of a value that is absent says why
    cells: Mapping[str, Estimate] = field(default_factory=dict)
    word: str = ""  # the worst verdict on this measure; empty where the measure has no limit
    finding: Finding | None = None  # where the values are from, if the study is at hand
    failure: str = ""
    study: str = ""

    @property
    def verdict(self) -> str:
        """The verdict on this measure, or why there is none."""
        return self.word or ("reference" if self.role == "reference" else "no limit")


def league(result: StudyResult) -> dict[str, list[LeagueRow]]:
    """Return the rows of a study by measure, in one order everywhere; failed generators under an empty key."""
    found = {(f.measure, f.synthesizer): f for f in result.findings}
    names = ordered_names(result)
    rows = {m.key: [_row(result, found[m, n]) for n in names if (m, n) in found] for m in ordered_measures(result)}
    failed = [
        LeagueRow(n, "reference" if is_reference(result, n) else "synthesizer", "", word="FAILED", failure=reason)
        for n, reason in result.failures.items()
    ]
    return rows | ({"": failed} if failed else {})


def ordered_names(result: StudyResult) -> list[str]:
    """Return the names in the order of every table and figure: synthesizers, then references by their answer."""
    names = list(dict.fromkeys([*result.synthesizers, *(f.synthesizer for f in result.findings), *result.failures]))
    return sorted(names, key=lambda n: place(result.answers.get(n, "")) if is_reference(result, n) else -1)


def ordered_measures(result: StudyResult) -> list[Measure]:
    """Return the measures in the order of the study."""
    return list(dict.fromkeys(f.measure for f in result.findings))


def promised(result: StudyResult) -> dict[str, str]:
    """Return the epsilon of each generator that promises differential privacy, by its name; empty where none does."""
    return {name: own["epsilon"] for name, own in result.settings.items() if "epsilon" in own}


def place(answer: str) -> int:
    """Return the place of a reference generator among all, by its answer; one without comes last."""
    order = get_args(Answer)
    return order.index(answer) if answer in order else len(order)


def is_reference(result: StudyResult, name: str) -> bool:
    """Tell whether a name is that of a reference generator."""
    roles = {f.synthesizer: f.role for f in result.findings} | {n: s.get("role") for n, s in result.settings.items()}
    return roles.get(name) == "reference"


def interval_text(lower: float, upper: float, number: Callable[[float], str]) -> str:
    """Return the interval as it stands behind a value; ``number`` is how the medium writes numbers.

    Example:
        >>> interval_text(0.1, 0.25, "{:.2f}".format), interval_text(float("nan"), 0.25, str)
        ('[0.10, 0.25]', '[no interval]')
    """
    return "[no interval]" if isnan(lower) or isnan(upper) else f"[{number(lower)}, {number(upper)}]"


def _row(result: StudyResult, f: Finding) -> LeagueRow:
    own = [v.word for v in result.verdicts if v.synthesizer == f.synthesizer and holds_for(v.quantity, f.measure)]
    return LeagueRow(f.synthesizer, f.role, f.measure.key, _cells(f), worst(own), f, study=result.study_id)


def _cells(f: Finding) -> dict[str, Estimate]:
    unguessed = _NO_S if f.is_of_claims else _NO_GUESS
    always = f.risk_gain.note or "the guess is always right: no gain is possible"
    return {
        "risk": f.risk,
        "guess": replace(NOT_ESTIMABLE, value=f.guess, note=unguessed),
        "gain over guess": replace(f.risk_gain, note=unguessed if isnan(f.guess) else always),
        "control": f.risk_control,
        "gain over control": replace(NOT_ESTIMABLE, value=f.control_gain, note=_no_control_gain(f)),
        "memorization": f.memorization,
    }


def _no_control_gain(f: Finding) -> str:
    """Return why there is no gain over control: one of the two has no value, or control leaves nothing to gain."""
    absent = next((e for e in (f.risk, f.risk_control) if isnan(e.value)), None)
    return (absent.note or "not scored") if absent else "control succeeds always: no gain is possible"
