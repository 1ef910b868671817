"""What a limited quantity says of people: a true sentence for every measure, quantity and group that may be limited."""

import math
import re
from itertools import product

import pytest

from synthrisk.metrics import METRICS
from synthrisk.metrics.release.identifiers import RELEASED
from synthrisk.metrics.verdicts.limit_sentences import _FOUND, _SCALES, Knowledge, columns_named, sentence
from synthrisk.metrics.verdicts.limits import is_signal
from synthrisk.metrics.verdicts.quantities import GROUPS, QUANTITIES
from synthrisk.metrics.verdicts.verdicts import LOOK, Verdict

KNOWS = Knowledge(["age", "sex"], ["income"])
GUESSES, USED = "Who knows age and sex guesses income of", "because their records were used"
ZERO, MEMBER, SINGLED = "zero_cap.income", "membership", "singling_out"
NEAREST = "memorization/distance_to_closest_record"


def verdict(name, word="RISK", value=0.071, lower=0.06, upper=0.082, limit=0.05, **more):
    return Verdict("cart", name, limit, word, "the reason", value, lower, upper, **more)


def kept(name, *ends, **more):
    return verdict(name, "NO EVIDENCE", *ends, **more)


def unclear(name, *ends, **more):
    return verdict(name, "INCONCLUSIVE", *ends, **more)


TAKEN, WITHOUT = "taken for people in the data", "right than without their records"
HUNDRED = "are recognised as being in it, where 1 of 100 others is taken for one"
THOUSAND = HUNDRED.replace("100", "1,000")
WRONG, SAFE = (f"of those who would be {each} without their records" for each in ("guessed wrong", "safe"))
UNLIKE, CLEARLY = "Of the people who are most unlike all others", "clearly better than by a plain guess"
NEARER = "nearer to a row of the release than chance explains"
LIES = "to the people in the data than it would without their records, by 0.07"
FARTHER = LIES.replace("to", "from", 1)
GAIN, TPR, DIFFERENCE = f"control_gain/{ZERO}", f"tpr/{MEMBER}", f"memorization/{ZERO}"
FOUND = {
    f"{GUESSES} 7 more people in 100 right {USED} (at least 6, limit 5)": verdict(DIFFERENCE),
    f"{GUESSES} no more people in 100 right {USED} (between 0 and 4 fewer, limit 5)": (
        kept(DIFFERENCE, -0.001, -0.04, -0.0001)
    ),
    f"Memorization of {ZERO} has no value": unclear(DIFFERENCE, math.nan, math.nan, math.nan),
    f"Of 100 people in the data, 7 {HUNDRED} (at least 6.05, limit 6)": verdict(TPR, limit=0.06, lower=0.0605),
    f"Of 1,000 people in the data, 71 {THOUSAND} (at least 30, limit 20)": (
        verdict(f"tpr_at_0.001/{MEMBER}", limit=0.02, lower=0.03)
    ),
    f"Of 100 people in the data, none {HUNDRED} (at most 1, limit 5)": kept(TPR, 0.001, -0.02, 0.01),
    "Of 100 descriptions read off the release, 1 more fits one person in the data alone than by chance "
    "(at most 3, limit 5)": kept(f"memorization/{SINGLED}", 0.01, -0.01, 0.03),
    f"10 fewer people in 100 are {TAKEN} {USED} (between 8 and 12 fewer, limit 5)": (
        verdict(f"memorization/{MEMBER}", value=-0.1, lower=-0.12, upper=-0.08)
    ),
    f"1 fewer person in 100 is {TAKEN} {USED} (at most 1, limit 5)": kept(f"memorization/{MEMBER}", -0.01, -0.04, 0.01),
    f"Who knows age and sex predicts income of 6 more of 100 people {CLEARLY}, {SAFE} (between 2 and 10, limit 5)": (
        unclear("control_gain/rapid.income", 0.06, 0.02, 0.1)
    ),
    f"{GUESSES} 7 more of 100 people right, {WRONG} (at least 6, limit 5)": verdict(GAIN),
    f"{GUESSES} fewer people {WITHOUT}: 4 fewer for every 100 who would be guessed wrong "
    "(between 9 fewer and 1 more, limit 5)": unclear(GAIN, -0.04, -0.09, 0.01),
    f"{GUESSES} no more people {WITHOUT}, of 100 who would be guessed wrong (at most 1, limit 5)": (
        kept(GAIN, -0.001, -0.01, 0.01)
    ),
    f"1 more of 100 people is {TAKEN}, {SAFE} (at most 3, limit 5)": kept(f"control_gain/{MEMBER}", 0.01, -0.01, 0.03),
    "Of 100 people who are singled out, 1 more is in the data than by chance (at most 2, limit 5)": (
        kept(f"control_gain/{SINGLED}", 0.01, -0.02, 0.02)
    ),
    "Of 100 people whom a plain guess gets wrong, the release gives none away (between −20 and −5, limit 5)": (
        kept(f"risk_gain/{ZERO}", -0.1, -0.2, -0.05)
    ),
    f"{UNLIKE}: w{GUESSES[1:]} 40 people in 100 right (at least 30, limit 20)": (
        verdict(f"risk/{ZERO}@outliers", value=0.4, lower=0.3, upper=0.5, limit=0.2)
    ),
    f"The release lies farther {FARTHER} (between 0.30 farther and 0.05 nearer, limit 0.02)": (
        unclear(NEAREST, -0.07, -0.3, 0.05, limit=0.02)
    ),
    f"The release lies nearer {LIES} (at least 0.06, limit 0.02)": verdict(NEAREST, limit=0.02),
    f"1 more person in 100 lies {NEARER} (at most 3, limit 5)": kept(LOOK, 0.01, -0.01, 0.03),
    f"15 more people in 100 lie {NEARER} (at least 11, limit 5)": verdict(LOOK, value=0.153, lower=0.114, upper=0.19),
    "the reason": verdict(RELEASED),
}


