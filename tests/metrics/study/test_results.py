"""What a study hands on: memorization in a unit that can be read."""

from dataclasses import replace

import pytest

from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.metrics.verdicts.tables import league_table

NEAR = Measure("distance_to_closest_record", "distance_to_closest_record")
CAP = Measure("zero_cap", "zero_cap", "income")
ANY = Estimate(0.3, 0.28, 0.32)
SETTINGS = {"cart": {"kind": "cart"}, "twin": {"kind": "copy"}, "fresh": {"kind": "fresh"}}


def finding(name, measure, value, half):
    return Finding(name, "synthesizer", measure, ANY, ANY, Estimate(value, value - half, value + half))


FINDINGS = [
    finding("cart", NEAR, 0.002, 0.001),
    finding("twin", NEAR, 0.016, 0.002),
    finding("fresh", NEAR, -0.001, 0.002),
    finding("cart", CAP, 0.1, 0.05),
    finding("twin", CAP, 0.5, 0.1),
]


def study(findings=FINDINGS):
    return StudyResult("id", "name", findings, [], [], settings=SETTINGS, answers={"twin": "copy"})


def test_memorization_is_told_as_a_share_of_the_copys():
    table = league_table(study()).set_index(["synthesizer", "measure"])
    shares = table[["copy_share", "copy_share_lower", "copy_share_upper"]]
    assert shares.loc["cart", NEAR.key].tolist() == pytest.approx([0.125, 0.0625, 0.1875])
    assert shares.loc["twin", NEAR.key].tolist() == pytest.approx([1, 0.875, 1.125])
    assert shares.loc["fresh", NEAR.key].tolist() == pytest.approx([-0.0625, -0.1875, 0.0625])
    assert shares.loc["cart", CAP.key].tolist() == pytest.approx([0.2, 0.1, 0.3])


@pytest.mark.parametrize("blind", [Estimate(0.1, -0.1, 0.3), Estimate(*[float("nan")] * 3)])
def test_a_copy_that_is_not_seen_is_no_unit(blind):
    found = [replace(f, memorization=blind) if f.synthesizer == "twin" else f for f in FINDINGS]
    assert league_table(study(found)).copy_share.isna().all()
    assert league_table(study([f for f in FINDINGS if f.synthesizer != "twin"])).copy_share.isna().all()
