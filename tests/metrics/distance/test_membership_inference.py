"""The classifier as membership attack: extremes and the null known by construction, and SynthEval's spread."""

import inspect
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from samples.priveval import priveval
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.rates import attack_summary
from synthrisk.metrics.tables.tables import Tables

REFERENCE = Path(__file__).parents[2] / "reference" / "priveval"
MIR = METRICS["membership_inference_risk"]


def draw(rng, n):
    x = rng.normal(size=n)
    return pd.DataFrame(
        {
            "x": x.round(1),
            "y": np.where(rng.random(n) < 0.1, np.nan, (x + rng.normal(size=n)).round(1)),
            "c": np.where(rng.random(n) < 0.1, None, rng.choice([*"abc"], n)),
            "flag": rng.random(n) < 0.5,
        }
    )


def test_recall_and_precision_are_within_the_spread_of_syntheval():
    """20 runs of another classifier: their standard deviation is sqrt(20) standard errors."""
    folder = REFERENCE / "mixed_120"
    kinds = json.loads((folder / "schema.json").read_text())["columns"]
    dtypes = {c: "float64" if kind == "numeric" else "object" for c, kind in kinds.items()}
    tables = [pd.read_csv(folder / f"{t}.csv", dtype=dtypes) for t in ("real", "synthetic", "holdout")]
    expected = json.loads((folder / "expected.json").read_text())["metrics"]["MIR"]["syntheval_original"]
    score = MIR(tables[0], tables[1], control=tables[2])
    recall, false = score.published, score.details["control_recall"]
    for name, found in (("recall", recall), ("precision", recall / (recall + false))):
        sd = expected[f"MIA {name} se"] * math.sqrt(20)
        assert found == pytest.approx(expected[f"MIA {name}"], abs=2 * sd)
    assert score.value < 0.3  # 30 of 120 are copies or nearly


def test_members_released_as_they_are_are_found():
    rng = np.random.default_rng(0)
    real = draw(rng, 150)
    score = MIR(real, real.sample(frac=1, random_state=1), control=draw(rng, 120))
    assert score.value > 0.9
    assert score.details["distance_auc"] > 0.9
    assert score.details["tpr_at_0.1"] > 0.8
    assert score.published > 0.9
    assert score.details["control_recall"] < 0.6


@pytest.mark.proof
def test_a_release_made_of_others_has_no_risk():
    """Trees that had learned the control records that it scores would find a large advantage of members."""
    rng = np.random.default_rng(0)
    found = [MIR(draw(rng, 60), draw(rng, 60), control=draw(rng, 60), seed=s).details["auc"] for s in range(9)]
    assert np.mean(found) == pytest.approx(0.5, abs=3 * 0.055 / 3)


@pytest.mark.proof
def test_few_values_make_no_bias():
    """Controls of one value are in the training records of other folds: only those of a fold are compared."""
    rng = np.random.default_rng(1)

    def few(n):
        return pd.DataFrame({"c": rng.choice([*"abc"], n), "d": rng.choice([*"uv"], n)})

    found = [MIR(few(60), few(60), control=few(40), seed=s).details["auc"] for s in range(12)]
    assert np.mean(found) == pytest.approx(0.5, abs=3 * np.std(found) / math.sqrt(12))


def test_more_members_released_is_more_risk():
    rng = np.random.default_rng(4)
    real, other, control = draw(rng, 150), draw(rng, 150), draw(rng, 100)
    values = [MIR(real, pd.concat([real[:k], other[k:]]), control=control, folds=3).value for k in (0, 50, 150)]
    assert values == sorted(values)
    assert values[0] < 0.2
    assert values[2] > 0.9


def test_the_value_is_made_from_placements():
    rng = np.random.default_rng(2)
    real, control = draw(rng, 50), draw(rng, 40)
    score = MIR(real, real[:25], control=control)
    auc = score.records["placement"].mean()
    assert score.details["auc"] == pytest.approx(auc, abs=1e-12)
    assert score.value == pytest.approx(max(0, 2 * auc - 1), abs=1e-12)
    assert score.published == pytest.approx(score.records["called"].mean(), abs=1e-12)
    assert len(score.records) == 50
    assert math.isnan(score.details["tpr_at_0.1"])  # 40 controls are too few


def test_the_seed_decides_the_trees():
    rng = np.random.default_rng(3)
    real, synthetic, control = draw(rng, 40), draw(rng, 30), draw(rng, 30)
    one, other = (MIR(real, synthetic, control=control, seed=s, folds=2).records["score"] for s in (1, 2))
    assert not np.array_equal(one, other)


def test_the_number_of_threads_moves_nothing(monkeypatch):
    rng = np.random.default_rng(11)
    real, synthetic, control = draw(rng, 200), draw(rng, 200), draw(rng, 200)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr("synthrisk.metrics.models.threads.threads", lambda threads=threads: threads)
        found.append(MIR(real, synthetic, control=control, folds=2).records)
    pd.testing.assert_frame_equal(found[0], found[1], check_exact=True)


