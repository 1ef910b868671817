"""Classifiers that attack: extremes and the null known by construction, and the spread of SynthEval and PrivEval."""

import inspect
import json
import math

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from samples.mixed import draw, drawn
from samples.priveval import REFERENCE, priveval, schema, typed
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.rates import attack_summary
from synthrisk.metrics.tables.tables import Tables

MIR = METRICS["membership_inference_risk"]
DETECTION = METRICS["detection_mlp"]
reference = pytest.mark.parametrize("data", ["mixed_120", "ugly_80x50"])


def of_threads(monkeypatch, attack):
    """Return the records of an attack with one thread and with three."""
    found = []
    for threads in (1, 3):
        monkeypatch.setattr("synthrisk.metrics.models.threads.threads", lambda threads=threads: threads)
        with threadpool_limits(threads):
            found.append(attack().records)
    return found


@pytest.mark.parametrize("metric", [MIR, DETECTION], ids=lambda metric: metric.name)
@pytest.mark.parametrize("folds", [1, 0, 2.5, True, "5", None])
def test_bad_folds(metric, folds):
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="folds must be a whole number of at least 2"):
        metric(table, table, folds=folds, **{"control": table} if metric is MIR else {})
    with pytest.raises(InputError, match="folds"):
        metric.check_choices({"folds": folds})


def test_recall_and_precision_are_within_the_spread_of_syntheval():
    tables = [pd.read_csv(REFERENCE / f"mixed_120/{t}.csv") for t in ("real", "synthetic", "holdout")]
    expected = json.loads((REFERENCE / "mixed_120/expected.json").read_text())["metrics"]["MIR"]["syntheval_original"]
    real, synthetic, holdout = typed(schema("mixed_120")["columns"], *tables)
    score = MIR(real, synthetic, control=holdout)
    recall, false = score.published, score.details["control_recall"]
    for name, found in (("recall", recall), ("precision", recall / (recall + false))):
        sd = expected[f"MIA {name} se"] * math.sqrt(20)
        assert found == pytest.approx(expected[f"MIA {name}"], abs=2 * sd)
    assert score.value < 0.3  # 30 of 120 are copies or nearly


def test_members_released_as_they_are_are_found():
    real, control = drawn(0, 150, 120)
    score = MIR(real, real.sample(frac=1, random_state=1), control=control)
    assert min(score.value, score.published, score.details["distance_auc"]) > 0.9
    assert score.details["tpr_at_0.1"] > 0.8
    assert score.details["control_recall"] < 0.6


def few_values(rng, n):
    return pd.DataFrame({"c": rng.choice([*"abc"], n), "d": rng.choice([*"uv"], n)})


@pytest.mark.proof
@pytest.mark.parametrize(("make", "controls"), [(draw, 60), (few_values, 40)])
def test_a_release_made_of_others_has_no_risk(make, controls):
    rng = np.random.default_rng(1)
    found = [MIR(make(rng, 60), make(rng, 60), control=make(rng, controls), seed=s).details["auc"] for s in range(12)]
    assert np.mean(found) == pytest.approx(0.5, abs=3 * min(0.055, np.std(found)) / math.sqrt(12))


def test_more_members_released_is_more_risk():
    real, other, control = drawn(4, 150, 150, 100)
    values = [MIR(real, pd.concat([real[:k], other[k:]]), control=control, folds=3).value for k in (0, 50, 150)]
    assert values == sorted(values)
    assert values[0] < 0.2
    assert values[2] > 0.9


def test_the_value_is_made_from_placements():
    real, control = drawn(2, 50, 40)
    score = MIR(real, real[:25], control=control)
    auc = score.records["placement"].mean()
    assert score.details["auc"] == pytest.approx(auc, abs=1e-12)
    assert score.value == pytest.approx(max(0, 2 * auc - 1), abs=1e-12)
    assert score.published == pytest.approx(score.records["called"].mean(), abs=1e-12)
    assert len(score.records) == 50
    assert math.isnan(score.details["tpr_at_0.1"])  # 40 controls are too few


