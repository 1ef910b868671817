"""Steps that may decide a verdict that is open: how many more data, which reference generators or measures."""

import re
from collections.abc import Iterator, Mapping
from math import isnan

from synthrisk.metrics.study.quantities import limited, quantity_of
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import NO_INTERVAL, STRADDLES, Verdict, holds_for
from synthrisk.tasks.pages.step import NAMED, Step, with_interval
from synthrisk.tasks.pages.study_lines import is_of_one_release, lines, setting


def of_doubt(result: StudyResult, verdict: Verdict, settings: str) -> Iterator[Step]:
    """Yield what an open verdict lacks, with the lines of a study that bring it."""
    if verdict.brief == STRADDLES and verdict.advice:
        yield _more_data(result, verdict, settings)
    elif verdict.brief == NO_INTERVAL:
        yield _an_interval(result, verdict, settings)
    elif verdict.advice:
        yield Step(f"This verdict needs {verdict.advice}.", _lines_for(verdict, is_of_one_release(settings)))
    answers = result.answers
    copies = [f for f in result.findings if answers.get(f.synthesizer) == "copy" and not f.measure.variant_of]
    what = limited(verdict.quantity, [f.measure.key for f in copies])
    own = [quantity_of(f, what.quantity, what.group) for f in copies if holds_for(verdict.quantity, f.measure)]
    if verdict.advice.startswith("a lower limit") and own and not isnan(own[0].value):
        reaches = with_interval(own[0])
        yield Step(
            f"A full copy of the training rows reaches {reaches}: only a limit well below that can tell it apart."
        )
    seeing = [f.measure.key for f in copies if f.memorization.lower > 0 and not holds_for(verdict.quantity, f.measure)]
    if verdict.advice.endswith("another measure") and seeing:
        yield Step(f"In this study a copy is seen in the memorization of {', '.join(seeing[:NAMED])}.")


def split_lines(result: StudyResult, settings: str, repetitions: int) -> str:
    """Return the split of a study with so many repetitions, three and one more than now at least."""
    told = setting(settings, "split")
    own = {k: v for k, v in told.items() if v is not None} if isinstance(told, Mapping) else {}
    now = int(result.facts.get("repetitions", "1"))
    return lines({"split": own | {"repetitions": max(3, now + 1, repetitions)}})


def _more_data(result: StudyResult, verdict: Verdict, settings: str) -> Step:
    """Return what decides, if the value stays, with the split where that is more repetitions."""
    words = f"What would decide, if the value stays where it is: {verdict.advice}. It may move, and decide either way."
    repetitions = re.match(r"(\d+) repetitions", verdict.advice)
    if repetitions is None or is_of_one_release(settings):
        return Step(words)
    return Step(words, split_lines(result, settings, int(repetitions[1])))


def _an_interval(result: StudyResult, verdict: Verdict, settings: str) -> Step:
    """Return why there is no interval and what makes one, with the split of twice the repetitions."""
    words = f"This verdict needs {verdict.advice}: its {verdict.reason}."
    if is_of_one_release(settings):
        return Step(words)
    return Step(words, split_lines(result, settings, 2 * int(result.facts.get("repetitions", "1"))))


def _lines_for(verdict: Verdict, one: bool) -> str:
    """Return lines of a study, or words of a command, for what a verdict lacks; empty where there are none."""
    if verdict.advice.startswith("the reference generators"):
        return (
            "synthrisk evaluate ... --references limited" if one else "references: [copy, near_copy, fresh, marginals]"
        )
    if verdict.advice.endswith("such as membership"):
        if one:
            return "synthrisk evaluate ... --metric membership --threshold memorization/membership=<limit>"
        return "metrics:\n- membership\nlimits:\n  memorization/membership: <limit>"
    return ""
