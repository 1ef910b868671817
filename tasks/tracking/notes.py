"""What MLflow shows above an experiment and in a run's overview: the answer in words, its table, and where to go.

It is Markdown in which every value is text: nothing that a column or a reason holds becomes markup.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isnan
from typing import NamedTuple

from synthrisk.metrics.intervals.estimates import Estimate, decimals, spelled
from synthrisk.metrics.verdicts.results import (
    Headline,
    LeagueRow,
    Overview,
    StudyResult,
    interval_text,
    league,
    ordered_names,
)
from synthrisk.metrics.verdicts.tables import judged_quantities
from synthrisk.tasks.tracking.addresses import FIRST, compare_link, run_link, view_link
from synthrisk.tasks.tracking.runs import Written

LONGEST = 120  # characters of a value, for a page to stay readable
_INERT = frozenset(" .,+-=%;'\"?$()/")  # of what is neither a letter nor a digit; a - or + never starts a line here


def literal(text: str) -> str:
    """Return a value as Markdown that shows it as it is: marks as entities, direction kept to itself.

    Example:
        >>> literal("a|b <script>"), literal("*x*")
        ('a&#124;b &#60;script&#62;', '&#42;x&#42;')
    """
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    plain = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in short)
    shown = "".join(c if c.isalnum() or c in _INERT or ord(c) > 127 else f"&#{ord(c)};" for c in plain)
    if any(unicodedata.bidirectional(c) in ("R", "AL") for c in plain):
        return f"\N{FIRST STRONG ISOLATE}{shown}\N{POP DIRECTIONAL ISOLATE}"
    return shown


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], apart: str = " | ") -> list[str]:
    """Return the lines of a table; heads and cells are Markdown, ``apart`` is what stands between cells."""
    rule = " | ".join(["---"] * len(heads))
    first, *others = (f"| {apart.join(cells)} |" for cells in (heads, *rows))
    return [first, f"| {rule} |", *others]


def link(text: str, address: str) -> str:
    """Return a link."""
    return f"[{literal(text)}]({address})"


def fitting(lines: Sequence[str], limit: int, end: str) -> str:
    """Return as many whole lines as fit into ``limit`` characters; if some do not, ``end`` as the last paragraph."""
    whole = "\n".join(lines)
    if len(whole) <= limit:
        return whole
    room, kept = limit - len(end) - 2, list[str]()
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join([*kept, "", end])


_APART = "&emsp; | "  # MLflow's pages leave no room between the columns of a table
TAG = "mlflow.note.content"
_OF_EXPERIMENT, _OF_RUN = 18_000, 7_500  # characters, below what MLflow takes as a tag's value
_MORE = "This is cut short: the saved view and the report hold all of it."
_WHAT = (
    "Disclosure-risk studies of synthetic tables, by synthrisk. Each run is one generator of one study: how much its "
    "releases give away of the people in the real table (memorization, risk) and how useful they are (utility). Grey "
    "runs are reference generators, whose answer is known: they show what a study would have seen."
)


class Place(NamedTuple):
    """Where a study is: what links lead to."""

    experiment_id: str
    runs: Mapping[str, str]  # ids by generator
    study: str  # id of the study's own run
    flow_run: str = ""  # address of its flow run in Prefect; empty where there is none


def log_notes(to: Written, place: Place) -> None:
    """Write the notes of the runs of a study and of their experiment."""
    for name, run_id in place.runs.items():
        to.client.set_tag(run_id, TAG, run_note(to.result, to.told, name, place))
    to.client.set_tag(place.study, TAG, study_note(to.result, to.told, place))
    if to.is_latest:
        to.client.set_experiment_tag(to.experiment_id, TAG, experiment_note(to.result, to.told, place))


def experiment_note(result: StudyResult, told: Overview, place: Place) -> str:
    """Return what stands above the runs of an experiment: what it is, and the latest study's answer."""
    lines = [f"Latest study, {literal(result.name)} {literal(result.study_id)}: {_words(told)}", "", *_invalid(result)]
    lines += [_links(result, place), "", *_answer(told, place), "", *_known(result, told), ""]
    lines += _judged(result)
    lines += ["**League table** (memorization; an interval above 0: the releases lie nearer to members)", ""]
    lines += [*_league(result), "", _WHAT]
    return fitting(lines, _OF_EXPERIMENT, _MORE)


