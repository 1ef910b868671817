"""The test kit of metrics: ours pass, and each rule is broken by one metric."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS, InputError, InStudy, Metric, Records, Score, Tables, Yardsticks
from synthrisk.metrics.score import Reduction, mean_score
from synthrisk.metrics.testing import check_metric

OWN = {
    "linkability": {"columns_a": ["number", "text", "day"], "columns_b": ["level", "flag", "huge"]},
    "detection_mlp": {"folds": 2},
    "membership_inference_risk": {"folds": 2},
    "rapid": {"attacker": "cart"},
}


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.installed])
@pytest.mark.filterwarnings("ignore")
def test_installed_metrics_pass(name):
    check_metric(name, **OWN.get(name, {}))


def reduce(records: pd.DataFrame) -> Reduction:
    value = mean_score(records)
    return Reduction(value, value, {})


def score_of(tables: Tables, scores, **details) -> Score:
    records = pd.DataFrame({"score": scores, "half": np.asarray(scores, dtype=float) / 2}, index=tables.real.index)
    return Score.of("mine", records, reduce(records), details, {})


def shares(tables: Tables) -> np.ndarray:
    rows = tables.codes(tables.columns)
    return np.isin(rows.tables[0], rows.tables[1]).astype(float)


def good(tables: Tables) -> Score:
    return score_of(tables, shares(tables))


def made(function=good, **facts) -> Metric:
    plain = {
        "group": "distance",
        "per_record": True,
        "needs": (),
        "range": (0.0, 1.0),
        "reference": "",
        "records": Records(reduce),
    }
    return Metric(name="mine", function=function, **plain | facts)


def test_a_metric_of_ones_own_passes():
    check_metric(made())


def test_a_guess_of_ones_own_passes():
    check_metric(made(with_guess, yardsticks=Yardsticks(guess="guess")))


def test_a_contribution_of_ones_own_passes():
    def halves(records):
        value = float(records["half"].mean())
        return Reduction(value, value, {})

    def half(tables: Tables) -> Score:
        found = good(tables)
        return replace(found, value=halves(found.records).value)

    check_metric(made(half, records=Records(halves, mean=False, contribution="half")))


def raises(tables: Tables) -> Score:
    raise ValueError("no such cell")


def outside(tables: Tables) -> Score:
    return score_of(tables, shares(tables) + 2)


def without_reason(tables: Tables) -> Score:
    return score_of(tables, np.full(len(tables.real), np.nan))


def by_position(tables: Tables) -> Score:
    return score_of(tables, np.linspace(0, 1, len(tables.real)) * shares(tables))


def by_column(tables: Tables) -> Score:
    return score_of(tables, np.full(len(tables.real), float(tables.real.columns[0] == "number")))


def global_chance(tables: Tables) -> Score:
    return score_of(tables, np.full(len(tables.real), np.random.random() * 0))  # noqa: NPY002


def no_seed(tables: Tables) -> Score:
    return score_of(tables, np.random.default_rng().random(len(tables.real)))


def spoils(tables: Tables) -> Score:
    tables.real["number"] = 0.0
    return good(tables)


def texts(tables: Tables) -> Score:
    found = good(tables)
    return replace(found, records=found.records.assign(half="x"))


def short(tables: Tables) -> Score:
    found = good(tables)
    return replace(found, records=found.records.iloc[1:])


def odd_details(tables: Tables) -> Score:
    return score_of(tables, shares(tables), frame=tables.real)


def with_guess(tables: Tables) -> Score:
    return score_of(tables, shares(tables), guess=0.5)


def other_value(tables: Tables) -> Score:
    return replace(good(tables), value=0.5)


# from pandas 3 on no frame shares its cells with another
SPOILT = [(made(spoils), "leave the tables as they are")] if pd.__version__.startswith("2.") else []


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (made(raises), "cope with awkward tables, but raised ValueError: no such cell"),
        (made(outside), r"give a value in its range \(0.0, 1.0\)"),
        (made(without_reason), "say why it has no value"),
        (made(by_position), "give the same value whatever the order of rows"),
        (made(by_column), "give the same value whatever the order of columns"),
        (made(global_chance), "draw from its seed alone"),
        (made(no_seed), "give the same value for the same seed"),
        *SPOILT,
        (made(texts, study=InStudy(ranking="half")), "give numbers in the column 'half'"),
        (made(study=InStudy(ranking="nearness")), "give records with the column 'nearness' that it declares"),
        (made(short), "give one record for each of the 12 real ones, but gave 11 rows"),
        (made(odd_details), "give numbers as details"),
        (
            made(with_guess),
            "declare its guess, which a study reads, as yardsticks=.*guess='guess'.*, but declared none",
        ),
        (made(claims=True), "give the details attempts, .*, work, since it makes claims, but gave no attempts"),
        (made(other_value), "have the mean of its scores as value"),
        (made(other_value, records=Records(reduce, mean=False)), "reduce its records to its value"),
    ],
)
def test_each_rule_is_told_in_one_sentence(metric, words):
    with pytest.raises(AssertionError, match=words) as told:
        check_metric(metric)
    assert str(told.value).startswith("metric mine must ")
    assert "\n" not in str(told.value)


def test_a_metric_is_told_before_a_study_runs_what_it_cannot_do_there():
    def partial(records):
        if len(records) < 20:
            raise RuntimeError("too few")
        return reduce(records)

    records = Records(lambda r: partial(r) if len(r) != 12 else reduce(r))
    with pytest.raises(AssertionError, match="must go through a study, but raised RuntimeError"):
        check_metric(made(lambda tables: good(tables), records=records))


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"name": "my metric"}, "name of a metric must be letters"),
        ({"function": 3}, "metric mine: function must be a function whose first parameter"),
        (
            {"function": lambda real, synthetic: None},
            "function must be a function whose first parameter is called tables",
        ),
        ({"needs": ("colour",)}, r"needs must name roles or parameters of the function, got \['colour'\]"),
        ({"range": (1.0, 0.0)}, "range must be two numbers, the lower first"),
        ({"range": "all"}, "range must be two numbers"),
        ({"scores": "both"}, "scores must be real or synthetic, got 'both'"),
        ({"label": "risk"}, "label must be one of signal, sanity, utility"),
        ({"records": Records(reduce, contribution="half")}, "records.mean must be False where"),
        ({"records": Records(reduce, transform=np.sqrt)}, "records.mean must be False where"),
        (
            {"records": Records(reduce, mean=False, weight="w", transform=np.sqrt)},
            "records.transform must be None where weight",
        ),
        (
            {"scores": "synthetic", "study": InStudy(ranking="score", against=lambda *a: 0.0)},
            "study.ranking must be None where no real",
        ),
        ({"records": Records()}, "records.reduce must be given where real records are scored"),
        ({"per_record": False}, "study.against must be given where no real records are scored"),
        ({"needs": ("control",)}, "yardsticks.population must be False where control is needed"),
        (
            {"yardsticks": Yardsticks(without_control=True)},
            "yardsticks.without_control must be False where no control is needed",
        ),
        (
            {"study": InStudy(unaveraged="auc_lower")},
            "study.unaveraged must be a tuple of names of details, the guess not among",
        ),
        (
            {"yardsticks": Yardsticks(guess="best"), "study": InStudy(unaveraged=("best",))},
            r"the guess not among them, got \('best',\)",
        ),
        (
            {"per_record": False, "study": InStudy(gains=True, against=lambda *a: 0.0)},
            "study.gains must be False where no real records",
        ),
        ({"yardsticks": Yardsticks(copied=2.0)}, "yardsticks.copied must be None or lie in range"),
        ({"records": reduce}, r"metric mine: records must be Records\(...\), got"),
        ({"yardsticks": None}, r"yardsticks must be Yardsticks\(...\), got None"),
        ({"study": Records()}, r"study must be InStudy\(...\), got Records"),
    ],
)
def test_facts_that_contradict_each_other_are_refused_when_a_metric_is_made(facts, words):
    with pytest.raises(InputError, match=words):
        replace(made(), **facts)


def test_a_fact_of_a_group_is_none_of_the_metric_itself():
    with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
        made(weight="w")


def test_options_are_checked_first():
    with pytest.raises(InputError, match="mine takes no argument 'colour'"):
        check_metric(made(), colour=1)
    with pytest.raises(InputError, match="metric must be installed, got 'zero_cup'"):
        check_metric("zero_cup")
    with pytest.raises(InputError, match="metric must be a Metric, got int"):
        check_metric(3)
