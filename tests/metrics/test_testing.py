"""The test kit of attacks: ours pass, good ones of all four kinds pass, and each rule is broken by one attack."""

import random

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import ATTACKS, Attack, InputError
from synthrisk.metrics.claims.inference import model_attack
from synthrisk.metrics.models.attackers import ATTACKER_MODELS
from synthrisk.metrics.testing import check_attack, control, pairs, release, targets


@pytest.mark.parametrize("attack", [*ATTACKS, model_attack(ATTACKER_MODELS["cart"])], ids=[*ATTACKS, "a model"])
def test_installed_attacks_pass(attack):
    check_attack(attack)


def test_options_are_handed_on_and_tables_too_small_for_them_passed_over():
    check_attack("nearest_record", neighbours=3)
    check_attack("density_ratio", neighbours=2)
    greedy = made("inference", lambda r, k, s, g: ATTACKS["nearest_record"].function(r, k, s, g, 9))
    with pytest.raises(AssertionError, match="InputError: neighbours must be"):
        check_attack(greedy)


def mode(release, known, secret, rng):
    seen = release[secret].mode()
    guess = seen[0] if len(seen) else None
    return pd.DataFrame({"guessed": [guess] * len(known), "confidence": 1.0}, index=known.index)


def coin(release, known, rng):
    return pd.DataFrame({"confidence": rng.random(len(known))}, index=known.index)


def anyone(release, part_a, part_b, rng):
    match = rng.permutation(part_b.index.to_numpy())
    return pd.DataFrame({"match": match, "confidence": np.nan}, index=part_a.index)


def whole(release, rng):
    return predicates(
        release,
        *(
            tuple((c, "missing", None) if pd.isna(v) else (c, "==", v) for c, v in row.items())
            for row in release.to_dict("records")
        ),
    )


def predicates(release, *named):
    """Return a predicate for each record, or the same for all."""
    named = list(named) if len(named) == len(release) else [*named] * len(release)
    return pd.DataFrame({"predicate": pd.Series(named, release.index, object), "confidence": 0.5})


GOOD = {"inference": mode, "membership": coin, "linkability": anyone, "singling_out": whole}


def silent(whose, column):
    return pd.DataFrame({column: None, "confidence": np.nan}, index=whose.index)


SILENT = {
    "inference": lambda release, known, secret, rng: silent(known, "guessed"),
    "membership": lambda release, known, rng: silent(known, "confidence"),
    "linkability": lambda release, part_a, part_b, rng: silent(part_a, "match"),
    "singling_out": lambda release, rng: silent(release, "predicate"),
}


def made(kind, function):
    return Attack("mine", kind, function)


def turned(kind, change):
    """Return a good attack whose claims are changed on their way out."""
    if kind == "membership":
        return lambda release, known, rng: change(coin(release, known, rng))
    return lambda release, known, secret, rng: change(mode(release, known, secret, rng), release, secret)


@pytest.mark.parametrize("kind", GOOD)
@pytest.mark.parametrize("speaks", [GOOD, SILENT], ids=["good", "abstains"])
def test_good_attacks_and_those_that_abstain_pass(speaks, kind):
    check_attack(made(kind, speaks[kind]))


def crash_on_one_row(release, known, rng):
    return coin(release.iloc[1:], known.iloc[[1]], rng) if len(known) < 2 else coin(release, known, rng)


CALLS = []


def remembers(release, known, rng):
    CALLS.append(0)
    return coin(release, known, rng) + len(CALLS)


def numpy_seed(release, known, rng):
    np.random.seed(0)  # noqa: NPY002
    return coin(release, known, rng)


def writes_in_release(release, known, secret, rng):
    release["weight"] = 1.0
    return mode(release, known, secret, rng)


def writes_in_targets(release, known, rng):
    known.iloc[0, 0] = known.iloc[-1, 0]
    return coin(release, known, rng)


def relabels_in_place(release, rng):
    release.index = release.index[::-1]
    return whole(release, rng).iloc[::-1]


def positions(release, part_a, part_b, rng):
    return pd.DataFrame({"match": range(len(part_a)), "confidence": 1.0}, index=part_a.index)


def named(predicate):
    return lambda release, rng: predicates(release, predicate)


