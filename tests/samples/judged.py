"""A study that is judged, made by hand: two synthesizers, a failed one, and reference generators that behave."""

from collections.abc import Mapping
from dataclasses import replace

from samples.estimates import around
from samples.kinds import beside_other_kind
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.study.findings import Finding, Usefulness
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.references import Check
from synthrisk.metrics.verdicts.results import Limit, StudyResult
from synthrisk.metrics.verdicts.verdicts import Beside

ANSWERS = {"copy": "copy", "near": "near_copy", "fresh": "ideal"}
REACHED = {"copy": 0.6, "near": 0.4, "fresh": 0.0}
LIMITS = {"memorization/zero_cap.income": 0.1}
PASSED = Check("fresh", "all", "around 0", True, "it is")


def judged_study(
    study_id: str = "20261123-013609-1ddbd6",
    memorized: Mapping[str, float] | None = None,
    limits: Mapping[str, float] = LIMITS,
    guessed: str = "income",
    **parts: object,
) -> StudyResult:
    """Return a study of these memorizations by synthesizer, whose reference generators reach what they should."""
    own = dict(memorized or {"cart": 0.3, "coarse": 0.02})
    measures = Measure("zero_cap", "zero_cap", guessed), Measure("rapid", "rapid", guessed)
    roles = {name: "reference" if name in ANSWERS else "synthesizer" for name in own | REACHED}
    risks, more = (around(0.4, 0.02), around(0.3, 0.02)), {"guess": 0.35, "release_risk": (0.4, 0.41), "reach": 1.0}
    findings = [
        replace(Finding(name, roles[name], m, *risks, around(value, 0.02)), **more)
        for m in measures
        for name, value in (own | REACHED).items()
    ]
    use, best = Measure("accuracy", "accuracy"), Estimate(0.8, 0.8, 0.8)
    found = zip([*own, *REACHED], (Estimate(u, u, u) for u in (0.9, 0.85, 0.7, 0.6, 0.5, 0.4)), strict=False)
    settings = {n: {"role": "synthesizer", "kind": "cart"} for n in own}
    settings |= {"broken": {"role": "synthesizer", "kind": "callable"}}
    settings |= {n: {"role": "reference", "kind": n} for n in ANSWERS}
    whole = StudyResult(
        study_id, "people", findings, [PASSED],
        beside_other_kind(findings, limits, [PASSED], Beside(ANSWERS)) if limits else [],
        {"broken": "cell: KeyError in x.py"}, {name: Limit(value, "the board") for name, value in limits.items()},
        {"records": "3", "columns": "2", "releases": "2", "data_digest": "d" * 16, "seed": "1"}, settings, ANSWERS,
        utility=[Usefulness(n, roles[n], use, u, u, best) for n, u in found], quasi_identifiers=("age",),
        sensitive=(guessed,),
    )  # fmt: skip
    return replace(whole, **parts)


def of_these(study: StudyResult, *names: str) -> StudyResult:
    """Return what a study says of some of its generators, for each run that is logged takes a while."""
    rows, named = ("findings", "verdicts", "utility"), ("failures", "settings", "answers")
    kept = {part: [each for each in getattr(study, part) if each.synthesizer in names] for part in rows}
    kept |= {part: {n: told for n, told in getattr(study, part).items() if n in names} for part in named}
    return replace(study, **kept)
