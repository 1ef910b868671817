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
    findings = [
        replace(
            Finding(
                name, "reference" if name in ANSWERS else "synthesizer", m, around(0.4, 0.02), around(0.3, 0.02), each
            ),
            guess=0.35,
            release_risk=(0.4, 0.41),
            reach=1.0,
        )
        for m in measures
        for name, each in {n: around(value, 0.02) for n, value in (own | REACHED).items()}.items()
    ]
    use = Measure("accuracy", "accuracy")
    utility = [
        Usefulness(
            name,
            "synthesizer" if name in own else "reference",
            use,
            Estimate(u, u, u),
            Estimate(u, u, u),
            Estimate(0.8, 0.8, 0.8),
        )
        for u, name in zip((0.9, 0.85, 0.7, 0.6, 0.5, 0.4), [*own, *REACHED], strict=False)
    ]
    whole = StudyResult(
        study_id,
        "people",
        findings,
        [PASSED],
        beside_other_kind(findings, limits, [PASSED], Beside(ANSWERS)) if limits else [],
        {"broken": "cell: KeyError in x.py"},
        {name: Limit(value, "the board") for name, value in limits.items()},
        {"records": "3", "columns": "2", "releases": "2", "data_digest": "d" * 16, "seed": "1"},
        {n: {"role": "synthesizer", "kind": "cart"} for n in own}
        | {"broken": {"role": "synthesizer", "kind": "callable"}}
        | {n: {"role": "reference", "kind": n} for n in ANSWERS},
        ANSWERS,
        utility=utility,
        quasi_identifiers=("age",),
        sensitive=(guessed,),
    )
    return replace(whole, **parts)


def of_these(study: StudyResult, *names: str) -> StudyResult:
    """Return what a study says of some of its generators, for each run that is logged takes a while."""
    return replace(
        study,
        findings=[each for each in study.findings if each.synthesizer in names],
        verdicts=[each for each in study.verdicts if each.synthesizer in names],
        utility=[each for each in study.utility if each.synthesizer in names],
        **{
            part: {name: told for name, told in getattr(study, part).items() if name in names}
            for part in ("failures", "settings", "answers")
        },
    )
