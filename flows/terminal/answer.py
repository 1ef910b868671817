"""The answer of a study on the terminal: at most 23 lines, none longer than the terminal is wide.

So a terminal of 24 rows shows all of it above its prompt. Elsewhere, such as in a file, each sentence has its line.

Who attacked what with which knowledge, a line a generator, what no limit judges, what the study is able to see, and
where to read on.

The same, rounded, for whoever makes releases.

Exact numbers of many releases are an oracle: who makes releases and sees them can change one record at a time and read
off whether it is a member (ReconSyn, Ganev and De Cristofaro 2023, arXiv:2312.05114). So this answer has no interval,
no count, nothing of equal rows, no line on what no limit judges, and no place of a report or of a file of records.
"""

import math
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from synthrisk.conf.study import NOT_SAID
from synthrisk.flows.outcome import Outcome, word_of
from synthrisk.flows.terminal.columns import COLOURS, folded, in_lines, inert, interval, number
from synthrisk.flows.terminal.tables import full_tables, limits_kept, notes
from synthrisk.metrics.release.identifiers import RELEASED
from synthrisk.metrics.verdicts.quantities import limited
from synthrisk.metrics.verdicts.references import PlantedLeak
from synthrisk.metrics.verdicts.results import Headline, Overview, StudyResult, overview
from synthrisk.metrics.verdicts.tables import tried
from synthrisk.metrics.verdicts.verdicts import LOOK, NO_INTERVAL, STRADDLES, Verdict
from synthrisk.tasks.tracking.addresses import RECORD, not_logged_yet

NARROWEST, WIDEST = 80, 120
_MOST = 23  # lines in all
_WHERE, _FEWEST_WHERE = 3, 2  # lines that say where to read on
_GENERATORS = 6  # lines of generators; of more, the rest are counted
_LEAKS = 3  # lines of planted leaks
_RELEASED = 3  # lines of columns that hold values of real people
_NAME = 16  # letters of a generator's name beside its numbers; a longer one has a line of its own
_HEAD = 12  # letters before a line
_MEMORIZATION = 20
_UTILITY = 7
_ORDER = ("NO EVIDENCE", "INCONCLUSIVE", "", "RISK", "INVALID RELEASE", "INVALID", "FAILED")
"""In which order generators are shown where not all can be: those that may go out first."""
WORKSPACE = ".synthrisk"
NOT_JUDGED = Text("No limits: no verdict. Nothing was judged.", "bold yellow")


@dataclass(frozen=True)
class Form:
    """In which form the answer is given."""

    whole: bool = False  # of all generators shown each sentence, a line each: for what is no terminal, and has no end
    others: str = "-v"  # where the sentences are that have found no place


USUAL = Form()


def form_of(console: Console, *, verbose: bool) -> Form:
    """Return the form of the answer on a console; ``verbose``: all tables stand above it, with all sentences."""
    return Form(whole=not (console.is_terminal or verbose), others="above" if verbose else "-v")


def answer_lines(outcome: Outcome, width: int, form: Form = USUAL) -> list[Text]:
    """Return the lines; ``width`` is that of the terminal.

    The record has no line of its own where it would take that of something that a word rests on.
    """
    where = _where(outcome)
    lines, all_told = _fitted(outcome.result, width, len(where), form)
    if not all_told and len(where) > _FEWEST_WHERE:
        where = [where[0], where[-1]]
        lines, _ = _fitted(outcome.result, width, len(where), form)
    return [*lines, *where]


def lines_of(result: StudyResult, width: int, form: Form = USUAL) -> list[Text]:
    """Return the lines that say what was found, without those that say where."""
    return _fitted(result, width, _WHERE, form)[0]


def _fitted(result: StudyResult, width: int, where: int, form: Form) -> tuple[list[Text], bool]:
    """Return the lines above so many that say where, and whether all that each word rests on has found a place."""
    room = min(max(width, NARROWEST), WIDEST)
    told, most = overview(result), _MOST - where
    lines, all_told = _laid_out(result, told, room, most, form, brief=False)
    return (lines, True) if all_told else _laid_out(result, told, room, most, form, brief=True)


