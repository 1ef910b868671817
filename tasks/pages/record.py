"""The decision record of a study: two printed pages for who signs, with the report as its appendix."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from markupsafe import Markup

from synthrisk.metrics.study.headlines import Headline, Overview, overview
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.sentences import columns_named
from synthrisk.tasks.pages.templates import render

STYLE = Markup(files("synthrisk.tasks.pages").joinpath("record.css").read_text("utf-8"))  # noqa: S704 - ours
"""How the record looks; all of it is below the class ``as-record``."""

_GENERATORS = 4  # generators that are told one by one; of more, the rest are counted
_SENTENCES = 3  # sentences of one generator
_LIMITS = 8  # limits in the table
_REPEATED = ("data", "data_digest", "seed", "split", "split_digest", "interval", "methods", "versions", "started")


@dataclass(frozen=True)
class Told:
    """What the record says of one generator."""

    headline: Headline
    sentences: Sequence[tuple[str, str, str]]  # word, sentence and name of the limits that decide
    more: int  # limits that are left to the report


def record(result: StudyResult) -> str:
    """Return the page: one file, nothing fetched, nothing executed, every text escaped; it holds no cell of a table."""
    return render("record.html", result=result, body=body(result), style_of_record=STYLE)


def body(result: StudyResult) -> Markup:
    """Return what the record says, without the head of a page: the report prints it too."""
    told = overview(result)
    limits = list(result.limits.items())
    facts = {name: result.facts[name] for name in _REPEATED if result.facts.get(name)}
    text = render(
        "record_body.html",
        result=result,
        overview=told,
        told=[_told(each) for each in told.synthesizers[:_GENERATORS]],
        rest=_counted(told.synthesizers[_GENERATORS:]),
        limits=limits[:_LIMITS],
        more_limits=len(limits) - _LIMITS,
        seen=_seen(told),
        names=[each.synthesizer for each in told.synthesizers],
        unjudged=columns_named([m.key for m in told.unjudged]),
        facts=facts,
    )
    return Markup(text)  # noqa: S704 - the template escapes what it is given


def _told(headline: Headline) -> Told:
    pairs = list(zip(headline.verdicts, headline.sentences, strict=True))
    first = [(v.word, words, v.quantity) for v, words in pairs if v.word != "CANNOT TELL"]
    return Told(headline, first[:_SENTENCES], len(pairs) - len(first[:_SENTENCES]))


def _counted(rest: Sequence[Headline]) -> str:
    """Return how many generators there are more, by their word."""
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
