"""What a study hands on to tracking, report and terminal: findings, checks, verdicts, failures, provenance.

The league table, whoever draws it: its rows and columns, what each cell holds, and the verdict of a row.

The terminal, the page and ``synthrisk compare`` choose how it looks, not what it says.

The answer of a study in a line a synthesizer, and what a reader must know of the study to read that line.

The terminal, the report, MLflow and Prefect show these words and numbers; none of them has its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import NamedTuple, get_args

from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.plugins import Answer
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.release.identifiers import Released
from synthrisk.metrics.release.k_anonymity import KAnonymity
from synthrisk.metrics.release.validity import ReleaseSummary
from synthrisk.metrics.score import number, table
from synthrisk.metrics.study.comparison import Comparison
from synthrisk.metrics.study.findings import Cost, Finding, Usefulness
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.power import Power
from synthrisk.metrics.verdicts.limit_sentences import (
    Knowledge,
    advice_in_people,
    columns_named,
    counted,
    known_elsewhere,
    legend,
    listed,
    sentence,
    table_in_words,
)
from synthrisk.metrics.verdicts.quantities import NOTHING, Limited, empty_measures, is_signed, limited, quantity_of
from synthrisk.metrics.verdicts.references import REFERENCES, Check, PlantedLeak, planted_leaks
from synthrisk.metrics.verdicts.revealing_columns import Carriers
from synthrisk.metrics.verdicts.verdicts import (
    LOOK,
    NO_INTERVAL,
    STRADDLES,
    Kept,
    Verdict,
    as_people,
    holds_for,
    worst,
)

METHODS = "2"
"""Version of what numbers mean: it grows where a number of the same name means something else than before.

