"""Several attackers, and the curves of RAPID over its threshold, its tolerance and its null, by plain loops."""

import json
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from samples.attacked import ill_and_paid
from synthrisk.metrics import METRICS, InputError
from synthrisk.metrics.intervals.yardsticks import CURVE, TOLERANCES
from synthrisk.metrics.rapid.null_distribution import null_curve_of_classes, null_curve_of_numbers
from synthrisk.metrics.rapid.prediction_error import prediction_error

REFERENCE = Path(__file__).parents[2] / "reference" / "rapid" / "cont_income"
RNG = np.random.default_rng(3)
ROLES = {"quasi_identifiers": ["age", "sex"], "seed": 5}
NAMES = {"ill": [f"curve_{t:.2f}" for t in CURVE], "pay": [f"curve_x{t:.2f}" for t in TOLERANCES]}
REAL, RELEASE, CONTROL = (ill_and_paid(RNG, rows) for rows in (128, 150, 50))
REAL.loc[:2, "pay"] = np.nan
KNOWN = {"ill": range(len(REAL)), "pay": range(3, len(REAL))}
MODELS = {"ill": ("gradient_boosting", "logistic", "cart"), "pay": ("cart", "linear", "gradient_boosting")}
SENSITIVE = pytest.mark.parametrize("sensitive", ["ill", "pay"])
ENVELOPES = pytest.mark.parametrize("envelope", ["max", "mean", "record"])


@cache  # one model, or several
def attacked(sensitive, attacker="cart", control=False, **options):
    attacker = list(attacker) if isinstance(attacker, tuple) else attacker
    options |= {"control": CONTROL} if control else {}
    return METRICS["rapid"](REAL, RELEASE, **ROLES, sensitive=sensitive, attacker=attacker, **options)


def each_of(sensitive, **options):
    return {model: attacked(sensitive, model, **options) for model in MODELS[sensitive]}


def shares(sensitive):
    """Return the value of each attacker model, and of the best of them for each record, by plain loops."""
    scores = {model: own.records["score"].tolist() for model, own in each_of(sensitive).items()}
    rows = KNOWN[sensitive]
    values = {model: sum(own[row] for row in rows) / len(rows) for model, own in scores.items()}
    return values, sum(max(own[row] for own in scores.values()) for row in rows) / len(rows)


@SENSITIVE
@ENVELOPES
def test_largest_mean_and_envelope_have_their_own_names(sensitive, envelope):
    values, best = shares(sensitive)
    found = attacked(sensitive, MODELS[sensitive], envelope=envelope)
    expected = {"max": max(values.values()), "mean": sum(values.values()) / len(values), "record": best}
    assert found.value == pytest.approx(expected[envelope], abs=1e-12)
    assert found.records["score"].mean() == pytest.approx(found.value, abs=1e-12)
    assert {a: found.details[f"value_{a}"] for a in values} == pytest.approx(values, abs=1e-12)
    named = [found.details[f"rapid_{name}"] for name in ("max", "mean", "envelope")]
    assert named == pytest.approx(list(expected.values()), abs=1e-12)
    assert not {"max", "mean"} & set(found.details)  # which of the two maxima would not be known
    assert best > max(values.values())  # or the names could not be told apart


@SENSITIVE
def test_the_largest_value_is_that_of_one_model_and_record_takes_each_records_best(sensitive):
    values, each, evidence = shares(sensitive)[0], each_of(sensitive), {"ill": "gain", "pay": "error"}[sensitive]
    found, largest = attacked(sensitive, MODELS[sensitive]), max(values, key=values.get)
    assert found.settings["largest"] == largest
    own = each[largest].records
    pd.testing.assert_frame_equal(found.records[own.columns.tolist()], own)
    for model, alone in each.items():
        np.testing.assert_array_equal(found.records[f"{evidence}_{model}"], alone.records[evidence])
    best, better = attacked(sensitive, MODELS[sensitive], envelope="record").records, max if sensitive == "ill" else min
    for row in KNOWN[sensitive]:
        assert best[evidence].iloc[row] == better(s.records[evidence].iloc[row] for s in each.values())
        assert best["score"].iloc[row] == max(s.records["score"].iloc[row] for s in each.values())


def test_the_null_of_several_is_the_largest_or_the_mean_of_theirs():
    nulls, models = [own.details["null_real_mean"] for own in each_of("ill").values()], MODELS["ill"]
    assert attacked("ill", models).details["null_real_mean"] == max(nulls)
    assert attacked("ill", models, envelope="mean").details["null_real_mean"] == pytest.approx(sum(nulls) / 3)
    assert "null_real_mean" not in attacked("ill", models, envelope="record").details  # that of none of them


