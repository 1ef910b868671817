"""The test kit of metrics: ours pass, and each rule is broken by one metric."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS, InputError, InStudy, Metric, Records, Score, Tables, Yardsticks
from synthrisk.metrics.score import Reduction, mean_score
from synthrisk.metrics.testing import check_metric

OWN = {"linkability": {"columns_a": ["number", "text", "day"], "columns_b": ["level", "flag", "huge"]}}
OWN |= {"detection_mlp": {"folds": 2}, "membership_inference_risk": {"folds": 2}, "rapid": {"attacker": "cart"}}


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


def good(tables: Tables, **details) -> Score:
    return score_of(tables, shares(tables), **details)


def of_rows(scores) -> Metric:
    """Return a metric whose scores are a function of the tables and their number of rows."""
    return made(lambda tables: score_of(tables, scores(tables, len(tables.real))))


def instead(change, **facts) -> Metric:
    """Return a metric that changes parts of a good score, by its records."""

    def changed(tables: Tables) -> Score:
        found = good(tables)
        return replace(found, **change(found.records))

    return made(changed, **facts)


def made(function=lambda tables: good(tables), **facts) -> Metric:
    plain = {"group": "distance", "per_record": True, "needs": (), "range": (0.0, 1.0), "reference": ""}
    return Metric(name="mine", function=function, **plain | {"records": Records(reduce)} | facts)


def halves(records):
    value = float(records["half"].mean())
    return Reduction(value, value, {})


def with_guess(tables: Tables) -> Score:
    return good(tables, guess=0.5)


def test_a_metric_with_a_guess_and_a_contribution_of_ones_own_passes():
    check_metric(made())
    check_metric(made(with_guess, yardsticks=Yardsticks(guess="guess")))
    own = Records(halves, mean=False, contribution="half")
    check_metric(instead(lambda records: {"value": halves(records).value}, records=own))


def raises(tables: Tables) -> Score:
    raise ValueError("no such cell")


def spoils(tables: Tables) -> Score:
    tables.real["number"] = 0.0
    return good(tables)


# from pandas 3 on no frame shares its cells with another
SPOILT = [(made(spoils), "leave the tables as they are")] if pd.__version__.startswith("2.") else []
HALF = {"value": 0.5}
ORDER = "give the same value whatever the order of"
BROKEN = [
    (made(raises), "cope with awkward tables, but raised ValueError: no such cell"),
    (of_rows(lambda tables, n: shares(tables) + 2), r"give a value in its range \(0.0, 1.0\)"),
    (of_rows(lambda tables, n: np.full(n, np.nan)), "say why it has no value"),
    (of_rows(lambda tables, n: np.linspace(0, 1, n) * shares(tables)), f"{ORDER} rows"),
    (of_rows(lambda tables, n: np.full(n, float(tables.columns[0] == "number"))), f"{ORDER} columns"),
    (of_rows(lambda tables, n: np.full(n, np.random.random() * 0)), "draw from its seed alone"),  # noqa: NPY002
    (of_rows(lambda tables, n: np.random.default_rng().random(n)), "give the same value for the same seed"),
    *SPOILT,
    (
        instead(lambda records: {"records": records.assign(half="x")}, study=InStudy(ranking="half")),
        "give numbers in the column 'half'",
    ),
    (made(study=InStudy(ranking="nearness")), "give records with the column 'nearness' that it declares"),
    (instead(lambda records: {"records": records.iloc[1:]}), "one record for each of the 12 real .*, but gave 11 rows"),
    (made(lambda tables: good(tables, frame=tables.real)), "give numbers as details"),
    (made(with_guess), "declare its guess, which a study reads, as yardsticks=.*guess='guess'.*, but declared none"),
    (made(claims=True), "give the details attempts, .*, work, since it makes claims, but gave no attempts"),
    (instead(lambda records: HALF), "have the mean of its scores as value"),
    (instead(lambda records: HALF, records=Records(reduce, mean=False)), "reduce its records to its value"),
]


@pytest.mark.parametrize(("metric", "words"), BROKEN)
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


WEIGHED = Records(reduce, mean=False, weight="w", transform=np.sqrt)
AGAINST = {"against": lambda *a: 0.0}
FACTS = {
    "name of a metric must be letters": {"name": "my metric"},
    "metric mine: function must be a function whose first parameter": {"function": 3},
    "function must be a function whose first parameter is called tables": {"function": lambda real, synthetic: None},
    r"needs must name roles or parameters of the function, got \['colour'\]": {"needs": ("colour",)},
    "range must be two numbers, the lower first": {"range": (1.0, 0.0)},
    "range must be two numbers": {"range": "all"},
    "scores must be real or synthetic, got 'both'": {"scores": "both"},
    "label must be one of signal, sanity, utility": {"label": "risk"},
    "records.mean must be False where": {"records": Records(reduce, contribution="half")},
    "records.mean must be False": {"records": Records(reduce, transform=np.sqrt)},
    "records.transform must be None where weight": {"records": WEIGHED},
    "study.ranking must be None where no real": {"scores": "synthetic", "study": InStudy(ranking="score", **AGAINST)},
    "records.reduce must be given where real records are scored": {"records": Records()},
    "study.against must be given where no real records are scored": {"per_record": False},
    "yardsticks.population must be False where control is needed": {"needs": ("control",)},
    "without_control must be False where no control is needed": {"yardsticks": Yardsticks(without_control=True)},
    "unaveraged must be a tuple of names of details, the guess not among": {"study": InStudy(unaveraged="auc_lower")},
    r"among them, got \('best',\)": {"yardsticks": Yardsticks(guess="best"), "study": InStudy(unaveraged=("best",))},
    "study.gains must be False where no real records": {"per_record": False, "study": InStudy(gains=True, **AGAINST)},
    "yardsticks.copied must be None or lie in range": {"yardsticks": Yardsticks(copied=2.0)},
    r"metric mine: records must be Records\(...\), got": {"records": reduce},
    r"yardsticks must be Yardsticks\(...\), got None": {"yardsticks": None},
    r"study must be InStudy\(...\), got Records": {"study": Records()},
}


@pytest.mark.parametrize(("words", "facts"), FACTS.items())
def test_facts_that_contradict_each_other_are_refused_when_a_metric_is_made(words, facts):
    with pytest.raises(InputError, match=words):
        replace(made(), **facts)
    with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
        made(weight="w")  # a fact of a group is none of the metric itself


@pytest.mark.parametrize(
    ("metric", "options", "says"),
    [
        (made(), {"colour": 1}, "mine takes no argument 'colour'"),
        ("zero_cup", {}, "metric must be installed, got 'zero_cup'"),
        (3, {}, "metric must be a Metric, got int"),
    ],
)
def test_options_are_checked_first(metric, options, says):
    with pytest.raises(InputError, match=says):
        check_metric(metric, **options)
