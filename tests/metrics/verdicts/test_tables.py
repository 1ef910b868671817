"""Tables of a study: memorization in a unit that can be read, a row a finding, what-ifs in words and paired changes."""

from dataclasses import replace

import numpy as np
import pytest

from samples.estimates import around
from samples.findings import LIMIT, ZERO, answers, line, lines, study
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.study.ledger import Contributions, Measure, Planned
from synthrisk.metrics.verdicts.tables import (
    change_in_words,
    groups_table,
    largest_fall,
    league_table,
    limits_table,
    previews,
)
from synthrisk.metrics.verdicts.verdicts import Beside, judge

NEAR = Measure("distance_to_closest_record", "distance_to_closest_record")
FINDINGS = [
    *(line(n, around(v, h), NEAR) for n, v, h in (("cart", 2e-3, 1e-3), ("twin", 0.016, 2e-3), ("vine", -1e-3, 2e-3))),
    *(line(n, around(v, h)) for n, v, h in (("cart", 0.1, 0.05), ("twin", 0.5, 0.1))),
]


def league(findings):
    return league_table(study(findings, answers={"twin": "copy"})).set_index(["synthesizer", "measure"])


def test_memorization_is_told_with_its_ends_and_as_a_share_of_the_copys():
    table = league(FINDINGS)
    assert table.loc[("twin", ZERO.key), ["memorization", "memorization_lower", "memorization_upper"]].tolist() == (
        pytest.approx([0.5, 0.4, 0.6])
    )
    shares = table[["copy_share", "copy_share_lower", "copy_share_upper"]]
    for name, key, due in (
        *(("cart", NEAR.key, [0.125, 0.0625, 0.1875]), ("twin", NEAR.key, [1, 0.875, 1.125])),
        *(("vine", NEAR.key, [-0.0625, -0.1875, 0.0625]), ("cart", ZERO.key, [0.2, 0.1, 0.3])),
    ):
        assert shares.loc[(name, key)].tolist() == pytest.approx(due)


@pytest.mark.parametrize("blind", [Estimate(0.1, -0.1, 0.3), NOT_ESTIMABLE, None])
def test_a_copy_that_is_not_seen_is_no_unit(blind):
    found = [replace(f, memorization=blind or f.memorization) if f.synthesizer == "twin" else f for f in FINDINGS]
    found = found if blind else [f for f in FINDINGS if f.synthesizer != "twin"]
    assert league(found).copy_share.isna().all()


def test_limits_have_verdicts_and_what_references_reach_and_groups_a_row_a_quantity():
    found = lines({"copy": 0.5, "near": 0.5, "cart": 0.3})
    verdicts = judge(found, {LIMIT: 0.1}, [], Beside(answers("copy", "near")))
    table = limits_table(study(found, verdicts, {LIMIT: 0.1}))
    assert table["synthesizer"].tolist() == ["copy", "near", "cart"]
    assert (table["word"].tolist(), table["value"].tolist()) == (["", "", "RISK"], [0.5, 0.5, 0.3])
    own = line("cart", around(0.4, 0.1), details={"records": (7.0, 7.0)})
    table = groups_table(study([line("cart", around(0.3, 0.01), groups={"outliers": own})])).set_index("quantity")
    assert table.loc["memorization", ["group", "records", "value"]].tolist() == ["outliers", 7.0, 0.4]


CAP = Measure("cap", "zero_cap", "vote")
FEWER, COARSE = (Measure(f"cap-{n}", "zero_cap", "vote", variant_of="cap") for n in ("without-age", "age-in-2"))
OTHER = Measure("cap-without-age", "zero_cap", "pay", variant_of="cap")
KEYS, FEW = {"quasi_identifiers": ["age", "sex"]}, {"quasi_identifiers": ["sex"]}
PLANNED = [Planned(CAP, KEYS), Planned(FEWER, FEW), Planned(COARSE, KEYS | {"bins": {"age": 2}}), Planned(OTHER, FEW)]
EVERY = [
    line("cart", around(0.1, 0.02), measure, change=around(change, 0.01))
    for measure, change in ((CAP, 0.0), (FEWER, -0.1), (COARSE, 0.2), (OTHER, -0.3))
]


def test_changes_of_what_ifs_are_paired_by_record():
    rng = np.random.default_rng(0)
    before = rng.normal(0.2, 1, (3, 500))
    changed = {CAP: before, FEWER: before - 0.05, COARSE: before + 0.01 * rng.normal(size=(3, 500))}
    empty = np.empty((3, 0))
    found = previews(EVERY, PLANNED, {m.key: Contributions(empty, empty, e) for m, e in changed.items()}, EVERY[0])
    assert [p.words for p in found] == ["without age", "age in 2 parts"]
    # the same fall of each record: the pairing sees it
    assert (found[0].memorization.value, found[0].memorization.upper) == pytest.approx((-0.05, -0.05))
    assert abs(found[1].memorization.value) < 0.002
    assert [p.words for p in largest_fall(found, "memorization")] == ["without age", "age in 2 parts"]
    assert [p.risk.value for p in largest_fall(found, "risk")] == [-0.1, 0.2]
    without = previews(EVERY[:2], PLANNED, {}, EVERY[0])
    assert np.isnan(without[0].memorization.value)
    assert len(largest_fall(without[:1], "memorization")) == 1


BINNED = KEYS | {"bins": {"age": 4}}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (KEYS, {"bins": {"age": 0.1}}, "age known but for 10% of its range"),
        (KEYS, {"bins": {"sex": {"any": ["f", "m"]}}}, "levels of sex merged into 1"),
        (KEYS, {"quasi_identifiers": ["age"], "bins": {"age": 3}}, "without sex; age in 3 parts"),
        (BINNED, {"bins": {"age": 4, "sex": 2}}, "sex in 2 parts"),  # what was there is no change
    ],
)
def test_changes_in_words_tell_no_level(before, after, words):
    assert change_in_words(before, before | after) == words
