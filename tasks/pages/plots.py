"""Pictures of a study for a notebook.

Each function returns axes, whose ``figure`` a notebook shows::

    league(outcome.result).figure
"""

from collections.abc import Iterable

from matplotlib.axes import Axes

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.verdicts.quantities import limited
from synthrisk.metrics.verdicts.results import StudyResult, is_reference, ordered_measures, ordered_names
from synthrisk.tasks.pages.figures import Row, curves_figure, memorization_figure
from synthrisk.tasks.pages.sections.utility import map_of, risks_of
from synthrisk.tasks.pages.templates import cut


def league(result: StudyResult, measure: str | None = None) -> Axes:
    """Draw the memorization of all generators in a measure, with its intervals and its limit.

    Args:
        result: What the study says.
        measure: Key of the measure, such as ``rapid.income``; the first unless given.

    Raises:
        InputError: The study has no such measure.
    """
    key = _one("measure", measure, [each.key for each in ordered_measures(result)])
    keys = [each.measure.key for each in result.findings]
    meant = {limited(name, keys): each.value for name, each in result.limits.items()}
    own = [value for what, value in meant.items() if what.key == key and what.words == "memorization"]
    return memorization_figure(_rows(result, key), own[0] if own else None).axes[0]


def risk_curve(result: StudyResult, measure: str | None = None) -> Axes:
    """Draw the share of members at risk against the threshold of the attack, a line and band a generator.

    Of a number it is drawn against the tolerance of the error.

    Args:
        result: What the study says.
        measure: Key of a measure that has such a curve; the first unless given.

    Raises:
        InputError: The study has no such measure, or none that has a curve.
    """
    with_curve = dict.fromkeys(f.measure.key for f in result.findings if f.curve)
    key = _one("measure", measure, [m.key for m in ordered_measures(result) if m.key in with_curve])
    return curves_figure(_rows(result, key)).axes[0]


def risk_utility(result: StudyResult, risk: str | None = None) -> Axes:
    """Draw risk against utility, a point a generator.

    Args:
        result: What the study says.
        risk: Name of a limited risk, such as ``memorization/rapid.income``; the first unless given.

    Raises:
        InputError: The study limits no such risk, or has no utility.
    """
    found = map_of(result, _one("risk", risk, risks_of(result)), ordered_names(result), len(result.settings))
    if found is None:
        raise InputError("result must hold a generator with a risk and a utility, got none")
    return found[2].axes[0]


def _one(argument: str, asked: str | None, known: Iterable[str]) -> str:
    there = list(known)
    if not there:
        raise InputError(f"result must hold a {argument} that can be drawn so, got none")
    if asked is not None and asked not in there:
        raise InputError(f"{argument} must be one of {', '.join(there)}, got {asked!r}{nearest(asked, there)}")
    return asked or there[0]


def _rows(result: StudyResult, key: str) -> list[Row]:
    found = {f.synthesizer: f for f in result.findings if f.measure.key == key}
    return [Row(cut(name), is_reference(result, name), found.get(name)) for name in ordered_names(result)]