def run_note(result: StudyResult, told: Overview, name: str, place: Place) -> str:
    """Return what stands in the overview of one generator's run: verdict, measures, links."""
    headline = next(h for h in told.headlines if h.synthesizer == name)
    word = f"**{literal(headline.word)}** " if headline.word else ""
    lines = [f"{word}{_text(headline.sentence)}", "", *_decides(headline), *_invalid(result)]
    lines += [_links(result, place), ""]
    own = [row for rows in league(result).values() for row in rows if row.synthesizer == name and not row.failure]
    heads = ["measure", "verdict", "memorization", "risk", "guess", "control"]
    lines += table(heads, [_measure(row) for row in own]) if own else []
    useful = [u for u in result.utility if u.synthesizer == name]
    cells = [[literal(u.measure.key), _interval(u.value), _number(u.ceiling.value)] for u in useful]
    lines += ["", *table(["utility", "value", "ceiling"], cells)] if useful else []
    return fitting([*lines, "", *_reasons(headline)], _OF_RUN, _MORE)


def study_note(result: StudyResult, told: Overview, place: Place) -> str:
    """Return what stands in the overview of the study's own run."""
    lines = [*_invalid(result), _links(result, place), "", *_answer(told, place), "", *_known(result, told)]
    return fitting(lines, _OF_RUN, _MORE)


def _words(told: Overview) -> str:
    """Return the verdicts in a line: what is seen of the note before it is unfolded."""
    return ", ".join(f"{literal(h.synthesizer)} **{literal(h.word or 'not judged')}**" for h in told.synthesizers)


def _answer(told: Overview, place: Place) -> list[str]:
    """Return the table of the answer: a row a generator, the judged ones first."""
    experiment, runs = place.experiment_id, place.runs
    judged = "what decides" if told.judged else "surest memorization (nothing is judged)"
    rows = []
    for h in told.headlines:
        name = literal(h.synthesizer)
        if h.synthesizer in runs:
            name = link(h.synthesizer, run_link("", experiment, runs[h.synthesizer]))
        written = partial(spelled, signed=h.worst.signed) if h.worst else spelled
        worst = f"{_interval(h.worst.found, written)} in {literal(h.worst.name)}" if h.worst else "–"
        copied = f"{h.as_if}, at most {h.at_most}" if h.as_if else "–"
        needs = f"What would decide: {h.would_decide}" if h.would_decide else ""
        useful = f"{_interval(h.utility.value)} {literal(h.utility.measure.key)}" if h.utility else "–"
        words = _text(". ".join(filter(None, (h.sentence, h.carried, needs))))
        rows.append([name, literal(h.word or h.role), words, worst, copied, useful])
    return table(["generator", "verdict", "in words", judged, "as if so many were copied", "utility"], rows, _APART)


def _known(result: StudyResult, told: Overview) -> list[str]:
    """Return under what the answer holds."""
    owners = [f"{', '.join(map(literal, names))} by {literal(source)}" for source, names in told.owners.items()]
    beside = ""
    if told.highest:
        where = f"{literal(told.highest.synthesizer)}, {literal(told.highest.measure)}"
        beside = f", the surest memorization there is {spelled(told.highest.found)} ({where})"
    facts = {
        "Data": _text(told.data),
        "Attacker": _text(told.attacker),
        "Limits": "; ".join(owners) or "none: nothing is judged",
        "Not judged": f"measures without a limit: {len(told.unjudged)}{beside}",
        "Reference generators": _text(told.references),
        "Warning": _text(result.warning),
    }
    return [f"- {name}: {text}" for name, text in facts.items() if text]


