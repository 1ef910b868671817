"""Which limits would have been kept: only such at which the same study gives NO EVIDENCE."""

import math

import pytest

from samples.estimates import around
from samples.kinds import LEARNT, beside_other_kind
from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.references import Check
from synthrisk.metrics.verdicts.verdicts import Beside, limits_kept, quantity_to_limit

ROWS = Measure("common_rows_proportion", "common_rows_proportion")
ANSWERS = {"copy": "copy", "near": "near_copy"}
FINE = Estimate(0.3, 0.28, 0.32)


def line(name, memorization, measure=ROWS, **more):
    role = "reference" if name in ANSWERS else "synthesizer"
    return Finding(name, role, measure, FINE, FINE, memorization, **more)


COPY, NEAR = line("copy", around(0.5, 0.03)), line("near", around(0.4, 0.03))


def kept(*findings, checks=()):
    """Return what is kept by the measure under test, beside one of what is learnt that is kept too."""
    names = dict.fromkeys(f.synthesizer for f in findings)
    seen = {"copy": around(0.5, 0.01)}
    learnt = [line(name, seen.get(name, around(0.0, 0.01)), LEARNT) for name in names]
    found = limits_kept([*findings, *learnt], checks, Beside(ANSWERS))
    return [each for each in found if each.quantity == f"memorization/{ROWS.key}"]


def test_the_least_limit_lies_just_above_the_interval_and_is_kept():
    findings = (line("cart", Estimate(0.02, 0.01, 0.0304)), line("ctgan", Estimate(0, -0.01, 0.03)), COPY, NEAR)
    cart, ctgan = kept(*findings)
    assert (cart.synthesizer, cart.quantity, cart.least) == ("cart", "memorization/common_rows_proportion", 0.031)
    assert ctgan.least == pytest.approx(0.031)
    verdicts = beside_other_kind(findings, {cart.quantity: cart.least}, [], Beside(ANSWERS))
    assert {v.synthesizer: v.word for v in verdicts} == {"cart": "NO EVIDENCE", "ctgan": "NO EVIDENCE"}


def test_what_is_missing_counts_as_much_as_what_is_there():
    (cart,) = kept(line("cart", Estimate(-0.03, -0.0404, -0.02)), COPY, NEAR)
    assert cart.least == pytest.approx(0.041)


@pytest.mark.parametrize(
    ("findings", "reason"),
    [
        ([line("cart", around(0.01, 0.005))], "no copy of the training rows was attacked"),
        ([line("cart", around(0.01, 0.005)), COPY], "cover exact copies only"),
        ([line("cart", around(0.01, 0.005)), COPY, line("near", around(0.0, 0.01))], "none has a near copy above"),
        ([line("cart", around(0.01, 0.005)), line("copy", around(0.0, 0.01)), NEAR], "even a full copy reaches only"),
        ([line("cart", around(0.3, 0.03)), COPY, NEAR], "half of what a full copy reaches"),
        ([line("cart", around(0.01, 0.005), reach=0.05), COPY, NEAR], "answer for 5.0% of the members"),
    ],
)
def test_no_limit_is_told_where_a_copy_might_look_the_same(findings, reason):
    (cart,) = kept(*findings)
    assert math.isnan(cart.least)
    assert reason in cart.reason


def test_none_is_told_where_a_reference_generator_misbehaves():
    (cart,) = kept(line("cart", around(0.01, 0.005)), COPY, NEAR, checks=[Check("fresh", "m", "0", False, "it is not")])
    assert math.isnan(cart.least)


def test_a_measure_without_an_interval_has_none():
    assert kept(line("cart", NOT_ESTIMABLE), COPY, NEAR) == []


@pytest.mark.parametrize(
    ("metric", "quantity"),
    [
        ("zero_cap", "control_gain"),
        ("rapid", "control_gain"),
        ("membership", "tpr"),
        ("singling_out", "memorization"),
        ("distance_to_closest_record", "memorization"),
        ("accuracy", ""),
        ("hidden_rate", ""),
    ],
)
def test_the_quantity_that_a_limit_is_best_set_on(metric, quantity):
    assert quantity_to_limit(METRICS[metric]) == quantity
