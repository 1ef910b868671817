"""Steps that may decide a verdict that is open: how many more data, which reference generators or measures."""

from collections.abc import Iterator, Mapping
from math import ceil, isnan

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.quantities import limited, quantity_of
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import Verdict, holds_for
from synthrisk.tasks.pages.step import NAMED, Step, with_interval
from synthrisk.tasks.pages.study_lines import is_of_one_release, lines, setting

_HARDLY = 20  # times the data from which on more of them hardly decide


def of_doubt(result: StudyResult, verdict: Verdict, finding: Finding | None, settings: str) -> Iterator[Step]:
    """Yield what an open verdict lacks, with the lines of a study that bring it."""
    if verdict.advice.startswith("more "):
        yield _more_data(result, verdict, finding, settings)
    elif verdict.advice:
        yield Step(f"This verdict needs {verdict.advice}.", _lines_for(verdict, is_of_one_release(settings)))
    answers = result.answers
    copies = [f for f in result.findings if answers.get(f.synthesizer) == "copy" and not f.measure.variant_of]
    what = limited(verdict.quantity, [f.measure.key for f in copies])
    own = [quantity_of(f, what.quantity, what.group) for f in copies if holds_for(verdict.quantity, f.measure)]
    if verdict.advice == "a lower limit" and own and not isnan(own[0].value):
        reaches = with_interval(own[0])
        yield Step(
            f"A full copy of the training rows reaches {reaches}: only a limit well below that can tell it apart."
        )
    seeing = [f.measure.key for f in copies if f.memorization.lower > 0 and not holds_for(verdict.quantity, f.measure)]
    if verdict.advice == "another measure" and seeing:
        yield Step(f"In this study a copy is seen in the memorization of {', '.join(seeing[:NAMED])}.")


def more_repetitions(found: Estimate, times: float) -> float:
    """Return how many times the repetitions would make the variance of an estimate so many times smaller.

    The choice of records stays in it however many repetitions there are: infinity where that part alone is too large.
    NaN where the parts are not known.

    Example:
        >>> from synthrisk.metrics.intervals.estimates import Variances
        >>> parts = Variances(records=1.0, between=8.0, noise=2.0, count=100, repetitions=2)
        >>> more_repetitions(Estimate(0.1, 0.0, 0.2, parts=parts), 2.0)
        3.0
    """
    if found.parts is None or isnan(times):
        return float("nan")
    records, repetitions = found.parts.terms
    left = (records + repetitions) / times - records
    return repetitions / left if left > 0 else float("inf")


def times_the_data(verdict: Verdict) -> float:
    """Return how many times the data would leave the limit outside the interval, if the value stays; NaN if unknown.

    The half width shrinks with the root of the data, so it is ((end - value)/(limit - value))^2.

    Example:
        >>> times_the_data(Verdict("cart", "risk/rapid", 0.02, "INCONCLUSIVE", "", 0.01, -0.01, 0.03))
        4.0
    """
    end = verdict.upper if verdict.value < verdict.limit else verdict.lower
    if isnan(end) or isnan(verdict.value) or verdict.value == verdict.limit:
        return float("nan")
    return round(((end - verdict.value) / (verdict.limit - verdict.value)) ** 2, 9)


def split_lines(result: StudyResult, settings: str, times: float) -> str:
    """Return the split of a study with so many times its repetitions."""
    told = setting(settings, "split")
    own = {k: v for k, v in told.items() if v is not None} if isinstance(told, Mapping) else {}
    now = int(result.facts.get("repetitions", "1"))
    return lines({"split": own | {"repetitions": max(3, now + 1, ceil(now * times))}})


def _more_data(result: StudyResult, verdict: Verdict, finding: Finding | None, settings: str) -> Step:
    """Return how many more repetitions or records would decide, if the value stays."""
    one, times = is_of_one_release(settings), times_the_data(verdict)
    what = limited(verdict.quantity, () if finding is None else (finding.measure.key, finding.measure.label))
    found = NOT_ESTIMABLE if finding is None else quantity_of(finding, what.quantity, what.group)
    if isnan(times):
        words = f"This verdict needs {verdict.advice}." + (f" There is no interval: {found.note}." * bool(found.note))
        return Step(words, "" if one else split_lines(result, settings, 2.0))
    if times > _HARDLY:
        return Step(f"The value lies so near the limit that over {_HARDLY} times as many data would hardly decide.")
    side = "above" if verdict.value > verdict.limit else "below"
    stays = f"If the value stays where it is, {side} the limit, about"
    moves = "It may move, and decide either way."
    repetitions = more_repetitions(found, times)
    if one or not repetitions <= _HARDLY:
        alone = (
            "" if one or isnan(repetitions) else " More repetitions alone would not: the choice of records is in it."
        )
        return Step(f"{stays} {max(times, 1.1):.1f} times as many records would decide.{alone} {moves}")
    words = f"{stays} {max(repetitions, 1.1):.1f} times as many repetitions would decide. {moves}"
    return Step(words, split_lines(result, settings, repetitions))


def _lines_for(verdict: Verdict, one: bool) -> str:
    """Return lines of a study, or words of a command, for what a verdict lacks; empty where there are none."""
    if verdict.advice.startswith("the reference generators"):
        return (
            "synthrisk evaluate ... --references limited" if one else "references: [copy, near_copy, fresh, marginals]"
        )
    if verdict.advice.endswith("such as membership"):
        if one:
            return "synthrisk evaluate ... --metric membership --threshold memorization/membership=<limit>"
        return "metrics:\n- membership\nthresholds:\n  memorization/membership: <limit>"
    return ""
