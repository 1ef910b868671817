"""The answer of a study as Markdown, for Prefect's page of artifacts: one key a study, whose history is the trend.

It is Markdown in which any text stays text, under a stable key for each name that somebody gave.
"""

import hashlib
import re
import shlex
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import Literal

from synthrisk.conf.secrets import mask, without_secrets
from synthrisk.flows.outcome import Outcome, word_of
from synthrisk.metrics.intervals.estimates import Estimate, decimals
from synthrisk.metrics.verdicts.results import (
    BRIEF,
    Headline,
    LeagueRow,
    Overview,
    StudyResult,
    interval_text,
    league,
    overview,
)
from synthrisk.metrics.verdicts.tables import judged_quantities
from synthrisk.tasks.tracking.addresses import not_logged_yet

LONGEST = 80
"""Letters of a text that a cell of a table has room for."""
# Prefect's older pages show entities as they are written; both take backslashes.
_MARKUP = re.compile(r"[\\`*_{}\[\]<>&#~!|]")
_BLOCK = re.compile(r"^(\d*)([-+=.)])")  # what would begin a list or underline a heading
_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)", re.IGNORECASE)  # what would become a link
_LONG = re.compile(r"(\w{60})(?=\w)")  # what would run out of the page
_BREAK = "\N{ZERO WIDTH SPACE}"
_SPELLED = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"  # letters need them: they are no layout
_SPLIT, _FIRST_STRONG, _POP = "\N{WORD JOINER}", "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"


def plain(text: object, longest: int | None = None) -> str:
    r"""Return a text in one line of Markdown that reads as the text does; a long one loses its middle.

    Control and direction characters are dropped, and right-to-left text is kept from turning what stands beside it.

    Example:
        >>> print(plain("a|b <script>"), plain("0123456789", longest=6))
        a\|b \<script\> 012…89
    """
    shown = "".join(c for c in " ".join(str(text).split()) if c in _SPELLED or unicodedata.category(c)[0] != "C")
    if longest is not None and len(shown) > longest:
        shown = f"{shown[: longest // 2]}…{shown[longest // 2 + 1 - longest :]}"
    escaped = _BLOCK.sub(r"\1\\\2", _MARKUP.sub(r"\\\g<0>", _LONG.sub(rf"\1{_BREAK}", shown)))
    split = _ADDRESS.sub(_SPLIT, escaped)
    turned = any(unicodedata.bidirectional(c) in ("R", "AL") for c in shown)
    return f"{_FIRST_STRONG}{split}{_POP}" if turned else split


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0) -> str:
    """Return a table of cells that are Markdown already, the last ``numbers`` columns aligned to the right."""
    rule = ["---"] * (len(heads) - numbers) + ["--:"] * numbers
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows))


_LONGEST = 60
_PLAIN = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
_IN_ASSETS = re.compile(r"[^\w.~:/@!$()*+,;=-]+")  # what keys of assets must not have, in one pass
_LONGEST_ASSET = 512
_HAS_DIGEST = re.compile(r"(^|-)x[0-9a-f]{8}$")


def key_of_name(name: str) -> str:
    """Return lowercase letters, digits and dashes, two of them for an underscore; two names never share a key.

    A name of anything else, a long one, or one that ends as if it had a digest, gets some digits of its own digest.

    Example:
        >>> key_of_name("paper_adult"), key_of_name("Adult"), key_of_name("größe/1")
        ('paper--adult', 'adult-xad08defc', 'gr-e-1-x98135d39')
    """
    if len(name) <= _LONGEST and _PLAIN.fullmatch(name) and not _HAS_DIGEST.search(name):
        return name.replace("_", "--")
    front = re.sub(r"[^a-z0-9]+", "-", name.lower())[:_LONGEST].strip("-")
    return f"{front}-x{hashlib.sha256(name.encode()).hexdigest()[:8]}".lstrip("-")


