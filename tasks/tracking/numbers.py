"""Which numbers are metrics of a run: about twenty, so that a page of charts can be read; the others are tables."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from mlflow import MlflowClient
from mlflow.entities import Metric

from synthrisk.metrics.intervals.yardsticks import CURVE, TOLERANCES
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.headlines import Overview
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.quantities import limited, quantity_of
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.utility import Usefulness
from synthrisk.metrics.study.verdicts import holds_for
from synthrisk.tasks.tracking.keys import metric_key

JUDGED, UNJUDGED = "memorization/deciding", "memorization/surest"
"""The quantity that decides the word, less what it is without any leak; where there is no limit, the memorization with
the largest lower end."""

AS_IF = "memorization/as_if_copied"
"""As much as a table shows into which this share of people was copied: the largest over the deciding limits."""

WORDS = ("RISK", "INCONCLUSIVE", "NO EVIDENCE", "INVALID RELEASE", "INVALID", "FAILED")
_BATCH = 1000


@dataclass(frozen=True)
class Number:
    """One metric of a run."""

    key: str
    value: float
    step: int = 0


@dataclass(frozen=True)
class Tie:
    """What the metrics of a synthesizer are tied to: its model, and the table that it was judged on."""

    model_id: str
    digest: str


def worst_key(told: Overview) -> str:
    """Return the key of the headline metric: the list of runs is sorted by it."""
    return JUDGED if told.judged else UNJUDGED


def numbers_of(result: StudyResult, told: Overview, name: str) -> list[Number]:
    """Return the metrics of one generator.

    The headline, then memorization and risk of each measure, each limited quantity, and each utility. With steps: the
    share of members at risk by threshold of the gain in percent (``risk_curve``; of a number by tolerance of the error,
    in percent of the one in force), and of the measures that are judged,
    or of all where none is, the value of each release (``risk_release``).
    """
    own = [f for f in result.findings if f.synthesizer == name and f.measure in measures_told(result, told)]
    headline = next(h for h in told.headlines if h.synthesizer == name)
    looked = told.judged or list(dict.fromkeys(f.measure for f in own))
    found = [Number(worst_key(told), headline.worst.excess)] if headline.worst else []
    as_if = [v.as_if for v in headline.verdicts if v.word != "CANNOT TELL" and np.isfinite(v.as_if)]
    found += [Number(AS_IF, max(as_if))] if as_if else []
    for f in own:
        found += [Number(metric_key(q, f.measure.key), getattr(f, q).value) for q in ("memorization", "risk")]
        found += _curves(f, releases=f.measure in looked)
    found += _limited(result, own)
    found += [Number(utility_key(u), u.value.value) for u in result.utility if u.synthesizer == name]
    return [each for each in dict.fromkeys(found) if np.isfinite(each.value)]


def measures_told(result: StudyResult, told: Overview) -> list[Measure]:
    """Return the measures that are metrics of a run.

    Attacker models that an envelope puts together are in tables alone, unless a limit is set on one: were each a few
    metrics, three of them on two attributes would fill a page of charts.
    """
    every = dict.fromkeys(f.measure for f in result.findings)
    within = {(label, m.sensitive) for m in every for label in m.together}
    return [m for m in every if (m.label, m.sensitive) not in within or m in told.judged]


def limited_keys(result: StudyResult) -> list[str]:
    """Return the metric of each limit, in the order of the limits."""
    measures = list(dict.fromkeys(f.measure for f in result.findings))
    return list(
        dict.fromkeys(
            _limited_key(name, m.key, m.label) for name in result.limits for m in measures if holds_for(name, m)
        )
    )


def utility_key(useful: Usefulness) -> str:
    """Return the key of the metric of a utility."""
    return metric_key("utility", useful.measure.key)


def numbers_of_study(told: Overview) -> list[Number]:
    """Return the metrics of the study's own run: the worst synthesizer's headline, and how many have each verdict."""
    mine = told.synthesizers
    worst = [h.worst.excess for h in mine if h.worst]
    words = [Number(f"synthesizers/{word}", sum(h.word == word for h in mine)) for word in WORDS]
    return [Number("synthesizers/all", len(mine)), *words, *([Number(worst_key(told), max(worst))] if worst else [])]


def log_numbers(client: MlflowClient, run_id: str, numbers: Sequence[Number], tie: Tie | None = None) -> None:
    """Write metrics to a run, those without steps tied to a model and its table where there are."""
    now = int(time.time() * 1000)
    tied = {"model_id": tie.model_id, "dataset_name": "real", "dataset_digest": tie.digest} if tie else {}
    stepped = {n.key for n in numbers if n.step}
    metrics = [Metric(n.key, float(n.value), now, n.step, **({} if n.key in stepped else tied)) for n in numbers]
    for start in range(0, len(metrics), _BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + _BATCH])


def _curves(f: Finding, releases: bool) -> list[Number]:
    key, places = f.measure.key, CURVE if np.isnan(f.tolerance) else TOLERANCES
    steps = [
        Number(metric_key("risk_curve", key), e.value, round(100 * t)) for t, e in zip(places, f.curve, strict=False)
    ]
    if releases:
        steps += [Number(metric_key("risk_release", key), value, step) for step, value in enumerate(f.release_risk)]
    return steps


def _limited(result: StudyResult, own: Sequence[Finding]) -> list[Number]:
    return [
        Number(_limited_key(name, f.measure.key, f.measure.label), quantity_of(f, what.quantity, what.group).value)
        for name in result.limits
        for f in own
        if holds_for(name, f.measure)
        for what in (limited(name, (f.measure.key, f.measure.label)),)
    ]


def _limited_key(name: str, key: str, label: str) -> str:
    what = limited(name, (key, label))
    return metric_key("_".join(filter(None, (what.quantity, what.group))), key)
