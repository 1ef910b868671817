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
from synthrisk.metrics.study.quantities import NOTHING, Limited, limited, quantity_of
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.sentences import Knowledge, columns_named, sentence
from synthrisk.metrics.study.utility import Usefulness
from synthrisk.metrics.study.verdicts import NO_INTERVAL, STRADDLES, Verdict, as_people, holds_for

_CAUSES = 2  # reasons that a sentence names
_STATEMENTS = {  # how a sentence begins, and how it begins with its subject
    "cannot say: ": "Nothing can be said of {}: ",
    "this study is invalid: ": "Nothing can be said of {}, for the study is invalid: ",
    "not judged: ": "{} is not judged: ",
    "reference generator: ": "{} is a reference generator: ",
}
_ANSWERS = {
    "copy": "the training rows themselves",
    "near_copy": "the training rows, each a little changed",
    "leak": "new records among which training rows are hidden",
    "part": "new records among which something of training rows is hidden",
    "repelled": "new records without those near to training rows",
    "ideal": "new records of the same population",
    "identifiers": "new records of the same population, with the members' identifiers",
    "independent": "columns that know nothing of each other",
}


@dataclass(frozen=True)
class Reached:
    """What one generator reaches in one quantity of one measure."""

    synthesizer: str
    name: str  # ``<quantity>/<measure>[@<group>]``
    measure: str  # key of the measure
    found: Estimate
    nothing: float = 0.0  # what the quantity is without any leak

    @property
    def excess(self) -> float:
        """The value less what the quantity is without any leak: quantities of different kinds are compared by it."""
        return self.found.value - self.nothing


@dataclass(frozen=True)
class Headline:
    """What a study says of one synthesizer, or reaches with one reference generator."""

    synthesizer: str
    role: str  # ``synthesizer`` or ``reference``
    word: str  # the verdict, ``FAILED``, or empty where no limit is set
    sentence: str  # what the steward may do, and why; of a reference generator what it is
    brief: str  # why, in a few words
    # the quantity that decides the word: of RISK the one that lies farthest beyond its limit, else the one whose
    # interval reaches farthest towards its limit or past it, each in units of its limit; without limits the
    # memorization with the largest lower end
    worst: Reached | None
    utility: Usefulness | None  # in the study's first utility measure
    verdicts: Sequence[Verdict]  # one a limit, those that decide the word first
    sentences: Sequence[str] = ()  # what each of them says of people
    as_if: str = ""  # how many people would have to be copied to show as much, in words; empty where it is not known
    at_most: str = ""  # and at most so many
    would_decide: str = ""  # of INCONCLUSIVE: what to bring
    carried: str = ""  # of RISK: which columns carry it, in words

    @property
    def statement(self) -> str:
        """The sentence with its subject and its stop, where it stands alone: in states, events and logs."""
        for start, whole in _STATEMENTS.items():
            if self.sentence.startswith(start):
                return f"{whole.format(self.synthesizer)}{self.sentence.removeprefix(start)}."
        return f"{self.synthesizer} {self.sentence}."


@dataclass(frozen=True)
class Overview:
    """The answer of a study."""

    headlines: Sequence[Headline]  # synthesizers, then reference generators
    data: str  # how many records, columns and releases
    attacker: str  # what the attacker knows, and what it guesses
    owners: Mapping[str, Sequence[str]]  # who chose the limits: names of the limits by their source
    judged: Sequence[Measure]  # the measures that some limit holds for
    unjudged: Sequence[Measure]  # the measures that may show a risk, and that no limit holds for
    highest: Reached | None  # the memorization of a synthesizer in an unjudged measure that has the largest lower end
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
        highest=_surest(mine, unjudged),
        references=_references(result),
        leaks=planted_leaks(
            result.findings,
            result.answers,
            result.leaked,
            on or [(Limited("memorization", m.key).name, m) for m in own],
        ),
    )


def _headline(result: StudyResult, name: str, measures: Sequence[Measure]) -> Headline:
    role = "reference" if is_reference(result, name) else "synthesizer"
    word = result.verdict(name) if role == "synthesizer" or name in result.failures else ""
    if role == "synthesizer" and not result.valid:
        word = "INVALID"
    verdicts = sorted((v for v in result.verdicts if v.synthesizer == name), key=lambda v: _order(v, word))
    people = [sentence(v, knowledge_of(result, v.measure)) for v in verdicts]
    words, brief = _said(result, name, role, word, verdicts, people)
    useful = next((u for u in result.utility if u.synthesizer == name), None)
    told = [v for v in verdicts if v.word not in ("CANNOT TELL", "INVALID", "INVALID RELEASE") or v.word == word]
    first = next((v for v in told if not isnan(v.value)), None)
    if first is not None:
        found = Estimate(first.value, first.lower, first.upper)
        what = limited(first.quantity, [f.measure.key for f in result.findings])
        nothing = NOTHING.get(what.quantity, 0.0)
        worst: Reached | None = Reached(name, first.quantity, what.key, found, nothing)
    else:
        worst = _of_reference(result, name) or _surest([f for f in result.findings if f.synthesizer == name], measures)
    decided = [v for v in told if v.word != "CANNOT TELL"]
    as_if, at_most = _as_if(decided)
    lacks = first.advice if first is not None and word == "INCONCLUSIVE" else ""
    carried = result.carriers[name].words if name in result.carriers and word == "RISK" else ""
    return Headline(name, role, word, words, brief, worst, useful, verdicts, people, as_if, at_most, lacks, carried)


