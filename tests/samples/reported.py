"""Findings and studies made by hand, for what is shown of a study."""

from dataclasses import replace

from samples.estimates import around
from samples.kinds import beside_other_kind
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.intervals.yardsticks import CURVE, Yardstick, gain
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.references import check_references
from synthrisk.metrics.verdicts.results import Limit, StudyResult
from synthrisk.metrics.verdicts.verdicts import Beside

RAPID = Measure("rapid", "rapid", "income", "random_forest")
DISTANCE = Measure("distance_to_closest_record", "distance_to_closest_record")
REFERENCES = {"copy": "copy", "near_copy": "near_copy", "leaky": "leak", "fresh": "ideal", "marginals": "independent"}
PICTURE = {"cart": (0.45, 0.125), "coarse": (0.3, 0.012), "copy": (0.91, 0.55), "near_copy": (0.8, 0.4)}
PICTURE |= {"leaky": (0.27, 0.07), "fresh": (0.16, -0.002), "marginals": (0.24, 0.0)}
LIMITS = {"memorization/rapid.income": Limit(0.05, "the ethics board")}


def finding(name, measure=RAPID, risk=0.45, extra=0.125, guess=0.25):
    role = "reference" if name in REFERENCES else "synthesizer"
    gained = around(gain(risk, guess), 0.02) if measure.sensitive else NOT_ESTIMABLE
    curve = tuple(Estimate(r, r - 0.02, r + 0.02) for r in risk * (1 - CURVE)) if measure.sensitive else ()
    risks = around(risk, 0.01), around(risk - extra, 0.012), around(extra, 0.006)
    yardsticks = (guess if measure.sensitive else float("nan"), gained, gain(risk, risks[1].value))
    return Finding(name, role, measure, *risks, *yardsticks, curve=curve)


def study(findings, limits=LIMITS, failures=None, **others):
    checks = check_references(findings, REFERENCES)
    chosen = {k: v.value for k, v in limits.items()}
    verdicts = (
        beside_other_kind(findings, chosen, checks, Beside(REFERENCES, leaked=others.get("leaked", {})))
        if limits
        else []
    )
    names = dict.fromkeys([*(f.synthesizer for f in findings), *(failures or {})])
    settings = {n: {"role": "reference" if n in REFERENCES else "synthesizer", "kind": n} for n in names}
    facts = {"data_digest": "1f9c0e", "records": "6000"}
    made = StudyResult("s-1", "adult", findings, checks, verdicts, failures or {}, limits, facts, settings, REFERENCES)
    return replace(made, **others)


def usual(measures=(RAPID, DISTANCE), **others):
    return study([finding(n, m, *v) for n, v in PICTURE.items() for m in measures], **others)


CLAIMS = {"attempts": 500, "claims": 200, "statistical_confidence": 0.5, "susceptibility": 1, "work": 12}


def claiming(name, column, correct, claims=200):
    told = CLAIMS | {"correct": correct, "claims": claims, "prior_knowledge": 5}
    measure = Measure("inference", "inference", column, "key_class")
    return replace(finding(name, measure), details={k: (float(v), 0.0) for k, v in told.items()})


def beside(found, population=0.4):
    s = around(population, 0.01)
    own = Yardstick(s, around(gain(found.risk.value, population), 0.03), around(found.risk.value - population, 0.02))
    return replace(found, yardsticks={"population": own})
