"""What a study will not be able to say, seen before it is computed: each rule at its boundary, on ugly columns."""

import re

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS, Tables
from synthrisk.metrics.study.feasibility import Foreseen, foresee
from synthrisk.metrics.study.ledger import Measure, Planned

N = 100
KEYS = ["job", "town"]
FINE = ["yes", "no"] * (N // 2)


def table(secret, n=N, **columns) -> pd.DataFrame:
    keys = {"job": np.arange(n) % 5, "town": list("abcd") * (n // 4) + ["a"] * (n % 4)}
    return pd.DataFrame(keys | {"secret": secret} | columns)


def plan(name="zero_cap", keys=KEYS, variant_of=None, **options) -> Planned:
    metric = METRICS[name]
    roles = {"quasi_identifiers": list(keys), "sensitive": "secret"}
    own = {k: v for k, v in roles.items() if k in metric.needs}
    label = f"{name}-changed" if variant_of else name
    measure = Measure(label, name, own.get("sensitive"), options.get("attacker"), variant_of)
    return Planned(measure, own | options)


def seen(secret, *planned, held_out=(50, 50), entities=None, **columns) -> Foreseen:
    records = secret if isinstance(secret, pd.DataFrame) else table(secret, **columns)
    return foresee(records, planned or [plan()], held_out, entities)


NOTHING = Foreseen()
LEARNERS = ["zero_cap", "rapid", "inference", "attribute_inference_risk", "group_inference"]
LEARNERS += ["train_synthetic_test_real"]


@pytest.mark.parametrize("name", LEARNERS)
def test_a_unique_secret_is_refused_and_no_cell_is_told_and_one_that_can_be_learnt_passes(name):
    assert seen(FINE, plan(name)) == NOTHING
    (refusal,) = seen([f"note {i:03}" for i in range(N)], plan(name)).refusals
    assert "'secret' must hold values that records share, got 100% of the records" in refusal
    assert not re.search(r"note \d", refusal)


def test_nearly_unique_is_unique_and_missing_cells_are_no_shared_value():
    notes = [f"note {i}" for i in range(N)]
    assert "got 91%" in seen(notes[:91] + ["none"] * 9).refusals[0]
    assert seen(notes[:90] + ["none"] * 10).refusals == ()
    assert "got 100%" in seen(notes[:40] + [None] * 60).refusals[0]
    names = np.repeat(notes[:20], 5)  # each person's own, however many rows he has
    assert seen(names, entities=np.arange(N)).refusals == ()
    assert "got 100%" in seen(names, entities=np.repeat(np.arange(20), 5)).refusals[0]
    assert "at least two different values, got 1" in seen(table(["a"], 1)).refusals[0]
    assert "a value of their own" in seen(table(["a", "b"], 2)).refusals[0]


CONSTANT = {
    "text": ["a"] * N,
    "missing beside it": ["a"] * 50 + [None] * 50,
    "missing only": [None] * N,
    "boolean": [True] * N,
    "number": [2.5] * N,
    "one number": [1.0] + [np.nan] * (N - 1),
    "unused levels": pd.Categorical(["a"] * N, categories=["a", "b", "c"]),
    "date": [pd.Timestamp("2024-02-29")] * N,
}


@pytest.mark.parametrize("secret", CONSTANT.values(), ids=CONSTANT)
def test_a_constant_secret_is_refused(secret):
    (refusal,) = seen(secret, plan("rapid"), plan("inference")).refusals
    assert "at least two different values, got" in refusal
    assert "2024" not in refusal


SOUND = {
    "booleans": [True, False] * 50,
    "unused levels": pd.Categorical(FINE, categories=["yes", "no", "never"]),
    "missing booleans": pd.Series([True, False, None, True] * 25, dtype="boolean"),
    "dates": pd.date_range("2020-01-01", periods=N),
    "durations": pd.to_timedelta(np.arange(N), unit="h"),
    "numbers": np.random.default_rng(0).normal(0, 1, N),
    "missing numbers": [float(i) if i % 3 else np.nan for i in range(N)],
}


@pytest.mark.parametrize("secret", SOUND.values(), ids=SOUND)
def test_columns_of_all_types_pass(secret):
    assert seen(secret, plan("rapid"), plan("inference"), plan("attribute_inference_risk")) == NOTHING


def test_bins_are_seen_as_the_measure_sees_them():
    notes = [f"note {i}" for i in range(50)] + ["none"] * 50
    assert "50 of its 51 classes have fewer than 5 records" in seen(notes, plan()).warnings[0]
    assert seen(notes, plan(bins={"secret": 2})) == NOTHING
    assert "right about 95%" in seen([0] * 95 + [1] * 5, plan(bins=2)).warnings[0]


YEARS = np.random.default_rng(1).integers(1950, 2011, N)


@pytest.mark.parametrize("name", ["rapid", "inference", "attribute_inference_risk"])
def test_a_tolerance_wider_than_the_column_is_refused_where_it_stands_alone(name):
    wide = plan(name, **({} if name == "rapid" else {"tolerance": 0.1}))
    found = seen(YEARS, wide)
    (refusal,) = found.refusals
    assert refusal.startswith(f"{name}.secret: the tolerance is wider than the column: one constant guess")
    assert ("'0.1 iqr'" in refusal, found.warnings) == (True, ())
    assert seen(YEARS, plan(name, tolerance="0.1 iqr")) == NOTHING
    beside = seen(YEARS, wide, plan("common_rows_proportion"))
    assert (beside.refusals, beside.warnings) == ((), (refusal,))
    utility = seen(YEARS, wide, plan("train_synthetic_test_real"))
    assert utility.refusals == (refusal,)  # that something is useful says nothing of risk


def test_a_tolerance_that_misses_some_is_warned_of_with_the_share_of_the_guess_in_the_results():
    secret = np.concatenate([YEARS[:95], np.arange(1, 6) * 100])
    found = seen(secret, plan("rapid"))
    assert (found.refusals, "wider than the column" in found.warnings[0]) == ((), True)
    at_nine_in_ten = np.concatenate([YEARS[:90], np.arange(1, 11) * 100])
    assert seen(at_nine_in_ten, plan("rapid")) == NOTHING
    records = table(secret)
    for planned, detail in ((plan("rapid"), "guess"), (plan("inference", tolerance=0.1), "constant_guess")):
        said = METRICS[planned.measure.metric].function(Tables(records, records), **planned.options).details[detail]
        assert f"{said:.0%}" in seen(records, planned).warnings[0]


def test_dates_are_guessed_in_days_and_options_that_do_not_fit_the_column_are_refused():
    born = pd.to_datetime("1980-01-01") + pd.to_timedelta(np.random.default_rng(2).integers(0, 9000, N), unit="D")
    assert seen(born, plan("rapid"), plan("inference"), plan("attribute_inference_risk")) == NOTHING
    same = [pd.Timestamp("2024-01-01")] * 90 + [pd.Timestamp("2024-03-01")] * 10
    for secret, planned, says in (
        (born, plan("rapid", tolerance="40000 days"), "a shorter duration"),
        (same, plan("rapid"), "a duration such as '30 days' where the middle half"),
        (YEARS, plan("inference", tolerance="3 days"), "tolerance of numbers"),
        (FINE, plan(bins={"shoe": 3}), "bins must name"),
    ):
        assert says in seen(secret, planned).refusals[0]


def test_a_class_of_nearly_everybody_is_warned_of_and_never_refused():
    rare = ["no"] * 95 + ["yes"] * 5
    for name in ("zero_cap", "inference", "group_inference", "attribute_disclosure", "targeted_cap"):
        found = seen(rare, plan(name))
        assert found.refusals == ()
        assert f"{name}.secret: one constant guess is right about 95% of the records" in found.warnings[0]
    assert seen(rare, plan("rapid")) == NOTHING  # its gain counts the share of the class
    assert seen(["no"] * 90 + ["yes"] * 10, plan()) == NOTHING
    assert "right about 96%" in seen([0] * 96 + [1, 5, 7, 9], plan("rapid")).warnings[0]


def test_one_sentence_for_all_measures_of_one_column():
    (warning,) = seen(["no"] * 97 + ["yes"] * 3, *(plan(name) for name in LEARNERS), plan("targeted_cap")).warnings
    said = "zero_cap.secret, inference.secret, attribute_inference_risk.secret and 2 more: one constant guess"
    assert warning.startswith(said)
    (refusal,) = seen(["no"] * N, *(plan(name) for name in LEARNERS)).refusals
    assert refusal.startswith("sensitive column 'secret' must hold at least two different values")
    wide = seen(YEARS, plan("rapid"), plan("inference", tolerance=0.1), plan("common_rows_proportion")).warnings
    assert [w.partition(":")[0] for w in wide] == ["rapid.secret, inference.secret"]


def test_numbers_that_must_be_met_exactly():
    pay = np.random.default_rng(3).normal(2000, 300, N)
    (refusal,) = seen(pay, plan()).refusals
    assert refusal.startswith("zero_cap.secret: a number must be met exactly, and 100% of the records")
    assert "bins: {secret: 5}" in refusal
    assert seen(pay, plan(), plan("rapid")).refusals == ()
    assert refusal in seen(pay, plan(), plan("rapid")).warnings
    assert seen(pay, plan(bins={"secret": 5})) == NOTHING
    assert seen(pay.round(-2), plan()).refusals == ()


def test_classes_of_too_few_records_are_counted():
    secret = ["a"] * 46 + ["b"] * 46 + ["c"] * 4 + ["d"] * 4
    (warning,) = seen(secret, plan(), plan("rapid")).warnings  # once for all measures
    assert "sensitive column 'secret': 2 of its 4 classes have fewer than 5 records" in warning
    assert "bins: {secret: 3}" in warning
    assert seen(["a"] * 45 + ["b"] * 45 + ["c"] * 5 + ["d"] * 5) == NOTHING
    folds = seen(["a"] * 46 + ["b"] * 46 + ["c"] * 8, held_out=[20] * 5).warnings
    assert "1 of its 3 classes has fewer than 10 records" in folds[0]
    assert "bins: {secret: 2}" in folds[0]  # with the next one: three parts would change nothing
    assert seen(pd.Categorical(FINE, categories=["yes", "no", *"abc"])) == NOTHING  # nobody's class is none


LOOK_UPS = ["zero_cap", "categorical_cap", "targeted_cap", "attribute_disclosure", "group_inference"]


@pytest.mark.parametrize("name", LOOK_UPS)
def test_keys_of_one_record_each_are_warned_of(name):
    found = seen(FINE, plan(name, ["job", "post"]), post=np.arange(N))
    (warning,) = found.warnings
    assert warning.startswith(f"{name}.secret: records are looked up by 'job', 'post', by which 100% of them")
    assert "leave out 'post', which has the most distinct values (100)" in warning
    assert found.refusals == ()
    assert seen(FINE, plan(name, ["job", "post"], bins={"post": 4}), post=np.arange(N)) == NOTHING


def test_attacks_that_look_up_no_key_are_not_and_those_that_do_are():
    for name in ("generalized_cap", "rapid", "inference", "apparent_match_rate", "membership"):
        assert seen(FINE, plan(name, ["job", "post"]), post=np.arange(N)) == NOTHING
    (warning,) = seen(FINE, plan("inference", ["post"], attacker="key_class"), post=np.arange(N)).warnings
    assert "looked up by 'post', by which 100%" in warning


def test_one_sentence_for_all_measures_of_one_key_and_at_the_boundary():
    post = np.concatenate([np.arange(94), [94] * 6])
    assert seen(FINE, plan("zero_cap", ["post"]), post=post) == NOTHING
    post = np.concatenate([np.arange(96), [96] * 4])
    (warning,) = seen(FINE, *(plan(name, ["post"]) for name in LOOK_UPS), post=post).warnings
    assert warning.startswith("zero_cap.secret, categorical_cap.secret, targeted_cap.secret and 2 more: ")
    assert "96%" in warning


def test_folds_of_too_few_records_and_measures_without_a_secret():
    for sizes in ([20, 20, 20, 20, 20], []):  # nobody is held out where a release has no control records
        assert seen(FINE, held_out=sizes) == NOTHING
    assert "at least 20 a release, got 19" in seen(FINE, held_out=[20, 19]).warnings[0]
    assert seen(FINE, held_out=[1, 2]).refusals == ()
    assert seen(FINE, plan("distance_to_closest_record"), plan("singling_out")) == NOTHING
    assert foresee(table(["a"] * N), [plan("membership")], [50]) == NOTHING


def test_what_ifs_are_looked_at_for_their_keys_alone_and_no_order_is_spoken_of():
    rare, post = ["no"] * 95 + ["yes"] * 5, np.arange(N)
    varied = plan(keys=["post"], variant_of="zero_cap")
    found = seen(rare, plan(), varied, post=post)
    assert (len(found.warnings), sum("constant guess" in w for w in found.warnings)) == (2, 1)
    rng, records = np.random.default_rng(5), table(["a"] * 60 + ["b"] * 36 + list("cdef"), post=np.arange(N))
    planned = [plan(keys=["job", "post"]), plan("rapid")]
    mixed = records.iloc[rng.permutation(N)][["secret", "post", "town", "job"]]
    assert seen(mixed, *planned) == seen(records, *planned)


def together(*columns, name="zero_cap") -> Planned:
    measure = Measure(name, name, " and ".join(columns), joint=columns)
    return Planned(measure, {"quasi_identifiers": KEYS, "sensitive": list(columns)})


BOTH = together("secret", "other")
SAY = "sensitive columns 'secret' and 'other' together"


def test_of_columns_guessed_at_once_their_combinations_count():
    frame = table(np.tile(np.arange(N // 2), 2).astype(str), other=np.repeat([0, 1], N // 2).astype(str))
    assert seen(frame, BOTH).refusals == (
        f"{SAY} must hold values that records share, got 100% of the records with a value of their own, which nobody "
        "can learn from others; choose another column",
    )
    assert seen(table(FINE, other=["x"] * N), BOTH) == NOTHING  # one of them may be constant
    assert seen(table(FINE, other=["x"] * (N - 1) + ["y"]), BOTH).warnings == (
        f"{SAY}: 1 of its 3 classes has fewer than 5 records, of which the study can say little; guess fewer columns "
        "at once",
    )
    (said,) = seen(table(FINE, other=np.arange(N) * 1.5), BOTH, plan("rapid")).warnings
    assert "a number must be met exactly, and 100% of the records have a number of their own in 'other'" in said
