"""The answer of a study as Markdown, for Prefect's page of artifacts: one key a study, whose history is the trend."""

from collections.abc import Iterable, Sequence
from math import isnan

from synthrisk.flows.ended import Ended
from synthrisk.flows.links import Links
from synthrisk.flows.markdown import LONGEST, plain, table
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.study.headlines import Headline, Overview
from synthrisk.metrics.study.league import BRIEF, LeagueRow, interval_text, league
from synthrisk.metrics.study.result_tables import judged_quantities
from synthrisk.metrics.study.results import StudyResult

_MEASURES = 12  # tables of measures: the report has all
_LIMITED = 60  # rows of limits and generators: the report has all
_OWNED = 6  # limits that are named beside their owner
_TOLD = 6  # synthesizers that a description names


def artifact_text(ended: Ended, earlier: Sequence[tuple[str, str]] = ()) -> str:
    """Return the page: a sentence a synthesizer, what it stands on, the league table of what is judged, and links.

    ``earlier`` are the versions before this one, each with its date and what ``artifact_description`` said of it.
    """
    result, answer = ended.result, ended.answer
    parts = [
        f"# {plain(ended.title, LONGEST)}: {ended.word}",
        *_first_words(result),
        "\n".join(_sentence(each) for each in answer.synthesizers),
        _answers(answer),
        _foundations(answer),
        *_judged(result),
        *_leagues(result, answer),
        *(["## Runs before this one", table(("when", "verdict and what decides it"), earlier)] if earlier else []),
        _links(ended.links),
        f"Study id {plain(result.study_id)}. Each run adds a version under this key.",
    ]
    return "\n\n".join(parts) + "\n"


def artifact_description(ended: Ended) -> str:
    """Return the answer in a line of Markdown, as later versions list it."""
    own = sorted(ended.answer.synthesizers, key=lambda each: each.word == "NO EVIDENCE")
    told = [
        " ".join((plain(each.synthesizer, LONGEST), each.word, _number(each.worst.found.value, signed=True)))
        if each.worst
        else f"{plain(each.synthesizer, LONGEST)} {each.word}"
        for each in own[:_TOLD]
    ]
    more = f" and {len(own) - _TOLD} more" if len(own) > _TOLD else ""
    return f"{plain(ended.title, LONGEST)}: {ended.word} ({', '.join(told)}{more})"


def _first_words(result: StudyResult) -> list[str]:
    """Return what must be read before any number."""
    said = []
    if not result.valid:
        said.append(f"**This study is INVALID:** {plain(result.invalid)}. No verdict may be read.")
    if not (result.limits or result.verdicts):
        said.append("**Nothing was judged:** no limit is set, so there is no verdict.")
    if result.failures:
        names = ", ".join(plain(name) for name in result.failures)
        said.append(f"**Not run to the end:** {names}. The others stand.")
    if result.warning:
        said.append(f"**Mind:** {plain(result.warning)}")
    return said


def _sentence(each: Headline) -> str:
    beside = {"What carries it": each.carried, "What would decide": each.would_decide}
    more = "".join(f" {head}: {plain(told)}." for head, told in beside.items() if told)
    return f"- **{plain(each.synthesizer, LONGEST)}**: {plain(each.sentence)}.{more}"


def _answers(answer: Overview) -> str:
    """Return a row a generator; sentences stand apart, for the cells of Prefect's older pages do not wrap."""
    heads = ("synthesizer", "verdict", "what decides", "in", "as if copied", "utility")
    return table(heads, [_answer(each) for each in answer.headlines])


def _answer(each: Headline) -> Sequence[str]:
    worst, useful = each.worst, each.utility
    none = "reference" if each.role == "reference" else "not judged"
    return (
        plain(each.synthesizer, LONGEST),
        f"**{each.word}**" if each.word else none,
        _interval(worst.found, signed=True) if worst else "-",
        plain(worst.name, LONGEST) if worst else "-",
        f"{each.as_if}, at most {each.at_most}" if each.as_if else "-",
        _number(useful.value.value) if useful else "-",
    )


