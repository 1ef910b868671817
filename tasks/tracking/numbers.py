"""Which numbers are metrics of a run: at most thirty of a usual study, so that a page of charts can be read.

All others are tables.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from mlflow import MlflowClient
from mlflow.entities import Metric

from synthrisk.metrics.intervals.yardsticks import CURVE, TOLERANCES
from synthrisk.metrics.study.findings import Finding, Usefulness
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.quantities import Limited, limited, quantity_of
from synthrisk.metrics.verdicts.results import Overview, StudyResult
from synthrisk.metrics.verdicts.verdicts import LOOK, holds_for
from synthrisk.tasks.tracking.names import ENDS, limited_key, metric_key

JUDGED, UNJUDGED = "memorization/deciding", "memorization/surest"
"""The quantity that decides the word, less what it is without any leak; where there is no limit, the memorization with
the largest lower end."""

AS_IF = "memorization/as_if_copied"
"""As much as a table shows into which this share of people was copied: the largest over the deciding limits."""

WORDS = ("RISK", "INCONCLUSIVE", "NO EVIDENCE", "INVALID RELEASE", "INVALID", "FAILED")
MOST = 30
"""Metrics of a run for which others give way."""
_BATCH = 1000


class Number(NamedTuple):
    """One metric of a run."""

    key: str
    value: float
    step: int = 0


def worst_key(told: Overview) -> str:
    """Return the key of the headline metric: the list of runs is sorted by it."""
    return JUDGED if told.judged else UNJUDGED


def numbers_of(result: StudyResult, told: Overview, name: str, *, ends: bool = True) -> list[Number]:
    """Return the metrics of one generator.

    Always the headline, each utility, and each limited quantity with both ends of its interval, for its limit holds
    on both sides of 0, and with the limit: more than ``MOST`` where many limits are set. Unless these are more, the
    memorization of each measure. As long as no generator of the study has more than ``MOST``: the risk of each, and
    with steps the share of members at risk by threshold of the gain in percent (``risk_curve``; of a number by
    tolerance of the error, in percent of the one in force), and of the measures that are judged the value of each
    release (``risk_release``). Where no limit is set all of these.
    Without ``ends`` limited quantities stand without the ends of their intervals and their limits.
    """
    parts = _parts(result, told, name, ends)
    if result.limits:
        others = [parts if other == name else _parts(result, told, other, ends) for other in result.settings]
        parts = [parts[place] for place in _fitting(others)]
    return list(dict.fromkeys(number for part in parts for number in part))  # a limited risk is in two of them


def _fitting(parts: Sequence[Sequence[Sequence[Number]]]) -> list[int]:
    """Return the places of the parts that all generators of a study have: the first, and those for which is room.

    The second, memorization, has room where the first leaves any: a study of many measures has all of it.
    """
    keys = [{number.key for own in parts for number in own[place]} for place in range(len(parts[0]))]
    kept, count = [0], len(keys[0])
    for place in range(1, len(keys)):
        if count + (0 if place == 1 else len(keys[place] - keys[0])) <= MOST:
            kept.append(place)
            count += len(keys[place] - keys[0])
    return kept


def _parts(result: StudyResult, told: Overview, name: str, ends: bool) -> list[list[Number]]:
    """Return the metrics of one generator: those that are always there, then others, the most needed first."""
    own = [f for f in result.findings if f.synthesizer == name and f.measure in measures_told(result, told)]
    headline = next(h for h in told.headlines if h.synthesizer == name)
    looked = told.judged or list(dict.fromkeys(f.measure for f in own))
    found = [Number(worst_key(told), headline.worst.excess)] if headline.worst else []
    as_if = [v.as_if for v in headline.verdicts if v.word != "CANNOT TELL" and np.isfinite(v.as_if)]
    found += [Number(AS_IF, max(as_if))] if as_if else []
    looks = [v for v in headline.verdicts if v.quantity == LOOK]  # judged where it shows something
    found += _limited(result, own) + [Number(LOOK, v.value) for v in looks]
    found += [Number(utility_key(u), u.value.value) for u in result.utility if u.synthesizer == name]
    for end in ENDS if ends else ():
        found += _limited(result, own, end) + [Number(f"{LOOK}/{end}", getattr(v, end)) for v in looks]
    memorization = [Number(metric_key("memorization", f.measure.key), f.memorization.value) for f in own]
    risk = [Number(metric_key("risk", f.measure.key), f.risk.value) for f in own]
    curves = [step for f in own for step in _curve(f)]
    releases = [step for f in own if f.measure in looked for step in _releases(f)]
    parts = (found, memorization, risk, curves, releases)
    return [[each for each in dict.fromkeys(part) if np.isfinite(each.value)] for part in parts]


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
    measures = dict.fromkeys(f.measure for f in result.findings)
    keys = (limited_key(_what(name, m)) for name in result.limits for m in measures if holds_for(name, m))
    return list(dict.fromkeys(keys))


def utility_key(useful: Usefulness) -> str:
    """Return the key of the metric of a utility."""
    return metric_key("utility", useful.measure.key)


def numbers_of_study(told: Overview) -> list[Number]:
    """Return the metrics of the study's own run: the worst synthesizer's headline, and how many have each verdict."""
    mine = told.synthesizers
    worst = [h.worst.excess for h in mine if h.worst]
    words = [Number(f"synthesizers/{word}", sum(h.word == word for h in mine)) for word in WORDS]
    return [Number("synthesizers/all", len(mine)), *words, *([Number(worst_key(told), max(worst))] if worst else [])]


def log_numbers(
    client: MlflowClient, run_id: str, numbers: Sequence[Number], tied: Mapping[str, str] | None = None
) -> None:
    """Write metrics to a run; those without steps are ``tied`` to a model and the table that it was judged on."""
    now = int(time.time() * 1000)
    stepped = {n.key for n in numbers if n.step}
    metrics = [Metric(n.key, float(n.value), now, n.step, **({} if n.key in stepped else tied or {})) for n in numbers]
    for start in range(0, len(metrics), _BATCH):
        client.log_batch(run_id, metrics=metrics[start : start + _BATCH])


def _curve(f: Finding) -> list[Number]:
    key, places = metric_key("risk_curve", f.measure.key), CURVE if np.isnan(f.tolerance) else TOLERANCES
    return [Number(key, e.value, round(100 * t)) for t, e in zip(places, f.curve, strict=False)]


def _releases(f: Finding) -> list[Number]:
    key = metric_key("risk_release", f.measure.key)
    return [Number(key, value, step) for step, value in enumerate(f.release_risk)]


def _limited(result: StudyResult, own: Sequence[Finding], end: str = "") -> list[Number]:
    """Return the limited quantities of one generator, or one of ``ENDS`` of each."""
    found = []
    for name, limit in result.limits.items():
        for f in (f for f in own if holds_for(name, f.measure)):
            what = _what(name, f.measure)
            reached = quantity_of(f, what.quantity, what.group)
            values = {"": reached.value, "upper": reached.upper, "lower": reached.lower, "limit": limit.value}
            if np.isfinite(reached.value):
                found.append(Number(limited_key(what, end), values[end]))
    return found


def _what(limit: str, measure: Measure) -> Limited:
    """Return the quantity of a measure that a limit holds for."""
    return replace(limited(limit, (measure.key, measure.label)), key=measure.key)
