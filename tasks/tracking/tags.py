"""What runs are called, and their tags."""

from collections.abc import Mapping

from synthrisk.metrics.intervals.estimates import spelled
from synthrisk.metrics.study.headlines import Headline
from synthrisk.metrics.study.results import StudyResult
from synthrisk.tasks.tracking.keys import verdict_tag

INCOMPLETE = "incomplete"
"""The tag of runs whose study is not, or not yet, all there."""


def run_name(name: str, study_id: str) -> str:
    """Return the name of a run: what ran, and when its study began.

    Example:
        >>> run_name("cart", "20261123-013609-1ddbd6")
        'cart · 20261123-013609'
    """
    date, _, rest = study_id.partition("-")
    when = f"{date}-{rest.partition('-')[0]}" if rest else date
    return f"{name} · {when}"


def generator_tags(result: StudyResult, headline: Headline) -> dict[str, str]:
    """Return the tags of a generator's run."""
    name = headline.synthesizer
    settings, keys = result.settings[name], {f.measure.key for f in result.findings}
    released = {each: summary.status for each, summary in result.releases.items()}
    own: Mapping[str, Mapping[str, str]] = {
        "answer": result.answers,
        "failure": result.failures,
        "release": released,
    }
    people = {"as_if": f"{headline.as_if}, at most {headline.at_most}"} if headline.as_if else {}
    worst = {"worst": f"{spelled(headline.worst.found)} {headline.worst.name}"} if headline.worst else {}
    return {
        "role": settings["role"],
        "synthesizer": name,
        "kind": settings["kind"],
        "verdict": headline.word or "none",
        "why": headline.brief,
        **worst,
        **people,
        **{tag: told[name] for tag, told in own.items() if name in told},
        **{verdict_tag(v, keys): v.word for v in result.verdicts if v.synthesizer == name},
        **study_tags(result),
    }


def study_tags(result: StudyResult) -> dict[str, str]:
    """Return the tags that all runs of a study share."""
    told = {"invalid": result.invalid, "warning": result.warning}
    beside = {tag: text for tag, text in told.items() if text}
    return {"study_id": result.study_id, "references": result.references, **beside, **result.facts}


def params_of(result: StudyResult, name: str) -> dict[str, str]:
    """Return the params of a run: few, and such that the compare page tells generators of one kind apart.

    A synthesizer has the options that it or another of its kind was given; ``default`` where it was not.
    """
    settings = result.settings[name]
    if settings["role"] != "synthesizer":
        return {"synthesizer": name}
    alike = [s for s in result.settings.values() if (s["role"], s["kind"]) == ("synthesizer", settings["kind"])]
    options = dict.fromkeys(k for s in alike for k in s if k not in ("role", "kind"))
    return {"synthesizer": name, "kind": settings["kind"], **{k: settings.get(k, "default") for k in options}}