def _laid_out(
    result: StudyResult, told: Overview, room: int, most: int, form: Form, *, brief: bool
) -> tuple[list[Text], bool]:
    """Return so many lines at most, and whether all that each word rests on has found a place.

    Where sentences have found none, a line says how many.
    """
    above, found, after = _arranged(result, told, room, most, form, brief=brief)
    if not found.unsaid:
        return [*above, *found.lines, *after], found.all_told
    if not form.whole:
        above, found, after = _arranged(result, told, room, most - 1, form, brief=brief)
    return [*above, *found.lines, _more(found.unsaid, form), *after], found.all_told


def _more(unsaid: Sequence[Verdict], form: Form) -> Text:
    """Return how many sentences there are elsewhere, and of how many limits that are crossed."""
    crossed = sum(verdict.word == "RISK" for verdict in unsaid)
    of_all = f" (RISK: {crossed})" if crossed else ""
    return Text(f"{len(unsaid)} more sentence{'s' * (len(unsaid) != 1)}{of_all}: {form.others}", "dim")


def _arranged(
    result: StudyResult, told: Overview, room: int, most: int, form: Form, *, brief: bool
) -> tuple[list[Text], "_Filled", list[Text]]:
    """Return so many lines at most: what stands above the generators, theirs, and what stands below them.

    ``brief``: a line each for the attacker, for what is not judged and for the planted leaks leaves more of them to
    what the words rest on.
    """
    above = [*_title(result), *_study_lines(told, room if brief else 0)]
    what = "limits" if told.judged else "measures"
    leaks = _leak_lines(told.leaks, what, room)
    after = [
        *_released_lines(result),
        *_unjudged(told, brief=brief),
        _headed("References", told.references, "" if result.valid else "bold magenta"),
        *(_leaks_briefly(told.leaks, what) if brief and len(leaks) > 1 else leaks),
    ]
    left = most - len(after)
    blocks = _blocks(told, room, left - len(above))
    above = _folded(above, room, left - _count(blocks))
    blocks = _whole(blocks, room, left - len(above))
    after = _folded(after, room, most - len(above) - _count(blocks))
    return above, _filled(told, blocks, room, most - len(above) - len(after), form), after


def _folded(lines: Sequence[Text], room: int, most: int) -> list[Text]:
    """Return lines that are no longer than the terminal is wide: folded as far as there is room for more, else cut."""
    found: list[Text] = []
    for n, line in enumerate(lines):
        rest = line.copy()
        while rest.cell_len > room and len(found) + len(lines) - n < most:
            cut = rest.plain.rfind(" ", _HEAD + 1, room + 1)
            if cut < 0 or rest.cell_len != len(rest.plain):
                break
            found.append(rest[:cut])
            rest = Text(" " * _HEAD).append_text(rest[cut + 1 :])
        rest.truncate(room, overflow="ellipsis")
        found.append(rest)
    return found


def _title(result: StudyResult) -> list[Text]:
    lines = [] if result.limits or result.verdicts else [NOT_JUDGED]
    return [*lines, Text(f"Study {inert(result.name)}, {result.study_id}", "bold")]


def _study_lines(told: Overview, room: int) -> list[Text]:
    """Return what was asked; knowledge and what is guessed are one line where they fit into ``room``."""
    knows, _, guesses = told.attacker.partition("; ")
    in_one = _headed("Attacker", told.attacker)
    data = _headed("Data", told.data)
    if data.cell_len > room > 0:  # how many releases there are stands in the report
        data = _headed("Data", told.data.partition("; ")[0])
    lines = [data, in_one if in_one.cell_len <= room else _headed("Attacker", knows)]
    lines += [_headed("", guesses)] if guesses and in_one.cell_len > room else []
    by = {each: "; who set them is not said" if each in ("", NOT_SAID) else f' set by "{each}"' for each in told.owners}
    owners = "; ".join(f"{len(names)}{by[source]}" for source, names in told.owners.items())
    of_look = next((v.limit for each in told.synthesizers for v in each.verdicts if v.quantity == LOOK), None)
    owners += "" if of_look is None else f", and {of_look:g} on nearness"
    return [*lines, _headed("Limits", owners)] if owners else lines


