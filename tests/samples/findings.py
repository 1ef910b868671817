"""Findings by hand, of releases and of the reference generators that a verdict is given beside."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from samples.estimates import around
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.study.findings import Attacked, Finding, find
from synthrisk.metrics.study.ledger import Cell, Measure, Said
from synthrisk.metrics.verdicts.references import Check
from synthrisk.metrics.verdicts.results import Limit, StudyResult

ZERO, RAPID = Measure("zero_cap", "zero_cap", "income"), Measure("rapid", "rapid", "income")
CLOSE = Measure("membership", "membership")
REFERENCES = {"copy": "copy", "near": "near_copy", "fresh": "ideal", "leaky": "leak", "marginals": "independent"}
FINE = Estimate(0.3, 0.28, 0.32)
PASSED, FAILED = Check("fresh", "all", "around 0", True, "it is"), Check("fresh", "all", "around 0", False, "it is not")
LIMIT = f"memorization/{ZERO.key}"


def answers(*names):
    """Return what these reference generators answer."""
    return {name: REFERENCES[name] for name in names}


def line(name, memorization, measure=ZERO, risk=FINE, control=FINE, **more):
    """Return what was found of one generator, known by its name, in one measure."""
    role = "reference" if name in REFERENCES else "synthesizer"
    return Finding(name, role, measure, risk, control, memorization, **more)


def lines(values, half=0.01, measure=ZERO):
    """Return findings by the memorization of each generator."""
    return [line(name, around(value, half), measure) for name, value in values.items()]


def study(findings, verdicts=(), limits=None, **more):
    """Return the result of a study with these findings and verdicts."""
    told = {name: Limit(value, "the board") for name, value in (limits or {}).items()}
    settings = {f.synthesizer: {"role": f.role} for f in findings}
    given = {"checks": [PASSED], "limits": told, "settings": settings} | more
    return StudyResult("id", "demo", findings, verdicts=verdicts, **given)


def folds(rng, R, K, n):
    """Return who is held out in each fold of each repetition."""
    return np.stack([rng.permutation(n) % K for _ in range(R)])[:, None, :] == np.arange(K)[None, :, None]


def simulated(name, rng, gap, interval):
    """Find what a study of three times three folds says of a generator by whose members records score higher."""
    held_out = folds(rng, 3, 3, 150)
    scores = rng.uniform(0.3, 0.6, 150) + rng.normal(0, 0.2, held_out.shape) + gap * ~held_out
    return find(name, "reference" if name in REFERENCES else "synthesizer", ZERO, attacked(scores, held_out), interval)


def attacked(scores, held_out, *more, **given):
    """Return scores of a study in which whoever is held out is a control record."""
    return Attacked(scores, ~held_out, held_out, *more, **given)


@dataclass(frozen=True, eq=False)
class Kept:
    """The ledger of one release in memory."""

    cell: Cell
    rows: pd.DataFrame
    said: Mapping[str, Said]

    def of(self, measure, columns):
        return self.rows.loc[self.rows["metric"] == measure.label, list(columns)].reset_index(drop=True)

    def values(self):
        return self.said