def test_groups_say_the_same_as_control():
    """A study gives all real records with what they are; some may be neither."""
    rng = np.random.default_rng(5)
    real, synthetic, control = draw(rng, 40), draw(rng, 30), draw(rng, 30)
    direct = MIR(real, synthetic, control=control, folds=2)
    both = pd.concat([control, real], ignore_index=True)
    study = MIR.score(Tables(both, synthetic, groups=np.repeat([0, 1], [30, 40])), folds=2)
    pd.testing.assert_frame_equal(study.records.iloc[30:].reset_index(drop=True), direct.records, check_dtype=False)
    assert MIR.records.reduce(study.records.iloc[30:]).value == pytest.approx(direct.value, abs=1e-12)
    assert study.records["placement"].iloc[:30].mean() == pytest.approx(0.5)
    assert MIR.records.reduce(study.records.iloc[:30]).value == pytest.approx(0, abs=1e-12)
    neither = MIR.score(Tables(both, synthetic, groups=np.repeat([0, -1, 1], [30, 5, 35])), folds=2)
    assert neither.records["score"].notna().all()


@pytest.mark.parametrize("data", ["mixed_120", "ugly_80x50"])
def test_without_control_there_is_the_recall_of_priveval(data):
    """Its program prints one minus the recall; the mean of three seeds is within two of its sd."""
    real, synthetic, expected = priveval(data)
    printed = expected["metrics"]["MIR"]["priveval_original"]
    scores = [MIR(real, synthetic, seed=seed) for seed in range(3)]
    recall = np.mean([score.published for score in scores])
    assert recall == pytest.approx(1 - printed["value"], abs=2 * printed["sd"])
    for score in scores:
        assert math.isnan(score.value)
        assert score.reason == "no control records: nobody to tell the members from"
        assert score.records["score"].isna().all()
        assert len(score.records) == len(real)


def test_recalls_known_by_construction():
    rng = np.random.default_rng(6)
    real, synthetic = draw(rng, 60), draw(rng, 40)
    assert 0.2 < MIR(real, synthetic).published < 0.9
    assert MIR(real, synthetic.assign(x=99.0)).published == 1
    assert math.isnan(MIR(real[:9], synthetic).published)  # too few for the program, which prints 0
    order = rng.permutation(60)
    assert MIR(real.iloc[order], synthetic[::-1]).published == MIR(real, synthetic).published


def test_the_door_says_that_control_may_be_left_out():
    assert "control=None" in str(inspect.signature(MIR))
    assert MIR.needs == ("control",)  # the value needs it: a study and the lists say so
    with pytest.raises(InputError, match="membership needs the argument control"):
        METRICS["membership"](draw(np.random.default_rng(0), 20), draw(np.random.default_rng(1), 20))


def test_one_control_is_too_few():
    rng = np.random.default_rng(7)
    real, control = draw(rng, 20), draw(rng, 20)
    with pytest.warns(UserWarning, match="too few: at least 2 are needed"):
        assert math.isnan(MIR(real, real, control=control[:1]).value)
    assert not math.isnan(MIR(real, real, control=control[:2]).value)


@pytest.mark.parametrize("column", ["x", "c", "flag"])
def test_single_columns(column):
    rng = np.random.default_rng(8)
    tables = [draw(rng, n)[[column]] for n in (30, 20, 25)]
    assert 0 <= MIR(tables[0], tables[1], control=tables[2], folds=2).value <= 1


def test_numbers_far_from_zero_keep_their_differences():
    """Trees take 32-bit floats."""
    rng = np.random.default_rng(9)
    real, control = (pd.DataFrame({"x": 1e9 + rng.random(60)}) for _ in range(2))
    near = MIR(real - 1e9, real - 1e9, control=control - 1e9).value
    assert near > 0.5
    assert MIR(real, real, control=control).value == pytest.approx(near, abs=0.05)


def test_a_text_control_of_numbers_is_refused():
    table = pd.DataFrame({"c": ["1", "2"] * 3})
    with pytest.raises(InputError, match="'c'"):
        MIR(table, table, control=pd.DataFrame({"c": [1, 2]}))


@pytest.mark.parametrize("folds", [1, True, 2.5])
def test_bad_folds(folds):
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="folds"):
        MIR(table, table, control=table, folds=folds)


def test_the_rates_are_those_of_all_scores():
    rng = np.random.default_rng(10)
    both, synthetic = draw(rng, 250), draw(rng, 100)
    groups = np.repeat([1, 0], [130, 120])
    score = MIR.score(Tables(both, synthetic, groups=groups))
    found = attack_summary(score.records["score"][:130].to_numpy(), score.records["score"][130:].to_numpy())
    assert score.details["tpr_at_0.1"] == pytest.approx(found.rates[0.1].value, abs=0.05)  # equal records share theirs