Block = tuple[Headline | None, list[Text]]
"""Lines that stay together: those of a generator, or of none."""


def _blocks(told: Overview, room: int, most: int) -> list[Block]:
    """Return a block a generator between the head and the count of the others: as many as are at most so many lines.

    Where there is no room for long names on lines of their own, the column of names is wider, so that less is left
    beside it for why; then fewer generators are shown, at last one.
    """
    every = list(told.synthesizers)
    if not every:
        return [(None, [Text("No synthesizer: only reference generators ran.", "yellow")])]
    first = len(every) if len(every) <= _GENERATORS else _GENERATORS - 1
    names = (_NAME, 2 * _NAME) if room < WIDEST else (2 * _NAME,)
    tries = [_table(told, room, count, name) for count in range(first, 0, -1) for name in names]
    return next((blocks for blocks in tries if _count(blocks) <= most), tries[-1])


def _table(told: Overview, room: int, count: int, widest: int) -> list[Block]:
    """Return so many generators, with at most so many letters of a name beside the numbers."""
    every = list(told.synthesizers)
    shown = every if len(every) == count else sorted(every, key=_rank)[:count]
    short = [width for width in (cell_len(inert(h.synthesizer)) for h in shown) if width <= widest]
    name = max(len("generator"), *short, 0)
    what = "what decides" if told.judged else "memorization"
    head = f"{'generator':<{name}}  {what:>{_MEMORIZATION}}  {'utility':>{_UTILITY}}  verdict"
    own: list[Block] = [(h, _generator_line(h, name, room)) for h in shown]
    return [(None, [Text(head, "dim")]), *own, (None, _counted([h for h in every if h not in shown], room))]


def _count(blocks: Sequence[Block]) -> int:
    return sum(len(lines) for _, lines in blocks)


def _whole(blocks: Sequence[Block], room: int, most: int) -> list[Block]:
    """Return the blocks with words that are longer than a line folded, as far as there is room."""
    spare = most - _count(blocks)
    found: list[Block] = []
    for headline, lines in blocks:
        whole = _folded(lines, room, len(lines) + spare)
        spare -= len(whole) - len(lines)
        found.append((headline, whole))
    return found


@dataclass(frozen=True)
class _Filled:
    """The lines of the generators, and what has found no place among them."""

    lines: list[Text]
    all_told: bool  # whether all that each word rests on has found one
    unsaid: Sequence[Verdict]  # the limits whose sentences have not


@dataclass
class _Below:
    """What stands below the line of one generator, in this order."""

    headline: Headline
    first: list[Text] = field(default_factory=list)  # the sentence that decides its word
    others: list[Text] = field(default_factory=list)  # its other sentences
    rest: list[Text] = field(default_factory=list)
    said: list[Verdict] = field(default_factory=list)  # the limits whose sentences stand here


@dataclass
class _Space:
    """The lines that are left for what stands below the generators."""

    lines: int
    room: int  # cells of a line
    form: Form

    def put(self, place: list[Text], lines: Sequence[Text]) -> bool:
        """Put lines into a place where there is room for all; tell whether there was."""
        if len(lines) > self.lines:
            return False
        place += lines
        self.lines -= len(lines)
        return True

    def say(self, below: _Below, verdict: Verdict, words: str) -> bool:
        """Say one more sentence of a generator where there is room; tell whether there was.

        The limited quantity stands in grey behind it, on a line more where there is room for that too.
        """
        word = "" if verdict.word == below.headline.word else f"{verdict.word}  "
        text, key = f"  {word}{inert(words)}", inert(verdict.quantity)
        if self.form.whole:
            tries = [[Text.assemble(text, (f" {key}", "dim"))]]
        else:
            tries = [[Text(line) for line in in_lines(each, self.room, 2)] for each in (f"{text} {key}", text)]
            if (last := tries[0][-1]).plain.endswith(key):
                last.stylize("dim", len(last.plain) - len(key))
        for lines in tries:
            lines[0].stylize(COLOURS.get(verdict.word, "") if word else "", 2, 2 + len(verdict.word))
            if self.form.whole:
                below.others += lines
            elif not self.put(below.others, lines):
                continue
            below.said.append(verdict)
            return True
        return False


