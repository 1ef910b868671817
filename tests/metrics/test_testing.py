"""The test kit of attacks: ours pass, good ones of all four kinds pass, and each rule is broken by one attack."""

import random

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import ATTACKS, Attack, InputError
from synthrisk.metrics.claims.inference import model_attack
from synthrisk.metrics.models.attackers import ATTACKER_MODELS
from synthrisk.metrics.testing import check_attack, control, pairs, release, targets


@pytest.mark.parametrize("name", ATTACKS)
def test_installed_attacks_pass(name):
    check_attack(name)


def test_a_model_passes():
    check_attack(model_attack(ATTACKER_MODELS["cart"]))


def test_options_are_handed_on_and_tables_too_small_for_them_passed_over():
    check_attack("nearest_record", neighbours=3)
    check_attack("density_ratio", neighbours=2)
    with pytest.raises(AssertionError, match="InputError: neighbours must be"):
        check_attack(
            Attack("greedy", "inference", lambda r, k, s, g: ATTACKS["nearest_record"].function(r, k, s, g, 9))
        )


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
    def one(row):
        said = [(c, "missing", None) if pd.isna(v) else (c, "==", v) for c, v in row.items()]
        return tuple(said)

    predicate = pd.Series([one(row) for row in release.to_dict("records")], index=release.index, dtype=object)
    return pd.DataFrame({"predicate": predicate, "confidence": 0.5})


GOOD = {"inference": mode, "membership": coin, "linkability": anyone, "singling_out": whole}


def made(kind, function):
    return Attack("mine", kind, function)


@pytest.mark.parametrize("kind", GOOD)
def test_good_attacks_pass(kind):
    check_attack(made(kind, GOOD[kind]))


@pytest.mark.parametrize("kind", GOOD)
def test_abstaining_is_allowed(kind):
    column = {"inference": "guessed", "membership": "confidence", "linkability": "match", "singling_out": "predicate"}

    def silent(*handed):
        speaks = handed[0] if kind == "singling_out" else handed[1]
        return pd.DataFrame({column[kind]: None, "confidence": np.nan}, index=speaks.index)

    signatures = {
        "inference": lambda release, known, secret, rng: silent(release, known),
        "membership": lambda release, known, rng: silent(release, known),
        "linkability": lambda release, part_a, part_b, rng: silent(release, part_a),
        "singling_out": lambda release, rng: silent(release),
    }
    check_attack(made(kind, signatures[kind]))


def crash(release, known, secret, rng):
    return mode(release, known, secret, rng).assign(confidence=release[secret].str.len().max())  # not all is text


def crash_on_one_row(release, known, rng):
    return coin(release.iloc[1:], known.iloc[[1]], rng) if len(known) < 2 else coin(release, known, rng)


def no_frame(release, known, rng):
    return rng.random(len(known))


def no_claims(release, known, secret, rng):
    return mode(release, known, secret, rng)[["confidence"]]


def own_index(release, known, rng):
    return coin(release, known, rng).reset_index(drop=True)


def infinite(release, known, rng):
    return coin(release, known, rng).replace({"confidence": {0.0: 1}}).assign(confidence=-np.inf)


def in_words(release, known, rng):
    return coin(release, known, rng).assign(confidence="high")


def fresh_chance(release, known, rng):
    return coin(release, known, np.random.default_rng())


CALLS = []


def remembers(release, known, rng):
    CALLS.append(0)
    return coin(release, known, rng) + len(CALLS)


def numpy_chance(release, known, rng):
    return coin(release, known, np.random)


def numpy_seed(release, known, rng):
    np.random.seed(0)  # noqa: NPY002
    return coin(release, known, rng)


def python_chance(release, known, rng):
    return coin(release, known, rng) + random.random()


def writes_in_release(release, known, secret, rng):
    release["weight"] = 1.0
    return mode(release, known, secret, rng)


def writes_in_targets(release, known, rng):
    known.iloc[0, 0] = known.iloc[-1, 0]
    return coin(release, known, rng)


def relabels_in_place(release, rng):
    release.index = release.index[::-1]
    return whole(release, rng).iloc[::-1]


def by_column_order(release, known, secret, rng):
    number = float(list(release.columns).index(secret))
    return mode(release, known, secret, rng).assign(confidence=number)


def text_for_numbers(release, known, secret, rng):
    return mode(release, known, secret, rng).assign(guessed="7")


def lists(release, known, secret, rng):
    return mode(release, known, secret, rng).assign(guessed=pd.Series([[1]] * len(known), index=known.index))


def positions(release, part_a, part_b, rng):
    return pd.DataFrame({"match": range(len(part_a)), "confidence": 1.0}, index=part_a.index)


def query(release, rng):
    return pd.DataFrame({"predicate": "number == 3", "confidence": 1.0}, index=release.index)


def other_operator(release, rng):
    predicate = pd.Series([(("number", "!=", 3),)] * len(release), index=release.index)
    return pd.DataFrame({"predicate": predicate, "confidence": 1.0})


def other_column(release, rng):
    predicate = pd.Series([(("wage", "==", 3),)] * len(release), index=release.index)
    return pd.DataFrame({"predicate": predicate, "confidence": 1.0})


BROKEN = [
    ("inference", crash, "cope with awkward tables, but raised"),
    ("membership", crash_on_one_row, r"cope with awkward tables, but raised IndexError.*one target and one record"),
    ("membership", no_frame, "must return a DataFrame, got ndarray"),
    ("inference", no_claims, "with a column 'guessed'"),
    ("membership", own_index, "with the index that it was handed"),
    ("membership", infinite, "whose confidence is finite"),
    ("membership", in_words, "a confidence that is a number or missing, but returned (object|str)"),
    ("membership", fresh_chance, "the same claims for the same state of the generator"),
    ("membership", remembers, "the same claims for the same state of the generator"),
    ("membership", numpy_chance, r"from the generator handed alone, but moves numpy\.random"),
    ("membership", numpy_seed, r"from the generator handed alone, but moves numpy\.random"),
    ("membership", python_chance, "from the generator handed alone, but moves random"),
    ("inference", writes_in_release, "leave the tables handed as they are"),
    ("membership", writes_in_targets, "leave the tables handed as they are"),
    ("singling_out", relabels_in_place, "leave the tables handed as they are"),
    ("inference", by_column_order, "the same scores whatever the order of columns"),
    ("inference", text_for_numbers, "guess single values of the column's kind"),
    ("inference", lists, "guess single values of the column's kind"),
    ("linkability", positions, "match index labels of part_b"),
    ("singling_out", query, "must return predicates, tuples of conditions"),
    ("singling_out", other_operator, "with an operator of ==, <=, >=, missing"),
    ("singling_out", other_column, "on columns that it was handed"),
]


@pytest.mark.parametrize(("kind", "function", "says"), BROKEN, ids=[b[1].__name__ for b in BROKEN])
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


def test_a_draw_of_another_thread_is_not_laid_at_the_door_of_the_attack():
    calls = []

    def good(release, known, rng):
        if not calls:
            random.random()
        calls.append(1)
        return pd.DataFrame({"confidence": rng.random(len(known))}, index=known.index)

    check_attack(Attack("good", "membership", good))
    assert len(calls) > 3


def test_the_older_name_of_the_column_of_guesses_is_taken_too():
    def older(release, known, secret, rng):
        return mode(release, known, secret, rng).rename(columns={"guessed": "guess"})

    check_attack(Attack("older", "inference", older))