def asset_key(address: str) -> str:
    """Return the key of the asset that is at an address: the address itself, as far as keys can be addresses.

    User, password and token are taken out, and the parameters of a query. A path is one of this machine, a name one of
    ours. What keys cannot hold becomes a dash, and then digits of a digest are added, so that no two share a key.

    Example:
        >>> asset_key("/data/real.csv"), asset_key("adult"), asset_key("s3://bucket/july.parquet?token=abc")
        ('file:///data/real.csv', 'synthrisk://adult', 's3://bucket/july.parquet')
        >>> asset_key("postgresql+psycopg://me:${PASSWORD}@host/db"), asset_key("/data/réel 1.csv")
        ('postgresql://host/db', 'file:///data/réel-1.csv-xe14af626')
    """
    told = re.split(r"[?#]", mask(without_secrets(address)))[0]
    scheme, has_scheme, place = told.partition("://")
    if not has_scheme:
        name, is_kind, rest = told.partition(":")
        scheme, place = ("file", told) if Path(told).is_absolute() else (name, rest) if is_kind else ("synthrisk", told)
    scheme = re.sub(r"[^a-z0-9]", "", scheme.partition("+")[0].lower()) or "synthrisk"
    plain = _IN_ASSETS.sub("-", place)
    key = f"{scheme}://{plain}"
    if plain == place and len(key) <= _LONGEST_ASSET:
        return key
    return f"{key[: _LONGEST_ASSET - 10]}-x{hashlib.sha256(place.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Links:
    """Addresses of a study's pages."""

    page: str  # its report in MLflow; empty where no server shows it, or it could not be written
    path: str  # the report as a file of the machine that ran the study; empty where it could not be written
    runs: str  # its runs in MLflow; empty where no server shows them
    start: str  # the command that shows report and runs where no server does
    waits: str  # the line that says how it comes into MLflow, where it is not logged yet


def links_of(outcome: Outcome) -> Links:
    """Return where the report and the runs of a study are: addresses only of what a server shows that runs.

    A page of a server opens no file, and MLflow's pages of a store without a server are there once somebody starts one.
    """
    logged = outcome.logged
    server = logged.uri.rstrip("/") if logged.uri.startswith("http") and not logged.waits else ""
    where = ["--tracking-uri", logged.uri]
    if logged.uri.startswith("sqlite:"):
        where = ["--workspace", str(outcome.workspace.absolute())]
    command = ["synthrisk", "ui", "--open", logged.experiment or outcome.result.name, *where]
    return Links(
        page=mask(logged.page_link(server)) if server else "",
        path=mask(str(Path(outcome.report).absolute())) if outcome.report else "",
        runs=mask(logged.view_link(server)) if server else "",
        start="" if server or logged.waits else shlex.join(command),
        waits=not_logged_yet(logged) if logged.waits else "",
    )


@dataclass(frozen=True)
class Ended:
    """What has ended: a study of that name, or the evaluation of a release in that experiment."""

    outcome: Outcome
    kind: Literal["study", "evaluate"]
    name: str  # whose runs make a trend
    title: str  # what people read
    also: Sequence[str] = ()  # addresses of tables that it has read beside the real one: a release, control records

    @property
    def result(self) -> StudyResult:
        """The numbers."""
        return self.outcome.result

    @property
    def word(self) -> str:
        """The word that the whole is summed up by."""
        return word_of(self.result)

    @cached_property
    def answer(self) -> Overview:
        """The answer in words, one a synthesizer."""
        return overview(self.result)

    @cached_property
    def links(self) -> Links:
        """Where its pages are."""
        return links_of(self.outcome)

    @property
    def key(self) -> str:
        """Key of the artifact, which is the same in each run."""
        return f"{self.kind}-{key_of_name(self.name)}"

    @property
    def resource(self) -> str:
        """What events are about."""
        return f"synthrisk.{self.kind}.{key_of_name(self.name)}"


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
    told = []
    for each in own[:_TOLD]:
        decides = f" {_number(each.worst.found.value, signed=each.worst.signed)}" if each.worst else ""
        told.append(f"{plain(each.synthesizer, LONGEST)} {each.word}{decides}")
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
    """Return the answer for a synthesizer, and below it what its other limits say of people."""
    beside = {"What carries it": each.carried, "What would decide": each.would_decide}
    more = "".join(f" {head}: {plain(told)}." for head, told in beside.items() if told)
    first = f"- **{plain(each.synthesizer, LONGEST)}**: {plain(each.sentence)}.{more}"
    others = [told for told in each.sentences if told and told not in each.sentence]
    return "\n".join([first, *(f"  - {plain(told)}." for told in others)])


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
        _interval(worst.found, signed=worst.signed) if worst else "-",
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
    return ", ".join(plain(name, LONGEST) for name in names[:_OWNED]) + more


def _interval(found: Estimate, signed: bool = False) -> str:
    if isnan(found.value):
        return "-"
    return f"{_number(found.value, signed)} {interval_text(found.lower, found.upper, lambda v: _number(v, signed))}"


def _number(value: float, signed: bool = False) -> str:
    return "-" if isnan(value) else decimals(value, signed=signed)