def _filled(told: Overview, blocks: Sequence[Block], room: int, most: int, form: Form) -> _Filled:
    """Return the lines of the blocks, with what each word rests on below it as far as there is room.

    First comes what is not judged where that decides, else the sentence of each generator; then the name of what
    decides where the sentence has no place for it, as if how many people had been copied, what would decide, which
    columns carry it, and the sentences of other limits that are crossed. Last come the sentences of the other limits,
    those first that are nearest to being crossed.
    """
    space, all_told = _Space(most - _count(blocks), room, form), True
    own = [_Below(h) for h, _ in blocks if h is not None and h.word and (h.worst is not None or h.verdicts)]

    for each in own:
        lines = _in_people(each.headline, room)
        placed = space.put(each.first, lines)
        all_told = placed and all_told
        each.said += each.headline.verdicts[: bool(placed and lines and not _lacking(each.headline))]
    for each in own:
        all_told = space.put(each.first, _named(each.headline, room)) and all_told
    for part in (_as_if, _would_decide):
        for each in own:
            all_told = space.put(each.rest, part(each.headline, room)) and all_told
    carried = [_carried(each.headline, room) for each in own]
    if sum(map(len, carried)) > space.lines:
        carried = [_carried(each.headline, room, brief=True) for each in own]
    for each, lines in zip(own, carried, strict=True):
        all_told = space.put(each.rest, lines) and all_told
    unsaid = ((each, *pair) for each in own for pair in _sayable(each.headline) if pair[0] not in each.said)
    others = sorted(unsaid, key=lambda other: _nearness(other[1]))
    crossed = [other for other in others if other[1].word == "RISK"]
    for each, verdict, words in crossed:
        all_told = space.say(each, verdict, words) and all_told
    for each, verdict, words in others:
        if verdict.word != "RISK":
            space.say(each, verdict, words)
    below = {each.headline.synthesizer: [*each.first, *each.others, *each.rest] for each in own}
    lines = [line for h, lines in blocks for line in [*lines, *below.get(h.synthesizer if h else "", [])]]
    said = [verdict for each in own for verdict in each.said]
    every = [verdict for headline in told.synthesizers for verdict, _ in _sayable(headline)]
    return _Filled(lines, all_told, [verdict for verdict in every if verdict not in said])


def _sayable(headline: Headline) -> list[tuple[Verdict, str]]:
    """Return the limits whose sentences are to be said of a generator; lines of their own tell of values released."""
    pairs = zip(headline.verdicts, headline.sentences, strict=True)
    if headline.word in ("INVALID", "INVALID RELEASE"):
        return list(pairs)[:1]
    return [(v, words) for n, (v, words) in enumerate(pairs) if v.quantity != RELEASED or not n]


def _nearness(verdict: Verdict) -> tuple[bool, float]:
    """Return the place of a limit among all: those first that are farthest beyond, then those that come nearest."""
    reach = verdict.excess if verdict.word == "RISK" else verdict.reach
    return verdict.word == "CANNOT TELL", -reach if not isnan(reach) else float("inf")


def _released_lines(result: StudyResult) -> list[Text]:
    """Return a line for each column with values of real people, up to three: no limit allows any."""
    own = [v.synthesizer for v in result.verdicts if v.quantity == RELEASED]
    alone = len([each for each in result.settings.values() if each.get("role") == "synthesizer"]) == 1
    texts = [("" if alone else f"{inert(name)}: ") + risk for name in own for risk in result.released[name].risks]
    more = [f"and {len(texts) - _RELEASED + 1} more in the report"] if len(texts) > _RELEASED else []
    shown = [*texts[: _RELEASED - 1], *more] if more else texts
    return [_headed("" if n else "Released", text, "bold red") for n, text in enumerate(shown)]