def _foundations(answer: Overview) -> str:
    """Return what the answer is of, and what it stands on."""
    measures = "the measures that no limit judges" if answer.judged else "all measures, of which no limit judges any"
    highest = answer.highest
    most = ""
    if highest:
        most = f"; the surest memorization among them: {_interval(highest.found, signed=True)} in "
        most += f"{plain(highest.measure, LONGEST)} of {plain(highest.synthesizer, LONGEST)}"
    lines = [
        f"**Data:** {plain(answer.data)}",
        f"**The attacker** {plain(answer.attacker)}",
        *(f"**Limits of {plain(owner)}:** {_some(names)}" for owner, names in answer.owners.items()),
        f"**Not judged:** {len(answer.unjudged)}, {measures}{most}" if answer.unjudged else "",
        f"**Reference generators:** {plain(answer.references)}",
    ]
    return "\n".join(f"- {line}" for line in lines if line)


def _judged(result: StudyResult) -> list[str]:
    """Return what the limits hold for, a row a limit and generator; nothing where there is no limit."""
    rows = [
        (plain(name, LONGEST), f"{limit:g}", plain(each, LONGEST), _interval(found), word or "reference")
        for name, limit, reached in judged_quantities(result)
        for each, (found, word) in reached.items()
    ]
    if not rows:
        return []
    head = "## What is limited"
    more = [f"{len(rows) - _LIMITED} more rows are in the report."] if len(rows) > _LIMITED else []
    return [head, table(("limit on", "limit", "synthesizer", "reached", "verdict"), rows[:_LIMITED]), *more]


def _leagues(result: StudyResult, answer: Overview) -> list[str]:
    """Return the league table of each judged measure; where none is judged of each that may show a risk."""
    shown = [m.key for m in answer.judged or answer.unjudged]
    rows = {key: own for key, own in league(result).items() if key in shown}
    parts = ["## League table"] if rows else []
    for key, own in list(rows.items())[:_MEASURES]:
        heads = ("synthesizer", "verdict", *(c.name for c in BRIEF))
        parts += [f"### {plain(key, LONGEST)}", table(heads, [_row(row) for row in own], numbers=len(BRIEF))]
    if len(rows) > _MEASURES:
        parts.append(f"{len(rows) - _MEASURES} more measures are in the report.")
    return parts


def _row(row: LeagueRow) -> Sequence[str]:
    cells = [
        _interval(row.cells[c.name], c.signed) if c.has_interval else _number(row.cells[c.name].value, c.signed)
        for c in BRIEF
    ]
    return plain(row.synthesizer, LONGEST), row.verdict, *cells


def _links(links: Links) -> str:
    """Return where the pages are: links to what opens, all else as text."""
    name = f"[Report]({links.page})" if links.page else "Report"
    report = f"{name}, a file where the study ran: {plain(links.path)}"
    lines = [report if links.path else "The report could not be written."]
    lines += [f"[Runs in MLflow]({links.runs})"] if links.runs else []
    lines += [f"Runs and report in a browser, where the study ran: {plain(links.start)}"] if links.start else []
    lines += [f"In MLflow {plain(links.waits)}"] if links.waits else []
    return "\n".join(["## Where to look", "", *(f"- {line}" for line in lines)])


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _OWNED} more" if len(names) > _OWNED else ""
    return _comma(plain(name, LONGEST) for name in names[:_OWNED]) + more


def _comma(texts: Iterable[str]) -> str:
    return ", ".join(texts)


def _interval(found: Estimate, signed: bool = False) -> str:
    if isnan(found.value):
        return "-"
    return f"{_number(found.value, signed)} {interval_text(found.lower, found.upper, lambda v: _number(v, signed))}"


def _number(value: float, signed: bool = False) -> str:
    return "-" if isnan(value) else f"{value:{'+' if signed else ''}.3f}"