def knowledge_of(result: StudyResult, measure: str = "") -> Knowledge:
    """Return what the attacker of a study knows and guesses, or that of one measure, by its key."""
    known, guessed = result.known.get(measure, result.quasi_identifiers), result.sensitive
    everything = len(known) + len(guessed) >= int(result.facts.get("columns", "0")) and len(known) > 1
    return Knowledge(known, guessed, everything)


def _order(verdict: Verdict, word: str) -> tuple[bool, float]:
    """Return the place of a verdict among those of a generator: what decides its word comes first."""
    reach = verdict.excess if word == "RISK" else verdict.reach
    return verdict.word != word, -reach if not isnan(reach) else float("inf")


def _as_if(decided: Sequence[Verdict]) -> tuple[str, str]:
    """Return as if how many people had been copied, and at most how many; empty where it is not known."""
    shares = [[s for s in (getattr(v, end) for v in decided) if not isnan(s)] for end in ("as_if", "as_if_upper")]
    known = [max(each) for each in shares if each]
    told = [as_people(max(each), *known) if each else "" for each in shares]
    return told[0], told[1]


def _of_reference(result: StudyResult, name: str) -> Reached | None:
    """Return what a reference generator reaches in the limited quantity that it lies farthest beyond."""
    if not is_reference(result, name):
        return None
    every = []
    for limit, each in result.limits.items():
        for f in (f for f in result.findings if f.synthesizer == name and holds_for(limit, f.measure)):
            what = limited(limit, (f.measure.key, f.measure.label))
            found = quantity_of(f, what.quantity, what.group)
            if not isnan(found.lower):
                reached = Reached(name, limit, f.measure.key, found, NOTHING.get(what.quantity, 0.0))
                every.append((found.lower / each.value if each.value else float("inf"), reached))
    return max(every, key=lambda pair: pair[0])[1] if every else None


def _said(
    result: StudyResult, name: str, role: str, word: str, verdicts: Sequence[Verdict], people: Sequence[str]
) -> tuple[str, str]:
    """Return what a steward may do, with the reason, and the reason alone in a few words.

    ``people``: what each verdict says of people; those that decide come first.
    """
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
    silent = sum(v.word == "CANNOT TELL" for v in verdicts)
    able = len(verdicts) - silent
    of_all = f"{len(deciding)} of {_counted(able, 'limit')}"
    besides = f"; {_counted(silent, 'limit')} cannot tell here" if silent else ""
    if word == "NO EVIDENCE":
        looked = result.releases.get(name)
        if looked is not None and looked.excess_words:
            besides += f"; the look at it: {looked.excess_words}"
        return f"may go out under your limits{besides}", f"keeps {of_all}{f', {silent} cannot tell' if silent else ''}"
    if word == "INVALID RELEASE":
        return f"may not go out: its releases are broken: {deciding[0].reason}", deciding[0].brief
    if not deciding:
        reasons = _listed(f"{limited(v.quantity).key}: {v.reason}" for v in verdicts)
        return f"cannot say: no limit can tell a copy from new people here: {reasons}", "no limit can tell"
    told = _sentences(deciding, people[0])
    if word == "RISK":
        one = f"{deciding[0].quantity} {deciding[0].brief}"
        return f"may not go out: {told}", one if len(deciding) == 1 else f"crosses {of_all}"
    lacks = _listed(v.advice for v in deciding if v.advice)
    briefs = dict.fromkeys(v.brief for v in deciding)
    needs = f"; it needs {lacks}" if lacks else ""
    return f"cannot say: {told}{needs}", next(iter(briefs)) if len(briefs) == 1 else f"{of_all} unclear"


def _sentences(deciding: Sequence[Verdict], told: str) -> str:
    """Return what the limit that decides says of people, and how many limits say the same."""
    first, others = deciding[0], len(deciding) - 1
    if first.word == "INCONCLUSIVE" and first.brief not in (STRADDLES, NO_INTERVAL):
        told += f": {first.brief}"
    return told + (f", and so {'says' if others == 1 else 'say'} {_counted(others, 'other limit')}" if others else "")


def _listed(texts: Iterable[str]) -> str:
    """Return the first texts, each once, and how many more there are."""
    each = list(dict.fromkeys(texts))
    more = f" (and {len(each) - _CAUSES} more)" if len(each) > _CAUSES else ""
    return ", ".join(each[:_CAUSES]) + more


def _surest(findings: Sequence[Finding], measures: Sequence[Measure]) -> Reached | None:
    """Return the memorization with the largest lower end in some measures; None where none has a value.

    Never the largest value: of few records any may come out by luck.
    """
    known = [f for f in findings if f.measure in measures and not isnan(f.memorization.value)]

    def surely(f: Finding) -> tuple[float, float]:
        lower = f.memorization.lower
        return -float("inf") if isnan(lower) else lower, f.memorization.value

    first = max(known, key=surely, default=None)
    if first is None:
        return None
    return Reached(first.synthesizer, f"memorization/{first.measure.key}", first.measure.key, first.memorization)


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
    own = knowledge_of(result)
    told = f"has the release, knows {own.words or 'no column'}"
    told += f"; guesses {columns_named(own.guessed)}" if own.guessed else ""
    others: dict[str, list[str]] = {}
    for key in result.known:
        others.setdefault(knowledge_of(result, key).words, []).append(key)
    for words, keys in others.items():
        told += f"; in {columns_named(keys)} knows {words}"
    return told


def _references(result: StudyResult) -> str:
    if not result.checks:
        return "none was checked: nothing shows what this study would have seen"
    if result.valid:
        return f"behaved: {_counted(len(result.checks), 'check')} passed"
    broken = [c for c in result.checks if not c.passed]
    return f"{len(broken)} of {_counted(len(result.checks), 'check')} failed: {broken[0].words}"


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'s' * (count != 1)}"
