"""The answer of a study in a line a synthesizer, and what a reader must know of the study to read that line.

The terminal, the report, MLflow and Prefect show these words and numbers; none of them has its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.league import is_reference, ordered_names
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.planted_leaks import PlantedLeak, planted_leaks
from synthrisk.metrics.study.quantities import Limited, limited
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.utility import Usefulness
from synthrisk.metrics.study.verdicts import Verdict, holds_for

_CAUSES = 2  # reasons that a sentence names
_COLUMNS = 8  # columns that a sentence names
_ANSWERS = {
    "copy": "the training rows themselves",
    "near_copy": "the training rows, each a little changed",
    "leak": "new records among which training rows are hidden",
    "part": "new records among which something of training rows is hidden",
    "ideal": "new records of the same population",
    "independent": "columns that know nothing of each other",
}


@dataclass(frozen=True)
class Memorized:
    """The memorization of one generator that one measure has found."""

    synthesizer: str
    measure: str  # key of the measure
    found: Estimate


@dataclass(frozen=True)
class Headline:
    """What a study says of one synthesizer, or reaches with one reference generator."""

    synthesizer: str
    role: str  # ``synthesizer`` or ``reference``
    word: str  # the verdict, ``FAILED``, or empty where no limit is set
    sentence: str  # what the steward may do, and why; of a reference generator what it is
    brief: str  # why, in a few words
    worst: Memorized | None  # the largest memorization in a judged measure; in any measure where none is judged
    utility: Usefulness | None  # in the study's first utility measure
    verdicts: Sequence[Verdict]  # one a limit, those that decide the word first


@dataclass(frozen=True)
class Overview:
    """The answer of a study."""

    headlines: Sequence[Headline]  # synthesizers, then reference generators
    data: str  # how many records, columns and releases
    attacker: str  # what the attacker knows, and what it guesses
    owners: Mapping[str, Sequence[str]]  # who chose the limits: names of the limits by their source
    judged: Sequence[Measure]  # the measures that some limit holds for
    unjudged: Sequence[Measure]  # the measures that may show a risk, and that no limit holds for
    highest: Memorized | None  # the largest memorization of a synthesizer in an unjudged measure
    references: str  # whether the reference generators behaved
    leaks: Sequence[PlantedLeak]  # the planted leaks, by limited quantity; of all measures where nothing is limited

    @property
    def synthesizers(self) -> Sequence[Headline]:
        """The headlines of what is judged."""
        return [each for each in self.headlines if each.role == "synthesizer"]


def overview(result: StudyResult) -> Overview:
    """Return the answer of a study."""
    every = [m for m in dict.fromkeys(f.measure for f in result.findings) if METRICS[m.metric].label == "signal"]
    own = [m for m in every if not m.variant_of]
    judged = [m for m in every if any(holds_for(name, m) for name in result.limits)]
    unjudged = [m for m in own if m not in judged]
    mine = [f for f in result.findings if f.role == "synthesizer"]
    owners: dict[str, list[str]] = {}
    for name, limit in result.limits.items():
        owners.setdefault(limit.source, []).append(name)
    looked = judged or own
    on = [(name, m) for name in result.limits for m in judged if holds_for(name, m)]
    return Overview(
        headlines=[_headline(result, name, looked) for name in ordered_names(result)],
        data=_data(result),
        attacker=_attacker(result),
        owners=owners,
        judged=judged,
        unjudged=unjudged,
        highest=_worst(mine, unjudged),
        references=_references(result),
        leaks=planted_leaks(
            result.findings,
            result.answers,
            result.leaked,
            on or [(Limited("memorization", m.key).name, m) for m in own],
        ),
    )


def _headline(result: StudyResult, name: str, measures: Sequence[Measure]) -> Headline:
    own = [f for f in result.findings if f.synthesizer == name]
    role = "reference" if is_reference(result, name) else "synthesizer"
    word = result.verdict(name) if role == "synthesizer" or name in result.failures else ""
    if role == "synthesizer" and not result.valid:
        word = "INVALID"
    verdicts = sorted((v for v in result.verdicts if v.synthesizer == name), key=lambda v: v.word != word)
    sentence, brief = _said(result, name, role, word, verdicts)
    useful = next((u for u in result.utility if u.synthesizer == name), None)
    return Headline(name, role, word, sentence, brief, _worst(own, measures), useful, verdicts)


def _said(result: StudyResult, name: str, role: str, word: str, verdicts: Sequence[Verdict]) -> tuple[str, str]:
    """Return what a steward may do, with the reason, and the reason alone in a few words."""
    if word == "FAILED":
        return f"cannot say: it was not run to the end: {result.failures[name]}", "not run to the end"
    if role == "reference":
        answer = _ANSWERS.get(result.answers.get(name, ""), "a known answer")
        return f"reference generator: {answer}", answer
    if word == "INVALID":
        return f"this study is invalid: {result.invalid}", "references misbehaved"
    if not word:
        return "not judged: no limit is set", "no limit is set"
    deciding = [v for v in verdicts if v.word == word]
    of_all = f"{len(deciding)} of {_counted(len(verdicts), 'limit')}"
    if word == "NO EVIDENCE":
        return "may go out under your limits", f"keeps {of_all}"
    if word == "INVALID RELEASE":
        return f"not: its releases are broken: {deciding[0].reason}", deciding[0].brief
    told = _listed(f"{limited(v.quantity).words} of {limited(v.quantity).key} {_why(v)}" for v in deciding)
    if word == "RISK":
        one = f"{deciding[0].quantity} {deciding[0].brief}"
        return f"not: {told}", one if len(deciding) == 1 else f"crosses {of_all}"
    lacks = _listed(v.advice for v in deciding if v.advice)
    briefs = dict.fromkeys(v.brief for v in deciding)
    return f"cannot say: {told}; it needs {lacks}", next(iter(briefs)) if len(briefs) == 1 else f"{of_all} unclear"


def _why(verdict: Verdict) -> str:
    value = "" if isnan(verdict.value) else f"{verdict.value:.3f}: "
    return f"{verdict.value:.3f} is {verdict.brief}" if verdict.word == "RISK" else f"{value}{verdict.brief}"


def _listed(texts: Iterable[str]) -> str:
    """Return the first texts, each once, and how many more there are."""
    each = list(dict.fromkeys(texts))
    more = f" (and {len(each) - _CAUSES} more)" if len(each) > _CAUSES else ""
    return ", ".join(each[:_CAUSES]) + more


def _worst(findings: Sequence[Finding], measures: Sequence[Measure]) -> Memorized | None:
    """Return the largest memorization in some measures; None where none has a value."""
    known = [f for f in findings if f.measure in measures and not isnan(f.memorization.value)]
    largest = max(known, key=lambda f: f.memorization.value, default=None)
    return None if largest is None else Memorized(largest.synthesizer, largest.measure.key, largest.memorization)


def _data(result: StudyResult) -> str:
    facts = result.facts
    records = f"{int(facts['records']):,} records" if "records" in facts else "records"
    controls = int(facts["records"]) - int(facts["members"]) if "members" in facts else 0
    records = f"{int(facts['members']):,} members and {controls:,} control records" if controls else records
    entities = f" of {int(facts['entities']):,} entities" if "entities" in facts else ""
    columns = f", {_counted(int(facts['columns']), 'column')}" if "columns" in facts else ""
    releases = f"; {_counted(int(facts['releases']), 'release')} a generator" if "releases" in facts else ""
    return (f"{facts['data']}: " if "data" in facts else "") + records + entities + columns + releases


def _attacker(result: StudyResult) -> str:
    known, guessed = result.quasi_identifiers, result.sensitive
    everything = len(known) + len(guessed) >= int(result.facts.get("columns", "0")) and len(known) > 1
    knows = "all other columns" if everything else _named(known) or "no column"
    return f"has the release, knows {knows}" + (f"; guesses {_named(guessed)}" if guessed else "")


def _named(columns: Sequence[str]) -> str:
    """Return the names of columns; of many the first, and how many more there are."""
    more = len(columns) - _COLUMNS
    return ", ".join(columns) if more < 2 else f"{', '.join(columns[:_COLUMNS])} and {more} more"


def _references(result: StudyResult) -> str:
    if not result.checks:
        return "none was checked: nothing shows what this study would have seen"
    if result.valid:
        return f"behaved: {_counted(len(result.checks), 'check')} passed"
    broken = [c for c in result.checks if not c.passed]
    return f"{len(broken)} of {_counted(len(result.checks), 'check')} failed: {broken[0].words}"


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'s' * (count != 1)}"
