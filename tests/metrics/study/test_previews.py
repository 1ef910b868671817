"""What-ifs as previews: changes in words, and paired changes of risk and memorization."""

import numpy as np
import pytest

from samples.estimates import around
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Contributions, Measure, Planned
from synthrisk.metrics.verdicts.tables import change_in_words, largest_fall, previews

CAP = Measure("cap", "zero_cap", "vote")
FEWER = Measure("cap-without-age", "zero_cap", "vote", variant_of="cap")
COARSE = Measure("cap-age-in-2", "zero_cap", "vote", variant_of="cap")
OTHER = Measure("cap-without-age", "zero_cap", "pay", variant_of="cap")
KEYS = {"quasi_identifiers": ["age", "sex"]}
PLANNED = [
    Planned(CAP, KEYS),
    Planned(FEWER, {"quasi_identifiers": ["sex"]}),
    Planned(COARSE, KEYS | {"bins": {"age": 2}}),
    Planned(OTHER, {"quasi_identifiers": ["sex"]}),
]


def finding(measure, change=0.0):
    return Finding(
        "cart",
        "synthesizer",
        measure,
        around(0.5, 0.1),
        around(0.4, 0.1),
        around(0.1, 0.02),
        change=around(change, 0.01),
    )


def kept(memorization):
    empty = np.empty((len(memorization), 0))
    return Contributions(empty, empty, memorization)


def test_changes_are_paired_by_record():
    rng = np.random.default_rng(0)
    before = rng.normal(0.2, 1, (3, 500))
    stored = {
        CAP.key: kept(before),
        FEWER.key: kept(before - 0.05),
        COARSE.key: kept(before + 0.01 * rng.normal(size=(3, 500))),
    }
    every = [finding(CAP), finding(FEWER, -0.1), finding(COARSE, 0.2), finding(OTHER, -0.3)]
    found = previews(every, PLANNED, stored, every[0])
    assert [p.words for p in found] == ["without age", "age in 2 parts"]
    assert found[0].memorization.value == pytest.approx(-0.05)
    assert found[0].memorization.upper == pytest.approx(-0.05)  # the same fall of each record: the pairing sees it
    assert abs(found[1].memorization.value) < 0.002
    assert [p.words for p in largest_fall(found, "memorization")] == ["without age", "age in 2 parts"]
    assert [p.risk.value for p in largest_fall(found, "risk")] == [-0.1, 0.2]


def test_without_contributions_there_is_no_change_of_memorization():
    every = [finding(CAP), finding(FEWER)]
    found = previews(every, PLANNED, {}, every[0])
    assert np.isnan(found[0].memorization.value)
    nothing = Estimate(float("nan"), float("nan"), float("nan"))
    assert largest_fall([found[0]], "memorization")[0].memorization.value is not nothing


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ({"bins": {"age": 0.1}}, "age known but for 10% of its range"),
        ({"bins": {"sex": {"any": ["f", "m"]}}}, "levels of sex merged into 1"),
        ({"quasi_identifiers": ["age"], "bins": {"age": 3}}, "without sex; age in 3 parts"),
    ],
)
def test_changes_in_words_tell_no_level(after, words):
    assert change_in_words(KEYS, KEYS | after) == words


def test_bins_that_were_there_are_no_change():
    before = KEYS | {"bins": {"age": 4}}
    assert change_in_words(before, before | {"bins": {"age": 4, "sex": 2}}) == "sex in 2 parts"