def test_the_seed_decides_the_trees_and_the_number_of_threads_nothing(monkeypatch):
    real, synthetic, control = drawn(3, 40, 30, 30)
    one, other = (MIR(real, synthetic, control=control, seed=s, folds=2).records["score"] for s in (1, 2))
    assert not np.array_equal(one, other)
    real, synthetic, control = drawn(11, 200, 200, 200)
    one, three = of_threads(monkeypatch, lambda: MIR(real, synthetic, control=control, folds=2))
    pd.testing.assert_frame_equal(one, three, check_exact=True)


def test_groups_say_the_same_as_control():
    real, synthetic, control = drawn(5, 40, 30, 30)
    direct = MIR(real, synthetic, control=control, folds=2)
    both = pd.concat([control, real], ignore_index=True)
    study = MIR.score(Tables(both, synthetic, groups=np.repeat([0, 1], [30, 40])), folds=2)
    pd.testing.assert_frame_equal(study.records.iloc[30:].reset_index(drop=True), direct.records, check_dtype=False)
    assert MIR.records.reduce(study.records.iloc[30:]).value == pytest.approx(direct.value, abs=1e-12)
    assert study.records["placement"].iloc[:30].mean() == pytest.approx(0.5)
    assert MIR.records.reduce(study.records.iloc[:30]).value == pytest.approx(0, abs=1e-12)
    neither = MIR.score(Tables(both, synthetic, groups=np.repeat([0, -1, 1], [30, 5, 35])), folds=2)
    assert neither.records["score"].notna().all()


@reference
def test_without_control_there_is_the_recall_of_priveval(data):
    real, synthetic, expected = priveval(data)
    printed = expected["metrics"]["MIR"]["priveval_original"]
    scores = [MIR(real, synthetic, seed=seed) for seed in range(3)]
    recall = np.mean([score.published for score in scores])
    assert recall == pytest.approx(1 - printed["value"], abs=2 * printed["sd"])
    for score in scores:
        assert math.isnan(score.value)
        assert score.reason == "no control records: nobody to tell the members from"
        assert score.records["score"].isna().tolist() == [True] * len(real)


def test_recalls_known_by_construction():
    real, synthetic = drawn(6, 60, 40)
    assert 0.2 < MIR(real, synthetic).published < 0.9
    assert MIR(real, synthetic.assign(x=99.0)).published == 1
    assert math.isnan(MIR(real[:9], synthetic).published)  # too few for the program, which prints 0
    order = np.random.default_rng(6).permutation(60)
    assert MIR(real.iloc[order], synthetic[::-1]).published == MIR(real, synthetic).published


def test_the_door_says_that_control_may_be_left_out():
    assert "control=None" in str(inspect.signature(MIR))
    assert MIR.needs == ("control",)  # the value needs it: a study and the lists say so
    with pytest.raises(InputError, match="membership needs the argument control"):
        METRICS["membership"](*drawn(0, 20, 20))


def test_one_control_is_too_few_and_a_text_control_of_numbers_is_refused():
    real, control = drawn(7, 20, 20)
    with pytest.warns(UserWarning, match="too few: at least 2 are needed"):
        assert math.isnan(MIR(real, real, control=control[:1]).value)
    assert not math.isnan(MIR(real, real, control=control[:2]).value)
    table = pd.DataFrame({"c": ["1", "2"] * 3})
    with pytest.raises(InputError, match="'c'"):
        MIR(table, table, control=pd.DataFrame({"c": [1, 2]}))


@pytest.mark.parametrize("column", ["x", "c", "flag"])
def test_single_columns(column):
    real, synthetic, control = (t[[column]] for t in drawn(8, 30, 20, 25))
    assert 0 <= MIR(real, synthetic, control=control, folds=2).value <= 1