def test_one_in_a_list_is_that_one():
    assert attacked("ill", ("cart",)).value == attacked("ill").value


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"attacker": ()}, "at least one"),
        ({"attacker": ("cart", "cart")}, "each once"),
        ({"attacker": ("cart", "lgoistic")}, "did you mean 'logistic'"),
        ({"attacker": MODELS["ill"], "envelope": "min"}, "envelope must be max, mean or record"),
        ({"attacker": ("cart", "linear")}, "categorical attribute, got 'linear'"),
    ],
)
def test_wrong_lists(options, sentence):
    with pytest.raises(InputError, match=sentence):
        attacked("ill", **options)


def share_at_risk(records, column, place):
    """Count who is at risk at a threshold of the gain, or at so many tolerances of the error."""
    at_risk, scored = 0, 0
    for own, limit in zip(records[column], records.get("tolerance", records["score"]), strict=True):
        if not np.isnan(own):
            scored += 1
            at_risk += own > place if column.startswith("gain") else own < place * limit
    return at_risk / scored


@pytest.mark.parametrize(("sensitive", "column", "places"), [("ill", "gain", CURVE), ("pay", "error", TOLERANCES)])
def test_each_point_is_a_count_of_the_records(sensitive, column, places):
    score = attacked(sensitive, control=True)
    control = METRICS["rapid"](CONTROL, RELEASE, **ROLES, sensitive=sensitive, attacker="cart")
    for name, place in zip(NAMES[sensitive], places, strict=True):
        assert score.details[name] == pytest.approx(share_at_risk(score.records, column, place), abs=1e-12)
        if sensitive == "pay":  # whose errors do not depend on who else is there, as class shares do
            assert score.details[f"control_{name}"] == pytest.approx(control.details[name], abs=1e-12)


def test_the_curve_meets_the_value_at_the_limit_in_force_and_that_of_the_null_its_mean():
    for limit, details in (("0.30", attacked("ill").details), ("x1.00", attacked("pay").details)):
        assert details[f"null_real_curve_{limit}"] == pytest.approx(details["null_real_mean"], abs=1e-12)
    assert attacked("ill").details["curve_0.30"] == attacked("ill").value
    for tolerance in (0.05, 0.2, "0.1 iqr"):
        score = attacked("pay", tolerance=tolerance)
        assert score.details["curve_x1.00"] == score.value
        assert score.details["tolerance"] == score.settings["tolerance"]


@ENVELOPES
@pytest.mark.parametrize(("sensitive", "limit"), [("ill", "curve_0.30"), ("pay", "curve_x1.00")])
def test_the_curve_of_several_models_meets_the_envelope_asked_for(sensitive, limit, envelope):
    score = attacked(sensitive, MODELS[sensitive], control=True, envelope=envelope)
    own = {"max": score.details["rapid_max"], "mean": score.value, "record": score.value}[envelope]
    assert score.details[limit] == pytest.approx(own, abs=1e-12)
    control = score.details[{"max": "control_rapid_max", "mean": "control", "record": "control"}[envelope]]
    assert score.details[f"control_{limit}"] == pytest.approx(control, abs=1e-12)
    if envelope == "mean":
        each = [own.details for own in each_of(sensitive, control=True).values()]
        for name in NAMES[sensitive]:
            assert score.details[name] == pytest.approx(np.mean([own[name] for own in each]), abs=1e-9)


def test_a_smaller_tolerance_has_the_same_curve_in_other_units():
    wide, narrow = attacked("pay", tolerance=0.2).details, attacked("pay", tolerance=0.05).details
    for times in TOLERANCES[:5]:
        assert wide[f"curve_x{times:.2f}"] == pytest.approx(narrow.get(f"curve_x{4 * times:.2f}"))


def test_the_curve_over_epsilon_is_that_of_rs_predictions():
    real, synthetic = (pd.read_csv(REFERENCE / f"{name}.csv") for name in ("original", "synthetic"))
    expected = json.loads((REFERENCE / "expected.json").read_text())
    roles = {"quasi_identifiers": expected["quasi_identifiers"], "sensitive": expected["sensitive_attribute"]}
    score, met = METRICS["rapid"](real, synthetic, **roles, attacker="linear", tolerance=0.05), 0
    for row in expected["attackers"]["lm"]["table"]:
        name = f"curve_x{row['epsilon'] / 0.05:.2f}"
        if (row["metric"], row["delta"]) == ("symmetric", 0.01) and name in score.details:
            met += 1
            assert score.details[name] == pytest.approx(row["n_at_risk"] / 1000, abs=1e-9)
    assert met >= 2


def test_the_null_of_classes_is_the_mean_over_all_pairs():
    raw = RNG.random((12, 3))
    probabilities = raw / raw.sum(axis=1, keepdims=True)
    truth = np.array([0, 0, 0, 1, 1, 2, -1, 0, 2, 1, 0, 0])  # -1: a class that the release lacks
    shares = np.array([0.5, 0.3, 0.15])
    for threshold, point in zip(CURVE, null_curve_of_classes(probabilities, shares, truth), strict=True):
        gains = [(p[t] - shares[t]) / (1 - shares[t]) for p in probabilities for t in truth if t >= 0]
        assert point == pytest.approx(sum(gain > threshold for gain in gains) / 144, abs=1e-12)


