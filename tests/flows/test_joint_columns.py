"""A study in which several sensitive columns are guessed at once, from its file to the pages and MLflow."""

import re

import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient
from sdmetrics.single_table import CategoricalGeneralizedCAP, CategoricalZeroCAP

from synthrisk.conf.loader import load
from synthrisk.flows.cli.app import _targets
from synthrisk.flows.evaluate_settings import prepared, study_of, understood
from synthrisk.flows.execution.calls_and_retries import PlainCalls
from synthrisk.flows.study_course import course, sample_of
from synthrisk.metrics import InputError

KEYS, JOINT = ["age", "sex"], ["income", "race"]
NAME = "income and race"


def people(seed: int, rows: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({
        "age": rng.choice(["young", "old", "oldest"], rows), "sex": rng.choice(["f", "m"], rows),
        "income": rng.choice(["high", "low"], rows), "race": rng.choice(["a", "b", None], rows, p=[0.6, 0.3, 0.1]),
    })  # fmt: skip
    table.loc[table.age == "old", "income"] = "low"
    return table


def credit(records: pd.DataFrame, release: pd.DataFrame, nearest: bool) -> float:
    total = 0.0
    for _, person in records.fillna("missing").iterrows():
        rows = [row for _, row in release.fillna("missing").iterrows()]
        apart = [sum(row[c] != person[c] for c in KEYS) for row in rows]
        wanted = min(apart) if nearest else 0
        found = [row for row, distance in zip(rows, apart, strict=True) if distance == wanted]
        right = sum(all(row[c] == person[c] for c in JOINT) for row in found)
        total += right / len(found) if found else 0.0
    return total / len(records)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("joint")
    real, release = people(1), people(2)
    release = release[~((release.age == "oldest") & (release.sex == "m"))]  # a key that nobody has there
    real.to_csv(folder / "real.csv", index=False)
    release.to_csv(folder / "release.csv", index=False)
    study = load({
        "name": "joint",
        "data": {"source": str(folder / "real.csv"), "quasi_identifiers": KEYS, "sensitive": ["income", JOINT]},
        "split": {"holdout": 0.5, "repetitions": 1},
        "synthesizers": [{"name": "vendor", "kind": "files", "path": str(folder / "release.csv")}], "references": [],
        "metrics": ["zero_cap", {"name": "generalized_cap", "sensitive": [JOINT]}],
        "thresholds": {f"risk/zero_cap.{NAME}": 0.05}, "tracking": {"records": "full"},
        "workspace": str(folder / "work"),
    })  # fmt: skip
    sample = sample_of(study)
    return folder, sample, release.reset_index(drop=True), course(study, sample, PlainCalls())


def finding(done, key):
    *_, outcome = done
    return next(f for f in outcome.result.findings if f.measure.key == key)


def test_each_target_is_a_measure_that_limits_pages_ledgers_and_mlflow_know(done):
    folder, _, _, outcome = done
    keys = [f.measure.key for f in outcome.result.findings]
    assert keys == ["zero_cap.income", f"zero_cap.{NAME}", f"generalized_cap.{NAME}"]
    assert outcome.result.sensitive == ("income", NAME)
    assert f"guesses income, {NAME}" in outcome.result.facts["threat_model"]
    (verdict,) = [v for v in outcome.result.verdicts if NAME in v.quantity]
    assert verdict.word == "RISK"
    client = MlflowClient(f"sqlite:///{folder / 'work' / 'mlflow.db'}")
    (run,) = client.search_runs([client.get_experiment_by_name("joint").experiment_id], "tags.role = 'synthesizer'")
    assert run.data.metrics[f"risk/zero_cap.{NAME}"] == finding(done, f"zero_cap.{NAME}").risk.value
    pages = [page.read_text("utf-8") for page in (folder / "work").rglob("exposure-vendor.html")]
    assert pages
    for page in pages:
        text = re.sub(r"<[^>]*>", "", page)
        words = (f"zero_cap.{NAME}", "low | a")  # the classes are pairs of values
        assert [each for each in words if each not in text] == []
    ledgers = [pd.read_parquet(path) for path in (folder / "work").rglob("ledger.parquet")]
    own = next(rows[(rows.metric == "zero_cap") & (rows.sensitive == NAME)] for rows in ledgers)
    real = people(1).astype(object).where(lambda table: table.notna(), "nan")
    assert own.truth.tolist() == [f"{a} | {b}" for a, b in zip(real.income, real.race, strict=True)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("metric", "peer"), [("zero_cap", CategoricalZeroCAP), ("generalized_cap", CategoricalGeneralizedCAP)]
)
def test_the_value_is_that_of_plain_loops_and_of_sdmetrics(done, metric, peer):
    _, sample, release, _ = done
    members = people(1)[~sample.held_out(0, 0)]
    value = finding(done, f"{metric}.{NAME}").risk.value
    assert value == pytest.approx(credit(members, release, metric == "generalized_cap"), abs=1e-12)
    asked = {"key_fields": KEYS, "sensitive_fields": JOINT}
    theirs = peer.compute(real_data=members.fillna("missing"), synthetic_data=release.fillna("missing"), **asked)
    assert value == pytest.approx(1 - theirs, abs=1e-12)


def test_evaluate_takes_them_with_a_plus_sign(done, tmp_path):
    folder, _, release, _ = done
    roles = {"quasi_identifiers": KEYS, "sensitive": _targets("+".join(JOINT))}
    meant = understood(str(folder / "real.csv"), None, None, ["zero_cap"], None, **roles)
    study = study_of(meant, str(folder / "release.csv"), [], "none", "evaluate", None, str(tmp_path / "work"), 1)
    whole, sample, warning = prepared(study, None, str(folder / "release.csv"))
    (found,) = course(whole, sample, PlainCalls(), "", warning).result.findings
    assert found.measure.key == f"zero_cap.{NAME}"
    assert found.risk.value == pytest.approx(credit(people(1), release, nearest=False), abs=1e-12)


def test_measures_of_one_column_guess_each_of_them_alone_unless_they_are_asked_for_by_name(done):
    real = str(done[0] / "real.csv")
    roles = {"quasi_identifiers": KEYS, "sensitive": [JOINT]}
    alone = [m for m in understood(real, None, None, None, None, **roles).metrics if not isinstance(m, str)]
    assert {"name": "rapid", "sensitive": JOINT} in alone
    assert understood(real, None, None, ["rapid"], None, **roles).metrics == ["rapid"]
    with pytest.raises(InputError, match="guessed together only where quasi_identifiers is given too, got"):
        understood(real, None, None, None, None, sensitive=[JOINT])


@pytest.mark.parametrize(("text", "due"), [
    ("income", ["income"]), ("income, race", ["income", "race"]), ("age,income + race", ["age", ["income", "race"]]),
    ("A++,income+A++B", ["A+", ["income", "A+B"]]),
])  # fmt: skip
def test_a_plus_sign_joins_columns_and_two_are_one_of_a_name(text, due):
    assert _targets(text) == due


@pytest.mark.parametrize("text", ["income+", "+", "a,+b"])
def test_a_plus_sign_stands_between_columns(text):
    with pytest.raises(InputError, match="--sensitive must be a,b, or a\\+b for columns guessed together"):
        _targets(text)
