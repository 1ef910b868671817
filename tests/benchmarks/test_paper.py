"""The RAPID paper made again: each subcommand in small, two points of Figure 4, and the page that is written."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

sys.path.append(str(Path(__file__).parents[2]))

from benchmarks.paper import drivers, example, health, page, published, ranger
from benchmarks.paper.__main__ import main
from synthrisk.conf import load, shipped
from synthrisk.metrics.models.attackers import ATTACKER_MODELS, AttackerModel

pytestmark = pytest.mark.proof

SMALL = {
    "kappa": ["--rows", "150", "--repetitions", "2", "--kappas", "0", "10"],
    "thresholds": ["--rows", "150", "--repetitions", "1", "--kappas", "0", "10"],
    "attribution": ["--rows", "300", "--repetitions", "2"], "adult": ["--rows", "300", "--repetitions", "2"],
    "attackers": ["--rows", "200", "--repetitions", "1"], "marital": ["--rows", "300", "--repetitions", "1"],
    "example": ["--repetitions", "1"],
}  # fmt: skip


@pytest.fixture
def few_trees(monkeypatch):
    forest = AttackerModel("random_forest", lambda seed: RandomForestClassifier(20, random_state=seed), None)
    monkeypatch.setitem(ATTACKER_MODELS, "random_forest", forest)
    for name in (example.RULE, "plain forest without it"):
        forest = ranger.RangerForest(trees=20, draws_on=name != example.RULE)
        monkeypatch.setitem(example.ATTACKER_MODELS, name, forest)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.usefixtures("few_trees")
def test_each_subcommand_prints_a_table_and_writes_its_section(name, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(page, "DOCS", tmp_path)
    assert main([name, "--write", "--jobs", "1", *SMALL[name]]) in (0, 1)
    assert "|---|" in capsys.readouterr().out
    written = (tmp_path / "paper.md").read_text("utf-8")
    assert f"python -m benchmarks.paper {name} --write" in written
    assert "nan" not in written
    pictures = [line.split("(")[-1].rstrip(")") for line in written.splitlines() if line.startswith("![")]
    assert sorted(pictures) == sorted(p.name for p in tmp_path.glob("*.png"))
    assert bool(pictures) == (name in ("kappa", "thresholds", "attribution", "adult"))


def test_a_section_is_replaced_and_the_others_stay(monkeypatch, tmp_path):
    monkeypatch.setattr(page, "DOCS", tmp_path)
    for name, text in (("adult", "first"), ("kappa", r"back\1slash"), ("adult", "second")):
        page.write(page.Section(name, name.title(), [text]), f"run {name}")
    written = (tmp_path / "paper.md").read_text("utf-8")
    assert [each in written for each in ("first", "second", r"back\1slash")] == [False, True, True]
    assert written.index("## Kappa") < written.index("## Adult")
    assert written.startswith(page.HEAD)


def test_a_number_too_far_from_the_papers_is_exit_code_1(monkeypatch, capsys):
    for deviation, code in ((0.031, 1), (0.029, 0), (None, 0)):
        section = page.Section("kappa", "t", ["x"], deviation=deviation)
        monkeypatch.setattr(health, "kappa", lambda *_, found=section: found)
        assert main(["kappa"]) == code
    assert "NOT within 0.03" in capsys.readouterr().out


@pytest.mark.parametrize(("kappa", "near"), [(0, 0.05), (10, 0.03)])
def test_figure_4_at_two_kappas(kappa, near):
    found = [health.point(kappa, repetition, 1000) for repetition in range(2)]
    for name in ("rapid", "accuracy"):
        mean = np.mean([getattr(p, name) for p in found])
        assert mean == pytest.approx(published.PUBLISHED["kappa"][name][kappa], abs=near)
    curve = np.mean([p.curve for p in found], axis=0)
    assert np.abs(curve - published.PUBLISHED["thresholds"][str(kappa)]).max() < near


def test_published_numbers_are_whole():
    numbers = published.PUBLISHED
    assert [len(numbers["kappa"][name]) for name in ("rapid", "accuracy")] == [101, 101]
    assert {k: len(v) for k, v in numbers["thresholds"].items()} == dict.fromkeys(("0", "5", "10", "20", "50"), 19)
    assert len(numbers["adult_curve"]) == 21
    for curve in (*numbers["thresholds"].values(), numbers["adult_curve"]):
        assert np.all(np.diff(curve) <= 0)
    at = published.THRESHOLDS.index(0.3)
    for kappa, curve in numbers["thresholds"].items():
        assert curve[at] == pytest.approx(numbers["kappa"]["rapid"][int(kappa)], abs=0.01)
    assert numbers["adult_curve"][6] == pytest.approx(np.mean([r[0] for r in numbers["adult_replicates"]]), abs=0.002)


def test_ranger_stops_where_scikit_learn_draws_on():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 2, 400), np.zeros(400), np.zeros(400), np.zeros(400)]).astype(float)
    truth = rows[:, 0].astype(int)
    sure = ranger.RangerForest(50, draws_on=True, random_state=1).fit(rows, truth).predict_proba(rows)
    shy = ranger.RangerForest(50, random_state=1).fit(rows, truth).predict_proba(rows)
    own = np.arange(400), truth
    assert sure[own] == pytest.approx(1)
    assert 0.6 < shy[own].mean() < 0.9  # two of four columns are drawn: half of the trees are one leaf
    assert shy.sum(axis=1) == pytest.approx(1)


def test_the_plain_forest_is_rs_forest_record_by_record():
    value, accuracy, gain = example.attacked(example.RULE, 0)
    r_value, r_accuracy, r_gain = example.in_r(example.RULE)
    assert (value, accuracy) == (pytest.approx(r_value, abs=0.03), pytest.approx(r_accuracy, abs=0.01))
    assert np.sqrt(np.mean((gain - r_gain) ** 2)) < 0.02


def test_log_odds_are_those_of_a_line_in_age():
    ages = np.repeat([30.0, 50.0, 70.0], 400)
    share = {30.0: 0.8, 50.0: 0.5, 70.0: 0.2}
    flags = np.concatenate([np.arange(400) < 400 * share[a] for a in share])
    table = pd.DataFrame({"gender": "female", "education": "low", "age": ages})
    found = drivers.log_odds(flags, table)
    assert found["female", "low"].to_numpy() == pytest.approx([np.log(4), 0, -np.log(4)], abs=1e-6)
    assert np.isneginf(found["male", "low"]).all()
    assert np.isposinf(drivers.log_odds(np.ones(1200, bool), table)["female", "low"]).all()


@pytest.mark.parametrize("name", [n for n in shipped() if n.startswith("paper_")])
def test_the_studies_are_those_of_the_paper(name):
    study = load(name)
    assert study.metrics[0].options == {"threshold": 0.3}
    assert study.synthesizers[0].options == {"stopping": "rpart"}
