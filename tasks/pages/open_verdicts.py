"""Steps that may decide a verdict that is open: how many more data, which reference generators or measures."""

import re
from collections.abc import Iterator
from math import isnan

from synthrisk.metrics.study.quantities import limited, quantity_of
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import NO_INTERVAL, STRADDLES, Verdict, holds_for
from synthrisk.tasks.pages.step import NAMED, Step, with_interval
from synthrisk.tasks.pages.study_lines import is_of_one_release, set_command


def of_doubt(result: StudyResult, verdict: Verdict, settings: str) -> Iterator[Step]:
    """Yield what an open verdict lacks, with the command that brings it."""
    if verdict.brief == STRADDLES and verdict.advice:
        yield _more_data(result, verdict, settings)
    elif verdict.brief == NO_INTERVAL:
        yield _an_interval(result, verdict, settings)
    elif verdict.advice:
        yield Step(f"This verdict needs {verdict.advice}.", _lines_for(verdict, settings))
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
    """Return the command with so many repetitions, three and one more than now at least."""
    now = int(result.facts.get("repetitions", "1"))
    return set_command(settings, {"split.repetitions": max(3, now + 1, repetitions)})


def _more_data(result: StudyResult, verdict: Verdict, settings: str) -> Step:
    """Return what decides, if the value stays, with the command where that is more repetitions."""
    words = f"What would decide, if the value stays where it is: {verdict.advice}. It may move, and decide either way."
    repetitions = re.match(r"(\d+) repetitions", verdict.advice)
    if repetitions is None or is_of_one_release(settings):
        return Step(words)
    return Step(words, split_lines(result, settings, int(repetitions[1])))


def _an_interval(result: StudyResult, verdict: Verdict, settings: str) -> Step:
    """Return why there is no interval and what makes one, with the command for twice the repetitions."""
    words = f"This verdict needs {verdict.advice}: its {verdict.reason}."
    if is_of_one_release(settings):
        return Step(words)
    return Step(words, split_lines(result, settings, 2 * int(result.facts.get("repetitions", "1"))))


def _lines_for(verdict: Verdict, settings: str) -> str:
    """Return the command for what a verdict lacks; empty where there is none."""
    one = is_of_one_release(settings)
    if verdict.advice.startswith("the reference generators"):
        every = ["copy", "near_copy", "fresh", "marginals"]
        return "synthrisk evaluate ... --references limited" if one else set_command(settings, {"references": every})
    if verdict.advice.endswith("such as membership"):
        if one:
            return "synthrisk evaluate ... --metric membership --limit-on memorization/membership=<limit>"
        limit = "--set 'limits+={memorization/membership: <limit>}'"
        return f"{set_command(settings, {'metrics+': 'membership'})} {limit}"
    return ""