def _generator_line(headline: Headline, name: int, room: int) -> list[Text]:
    """Return the numbers of a generator and its word behind its name, below it where it is longer than the column."""
    own = inert(headline.synthesizer)
    above = [Text(line) for line in folded(own, room)] if cell_len(own) > name else []
    found = Text("-") if headline.worst is None else interval(headline.worst.found, signed=headline.worst.signed)
    useful = "-" if headline.utility is None else number(headline.utility.value.value)
    verdict = Text.assemble((headline.word, COLOURS.get(headline.word, "")), "  " * bool(headline.word), headline.brief)
    cells = " " * name if above else own + " " * (name - cell_len(own))
    space = " " * max(0, _MEMORIZATION - len(found))
    return [*above, Text.assemble(cells, "  ", space, found, "  ", f"{useful:>{_UTILITY}}", "  ", verdict)]


def _in_people(headline: Headline, room: int) -> list[Text]:
    """Return what the word says of people; the limited quantity stands in grey behind it where the line has room.

    Where the limit itself is kept, and something else leaves the word open, that is what is said.
    """
    if not headline.sentences:
        return []
    if lacking := _lacking(headline):
        return _indented(inert(lacking), room)
    lines = _indented(inert(headline.sentences[0]), room)
    key = _key(headline)
    if lines and cell_len(lines[-1].plain) + 1 + cell_len(key) <= room:
        lines[-1].append(f" {key}", "dim")
    return lines


def _as_if(headline: Headline, room: int) -> list[Text]:
    return _indented(headline.copied, room, "dim")


def _carried(headline: Headline, room: int, *, brief: bool = False) -> list[Text]:
    """Return which columns carry the risk; ``brief``: without how many alone have their value of the first."""
    told = headline.carried.partition("; ")[0] if brief else headline.carried
    return _indented(inert(told), room, "dim")


_RAW = re.compile(r"( in 1,?0+) \([\d.]+\)$")  # a limit as a study file has it, behind that of so many people


def _would_decide(headline: Headline, room: int) -> list[Text]:
    text = f"would decide: {inert(headline.would_decide)}" if headline.would_decide else ""
    whole, short = _indented(text, room, "dim"), _indented(_RAW.sub(r"\1", text), room, "dim")
    return whole if len(whole) == len(short) else short


def _lacking(headline: Headline) -> str:
    """Return what leaves a word open though the limit that comes first is kept; empty where the limit itself does."""
    first = headline.verdicts[0]
    if headline.word != "INCONCLUSIVE" or first.brief in (STRADDLES, NO_INTERVAL) or first.brief != headline.brief:
        return ""
    return first.reason.partition(", but ")[2]


def _named(headline: Headline, room: int) -> list[Text]:
    """Return the limited quantity that decides, unless it stands behind its sentence, or none does."""
    if headline.verdicts and _lacking(headline):
        return []
    said = _in_people(headline, room)
    key = _key(headline)
    if said and said[-1].plain.endswith(f" {key}"):
        return []
    decides = "hinges on" if headline.word == "INCONCLUSIVE" else "decided by"
    return _indented(f"{decides} {key}", room, "dim")


def _key(headline: Headline) -> str:
    return inert(headline.verdicts[0].quantity if headline.verdicts else "")


def _indented(text: str, room: int, style: str = "") -> list[Text]:
    return [Text(line, style) for line in in_lines(f"  {text}" if text else "", room, 2)]


def _counted(rest: Sequence[Headline], room: int) -> list[Text]:
    """Return a line that counts the generators that have none of their own, by their word, and the risks among them."""
    if not rest:
        return []
    words = [h.word for h in rest]
    counts = ", ".join(f"{words.count(w)} {w or 'not judged'}" for w in _ORDER if w in words)
    risks = Text(f"  RISK: {', '.join(inert(h.synthesizer) for h in rest if h.word == 'RISK')}", "dim")
    risks.truncate(room, overflow="ellipsis")
    return [Text(f"and {len(rest)} more: {counts}"), *([risks] if {"RISK"} < {*words} else [])]