def _judged(result: StudyResult) -> list[str]:
    """Return what the limits hold for, a row a limit and a column a generator; nothing where there is no limit."""
    names = [n for n in ordered_names(result) if n not in result.failures]
    cells = []
    for name, limit, reached in judged_quantities(result):
        told = [_reached(reached[n]) if n in reached else "–" for n in names]
        cells.append([literal(name), f"{limit:g}", *told])
    if not cells:
        return []
    return ["**What is limited**", "", *table(["limit on", "limit", *map(literal, names)], cells), ""]


def _reached(told: tuple[Estimate, str]) -> str:
    found, word = told
    return _interval(found) + (f" **{literal(word)}**" if word else "")


def _league(result: StudyResult) -> list[str]:
    """Return memorization, a row a measure and a column a generator."""
    names, rows = [n for n in ordered_names(result) if n not in result.failures], league(result)
    found = {(row.synthesizer, row.measure): row for own in rows.values() for row in own}
    cells = [[literal(key), *(_memorized(found.get((name, key))) for name in names)] for key in rows if key]
    return table(["measure", *map(literal, names)], cells, _APART)


def _memorized(row: LeagueRow | None) -> str:
    if row is None:
        return "–"
    found = row.cells["memorization"]
    return _interval(found, spelled) + (f" **{literal(row.word)}**" if "memorization" in row.on else "")


def _measure(row: LeagueRow) -> list[str]:
    cells, verdict = row.cells, row.verdict + (f" on {', '.join(row.on)}" if row.on else "")
    intervals = _interval(cells["memorization"], spelled), _interval(cells["risk"])
    numbers = (_number(cells[name].value) for name in ("guess", "control"))
    return [literal(row.measure), literal(verdict), *intervals, *numbers]


def _decides(headline: Headline) -> list[str]:
    """Return as if how many people had been copied, which columns carry the risk, and what would decide, if known."""
    copied = f"{headline.copied[:1].upper()}{headline.copied[1:]}." if headline.copied else ""
    carried = f"{_text(headline.carried[:1].upper() + headline.carried[1:])}." if headline.carried else ""
    needs = f"What would decide: {_text(headline.would_decide)}." if headline.would_decide else ""
    return [line for told in (copied, carried, needs) if told for line in (told, "")]


def _reasons(headline: Headline) -> list[str]:
    told = zip(headline.verdicts, headline.sentences, strict=True)
    return [f"- **{literal(v.word)}** {_text(words)}. {literal(v.quantity)}: {_text(v.reason)}" for v, words in told]


def _invalid(result: StudyResult) -> list[str]:
    return [f"**INVALID**: no verdict may be read, for {_text(result.invalid)}", ""] if result.invalid else []


def _links(result: StudyResult, place: Place) -> str:
    experiment = place.experiment_id
    links = [
        link("all runs of this study", view_link("", experiment, result.study_id)),
        link("charts", view_link("", experiment, result.study_id, charts=True)),
        link("side by side", compare_link("", experiment, list(place.runs.values()))),
        link("decision record", run_link("", experiment, place.study, FIRST)),
        link("report", run_link("", experiment, place.study, "report.html")),
        *([link("flow run in Prefect", place.flow_run)] if place.flow_run else []),
    ]
    return " · ".join(links)


def _text(sentence: str) -> str:
    """Return a sentence that may hold names of columns; long ones stay whole."""
    parts = [sentence[i : i + 100] for i in range(0, len(sentence), 100)]
    return "".join(map(literal, parts))


def _interval(found: Estimate, words: Callable[[Estimate], str] | None = None) -> str:
    if isnan(found.value):
        return "–"
    if isnan(found.lower) or isnan(found.upper):
        return f"{decimals(found.value, signed=words is not None)} [no interval]"
    return words(found) if words else f"{decimals(found.value)} {interval_text(found.lower, found.upper, decimals)}"


def _number(value: float) -> str:
    return "–" if isnan(value) else decimals(value)
