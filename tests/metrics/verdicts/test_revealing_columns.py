"""Which columns give people away: releases in which it is known, and the counts again in plain loops."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.study.ledger import Measure, Planned
from synthrisk.metrics.verdicts.quantities import limited
from synthrisk.metrics.verdicts.revealing_columns import NAMED, Carriers, OneRelease, carriers, coarser

N = 400


def people(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    made = {"money": rng.integers(10_000, 20_000, N) / 1.0, "area": rng.choice(list("NSEW"), N)}
    return pd.DataFrame(made | {"sex": rng.choice(["f", "m"], N), "ill": rng.choice(["yes", "no"], N)})


MEMBERS, CONTROL, STRANGERS = people(1), people(2), people(3)
REAL = pd.concat([MEMBERS, CONTROL], ignore_index=True)
MEMBER = pd.array(np.arange(2 * N) < N, dtype="boolean")
MONEY_OF_MEMBERS = STRANGERS.assign(money=MEMBERS["money"].to_numpy())


def of(release: pd.DataFrame, name: str, quantity: str = "memorization", **options: object) -> Carriers | None:
    measure = Measure(name, name, options.get("sensitive"))
    return carriers(OneRelease(REAL, release, MEMBER, seed=1), Planned(measure, options), limited(f"{quantity}/{name}"))


def test_the_column_whose_values_are_released_carries_what_singles_out():
    found = of(MONEY_OF_MEMBERS, "singling_out")
    ((name, share),) = found.columns
    assert (name, share > 0.9) == ("money", True)
    once = [m for m in MEMBERS["money"] if (REAL["money"] == m).sum() == 1]
    assert (found.alone, found.released) == (len(once), sum(m in set(MONEY_OF_MEMBERS["money"]) for m in once))
    values = f"{found.alone} people alone have their value of money, the release has {found.released} of these"
    assert found.words == f"money carries {share:.0%} of memorization/singling_out; {values}"


@pytest.mark.parametrize(("name", "quantity"), [("common_rows_proportion", "memorization"), ("membership", "tpr")])
def test_a_copy_is_one_by_its_fine_numbers(name, quantity):
    found = of(MEMBERS, name, quantity)
    ((column, share),) = found.columns  # the levels of the others are no finer than what is common
    assert (column, share > 0.5, found.value > 0.5) == ("money", True, True)


def test_an_attack_that_guesses_is_told_one_column_less():
    found = dict(of(MEMBERS, "zero_cap", quasi_identifiers=["money", "sex"], sensitive="ill").columns)
    assert (found["money"] > 0.7, "ill" in found) == (True, False)
    assert of(MEMBERS, "zero_cap", quasi_identifiers=["money"], sensitive="ill") is None  # none could be taken away


def test_where_two_columns_share_it_none_is_named_and_nothing_of_a_quantity_that_is_not_there():
    real, release = (t.assign(again=t["money"] * 3) for t in (REAL, MEMBERS))
    planned = Planned(Measure("common_rows_proportion", "common_rows_proportion"))
    own = OneRelease(real, release, MEMBER, seed=1)
    found = carriers(own, planned, limited("memorization/common_rows_proportion"))
    assert (found.columns, found.alone, found.released) == ((), 0, 0)
    assert "no single column carries" in found.words
    assert of(STRANGERS.drop(columns="money").assign(money=0.5), "common_rows_proportion") is None


def test_so_many_are_attacked_again_at_most_and_shares_stay():
    planned, limit = Planned(Measure("singling_out", "singling_out")), limited("memorization/singling_out")
    own = OneRelease(REAL, MONEY_OF_MEMBERS, MEMBER, groups={"outliers": np.arange(2 * N) % 10 == 0}, seed=1)
    some = own.at_most(100)
    sizes = len(some.real), int(some.member.sum()), len(some.synthetic), len(some.groups["outliers"])
    assert sizes == (200, 100, 200, 200)
    found = carriers(own, planned, limit, 100)
    assert (found.columns[0][0], carriers(own, planned, limit, 100)) == ("money", found)


@pytest.mark.parametrize(
    ("real", "synthetic", "due"),
    [
        ([1.0, 10.0, np.nan], [2.0], None),
        ([123.0, 0.0, np.nan], [-0.001234], ([120.0, 0.0, np.nan], [-0.0012])),
        *(([2**53 - 1], [7], ([9e15], [7.0])), (["a"] * 10, ["a"], None)),
        (["a"] * 10 + ["b"] * 9, ["b", None], (["a"] * 10 + ["(rare)"] * 9, ["(rare)", None])),
        ([True, False] * 10, [True], None),
        (pd.to_datetime(["2024-05-17", None]), pd.to_datetime(["2024-05-31"]), (["2024-05-01", None], ["2024-05-01"])),
    ],
)
def test_coarser_columns(real, synthetic, due):
    pair = coarser(pd.Series(real), pd.Series(synthetic))
    if due is None:
        assert pair is None
    else:
        for found, wanted in zip(pair, due, strict=True):
            wanted = pd.to_datetime(wanted) if "datetime" in str(found.dtype) else wanted
            pd.testing.assert_series_equal(found, pd.Series(wanted), check_names=False, check_dtype=False)


def test_texts_are_pooled_alike_and_words_name_three_columns_at_most():
    for dtype in ("category", "string", "str", object):
        levels = (["a"] * 10 + ["b"], ["b", "c"])
        assert coarser(*(pd.Series(each, dtype=dtype) for each in levels))[1].tolist() == ["(rare)", "(rare)"]
    told = Carriers("tpr/membership", 0.4, (("a", 0.9), ("b", 0.5), ("c", 0.4), ("d", NAMED)), 3, 0).words
    assert told == "a carries 90% of tpr/membership, b 50%, c 40% (the shares overlap)"