def _rank(headline: Headline) -> tuple[int, float]:
    value = headline.worst.excess if headline.worst else float("inf")
    return _ORDER.index(headline.word), value


def _unjudged(told: Overview, *, brief: bool) -> list[Text]:
    if not told.unjudged:
        return []
    count, every = len(told.unjudged), len(told.unjudged) + len(told.judged)
    text = f"{count} of {every} measures {'has' if count == 1 else 'have'} no limit"
    if told.highest is None or brief:
        return [_headed("Not judged", text)]
    highest = Text.assemble(interval(told.highest.found, signed=True), f" {inert(told.highest.synthesizer)}, ")
    return [
        _headed("Not judged", f"{text}; the surest memorization among them:"),
        _headed("", highest.append(inert(told.highest.measure))),
    ]


def _leak_lines(leaks: Sequence[PlantedLeak], what: str, room: int) -> list[Text]:
    """Return which planted leaks were seen, a line for all quantities that saw the same: named where there is room."""
    by_sight: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for quantity in dict.fromkeys(each.quantity for each in leaks):
        own = [each for each in leaks if each.quantity == quantity]
        sight = tuple(tuple(each.words for each in own if each.seen == seen) for seen in (True, False))
        by_sight.setdefault((sight[0], sight[1]), []).append(quantity)
    lines = []
    for (seen, unseen), quantities in by_sight.items():
        saw = f"{' and '.join(seen) if len(seen) < 3 else ', '.join(seen)} seen" if seen else ""
        missed = (f", not {', '.join(unseen)}" if seen else f"{', '.join(unseen)} not seen") if unseen else ""
        named, every = f"{saw}{missed}: by {', '.join(quantities)}", sum(map(len, by_sight.values()))
        counted = f"{len(quantities)} of {every}" if len(by_sight) > 1 else f"all {every}"
        fits = every == 1 or (len(by_sight) > 1 and _HEAD + len(named) <= room)
        lines.append(named if fits else f"{saw}{missed}: by {counted} {what}")
    if len(lines) > _LEAKS:
        lines = [*lines[: _LEAKS - 1], f"and {len(lines) - _LEAKS + 1} more lines in the report"]
    return [_headed("Planted" if not i else "", line) for i, line in enumerate(lines)]


def _leaks_briefly(leaks: Sequence[PlantedLeak], what: str) -> list[Text]:
    """Return one line that counts by how many quantities each planted leak was seen."""
    seen: dict[str, int] = {}
    for each in leaks:
        seen[each.words] = seen.get(each.words, 0) + each.seen
    every = len({each.quantity for each in leaks})
    told = ", ".join(f"{words} by {count}" for words, count in seen.items())
    return [_headed("Planted", f"seen by {what}, of {every}: {told}")]


def _where(outcome: Outcome) -> list[Text]:
    """Return where the report is, and the command that opens it."""
    logged = outcome.logged
    if logged.waits:
        page = str(Path(outcome.report).with_name(RECORD)) if outcome.report else ""
        record = [_headed("Record", _near(page))] if page else []
        return [_report(outcome), *record, _headed("Tracking", not_logged_yet(logged), "bold yellow")]
    name, more = logged.experiment or outcome.result.name, list[str]()
    workspace = os.path.relpath(outcome.workspace)
    if workspace != WORKSPACE:
        more += ["--workspace", str(outcome.workspace) if workspace.startswith("..") else workspace]
    if not logged.uri.startswith("sqlite:"):
        more += ["--tracking-uri", logged.uri]
    record = [_headed("Record", shlex.join(["synthrisk", "record", name, *more]))] if outcome.report else []
    opens = _headed("Open it", shlex.join(["synthrisk", "ui", "--open", name, *more]), "bold")
    return [_report(outcome), *record, opens]


def _report(outcome: Outcome) -> Text:
    if not outcome.report:
        return _headed("Report", f"not written: {outcome.logged.pages.failure}", "yellow")
    return _headed("Report", _near(outcome.report))


def _near(page: str) -> str:
    """Return the path of a page; from here where it is below this folder."""
    near = os.path.relpath(page)
    return near if not near.startswith("..") else page


