"""What runs are called, and their tags."""

from collections.abc import Mapping

from synthrisk.metrics.intervals.estimates import spelled
from synthrisk.metrics.study.headlines import Headline
from synthrisk.metrics.study.quantities import limited
from synthrisk.metrics.study.results import StudyResult
from synthrisk.tasks.tracking.keys import limited_key, verdict_tag

INCOMPLETE = "incomplete"
"""The tag of runs whose study is not, or not yet, all there."""


ANSWER = "answer_digest"
"""The tag of a study's run that holds the digest of what the study says: see ``repeated``."""

CHECKED_AGAIN = "checked_again"
"""The tag of runs that holds when the same study last came to the same answer."""


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
    useful = headline.utility
    utility = {"utility": f"{useful.value.value:.3f} {useful.measure.key}"} if useful else {}
    return {
        "role": settings["role"],
        "synthesizer": name,
        "kind": settings["kind"],
        "verdict": headline.word or "none",
        "why": headline.brief,
        **worst,
        **people,
        **utility,
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
    """Return the params of a generator's run: those of the study, and what tells generators of one kind apart.

    A synthesizer has the options that it or another of its kind was given; ``default`` where it was not. An option
    that is called like a param of the study begins with ``option.``.
    """
    settings, shared = result.settings[name], study_params(result)
    if settings["role"] != "synthesizer":
        return {"synthesizer": name, **shared}
    alike = [s for s in result.settings.values() if (s["role"], s["kind"]) == ("synthesizer", settings["kind"])]
    options = dict.fromkeys(k for s in alike for k in s if k not in ("role", "kind"))
    own = {f"option.{k}" if k in shared else k: settings.get(k, "default") for k in options}
    return {"synthesizer": name, "kind": settings["kind"], **own, **shared}


def study_params(result: StudyResult) -> dict[str, str]:
    """Return the params that all runs of a study share: how it was cut, of what, its limits, and the versions.

    A limit is ``limit.<metric>``, where ``<metric>`` is the key of the limited quantity among the metrics; a version is
    ``version.<package>``. Of a holdout, which leaves out one part alone, ``folds`` is 1.
    """
    facts = result.facts
    told = {"seed": "seed", "repetitions": "repetitions", "rows": "records", "table_digest": "data_digest"}
    params = {name: facts[fact] for name, fact in told.items() if fact in facts}
    if {"releases", "repetitions"} <= set(facts):
        params["folds"] = str(int(facts["releases"]) // int(facts["repetitions"]))
    labels = {f.measure.key: f.measure.label for f in result.findings}
    for name, limit in result.limits.items():
        what = limited(name, [*labels, *labels.values()])
        params[f"limit.{limited_key(what)}"] = str(limit.value)
    versions = (each.partition(" ") for each in facts.get("versions", "").split(", ") if each)
    return params | {f"version.{package}": version for package, _, version in versions}
