"""``evaluate --engine dask``: the numbers, intervals and verdicts of one machine, from Parquet files in parts."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from synthrisk.flows.cli import evaluate
from synthrisk.flows.cli.app import app
from synthrisk.flows.cli.evaluate import as_json
from synthrisk.flows.evaluate_settings import prepared, study_of, understood
from synthrisk.flows.execution.calls_and_retries import PlainCalls
from synthrisk.flows.study_course import course
from synthrisk.metrics import InputError
from synthrisk.metrics.partitions.findings import IN_PARTS
from synthrisk.metrics.verdicts.verdicts import LOOK

pytestmark = pytest.mark.proof

pytest.importorskip("distributed")
ROLES = {"quasi_identifiers": ["town", "age", "born"], "sensitive": ["illness"]}
LIMITS = {
    "control_gain/zero_cap.illness": 0.05, "memorization/unique_exact_matches": 0.02,
    "risk/generalized_cap.illness": 0.9, "memorization/zero_cap.illness@classes": 0.05,
}  # fmt: skip


def people(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)

    def one_of(*texts: str) -> pd.Series:
        return pd.Series(rng.choice(np.array(texts, dtype=object), rows))

    return pd.DataFrame({
        "town": one_of("Łódź", "東京", "São Paulo").where(rng.random(rows) > 0.1),
        "age": pd.Series(rng.integers(20, 40, rows), dtype="Int64").where(rng.random(rows) > 0.05),
        "born": one_of("1970-01-01", "1980-05-31", "1990-12-24"), "weight": np.round(rng.normal(70, 10, rows), 1),
        "smokes": rng.random(rows) < 0.3, "illness": one_of("flu", "asthma", "none"),
    })  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("parts")
    tables = {"real": people(400, 1), "control": people(300, 2), "release": people(350, 3)}
    tables["release"] = pd.concat([tables["real"].head(120), tables["release"]], ignore_index=True)
    for name, table in tables.items():
        table.to_parquet(folder / f"{name}.parquet", row_group_size=110)
    return {name: str(folder / f"{name}.parquet") for name in tables} | {"folder": str(folder)}


def command(files: dict[str, str], *more: str) -> list[str]:
    roles = [f"--{k.replace('_', '-')}={','.join(v)}" for k, v in ROLES.items()]
    tables = [files["real"], files["release"], "--control", files["control"]]
    return ["evaluate", *tables, *roles, "--engine", "dask", *more]


@pytest.fixture(scope="module")
def in_parts(files):
    to = f"{files['folder']}/parts.json"
    limits = [f"--threshold={name}={value}" for name, value in LIMITS.items()]
    done = CliRunner().invoke(app, command(files, "--references", "none", "--json", to, *limits))
    with open(to) as file:  # noqa: PTH123
        return done, json.load(file)


@pytest.fixture(scope="module")
def of_one_machine(files):
    asked = {**ROLES, "real": files["real"], "control": files["control"], "study": None}
    meant = understood(**asked, metrics=list(IN_PARTS), thresholds=LIMITS)
    workspace = f"{files['folder']}/workspace"
    study = study_of(meant, files["release"], [], "none", "evaluate", None, workspace, 1)
    study = study.model_copy(update={"population_yardstick": False})
    whole, sample, warning = prepared(study, files["control"], files["release"])
    with pytest.MonkeyPatch.context() as patched:  # in parts no difference is adjusted
        patched.setattr("synthrisk.tasks.bootstrap._covariates", lambda *_: None)
        found = as_json(course(whole, sample, PlainCalls(), "", warning).result)
    return found | {"verdicts": [v for v in found["verdicts"] if v["quantity"] != LOOK]}  # nor is the release looked at


def test_findings_verdicts_utility_and_keys_in_parts_are_those_of_one_machine(in_parts, of_one_machine):
    done, parts = in_parts
    assert done.exit_code == parts["exit_code"] == of_one_machine["exit_code"] == 1, done.output
    assert len(parts["findings"]) == len(IN_PARTS) - 2
    assert [without_text(row) for row in parts["findings"]] == [without_text(row) for row in of_one_machine["findings"]]
    assert (len(parts["verdicts"]), parts["verdicts"]) == (len(LIMITS), of_one_machine["verdicts"])
    assert {v["word"] for v in parts["verdicts"]} >= {"RISK", "CANNOT TELL"}
    mine, due = ([(row["measure"], row["utility"]) for row in each["utility"]] for each in (parts, of_one_machine))
    assert (len(mine), mine, parts["k_anonymity"]) == (2, due, of_one_machine["k_anonymity"])
    told, words = " ".join(done.output.split()), ("no reference generators, no population yardstick", "release", "RISK")
    assert [each for each in words if each not in told] == []


def without_text(row: dict) -> dict:
    return {k: v for k, v in row.items() if not k.startswith(("population", "risk_population"))}


def refused(files: dict[str, str], *more: str) -> str:
    done = CliRunner().invoke(app, command(files, "--references", "none", *more))
    assert isinstance(done.exception, InputError)
    return str(done.exception)


@pytest.mark.parametrize(("more", "words"), [
    (["--references", "limited"], "--references must be 'none' with --engine dask, got 'limited'"),
    (["--metric", "rapid"], "rapid is not computed in parts"),
    (["--without", "age"], "--without, --coarsen and --noise must be left out with"),
    (["--links", "l.csv"], "--links must be left out with --engine dask, got 'l.csv'"),
    (["--identifier", "age"], "--identifier and --missing must be left out"),
    (["--threshold", "memorization/zero_cap.illness@outliers=0.1"], "limits in parts take the group @classes alone"),
    (["--dask", "127.0.0.1:9"], "dask must be the address of a scheduler that answers"),
    (["--engine", "spark"], "--engine must be one of memory, dask, got 'spark'"),
])  # fmt: skip
def test_what_is_not_computed_in_parts_is_refused(files, more, words):
    assert words in refused(files, *more)


@pytest.mark.parametrize(("change", "words"), [
    (lambda t: t.assign(age="20-29"), "got coarse ones in column 'age'"),
    (lambda t: t.assign(illness="*"), "got coarse ones in column 'illness'"),
    (lambda t: t.drop(columns="weight"), "got ['weight'] absent and 0 others; --drop leaves out columns of real"),
])  # fmt: skip
def test_coarse_cells_and_lost_columns_are_refused_rather_than_read_otherwise(files, tmp_path, change, words):
    release = tmp_path / "coarse.parquet"
    change(pd.read_parquet(files["release"])).to_parquet(release)
    assert words in refused({**files, "release": str(release)})


def test_files_that_are_not_parquet_or_have_other_columns_are_refused_with_a_way_out(files, tmp_path):
    table = tmp_path / "real.csv"
    table.write_text("town,age\nŁódź,30\n")
    told = refused({**files, "real": str(table)})
    assert "real must be a Parquet file or a folder of such for engine dask" in told
    release = tmp_path / "release.parquet"
    pd.read_parquet(files["release"]).drop(columns="age").assign(score=1).to_parquet(release)
    told = refused({**files, "release": str(release)})
    assert "synthetic must have the columns of real for engine dask, got ['age'] absent and 1 others" in told
    assert "--engine memory reads releases that lack some or have others" in told


def test_large_tables_are_told_that_parts_are_possible(files, monkeypatch, capsys):
    evaluate.suggest(files["real"])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(evaluate, "MANY", 400)
    evaluate.suggest(files["real"])
    assert "real holds 400 records: with --engine dask" in capsys.readouterr().err