def _headed(word: str, text: str | Text, style: str = "") -> Text:
    return Text.assemble((f"{word:<{_HEAD}}", "dim"), text if isinstance(text, Text) else (inert(text), style))


EQUAL_ROWS = ("common_rows_proportion", "unique_exact_matches")
"""Metrics whose share is a count of equal rows: of a limit on one the word alone is told."""
_WHOLE = 100


def vendor_answer(result: StudyResult) -> dict[str, Any]:
    """Return the answer as plain values: the word, the exit code, and of each limit its word and share.

    ``people_in_100`` is the limited quantity of 100 people, a whole number; null where it is not defined, or counts
    equal rows.
    """
    metrics = {f.measure.key: f.measure.metric for f in result.findings}
    shown = result.verdicts if result.valid else ()
    return {"word": word_of(result), "exit_code": result.exit_code, "limits": [_limit(v, metrics) for v in shown]}


def print_vendor_answer(result: StudyResult) -> None:
    """Print the answer: a line for the whole, and one a limit."""
    console, answer = Console(highlight=False), vendor_answer(result)
    console.print(Text.assemble("Verdict  ", (answer["word"], COLOURS.get(answer["word"], "bold yellow"))))
    longest = max((len(each["quantity"]) for each in answer["limits"]), default=0)
    if answer["limits"]:
        console.print(
            Text(f"{'limit on':<{longest}}  {'at most':>8}  {'found':>8}  of 100 people", "dim"), soft_wrap=True
        )
    for each in answer["limits"]:
        found = "-" if each["people_in_100"] is None else str(each["people_in_100"])
        line = f"{inert(each['quantity']):<{longest}}  {each['limit']:>8g}  {found:>8}  "
        console.print(Text.assemble(line, (each["word"], COLOURS.get(each["word"], ""))), soft_wrap=True)


def _limit(verdict: Verdict, metrics: Mapping[str, str]) -> dict[str, Any]:
    """Return what is told of one limit, in people of 100; ``metrics`` are those of measures by their key."""
    key = limited(verdict.quantity, metrics).key
    told = math.isfinite(verdict.value) and metrics.get(key, key) not in EQUAL_ROWS
    return {
        "quantity": verdict.quantity,
        "word": str(verdict.word),
        "limit": round(_WHOLE * verdict.limit, 6),
        "people_in_100": round(_WHOLE * verdict.value) if told else None,
    }


_FEW = 12  # rows of limits that would have been kept that are shown to everybody; the report has all


def close(outcome: Outcome, *, verbose: bool = False) -> None:
    """Print what a reader must know, the answer in at most 23 lines last of all; ``verbose``: all tables first."""
    console = Console(highlight=False)
    if not (outcome.result.limits or outcome.result.verdicts):
        console.print(NOT_JUDGED)
    brief = limits_kept(outcome.result) if len(outcome.result.kept) <= _FEW else []
    for table in full_tables(outcome.result) if verbose else brief:
        console.print(table)
    for note in [*notes(outcome.result), *tried_lines(outcome.result)]:
        console.print(note)
    for line in answer_lines(outcome, console.width, form_of(console, verbose=verbose)):
        console.print(line, soft_wrap=True)


def tried_lines(result: StudyResult) -> list[Text]:
    """Return what was tried of an attacker who knows less: each number before the change and after it."""
    lines: list[Text] = []
    above = ""
    for each in tried(result):
        limit = "" if isnan(each.limit) else f", limit {each.limit:g}"
        head = f"{inert(each.synthesizer)}, {inert(each.quantity)}{limit}"
        signed = each.quantity.startswith("memorization")
        if head != above:
            lines.append(Text.assemble(f"Tried        {head}\n               now ", interval(each.before, signed)))
        above = head
        moved = "rises" if each.risk.lower > 0 else "falls" if each.risk.upper < 0 else "not shown to change"
        after = interval(each.after, signed)
        risks = " to ".join(number(risk.value) for risk in each.risks)
        lines.append(Text.assemble(f"               {inert(each.words)}: ", after, f"; risk {moved}, {risks}"))
    return lines
