"""What measures say of a release: it comes back from JSON as it was, and a mean is taken only of what has one."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS
from synthrisk.metrics.score import Ceiling
from synthrisk.metrics.study.estimation import Releases, attacked_records
from synthrisk.metrics.study.ledger import (
    Cell,
    Measure,
    OfIsolation,
    OfRecords,
    OfRelease,
    OfUtility,
    Planned,
    Reasons,
    values_as_plain,
    values_from_plain,
)
from synthrisk.metrics.study.scoring import attack_release

SAID = {
    "cap.vote": OfRecords({"guess": 0.1 + 0.2}, {"guess": 1 / 3}, {}, True, Reasons("no member"), "read with care"),
    "nndr": OfRelease(0.5, 0.25, 1 / 7, 0.0, {"smallest": 1e-300}, Reasons(difference="too few")),
    "two": OfIsolation(0.5, {"isolated": 3.0}),
    "coverage": OfUtility(0.5, {"columns": 2.0}, Ceiling(0.75, 0.5, 8.0, {"columns": 2.0})),
    "accuracy": OfUtility(0.5, reason="no query has an answer"),
}


def test_each_kind_comes_back_from_json_to_the_last_bit():
    plain = json.loads(json.dumps(values_as_plain(SAID)))
    assert values_from_plain(plain) == SAID
    assert [each["kind"] for each in plain.values()] == [type(each).__name__ for each in SAID.values()]


def test_what_is_no_number_comes_back_as_none_does_and_not_as_zero():
    said = {"nndr": replace(SAID["nndr"], control=float("nan"))}
    assert np.isnan(values_from_plain(json.loads(json.dumps(values_as_plain(said))))["nndr"].control)


def test_an_unknown_kind_is_refused():
    with pytest.raises(KeyError, match="OfNothing"):
        values_from_plain({"x": {"kind": "OfNothing"}})


def people(seed: int, n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 4, n), "pay": rng.normal(size=n).round(1)})
    return frame.assign(vote=np.where(rng.random(n) < 0.4, "yes", "no"))


ROLES = {"quasi_identifiers": ["a"]}
MEASURED = [
    *(
        Planned(Measure("rapid", "rapid", s, "cart"), {**ROLES, "sensitive": s, "attacker": "cart"})
        for s in ("vote", "pay")
    ),
    Planned(Measure("inference", "inference", "vote"), {**ROLES, "sensitive": "vote"}),
    *(Planned(Measure(name, name), {}) for name in ("singling_out", "membership", "membership_inference_risk")),
    Planned(Measure("zero_cap", "zero_cap", "vote"), {**ROLES, "sensitive": "vote"}),
]


def test_limits_p_values_and_curves_of_our_metrics_are_declared_to_have_no_mean():
    member = pd.array([True] * 24 + [False] * 16, dtype="boolean")
    _, values = attack_release(people(0), people(1, 25), member, MEASURED, 1, Cell("cart", 0, 0))
    for planned in MEASURED:
        said = values[planned.measure.key]
        details = said.all if isinstance(said, OfRecords) else said.details
        of_one = {n for n in details if n.endswith(("_lower", "_upper", "_p_value")) or "curve_" in n}
        assert of_one <= set(METRICS[planned.measure.metric].study.unaveraged)
    assert [values[p.measure.key].gains for p in MEASURED[:2]] == [True, False]  # a number has no gains
    assert [values[p.measure.key].errors for p in MEASURED[:2]] == [False, True]


@dataclass(frozen=True)
class InMemory:
    cell: Cell
    said: OfRecords

    def of(self, measure, columns):
        return pd.DataFrame({name: [1.0, 0.0] for name in columns})

    def values(self):
        return {"attribute_inference_risk": self.said}


def test_a_detail_is_kept_whatever_its_column_is_called():
    measure = Measure("attribute_inference_risk", "attribute_inference_risk")
    said = [OfRecords({"guess": 0.5, "tolerance_days_pay_lower": days}) for days in (1.0, 3.0)]
    ledgers = [InMemory(Cell("cart", place, 0), each) for place, each in enumerate(said)]
    found = attacked_records(Releases(ledgers, pd.DataFrame(), None, {}), measure)
    assert (found.details, found.guess) == ({"guess": (0.5, 0.5), "tolerance_days_pay_lower": (2.0, 2.0)}, 0.5)