@pytest.mark.parametrize("error", ["symmetric", "absolute"])
def test_the_null_of_numbers_is_the_mean_over_all_pairs(error):
    truth, predicted = RNG.normal(10, 5, 15).round(1), RNG.normal(10, 5, 15).round(1)
    truth[4] = np.nan
    limits = np.array([0.1, 0.5, 2.0])
    found = null_curve_of_numbers(predicted, truth, limits, error)
    known = [i for i in range(15) if i != 4]
    for limit, point in zip(limits, found, strict=True):
        pairs = [(truth[j], predicted[i]) for i in known for j in known]
        near = sum(prediction_error(np.array([y]), np.array([p]), error)[0] < limit for y, p in pairs)
        assert point == pytest.approx(near / len(pairs), abs=1e-12)


@SENSITIVE
def test_of_several_models_each_point_is_the_largest_of_theirs(sensitive):
    each = [own.details for own in each_of(sensitive, control=True).values()]
    together = attacked(sensitive, MODELS[sensitive], control=True).details
    for name in (before + name for name in NAMES[sensitive] for before in ("", "control_", "null_real_")):
        assert together[name] == pytest.approx(max(details[name] for details in each), abs=1e-12)


def drawn(score):
    """Return the lines of a picture by the first word of their names in the legend."""
    with mpl.rc_context({"backend": "agg"}):
        axes = score.plot()
        lines = {str(line.get_label()): np.array(line.get_xydata()) for line in axes.get_lines()}
        assert len(axes.get_legend().get_texts()) == len([name for name in lines if not name.startswith("_")])
    return axes, lines


@pytest.mark.parametrize(("sensitive", "scale"), [("ill", CURVE), ("pay", 0.1 * TOLERANCES)])
def test_the_picture_is_the_papers_curve(sensitive, scale):
    score = attacked(sensitive, control=True)
    axes, lines = drawn(score)
    for before, word in {"": "value", "control_": "control", "null_real_": "null"}.items():
        (own,) = (points for name, points in lines.items() if name.startswith(word))
        assert own[:, 0] == pytest.approx(scale)
        assert own[:, 1].tolist() == [score.details[before + name] for name in NAMES[sensitive]]
    limit = 0.3 if sensitive == "ill" else 0.1
    assert any(points[:, 0].tolist() == [limit, limit] for points in lines.values())
    assert f"value {score.value:.3f}" in lines
    assert f"control {score.details['control']:.3f}" in lines
    assert limit == (score.settings["threshold"] if sensitive == "ill" else score.settings["tolerance"])
    assert "threshold" in axes.get_xlabel() if sensitive == "ill" else "error" in axes.get_xlabel()


@SENSITIVE
def test_the_picture_of_several_models_has_each_and_their_envelope(sensitive):
    score, each = attacked(sensitive, MODELS[sensitive]), each_of(sensitive)
    _, lines = drawn(score)
    for model, own in each.items():
        (points,) = (p for name, p in lines.items() if name.startswith(model))
        assert points[:, 1].tolist() == [own.details[name] for name in NAMES[sensitive]]
    (largest,) = (p for name, p in lines.items() if name.startswith("rapid_max"))
    (mean,) = (p for name, p in lines.items() if name.startswith("rapid_mean"))
    for place, name in enumerate(NAMES[sensitive]):
        values = [own.details[name] for own in each.values()]
        assert largest[place, 1] == max(values)
        assert mean[place, 1] == pytest.approx(sum(values) / len(values))
    assert f"rapid_max {score.details['rapid_max']:.3f}" in lines
    assert f"rapid_mean {score.details['rapid_mean']:.3f}" in lines


@pytest.mark.parametrize(
    ("envelope", "called"), [("max", "rapid_max"), ("mean", "rapid_mean"), ("record", "rapid_envelope")]
)
@SENSITIVE
def test_the_main_line_of_several_models_bears_the_name_and_number_of_what_is_asked(sensitive, envelope, called):
    score = attacked(sensitive, MODELS[sensitive], control=True, envelope=envelope)
    _, lines = drawn(score)
    for before, name, value in (("", called, score.value), ("control_", "control", score.details["control"])):
        own = lines[f"{name} {value:.3f}"]
        assert own[:, 1].tolist() == [score.details[before + each] for each in NAMES[sensitive]]
    assert sum(name.startswith(called) for name in lines) == 1


def test_a_measure_without_a_curve_is_drawn_as_before():
    score = METRICS["zero_cap"](REAL, RELEASE, quasi_identifiers=["sex"], sensitive="ill")
    with mpl.rc_context({"backend": "agg"}):
        assert score.plot().get_ylabel() == "share of records with at least this score"


def test_points_of_curves_are_no_rows_of_a_notebook():
    html = attacked("ill", control=True)._repr_html_()
    assert "curve_" not in html
    assert "mean_gain" in html
