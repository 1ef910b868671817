import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mlflow.data import get_source
from mlflow.data.pandas_dataset import from_pandas
from pydantic import TypeAdapter

from samples.estimates import around
from samples.judged import judged_study
from samples.reported import PICTURE, RAPID, finding, study, usual
from synthrisk.conf.study import Data, Source
from synthrisk.metrics.intervals.yardsticks import TOLERANCES
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.results import Limit, overview
from synthrisk.metrics.verdicts.verdicts import LOOK, Verdict
from synthrisk.tasks.tracking.colours import PALETTE, TAG, places_of
from synthrisk.tasks.tracking.names import metric_key, params_of, study_params
from synthrisk.tasks.tracking.numbers import MOST, numbers_of
from synthrisk.tasks.tracking.runs import given, maker_of
from synthrisk.tasks.tracking.tables import study_tables
from synthrisk.tasks.workspace.references import Generator


def tabled(kept, run, name):
    return pd.DataFrame(**json.loads(Path(kept.client.download_artifacts(run.info.run_id, name)).read_text()))


def test_in_all_studies_a_synthesizer_has_one_colour_references_are_grey_and_names_tell_the_study(kept):
    assert [kept.run("cart", i).info.run_name for i in (0, 1)] == ["cart · 20261123-013609", "cart · 20261124-013609"]
    assert kept.run("study").info.run_name == "study people · 20261123-013609"
    first, second = ({n: kept.run(n, i).data.tags["mlflow.runColor"] for n in kept.logged[i].runs} for i in (0, 1))
    judged = {"cart", "coarse", "ctgan", "broken"}
    assert [first[name] for name in ("cart", "coarse", "broken")] == [second[n] for n in ("cart", "coarse", "broken")]
    assert len({second[n] for n in judged} & set(PALETTE)) == 4
    for name in ("copy", "near", "fresh"):
        assert len({first[name][i : i + 2] for i in (1, 3, 5)}) == 1  # red, green and blue alike
    assert set(json.loads(kept.tags()[TAG])) == judged


def test_as_many_colours_as_there_are_before_one_comes_twice():
    names = [f"generator{i}" for i in range(40)]
    assert len(set(list(places_of(names, {}).values())[: len(PALETTE)])) == len(PALETTE)
    assert places_of(names, {}) == places_of(names, places_of(names[:10], {}))


def test_metrics_are_few_and_the_headline_is_one(kept):
    metrics = kept.run("cart").data.metrics
    limited = [f"memorization/zero_cap.income{end}" for end in ("", "/lower", "/upper", "/limit")]
    rest = ("memorization/rapid", "risk/zero_cap", "risk/rapid", "risk_release/zero_cap")
    own = {"memorization/as_if_copied", "memorization/deciding", "utility/accuracy"}
    assert set(metrics) == {*own, *limited, *(f"{name}.income" for name in rest)}
    assert metrics["memorization/deciding"] == 0.3
    assert [metrics[name] for name in limited[1:]] == pytest.approx([0.28, 0.32, 0.1])
    # and runs are found by the upper end of what is limited
    which = "metrics.`memorization/zero_cap.income/upper` < 0.05 and tags.role = 'synthesizer'"
    found = kept.client.search_runs([kept.experiment], which)
    told = {(r.data.tags["synthesizer"], r.data.tags["study_id"]) for r in found}
    assert told == {("coarse", kept.studies[0].study_id), ("ctgan", kept.studies[1].study_id)}


@pytest.mark.parametrize("limits", [0, 1, 4, 11, 40])
def test_a_usual_study_has_at_most_thirty_metrics_and_says_first_what_is_limited(limits):
    few = limits < 11
    measures = [Measure(f"m{i}", "zero_cap", "income") for i in range(max(7, limits))]
    named = {f"memorization/{m.key}": Limit(0.1, "the board") for m in measures[:limits]}
    estimates = around(0.4, 0.1), around(0.3, 0.1), around(0.2, 0.1)
    more = {"curve": [around(0.1, 0.05)] * 20, "release_risk": (0.4, 0.41)}
    findings = [replace(Finding("cart", "synthesizer", m, *estimates), **more) for m in measures]
    study = judged_study(findings=findings, limits={}, verdicts=[], utility=[])
    study = replace(study, limits=named, settings={"cart": {"role": "synthesizer", "kind": "cart"}}, failures={})
    keys = {each.key for each in numbers_of(study, overview(study), "cart")}
    for m in measures:
        assert metric_key("memorization", m.key) in keys
        assert (metric_key("risk", m.key) in keys) == few
    for end in ("upper", "lower", "limit"):
        assert {key for key in keys if key.endswith(f"/{end}")} == {f"{name}/{end}" for name in named}
    assert (len(keys) <= MOST) == few
    assert {f"limit.{name}" for name in named} <= set(params_of(study, "cart"))
    assert any(key.startswith("risk_curve") for key in keys) == (limits in (0, 1))
    every = numbers_of(study, overview(study), "cart")
    assert len(every) == len(set(every))
    plain = {each.key for each in numbers_of(study, overview(study), "cart", ends=False)}
    assert not any(key.endswith(("/upper", "/lower", "/limit")) for key in plain)


