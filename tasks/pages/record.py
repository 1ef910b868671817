"""The decision record of a study: two printed pages that a board can sign; the report ends with it."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from markupsafe import Markup

from synthrisk.conf.secrets import mask
from synthrisk.conf.study import NOT_SAID
from synthrisk.metrics.release.identifiers import RELEASED
from synthrisk.metrics.verdicts.limit_sentences import columns_named, counted, in_people, limit_in_words, scale_of
from synthrisk.metrics.verdicts.quantities import limited
from synthrisk.metrics.verdicts.results import Headline, Limit, Overview, StudyResult, overview
from synthrisk.metrics.verdicts.verdicts import LOOK, Verdict
from synthrisk.tasks.pages.sections.coarser_keys import is_of_one_release, study_file
from synthrisk.tasks.pages.templates import render

STYLE = Markup(files("synthrisk.tasks.pages").joinpath("record.css").read_text("utf-8"))  # noqa: S704 - ours
"""How the record looks; all of it is below the class ``as-record``."""

_GENERATORS = 4  # generators that are told one by one; of more, the rest are counted
_SENTENCES, _FEW_SENTENCES = 4, 3  # sentences of one generator, and where there are more than two, or many limits
_MANY = 4  # rows of limits
_NOBODY = ("", NOT_SAID)
_OWNERS = 3  # who set limits, named in a sentence
_LIMITS = 8  # rows of the table of limits
_DIGITS = "first 16 digits of the SHA-256 of"
_REPEATED: Mapping[str, tuple[str, str]] = {
    "data": ("Table", "{}"),
    "who_is_who": ("Who is who", "{}"),
    "left_out": ("Left out", "{}"),
    "data_digest": ("Digest of the table", f"{_DIGITS} its columns and cells, as they were read: {{}}"),
    "split_digest": ("Digest of the split", "of who was held out when: {}"),
    "release_keys": ("Digest of the releases", "of their data, settings, seed, code and versions: {}"),
    "seed": ("Seed of chance", "{}: with it, all that is drawn at random is drawn again alike"),
    "methods": ("Methods", "version {} of what the numbers mean; numbers of one version can be compared"),
    "versions": ("Software", "{}"),
    "started": ("Begun", "{}"),
}
"""What allows a study to be repeated: the facts that the record has, how it calls them, and the words around them."""


class Told(NamedTuple):
    """What the record says of one generator."""

    headline: Headline
    # of the limits that decide word, sentence and name, and the smallest leak that one which is kept would have shown
    sentences: Sequence[tuple[str, str, str, str]]
    more: str  # limits that are left to the report, by their word


def record(result: StudyResult, settings: str = "") -> str:
    """Return the page: one file, nothing fetched, nothing executed, every text escaped; it holds no cell of a table.

    ``settings``: what was asked, as YAML.
    """
    return render("record.html", result=result, body=body(result, settings), style_of_record=STYLE)


def body(result: StudyResult, settings: str = "") -> Markup:
    """Return what the record says, without the head of a page: the report prints it too."""
    told = overview(result)
    metrics = {key: f.measure.metric for f in result.findings for key in (f.measure.key, f.measure.label)}
    alike: dict[tuple[Limit, str], list[tuple[str, str]]] = {}  # those of one limit by one author share a row
    for name, limit in result.judged_limits.items():
        metric = metrics.get(limited(name, metrics).key, "")
        row = alike.setdefault((limit, in_people(limit.value, scale_of(name, metric))), [])
        row.append((limit_in_words(name, metric), name))
    limits = [(rows, limit, people) for (limit, people), rows in alike.items()]
    known = {words: result.facts[name] for name, words in _REPEATED.items() if result.facts.get(name)}
    facts = {called: words.format(found) for (called, words), found in known.items()}
    sentences = _SENTENCES if len(told.synthesizers) <= 2 and len(limits) <= _MANY else _FEW_SENTENCES
    text = render(
        "record_body.html",
        result=result,
        overview=told,
        told=[_told(each, sentences) for each in told.synthesizers[:_GENERATORS]],
        rest=_counted(told.synthesizers[_GENERATORS:]),
        limits=limits[:_LIMITS],
        has_look=LOOK in result.judged_limits,
        has_names=any(v.quantity == RELEASED for v in result.verdicts),
        more_limits=sum(len(rows) for rows, *_ in limits[_LIMITS:]),
        owners=_owners(told),
        seen=_seen(told),
        names=[each.synthesizer for each in told.synthesizers],
        verdicts=[(each.synthesizer, each.word) for each in told.synthesizers[:_GENERATORS]],
        unjudged=columns_named([m.key for m in told.unjudged]),
        facts=facts | _again(result.facts, settings),
    )
    return Markup(text)  # noqa: S704 - the template escapes what it is given


def _owners(told: Overview) -> str:
    """Return who set the limits; of many it stands beside each."""
    names = [f'"{source}"' for source in told.owners if source not in _NOBODY]
    told_who = columns_named(names or ["nobody who is named"])
    return "Who set them stands beside each" if len(names) > _OWNERS else f"They were set by {told_who}"


def _again(facts: Mapping[str, str], settings: str) -> dict[str, str]:
    """Return how releases were made, how sure the intervals are, and with which settings all of it can be repeated."""
    told = {}
    if {"releases", "repetitions"} <= set(facts):
        repetitions, releases = int(facts["repetitions"]), int(facts["releases"])
        parts = releases // repetitions
        each = f"{counted(parts, 'fold')} in {counted(repetitions, 'repetition')}"
        told["Repetitions"] = "one release" if releases == 1 else f"{each}: {releases:,} releases of each generator"
    method, _, level = facts.get("interval", "").rpartition(", ")
    if method:
        sure = 100 * float(level)
        right = f"{sure:g} of 100 such intervals hold the true value, {50 + sure / 2:g} of 100 of their ends are right"
        told["Intervals"] = f"of {sure:g} %: {right} (method: {method})"
    if settings:
        words = "synthrisk evaluate" if is_of_one_release(settings) else f"synthrisk benchmark {study_file(settings)}"
        digest = sha256(mask(settings).encode()).hexdigest()[:16]
        told["Command"] = f"{words}, with the settings at the end of the report; {_DIGITS} these settings: {digest}"
    return told


def _told(headline: Headline, most: int) -> Told:
    pairs = list(zip(headline.verdicts, headline.sentences, strict=True))
    first = [(v, words) for v, words in pairs if v.word != "CANNOT TELL"][:most]
    rest = [v for v, _ in pairs if v not in [shown for shown, _ in first]]
    return Told(headline, [(v.word, words, v.quantity, _leak(v)) for v, words in first], _counted(rest))


def _leak(verdict: Verdict) -> str:
    return next((part for part in verdict.reason.split("; ") if part.startswith("a leak of")), "")


def _counted(rest: Sequence[Headline | Verdict]) -> str:
    """Return how many generators, or limits, there are more, by their word."""
    words = [each.word or "not judged" for each in rest]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))


def _seen(told: Overview) -> list[str]:
    """Return by how many limits each planted leak was seen."""
    lines = []
    for words in dict.fromkeys(each.words for each in told.leaks):
        own = [each for each in told.leaks if each.words == words]
        what = ("limit" if told.judged else "measure") + "s" * (len(own) != 1)
        lines.append(f"{words}: seen by {sum(each.seen for each in own)} of {len(own)} {what}")
    return lines