@pytest.mark.parametrize(("text", "found"), FOUND.items())
def test_a_sentence_says_what_was_found_in_people(text, found):
    assert sentence(found, KNOWS) == text


@pytest.mark.parametrize(
    ("word", "lower", "upper", "ends"),
    [
        *(("RISK", low, 0.08, f"at least {end}") for low, end in ((0.067, 6), (0.07, 7), (0.054, 5.4))),
        *(("NO EVIDENCE", -0.01, high, f"at most {end}") for high, end in ((0.032, 4), (0.0471, 4.8))),
        ("INCONCLUSIVE", 0.019, 0.053, "between 1 and 6"),
        ("INCONCLUSIVE", -0.031, 0.062, "between 4 fewer and 7 more"),
        ("RISK", -0.082, -0.067, "between 6 and 9 fewer"),
    ],
)
def test_ends_are_rounded_away_from_the_value_so_that_at_least_and_at_most_are_true(word, lower, upper, ends):
    said = sentence(verdict("memorization/zero_cap.income", word, (lower + upper) / 2, lower, upper), KNOWS)
    assert said.endswith(f"({ends}, limit 5)")


def test_whoever_knows_nothing_has_the_release_alone():
    told = sentence(verdict("memorization/zero_cap.income"), Knowledge())
    assert told.startswith("Whoever has the release guesses income of 7 more people in 100 right")
    assert sentence(verdict("memorization/rapid"), Knowledge(["a"], ["b", "c"], everything=True)).startswith(
        "Who knows all other columns predicts b and c of 7 more people in 100"
    )


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "c0"), (2, "c0 and c1"), (9, "c0, c1, c2, c3, c4, c5, c6, c7 and c8"), (12, "c7 and 4 more")],
)
def test_of_many_columns_the_first_are_named(count, text):
    assert columns_named([f"c{i}" for i in range(count)]).endswith(text)


@pytest.mark.parametrize("limit", [0.05, 0.06, 0.07, 0.0704, 0.0717, 0.3])
def test_no_rounding_puts_a_number_on_the_other_side_of_the_limit(limit):
    found = verdict("memorization/zero_cap.income", value=0.0714, lower=0.07045, upper=0.0716, limit=limit)
    told = sentence(found, KNOWS)
    value, lower, bound = (float(each) for each in re.findall(r"[\d.]+(?= more|, limit|\))", told))
    assert (value < bound, lower < bound) == (limit > 0.0714, limit > 0.07045)


@pytest.mark.parametrize("metric", [m for m in METRICS.values() if not m.is_utility], ids=lambda m: m.name)
def test_every_limit_has_a_sentence_without_words_of_the_trade(metric):
    key = f"{metric.name}.income" if "sensitive" in metric.needs else metric.name
    signals = [quantity for quantity in QUANTITIES if is_signal(metric, quantity)]
    for quantity, group in product(signals, ("", *(f"@{g}" for g in GROUPS))):
        told = sentence(verdict(f"{quantity}/{key}{group}", measure=key, metric=metric.name), KNOWS)
        assert re.search(r"\(at least [\d.]+, limit [\d.]+\)$", told), told
        assert not re.search(r"[{}]|memorization of (?!\w+ is)|tpr|null", told), told
        assert "100" in told or metric.name in _SCALES or quantity == "tpr_at_0.001", told


def test_every_measure_of_ours_says_what_a_success_is():
    guesses = {name for name, metric in METRICS.items() if "sensitive" in metric.needs}
    ours = {n for n, m in METRICS.items() if not m.is_utility and m.function.__module__.startswith("synthrisk")}
    assert ours <= {*_FOUND, *_SCALES, *guesses, "singling_out"}
    assert {*_FOUND, *_SCALES} <= set(METRICS)