def test_what_the_look_at_the_release_decides_is_a_metric_with_its_ends_and_limit():
    study = judged_study()
    name, other = (h.synthesizer for h in overview(study).synthesizers[:2])
    looked = Verdict(name, LOOK, 0.05, "RISK", "the release lies on members", 0.2, 0.15, 0.25)
    study = replace(study, verdicts=[*study.verdicts, looked])
    found = {each.key: each.value for each in numbers_of(study, overview(study), name)}
    ends = {name: found.get(f"{LOOK}/{name}") for name in ("upper", "lower")}
    assert (found[LOOK], ends) == (0.2, {"upper": 0.25, "lower": 0.15})
    others = {each.key for each in numbers_of(study, overview(study), other)}
    assert not any(key.startswith(LOOK) for key in others)


def test_the_curve_of_a_number_has_steps_in_percent_of_its_tolerance():
    curve = tuple(around(0.04 * i, 0.01) for i in range(len(TOLERANCES)))
    own = [replace(f, curve=curve, details={"tolerance": (0.1, 0.1)}) for f in usual((RAPID,)).findings]
    result = study(own)
    points = [n for n in numbers_of(result, overview(result), "cart") if n.key == "risk_curve/rapid.income"]
    assert [n.step for n in points] == list(range(25, 525, 25))
    assert [n.value for n in points] == [e.value for e in curve]
    of_classes = numbers_of(usual(), overview(usual()), "cart")
    assert [n.step for n in of_classes if n.key == "risk_curve/rapid.income"] == list(range(0, 100, 5))


def test_models_that_an_envelope_puts_together_are_metrics_where_they_have_a_limit():
    models = [Measure(f"rapid-{a}", "rapid", "income", a) for a in ("cart", "lasso", "random_forest")]
    labels = tuple(m.label for m in models)
    largest = Measure("rapid_max", "rapid", "income", "cart, lasso, random_forest", envelope="max", together=labels)
    own = [finding(name, m) for name in PICTURE for m in (*models, largest)]

    def measured(limits):
        result = study(own, limits=limits)
        keys = [n.key.split("/", 1) for n in numbers_of(result, overview(result), "cart")]
        return {measure for quantity, measure in keys if quantity == "risk"}

    assert measured({"memorization/rapid_max.income": Limit(0.05, "me")}) == {"rapid_max.income"}
    both = {"rapid_max.income", "rapid-lasso.income"}
    assert measured({"memorization/rapid-lasso.income": Limit(0.05, "me")}) == both


def test_the_studys_run_has_the_headline_of_the_worst_and_the_words(kept):
    metrics = kept.run("study", 1).data.metrics
    assert metrics["memorization/deciding"] == 0.3
    told = {k.partition("/")[2]: v for k, v in metrics.items() if k.startswith("synthesizers/") and v}
    assert told == {"all": 4, "RISK": 1, "NO EVIDENCE": 2, "FAILED": 1}


def test_tables_start_with_the_verdict_and_hold_limits_and_yardsticks(kept):
    own = tabled(kept, kept.run("cart"), "measures.json")
    assert list(own.columns[:5]) == ["measure", "verdict", "memorization", "memorization_lower", "memorization_upper"]
    assert own.set_index("measure")["verdict"].to_dict() == {"zero_cap.income": "RISK", "rapid.income": "no limit"}
    assert own["risk_lower"].tolist() == pytest.approx([0.38, 0.38])
    limits = tabled(kept, kept.run("cart"), "limits.json")
    assert limits[["word", "limit"]].to_numpy().tolist() == [["RISK", 0.1]]
    league = tabled(kept, kept.run("study"), "league.json")
    assert list(league.columns[:3]) == ["synthesizer", "measure", "verdict"]


def test_parquet_holds_what_json_holds(kept):
    run = kept.run("study")
    for name, table in study_tables(kept.studies[0]).items():
        path = kept.client.download_artifacts(run.info.run_id, f"tables/{name}.parquet")
        pd.testing.assert_frame_equal(pd.read_parquet(path), table.reset_index(drop=True), check_dtype=False)


def test_params_tell_generators_of_one_kind_apart():
    study = judged_study()
    settings = study.settings | {"coarse": {"role": "synthesizer", "kind": "cart", "min_samples_leaf": "50"}}
    cart, coarse, copy = (params_of(replace(study, settings=settings), name) for name in ("cart", "coarse", "copy"))
    shared = {"seed": "1", "rows": "3", "table_digest": "d" * 16, "limit.memorization/zero_cap.income": "0.1"}
    assert cart == {"synthesizer": "cart", "kind": "cart", "min_samples_leaf": "default"} | shared
    assert (coarse["min_samples_leaf"], copy) == ("50", {"synthesizer": "copy"} | shared)


