"""What to do next: for each synthesizer that may not go out, or of which the study cannot say.

What it tells was measured, or is a thing to try; nothing here says that a release would be fine afterwards.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

from synthrisk.metrics.register import METRICS
from synthrisk.metrics.release.identifiers import RELEASED
from synthrisk.metrics.verdicts.quantities import limited, quantity_of
from synthrisk.metrics.verdicts.results import Headline, StudyResult
from synthrisk.metrics.verdicts.verdicts import LOOK, NO_INTERVAL, STRADDLES, Verdict, holds_for
from synthrisk.tasks.pages.section import Section, Shown
from synthrisk.tasks.pages.sections.coarser_keys import (
    NAMED,
    Step,
    evaluate_command,
    is_of_one_release,
    of_keys,
    set_command,
    study_file,
    with_interval,
)
from synthrisk.tasks.pages.templates import interval, number
from synthrisk.tasks.workspace.references import Found


def of_doubt(result: StudyResult, verdict: Verdict, settings: str) -> Iterator[Step]:
    """Yield what an open verdict lacks, with the command that brings it."""
    if (verdict.brief == STRADDLES or verdict.quantity == LOOK) and verdict.advice:
        yield _more_data(result, verdict, settings)
    elif verdict.brief == NO_INTERVAL:
        words = f"This verdict needs {verdict.advice}: its {verdict.reason}."
        yield Step(words, _more_repetitions(result, settings))
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


def _more_repetitions(result: StudyResult, settings: str, least: int = 0) -> str:
    """Return the command with twice the repetitions, or ``least``, and three at least; empty for a single release."""
    if is_of_one_release(settings):
        return ""
    now = int(result.facts.get("repetitions", "1"))
    return set_command(settings, {"split.repetitions": max(3, now + 1, least or 2 * now)})


def _more_data(result: StudyResult, verdict: Verdict, settings: str) -> Step:
    """Return what decides, if the value stays, with the command where that is more repetitions."""
    words = f"What would decide, if the value stays where it is: {verdict.advice}. It may move, and decide either way."
    repetitions = re.match(r"(\d+) repetitions", verdict.advice)
    return Step(words, _more_repetitions(result, settings, int(repetitions[1])) if repetitions else "")


def _lines_for(verdict: Verdict, settings: str) -> str:
    """Return the command for what a verdict lacks; empty where there is none."""
    one = is_of_one_release(settings)
    if verdict.advice.startswith("the reference generators"):
        every = ["copy", "near_copy", "fresh", "marginals"]
        return evaluate_command(settings, references="limited") if one else set_command(settings, {"references": every})
    if verdict.advice.endswith("such as membership"):
        if one:
            return evaluate_command(settings, metrics=["membership"], limits={"memorization/membership": "<limit>"})
        limit = "--set 'limits+={memorization/membership: <limit>}'"
        return f"{set_command(settings, {'metrics+': 'membership'})} {limit}"
    return ""


_EXPLAINED = 6  # synthesizers whose records at risk are explained by a model
_ORDER = ("FAILED", "INVALID RELEASE", "RISK", "INCONCLUSIVE", "")
_LEAF = 20
_MOSTLY = 0.5  # of the members, in excess near to the release: a copy
_COPIED = (
    "The release is a copy of the real records, or nearly. No setting below mends a copy: see that the right file was "
    "handed over, then take another generator."
)
_PRIVATE = "mst"
_LESS: Mapping[str, Mapping[str, Any]] = {k: {"epochs": 100} for k in ("ctgan", "tvae", "copulagan")}


class Part(NamedTuple):
    """The steps for limits of one synthesizer."""

    limits: Mapping[str, str]  # why, in a few words, by the name of the limit; empty where the steps are about all
    steps: Sequence[Step]


class Plan(NamedTuple):
    """What to do next about one synthesizer."""

    synthesizer: str
    word: str
    parts: Sequence[Part]


def context(shown: Shown) -> Mapping[str, Any] | None:
    """Return what the template needs; None where every synthesizer is shown to keep its limits."""
    needing = [h for h in shown.overview.synthesizers if h.word != "NO EVIDENCE"]
    if not needing:
        return None
    if not shown.result.valid:
        first = _mend(shown)
        return {"plans": [], "first": first, "commands": _about_commands(first, [], shown.settings)}
    needing.sort(key=lambda h: _ORDER.index(h.word) if h.word in _ORDER else len(_ORDER))
    judged = [h for h in needing if h.word]
    plans = [Plan(h.synthesizer, h.word, _together(_parts(shown, h, i < _EXPLAINED))) for i, h in enumerate(judged)]
    first = [] if shown.result.limits else [_choose(shown)]
    return {"plans": plans, "first": first, "commands": _about_commands(first, plans, shown.settings)}


def _about_commands(first: Sequence[Step], plans: Sequence[Plan], settings: str) -> str:
    """Return what the commands do, and what has to be put into them before they run; empty where there is none."""
    steps = [*first, *(step for plan in plans for part in plan.parts for step in part.steps)]
    every = " ".join(step.code for step in steps)
    if not every.strip():
        return ""
    files = ["the file of this study in place of study.yaml"] if " study.yaml" in every else []
    put = [*files, *(["a number in place of <limit>"] if "<limit>" in every else [])]
    told = f"Put {' and '.join(put)}" if put else "Commands in grey run as they stand"
    again = "" if is_of_one_release(settings) else " Give again what was given with --set."
    kept = "what was kept is not computed again"
    return f"Commands in grey run the same study again, with its limits and settings; {kept}. {told}.{again}"


def _mend(shown: Shown) -> Sequence[Step]:
    """Return what to mend before anything of the study may be read."""
    broken = [c.words for c in shown.result.checks if not c.passed]
    more = [f"and {len(broken) - NAMED} more"] if len(broken) > NAMED else []
    mostly = (
        "A check fails mostly because there are too few records or repetitions for its measure, or because the measure "
        "does not see in this table what it should. Add repetitions or records, or leave the measure out."
    )
    words = "Mend the study itself first: until its reference generators behave, no other step can be judged."
    again = _more_repetitions(shown.result, shown.settings)
    return [Step(words, "", [*broken[:NAMED], *more]), Step(mostly, again)]


def _choose(shown: Shown) -> Step:
    unjudged = shown.overview.unjudged
    name = f"memorization/{unjudged[0].key if unjudged else '<measure>'}"
    words = "Choose limits: nothing is judged before somebody who answers for the release says how much is too much."
    if is_of_one_release(shown.settings):
        return Step(words, evaluate_command(shown.settings, limits={name: "<limit>"}))
    return Step(words, f"synthrisk benchmark {study_file(shown.settings)} --set 'limits+={{{name}: <limit>}}'")


def _together(parts: Iterable[Part]) -> list[Part]:
    """Return the parts with the limits that have the same steps in one, in the place of the first."""
    found: list[Part] = []
    for part in parts:
        same = [bool(each.limits and part.limits) and each.steps == part.steps for each in found]
        if any(same):
            place = same.index(True)
            found[place] = Part({**found[place].limits, **part.limits}, part.steps)
        else:
            found.append(part)
    return found


def _parts(shown: Shown, headline: Headline, explain: bool) -> Iterator[Part]:
    """Yield the steps for each limit that is not shown to be kept."""
    if headline.word == "FAILED":
        words = "Mend what the reason names and run the same study again: what was finished is not computed again."
        yield Part({}, [Step(words, "", [shown.result.failures.get(headline.synthesizer, "")])])
        return
    looked = shown.result.releases.get(headline.synthesizer)
    if looked is not None and looked.suspicious:
        words = "Look at the releases themselves first, whatever the limits are. This was seen in them:"
        copied = [Step(_COPIED)] if looked.excess.lower > _MOSTLY else []
        yield Part({}, [*copied, Step(words, "", [looked.suspicious])])
    lowering = False
    decides = any(v.word != "CANNOT TELL" for v in headline.verdicts)
    for verdict in headline.verdicts:
        if verdict.word == "INVALID RELEASE":
            words = "Mend the release, or how it is read, before anything else: measures say nothing of broken columns."
            yield Part({}, [Step(words, "", [verdict.reason])])
            return
        if verdict.word == "RISK":
            yield Part({verdict.quantity: verdict.brief}, list(_of_risk(shown, verdict, explain)))
        elif verdict.word == "INCONCLUSIVE" or not decides:
            yield Part({verdict.quantity: verdict.brief}, list(_of_doubt(shown, verdict)))
        lowering |= verdict.value > verdict.limit
    found = _found(shown, headline.synthesizer)
    if lowering and found is not None:
        yield Part({}, [_keep_less(found, shown.settings), *_private(found, shown.settings)])


def _of_risk(shown: Shown, verdict: Verdict, explain: bool) -> Iterator[Step]:
    """Yield what may lower a quantity that lies above its limit."""
    if verdict.quantity == RELEASED:
        words = "Take these columns out of the release, or fill them with invented values: they name real people."
        yield Step(words)
        return
    same = [v for v in shown.result.verdicts if v.quantity == verdict.quantity and v.word == "NO EVIDENCE"]
    if same:
        told = ", ".join(f"{v.synthesizer} ({number(v.value)} {interval(v.lower, v.upper)})" for v in same[:NAMED])
        more = f" and {len(same) - NAMED} more" if len(same) > NAMED else ""
        yield Step(f"Look at {told}{more}: no evidence here that this limit is crossed.")
    yield from _of_lowering(shown, verdict, explain)


def _of_doubt(shown: Shown, verdict: Verdict) -> Iterator[Step]:
    """Yield what may decide a verdict that is open; where the value lies above the limit, what may lower it too."""
    yield from of_doubt(shown.result, verdict, shown.settings)
    if verdict.value > verdict.limit:
        yield Step("The value itself lies above the limit, so what may lower it can be tried already:")
        yield from _of_lowering(shown, verdict, False)


def _of_look(verdict: Verdict) -> Step:
    """Return what may bring a release to lie on its members no more often, or no more rarely, than on other people."""
    if verdict.upper < 0:
        return Step(
            "Leave out what keeps released rows away from members, such as a filter by distance: "
            "who is met less often than other people is known by it."
        )
    return Step(
        "Fit on coarser cells, such as ages in bands and fewer places, or take a smoother generator: "
        "larger leaves of cart, or mst. Then fewer released rows lie right beside one person."
    )


def _of_lowering(shown: Shown, verdict: Verdict, explain: bool) -> Iterator[Step]:
    if verdict.quantity == LOOK:
        yield _of_look(verdict)
        return
    found = _found(shown, verdict.synthesizer)
    own = [f for f in shown.result.findings if f.synthesizer == verdict.synthesizer]
    finding = next((f for f in own if holds_for(verdict.quantity, f.measure)), None)
    if found is None or finding is None:
        return
    if "quasi_identifiers" in METRICS[finding.measure.metric].needs:
        yield from of_keys(shown, verdict, finding, found, explain=explain)
    else:
        yield Step(
            "All columns of a record are looked at, so no single quasi-identifier decides. "
            "A column that nobody needs may be left out (data.drop)."
        )


def _found(shown: Shown, name: str) -> Found | None:
    return next((f for f in shown.judged.estimated.found if f.name == name), None)


def _keep_less(found: Found, settings: str) -> Step:
    """Return what to ask of a synthesizer that keeps too much of single records."""
    kind, options = found.generator.kind, dict(found.generator.options)
    words = "Fit again with settings that keep less of single records, beside this one, and compare"
    if kind not in ("cart", *_LESS):
        return Step(f"{words}; whoever made the synthesizer knows which.")
    now = options.get("min_samples_leaf")
    less = _LESS.get(kind) or {"min_samples_leaf": 4 * now if isinstance(now, int) else _LEAF}
    again = {"name": f"{found.name[:90]}-less", "kind": kind, **options, **less}
    return Step(f"{words}, for example:", set_command(settings, {"synthesizers+": again}))


def _private(found: Found, settings: str) -> Iterator[Step]:
    """Yield where to go from a generator that promises nothing: one that is differentially private."""
    if found.generator.kind == _PRIVATE:
        return
    words = (
        "If that is not enough, take a generator that is differentially private: its promise holds against every "
        "attack, and it costs utility, which stands beside it"
    )
    if is_of_one_release(settings) or found.generator.kind in ("files", "release"):
        yield Step(f"{words} (docs: What differential privacy adds).")
        return
    again = {"name": _PRIVATE, "options": {"epsilon": 1, "assume_public": True}}
    yield Step(
        f"{words}. Name its public ranges in place of assume_public before you rely on the promise "
        "(docs: What differential privacy adds). It needs pip install 'synthrisk[private]':",
        set_command(settings, {"synthesizers+": again}),
    )


NEXT_STEPS = Section("next_steps", "What to do next", "next_steps.html", context)