def test_numbers_far_from_zero_keep_their_differences():
    rng = np.random.default_rng(9)
    real, control = (pd.DataFrame({"x": 1e9 + rng.random(60)}) for _ in range(2))
    near = MIR(real - 1e9, real - 1e9, control=control - 1e9).value
    assert near > 0.5
    assert MIR(real, real, control=control).value == pytest.approx(near, abs=0.05)


def test_the_rates_are_those_of_all_scores():
    rng = np.random.default_rng(10)
    both, synthetic = draw(rng, 250), draw(rng, 100)
    groups = np.repeat([1, 0], [130, 120])
    score = MIR.score(Tables(both, synthetic, groups=groups))
    found = attack_summary(score.records["score"][:130].to_numpy(), score.records["score"][130:].to_numpy())
    assert score.details["tpr_at_0.1"] == pytest.approx(found.rates[0.1].value, abs=0.05)  # equal records share theirs


@reference
def test_the_auc_is_within_the_spread_of_priveval(data):
    real, synthetic, expected = priveval(data)
    expected, scores = expected["metrics"]["DMLP"], [DETECTION(real, synthetic, seed=seed) for seed in range(2)]
    auc = np.mean(expected["auc_over_5_column_orders"])
    assert np.mean([s.published for s in scores]) == pytest.approx(auc, abs=0.07)
    assert np.mean([s.value for s in scores]) == pytest.approx(expected["value"], abs=0.1)


def test_tables_apart_are_told_apart_and_an_independent_draw_is_not():
    rng = np.random.default_rng(0)
    score = DETECTION(draw(rng, 60), draw(rng, 40).assign(x=lambda t: t["x"] + 30, c="other"))
    assert (score.published, score.value) == (1, 0)
    assert (score.records["score"] == 0).all()
    rng = np.random.default_rng(0)
    found = [DETECTION(draw(rng, 80), draw(rng, 80), seed=s, folds=2).published for s in range(6)]
    assert np.mean(found) == pytest.approx(0.5, abs=0.05)


def test_the_value_is_made_from_the_auc():
    real, synthetic = (table.assign(one=7) for table in drawn(1, 60, 50))
    score = DETECTION(real, synthetic.assign(one=7.0, x=synthetic["x"] + 0.8))
    assert score.value == pytest.approx(np.clip(2 * (1 - score.published), 0, 1))
    assert score.records["placement"].mean() == pytest.approx(score.published)
    np.testing.assert_allclose(score.records["score"], 1 - score.records["placement"])
    assert 0.55 < score.published < 0.95


def test_the_seed_decides_the_net_and_the_number_of_threads_nothing(monkeypatch):
    real, synthetic = drawn(2, 40, 30)
    one, other = (DETECTION(real, synthetic, seed=seed, folds=2).records["score"] for seed in (1, 2))
    assert not np.array_equal(one, other)
    real, synthetic = drawn(3, 600, 500)
    one, three = of_threads(monkeypatch, lambda: DETECTION(real, synthetic, folds=2))
    pd.testing.assert_frame_equal(one, three, check_exact=True)


@pytest.mark.parametrize("column", ["x", "y", "c", "flag", "day", "one"])
def test_a_single_column_tells_records_apart_unless_it_is_constant(column):
    score = DETECTION(*(table.assign(one=7)[[column]] for table in drawn(3, 20, 20)), folds=2)
    assert 0 <= score.value <= 1
    assert (score.published == 0.5) >= (column == "one")


def test_a_column_without_values():
    real = pd.DataFrame({"x": [np.nan] * 6, "y": range(6)})
    assert 0 <= DETECTION(real, real).value <= 1
    assert DETECTION(real, real.assign(x=1.0)).published == 1


def test_few_records():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    assert not math.isnan(DETECTION(table, table.iloc[:2]).value)
    for real, synthetic in ((table, table.iloc[:1]), (table.iloc[:1], table)):
        score = DETECTION(real, synthetic)
        assert np.isnan([score.value, score.published]).all()
        assert "one record" in score.reason
        assert score.records["score"].isna().all()