SAME, LEAVE = "the same claims for the same state of the generator", "leave the tables handed as they are"
NUMPY = r"from the generator handed alone, but moves numpy\.random"
COPE, COLUMNS = "cope with awkward tables, but raised", "the same scores whatever the order of columns"
NUMBER = "a confidence that is a number or missing, but returned (object|str)"
SINGLE = "guess single values of the column's kind"
CHANGED = {
    "inference": [  # what is changed of good claims, and the rule that it breaks
        (lambda found, release, s: found.assign(confidence=release[s].str.len().max()), COPE),
        (lambda found, *_: found[["confidence"]], "with a column 'guessed'"),
        (lambda found, release, s: found.assign(confidence=float(list(release).index(s))), COLUMNS),
        (lambda found, *_: found.assign(guessed="7"), SINGLE),
        (lambda found, *_: found.assign(guessed=pd.Series([[1]] * len(found), index=found.index)), SINGLE),
    ],
    "membership": [
        (lambda found: found.to_numpy(), "must return a DataFrame of pandas, got ndarray"),
        (lambda found: found.reset_index(drop=True), "with the index that it was handed"),
        (lambda found: found.assign(confidence=-np.inf), "whose confidence is finite"),
        (lambda found: found.assign(confidence="high"), NUMBER),
        (lambda found: found + random.random(), "from the generator handed alone, but moves random"),
    ],
}
WRITTEN = {
    "crash on one row": ("membership", crash_on_one_row, f"{COPE} IndexError.*one target and one record"),
    "fresh chance": ("membership", lambda release, known, rng: coin(release, known, np.random.default_rng()), SAME),
    "remembers": ("membership", remembers, SAME),
    "numpy chance": ("membership", lambda release, known, rng: coin(release, known, np.random), NUMPY),
    "numpy seed": ("membership", numpy_seed, NUMPY),
    "writes in release": ("inference", writes_in_release, LEAVE),
    "writes in targets": ("membership", writes_in_targets, LEAVE),
    "relabels in place": ("singling_out", relabels_in_place, LEAVE),
    "positions": ("linkability", positions, "match index labels of part_b"),
    "query": ("singling_out", named("number == 3"), "must return predicates, tuples of conditions"),
    "other operator": ("singling_out", named((("number", "!=", 3),)), "with an operator of ==, <=, >=, missing"),
    "other column": ("singling_out", named((("wage", "==", 3),)), "on columns that it was handed"),
}
BROKEN = [(kind, turned(kind, change), says) for kind, own in CHANGED.items() for change, says in own]


@pytest.mark.parametrize(("kind", "function", "says"), [*BROKEN, *WRITTEN.values()])
def test_each_rule_is_broken_by_one(kind, function, says):
    states = np.random.get_state(), random.getstate()  # noqa: NPY002
    with pytest.raises(AssertionError, match=says) as caught:
        check_attack(made(kind, function))
    np.random.set_state(states[0])  # noqa: NPY002
    random.setstate(states[1])
    assert str(caught.value).startswith("attack mine must ")
    assert "\n" not in str(caught.value)


def test_order_of_rows_is_tested_by_the_framework():
    seen = []

    def spies(release, known, secret, rng):
        seen.append(tuple(known.columns))
        again = sum(columns == seen[-1] for columns in seen)
        sure = float(again) if "number" in known and "huge" not in known and secret == "flag" else 0.0
        return mode(release, known, secret, rng).assign(confidence=sure)

    with pytest.raises(AssertionError, match="the same scores whatever the order of rows"):
        check_attack(made("inference", spies))


@pytest.mark.parametrize(
    ("attack", "options", "says"),
    [
        ("nearest_recrod", {}, "attack must be installed, got 'nearest_recrod' .did you mean 'nearest_record'"),
        (mode, {}, "attack must be an Attack"),
        (Attack("mine", "guessing", mode), {}, "attack must be an Attack of the kind inference, "),
        ("key_class", {"neighbours": 2}, "attack key_class takes no option 'neighbours'"),
    ],
)
def test_wrong_arguments_are_no_failures_of_the_attack(attack, options, says):
    with pytest.raises(InputError, match=says):
        check_attack(attack, **options)


def test_the_tables_are_as_awkward_as_they_say():
    people, released = targets(), release()
    assert not people.duplicated().any()
    assert released.duplicated().any()
    assert people.isna().any().sum() >= 6
    assert people["empty"].isna().all()
    assert people["constant"].nunique() == 1
    assert (people["number"] < 0).any()
    assert people["huge"].max() > 2**53
    assert not people["text"].dropna().map(str.isascii).all()
    assert {str(d) for d in people.dtypes.drop(["text", "day"])} == {"float64", "int64", "Int64", "category", "bool"}
    assert (str(people["text"].dtype) in ("object", "str"), people["day"].dtype.kind) == (True, "M")  # as pandas reads
    assert set(people["text"]) - set(released["text"])
    assert set(released["text"]) - set(people["text"])
    assert list(people.columns) == list(released.columns) == list(control().columns)
    assert (people.dtypes.astype(str) == released.dtypes.astype(str)).all()
    assert min(len(t) for t, _ in pairs().values()) == min(len(r) for _, r in pairs().values()) == 1


def test_a_draw_of_another_thread_and_the_older_name_of_guesses_are_no_faults():
    calls = []

    def good(release, known, rng):
        if not calls:
            random.random()
        calls.append(1)
        return coin(release, known, rng)

    check_attack(made("membership", good))
    assert len(calls) > 3
    check_attack(made("inference", turned("inference", lambda found, *_: found.rename(columns={"guessed": "guess"}))))