def test_params_of_a_study_are_its_cut_its_limits_and_its_versions():
    facts = {"records": "600", "releases": "15", "repetitions": "3", "seed": "7", "data_digest": "d"}
    versions = {"versions": "synthrisk 1.2.3, scikit-learn 1.9.1, python 3.11.7"}
    limits = {
        "control_gain/zero_cap.größe@outliers": Limit(0.05, "us"),
        "memorization/zero_cap.größe": Limit(0.1, "us"),
    }
    study = replace(judged_study(guessed="größe"), facts=facts | versions, limits=limits)
    key = metric_key("memorization", "zero_cap.größe").partition("/")[2]
    assert study_params(study) == {
        **{"seed": "7", "repetitions": "3", "folds": "5", "rows": "600", "table_digest": "d"},
        **{f"limit.control_gain_outliers/{key}": "0.05", f"limit.memorization/{key}": "0.1"},
        **{"version.synthrisk": "1.2.3", "version.scikit-learn": "1.9.1", "version.python": "3.11.7"},
    }
    options = {"role": "synthesizer", "kind": "cart", "seed": "11"}
    told = params_of(replace(study, settings={"cart": options}), "cart")
    assert (told["seed"], told["option.seed"]) == ("7", "11")


COLUMNS = {
    **{"count": np.array([1, 2, 3]), "money": np.array([1.5, np.nan, 3.0]), "yes": np.array([True, False, True])},
    **{"text": np.array(["a", "b", "<b>"], dtype=object), "gap": np.array(["a", None, "c"], dtype=object)},
    **{"day": pd.to_datetime(["2020-01-01", None, "2021-02-03"]), "kind": pd.Categorical(["x", "y", "x"])},
    "größe €": np.array([2, 4, 8]),
}


@pytest.mark.parametrize("name", list(COLUMNS))
def test_a_column_is_typed_as_mlflow_types_it(name):
    table = pd.DataFrame({name: COLUMNS[name]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        theirs = from_pandas(table, name="real", digest="d")._to_mlflow_entity()
    ours = given(table, "real", "d").dataset
    assert json.loads(ours.schema) == json.loads(theirs.schema)
    assert json.loads(ours.profile) == json.loads(theirs.profile)


def test_a_dataset_names_no_script_and_no_user_and_types_empty_and_extension_columns():
    made = given(pd.DataFrame(COLUMNS), "release", "d").dataset
    assert (made.name, made.digest, json.loads(made.source)) == ("release", "d", {"tags": {}})
    table = pd.DataFrame({"whole": pd.array([1, None], "Int64"), "flag": pd.array([True, None], "boolean")})
    schema = json.loads(given(table, "real", "d").dataset.schema)["mlflow_colspec"]
    told = [(c["name"], c["type"], c["required"]) for c in schema]
    assert told == [("whole", "long", False), ("flag", "boolean", False)]
    assert json.loads(given(pd.DataFrame({"a": []}), "real", "d").dataset.schema)["mlflow_colspec"][0]["name"] == "a"


def code(name):
    return "code", {"tags": {"mlflow.source.name": name}}


@pytest.mark.parametrize(("source", "kind", "told"), [
    *((path, "local", {"uri": str(Path(path).absolute())}) for path in ("people.csv", "survey.xlsx#Sheet 1")),
    ("s3://bucket/people.parquet", "s3", {"uri": "s3://bucket/people.parquet"}),
    ("https://me:secret@host/p.csv?sig=abc&v=1", "http", {"url": "https://host/p.csv?sig=...&v=1"}),
    *((name, *code(name)) for name in ("adult", "openml:31")),
    ({"url": "postgresql+psycopg://me:${PW}@host/db", "query": "a"}, *code("postgresql+psycopg://host/db")),
])  # fmt: skip
def test_the_source_says_where_the_table_is_from_without_secrets(source, kind, told):
    address = Data.model_construct(source=TypeAdapter(Source).validate_python(source)).address
    made = given(pd.DataFrame(COLUMNS), "real", "d", address).dataset
    assert (made.source_type, json.loads(made.source)) == (kind, told)
    assert get_source(made).to_dict() == told  # MLflow reads it back


def test_a_release_that_comes_as_a_file_names_it(tmp_path):
    vendor = Generator("vendor", "files", {"path": "out/{fold}.csv"}, folder=str(tmp_path))
    assert maker_of(vendor) == str(tmp_path / "out/{fold}.csv")
    assert maker_of(Generator("vendor", "files", {"path": "s3://b/x.csv"})) == "s3://b/x.csv"
    assert maker_of(Generator("mine", "cart")) == "synthesizer cart"