2: memorization of ``singling_out`` is per claim, and ``membership`` is the attack ``combined``.
"""


@dataclass(frozen=True)
class Limit:
    """A limit and who chose it."""

    value: float
    source: str


@dataclass(frozen=True, repr=False)
class StudyResult:
    """All that a study says."""

    study_id: str  # ties the runs of one execution together
    name: str
    findings: Sequence[Finding]  # one for each generator and measure: synthesizers and reference generators
    checks: Sequence[Check]  # what the reference generators should show and did or did not
    verdicts: Sequence[Verdict]  # one for each synthesizer and limit
    failures: Mapping[str, str] = field(default_factory=dict)  # reason for each synthesizer that failed
    limits: Mapping[str, Limit] = field(default_factory=dict)  # the limits in force
    facts: Mapping[str, str] = field(default_factory=dict)  # provenance: data digest, rows, releases, versions, seed
    # the options that distinguish each synthesizer
    settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # what is known of the releases of each reference generator
    answers: Mapping[str, Answer] = field(default_factory=dict)
    comparisons: Sequence[Comparison] = ()  # all pairs of synthesizers, in each measure and quantity
    # by key of the measure: the leak that the study detects, where its ``power`` option told
    powers: Mapping[str, Power] = field(default_factory=dict)
    # one for each generator and utility measure; no check and no verdict looks at them
    utility: Sequence[Usefulness] = ()
    # over how many of an attack's columns, the weakest first, its GDA score is taken; None all
    weakest: Sequence[int | None] = (None, 1)
    # how rare keys are in the real table and in the releases; None where the study declares no key
    keys: KAnonymity | None = None
    # by synthesizer: what its releases have shown before they were judged
    releases: Mapping[str, ReleaseSummary] = field(default_factory=dict)
    # by synthesizer: whose values its releases hold in columns that nothing attacks
    released: Mapping[str, Released] = field(default_factory=dict)
    # by synthesizer: which columns carry what makes it a RISK
    carriers: Mapping[str, Carriers] = field(default_factory=dict)
    # what makes all numbers hard to read, such as control records that are members; or an empty string
    warning: str = ""
    warnings: Sequence[str] = ()  # what it says little about, as it was seen before anything was computed
    # where no limit is set: the least one that each synthesizer would have been shown to keep
    kept: Sequence[Kept] = ()
    # share of training rows in the releases of each reference generator that leaks, by its name
    leaked: Mapping[str, float] = field(default_factory=dict)
    quasi_identifiers: Sequence[str] = ()  # the columns that an attacker knows
    sensitive: Sequence[str] = ()  # the columns that an attacker guesses
    # by key of the measure: the columns that its attacker knows, where they are not ``quasi_identifiers``
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)
    costs: Mapping[str, Cost] = field(default_factory=dict)  # by generator; of those whose releases come as files none

    def __repr__(self) -> str:
        """Show the answer in one line."""
        names = [name for name in self.synthesizers if not is_reference(self, name)]
        judged = [f"{name}: {self.verdict(name) or 'NOT JUDGED'}" for name in names]
        return f"<StudyResult {self.name} {self.study_id}: {self.invalid or ', '.join(judged) or 'no synthesizer'}>"

    def _repr_html_(self) -> str:
        rows = []
        for each in overview(self).synthesizers:
            worst = each.worst
            decides = "" if worst is None else f"{number(worst.found.value)} ({worst.name})"
            rows.append((each.synthesizer, decides, each.word or "NOT JUDGED", each.said))
        return table(["synthesizer", "what decides", "verdict", "because"], rows)

    @property
    def valid(self) -> bool:
        """Whether all reference generators behave."""
        return all(c.passed for c in self.checks)

    @property
    def invalid(self) -> str:
        """Why no verdict may be read, in words; empty where all reference generators behave."""
        broken = [c for c in self.checks if not c.passed]
        if not broken:
            return ""
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        return broken[0].words + more

    @property
    def empty(self) -> dict[str, str]:
        """Why measures say nothing in this study, by key: see ``empty_measures``."""
        return {m.key: reason for m, reason in empty_measures(self.findings, self.answers).items()}

    @property
    def synthesizers(self) -> list[str]:
        """Names in the order of the study: synthesizers, then reference generators; failed ones included."""
        return list(self.settings)

    @property
    def judged_limits(self) -> dict[str, Limit]:
        """The limits that verdicts speak of: those in force, and that of the look at the releases where it decides."""
        look = next((v.limit for v in self.verdicts if v.quantity == LOOK), None)
        of_look = {} if look is None else {LOOK: Limit(look, "equal to the smallest limit")}
        return {**self.limits, **of_look}

    def verdict(self, synthesizer: str) -> str:
        """Return the word that a synthesizer is summed up by; empty without a limit."""
        if synthesizer in self.failures:
            return "FAILED"
        return worst([v.word for v in self.verdicts if v.synthesizer == synthesizer])

    @property
    def exit_code(self) -> int:
        """0 passes, 1 a limit is crossed or not shown to be kept, or a synthesizer failed, 3 INVALID."""
        if not self.valid:
            return 3
        judged = {v.synthesizer for v in self.verdicts}
        return 0 if all(self.verdict(name) == "NO EVIDENCE" for name in judged) and not self.failures else 1

    @property
    def passed(self) -> bool:
        """Whether there are limits, and all are shown to be kept."""
        return bool(self.verdicts) and self.exit_code == 0

    @property
    def references(self) -> str:
        """How the reference generators did, in words."""
        return ("as expected" if self.valid else "failed") if self.checks else "none run"


_NO_GUESS = "nothing is guessed here, so there is no guess to compare with"
_NO_S = (
    "the risk is the share of the members that are found, not of the claims that are right, so the statistical guess "
    "S, which is a share of claims, is no yardstick of it"
)


class Column(NamedTuple):
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
    word: str = ""  # the worst verdict on this measure, ``CANNOT TELL`` where it is the only one; empty without a limit
    on: Sequence[str] = ()  # what that verdict is on: the limited quantities, with their groups, in words
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
    mine = [v for v in result.verdicts if v.synthesizer == f.synthesizer and holds_for(v.quantity, f.measure)]
    own = [v.word for v in mine]
    word = "CANNOT TELL" if set(own) == {"CANNOT TELL"} else worst(own)
    on = [limited(v.quantity, (f.measure.key, f.measure.label)).words for v in mine if v.word == word]
    return LeagueRow(f.synthesizer, f.role, f.measure.key, _cells(f), word, on, f, study=result.study_id)


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


_CAUSES = 2  # reasons that a sentence names
_STATEMENTS = {  # how a sentence begins, and how it begins with its subject
    "cannot say: ": "Nothing can be said of {}: ",
    "this study is invalid: ": "Nothing can be said of {}, for the study is invalid: ",
    "not judged: ": "{} is not judged: ",
    "reference generator: ": "{} is a reference generator: ",
}


class Reached(NamedTuple):
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

    @property
    def signed(self) -> bool:
        """Whether the value is a difference or a gain, which may be below 0: a share has no sign."""
        return is_signed(self.name)


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
    as_if_by: str = ""  # name of the limited quantity that shows it
    at_most: str = ""  # and at most so many
    would_decide: str = ""  # of INCONCLUSIVE: what to bring
    carried: str = ""  # of RISK: which columns carry it, in words

    @property
    def gives_away(self) -> bool:
        """Whether the interval of what as-if is taken from shows that anything is given away."""
        nothing = NOTHING.get(limited(self.as_if_by).quantity, 0.0) if self.as_if_by else 0.0
        return any(v.quantity == self.as_if_by and v.lower > nothing for v in self.verdicts)

    @property
    def copied(self) -> str:
        """As if how many people had been copied, in a phrase: at most so many where nothing is shown; may be empty."""
        if self.as_if and not self.gives_away:
            return f"at most as if {self.at_most} people had been copied"
        return f"as if {self.as_if} people had been copied, at most {self.at_most}" if self.as_if else ""

    @property
    def said(self) -> str:
        """The sentence, and what would decide; of several limits that leave it open, the first."""
        if not self.would_decide:
            return self.sentence
        is_open = [v for v in self.verdicts if v.word == self.word]
        return f"{self.sentence}; {'for this limit ' if len(is_open) > 1 else ''}it needs {self.would_decide}"

    @property
    def statement(self) -> str:
        """The sentence with its subject and its stop, where it stands alone: in states, events and logs."""
        said = self.said
        for start, whole in _STATEMENTS.items():
            if said.startswith(start):
                return f"{whole.format(self.synthesizer)}{said.removeprefix(start)}."
        return f"{self.synthesizer} {said}."


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
    confidence: float = 0.0  # of the intervals; 0 where it is not known

    @property
    def synthesizers(self) -> Sequence[Headline]:
        """The headlines of what is judged."""
        return [each for each in self.headlines if each.role == "synthesizer"]

    @property
    def legend(self) -> str:
        """What the words mean that are said of generators and limits, and how sure the ends of intervals are."""
        words = [word for h in self.synthesizers for word in (h.word, *(v.word for v in h.verdicts))]
        return legend(words, [each for h in self.synthesizers for each in h.sentences], self.confidence)


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
    on = on or [(Limited("memorization", m.key).name, m) for m in own]
    return Overview(
        headlines=[_headline(result, name, looked) for name in ordered_names(result)],
        data=table_in_words(result.facts),
        attacker=_attacker(result),
        owners=owners,
        judged=judged,
        unjudged=unjudged,
        highest=_surest(mine, unjudged),
        references=_references(result),
        leaks=planted_leaks(result.findings, result.answers, result.leaked, on),
        confidence=float(result.facts.get("interval", "").rpartition(" ")[2] or 0.0),
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
    first = next((v for v in told if not isnan(v.value) and (v.word == word or word != "RISK")), None)
    if first is not None:
        found = Estimate(first.value, first.lower, first.upper)
        what = limited(first.quantity, [f.measure.key for f in result.findings])
        nothing = NOTHING.get(what.quantity, 0.0)
        worst: Reached | None = Reached(name, first.quantity, what.key, found, nothing)
    else:
        mine = [f for f in result.findings if f.synthesizer == name]
        worst = None if word == "RISK" else _of_reference(result, name) or _surest(mine, measures)
    lacks = next((advice_in_people(v) for v in verdicts if v.word == word and v.advice), "")
    lacks = lacks if word == "INCONCLUSIVE" else ""
    carried = result.carriers[name].words if name in result.carriers and word == "RISK" else ""
    as_if = _as_if([v for v in told if v.word != "CANNOT TELL"])
    return Headline(name, role, word, words, brief, worst, useful, verdicts, people, *as_if, lacks, carried)


def knowledge_of(result: StudyResult, measure: str = "") -> Knowledge:
    """Return what the attacker of a study knows and guesses, or that of one measure, by its key."""
    known, guessed = result.known.get(measure, result.quasi_identifiers), result.sensitive
    everything = len(known) + len(guessed) >= int(result.facts.get("columns", "0")) and len(known) > 1
    return Knowledge(known, guessed, everything)


def _order(verdict: Verdict, word: str) -> tuple[bool, float]:
    """Return the place of a verdict among those of a generator: what decides its word comes first."""
    reach = verdict.excess if word == "RISK" else verdict.reach
    return verdict.word != word, -reach if not isnan(reach) else float("inf")


def _as_if(decided: Sequence[Verdict]) -> tuple[str, str, str]:
    """Return as if how many people had been copied, by what, and at most how many; empty where it is not known."""
    shares = [[s for s in (getattr(v, end) for v in decided) if not isnan(s)] for end in ("as_if", "as_if_upper")]
    known = [max(each) for each in shares if each]
    told = [as_people(max(each), *known) if each else "" for each in shares]
    return told[0], next((v.quantity for v in decided if known and v.as_if == known[0]), ""), told[1]


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
        answer = REFERENCES.get(result.answers.get(name, ""), "a known answer")
        return f"reference generator: {answer}", answer
    if word == "INVALID":
        return f"this study is invalid: {result.invalid}", "references misbehaved"
    if not word:
        return "not judged: no limit is set", "no limit is set"
    deciding = [v for v in verdicts if v.word == word]
    silent = sum(v.word == "CANNOT TELL" for v in verdicts)
    able = len(verdicts) - silent
    of_all = f"{len(deciding)} of {counted(able, 'limit')}"
    besides = f"; {counted(silent, 'limit')} cannot tell here" if silent else ""
    if word == "NO EVIDENCE":
        looked = result.releases.get(name)
        if looked is not None and looked.excess_words:
            besides += f"; the look at it: {looked.excess_words}"
        return f"may go out under your limits{besides}", f"keeps {of_all}{f', {silent} cannot tell' if silent else ''}"
    if word == "INVALID RELEASE":
        return f"may not go out: its releases are broken: {deciding[0].reason}", deciding[0].brief
    if not deciding:
        reasons = listed((f"{limited(v.quantity).key}: {v.reason}" for v in verdicts), _CAUSES)
        return f"cannot say: no limit can tell a copy from new people here: {reasons}", "no limit can tell"
    told = _sentences(deciding, people[0])
    if word == "RISK":
        one = f"{deciding[0].quantity} {deciding[0].brief}"
        return f"may not go out: {told}", one if len(deciding) == 1 else f"crosses {of_all}"
    briefs = dict.fromkeys(v.brief for v in deciding)
    return f"cannot say: {told}", next(iter(briefs)) if len(briefs) == 1 else f"{of_all} unclear"


def _sentences(deciding: Sequence[Verdict], told: str) -> str:
    """Return what the limit that decides says of people, and how many limits say the same."""
    first, others = deciding[0], len(deciding) - 1
    if first.word == "INCONCLUSIVE" and first.brief not in (STRADDLES, NO_INTERVAL):
        told += f": {first.brief}"
    return told + (f", and so {'says' if others == 1 else 'say'} {counted(others, 'other limit')}" if others else "")


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


def _attacker(result: StudyResult) -> str:
    own = knowledge_of(result)
    told = f"has the release, knows {own.words or 'no column'}"
    told += f"; guesses {columns_named(own.guessed)}" if own.guessed else ""
    return told + known_elsewhere({key: knowledge_of(result, key).words for key in result.known})


def _references(result: StudyResult) -> str:
    if not result.checks:
        return "none was checked: nothing shows what this study would have seen"
    if result.valid:
        return f"behaved: {counted(len(result.checks), 'check')} passed"
    broken = [c for c in result.checks if not c.passed]
    return f"{len(broken)} of {counted(len(result.checks), 'check')} failed: {broken[0].words}"
