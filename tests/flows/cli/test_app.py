"""The command line: what bad input gets, and the commands that run no study."""

import importlib.util
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from synthrisk.conf import load, schema
from synthrisk.flows.check import check_on, checked_on
from synthrisk.flows.cli.training_parts import write_parts
from synthrisk.flows.sample import sample_of
from synthrisk.metrics import METRICS, InputError

COMMANDS = ("benchmark", "evaluate", "init", "split", "metrics", "compare", "ui", "serve", "schema", "doctor")


def is_clean(place: Path) -> bool:
    """Tell whether nothing was computed or tracked: no release, ledger, report or store."""
    left = {p.name for p in place.rglob("*")}
    return not left & {"releases", "ledgers", "findings", "mlflow.db", "artifacts", "report.html", "failures"}


def refused(said, place: Path, *words: str) -> str:
    assert said.code == 2, said
    assert said.out == ""
    assert said.err.startswith("Error: ")
    assert said.err.count("\n") == 1, said.err
    assert "Traceback" not in said.err
    for word in words:
        assert word in said.err
    assert is_clean(place)
    return said.err


# wrong input that is seen before anything starts


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["metrics.0=zero_kap"], ["metrics.0: no metric is called 'zero_kap' (did you mean 'zero_cap'?)"]),
        (["synthesizers.0=kart"], ["synthesizers.0: no synthesizer is called 'kart' (did you mean 'cart'?)"]),
        (["sed=1"], ["sed: no such setting (did you mean 'seed'?)"]),
        (["controls=[copy]"], ["study.yaml has 1 error: controls is called references now"]),
        (["data.quasi_identifiers=[age, income]"], ["data", "must be different columns, got 'income' in both"]),
        (["metrics.rapid.atackers=[logistic]"], ["metrics.1: rapid takes no option 'atackers'"]),
        (["seed"], ["--set must be a.b=value, got 'seed'"]),
    ],
)
def test_settings_that_break_their_rules(place, say, overrides, words):
    said = say("benchmark", "study.yaml", *(part for o in overrides for part in ("--set", o)))
    assert said.code == 2
    assert said.out == ""
    for word in words:
        assert word in said.err
    assert is_clean(place)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["metrics.rapid.threshold=1.5"], ["threshold must be a number in [0, 1), got 1.5"]),
        (["metrics.rapid.tolerance=-1"], ["tolerance must be a number above 0, got -1"]),
        (["metrics.rapid.attackers=[logistik]"], ["logistik", "did you mean 'logistic'?"]),
        (["metrics.rapid.error=relative"], ["error must be symmetric, stabilized_relative or absolute"]),
        (["references=[{name: leaky, share: 2}]"], ["share must be a share in [0, 1], got 2"]),
        (["synthesizers.0.min_samples_leaf=0"], ["min_samples_leaf", "got 0"]),
        (["synthesizers.0.leaves=3"], ["cart takes no option 'leaves'"]),
        (["synthesizers=[{name: vendor, kind: files}]"], ["files needs the option 'path'"]),
        (["synthesizers=[{name: mine, kind: callable, path: generators}]"], ["path must read"]),
        (["synthesizers=[{name: mine, kind: callable, path: 'absent.py:make'}]"], ["absent.py"]),
        (["synthesizers=[{name: vendor, kind: files, path: 'out/{rep}.csv'}]"], ["path takes {repetition} and {fold}"]),
        (["synthesizers=[{name: v, kind: files, path: 'out/{fold}.csv'}]"], ["'out/{fold}.csv'", "found none"]),
        (["thresholds.memorization/zero_kap.income=0.1"], ["did you mean 'zero_cap.income'?"]),
        (["thresholds.memorisation/zero_cap.income=0.1"], ["thresholds must be <quantity>/<measure>"]),
    ],
)
def test_option_values_are_refused_before_anything_is_computed(place, say, prefect_database, overrides, words):
    refused(say("benchmark", "study.yaml", *(part for o in overrides for part in ("--set", o))), place, *words)


def test_absent_study(place, say):
    refused(say("benchmark", "stdy.yaml"), place, "'stdy.yaml'")
    refused(say("split", "stdy.yaml", "--to", "parts"), place, "'stdy.yaml'")


def test_all_problems_of_the_options_are_told_at_once(place, say):
    said = say(
        "benchmark", "study.yaml", "--set", "metrics.rapid.threshold=2", "--set", "references=[{name: leaky, share: 2}]"
    )
    assert said.code == 2
    assert "study spine has 2 errors:\n- share" in said.err
    assert is_clean(place)


@pytest.mark.parametrize(
    ("override", "library", "extra"),
    [
        ("synthesizers=[gaussian_copula]", "sdv", "sdv"),
        ("synthesizers=[{name: big, kind: ctgan}]", "sdv", "sdv"),
        ("runner.kind=dask", "prefect_dask", "dask"),
    ],
)
def test_extra_that_is_not_installed(place, say, monkeypatch, override, library, extra):
    find = importlib.util.find_spec
    absent = lambda name, *rest: None if name.partition(".")[0] == library else find(name, *rest)  # noqa: E731
    for module in ("synthrisk.tasks.synthesize", "synthrisk.flows.runner"):
        monkeypatch.setattr(importlib.import_module(module), "find_spec", absent)
    said = say("benchmark", "study.yaml", "--set", override)
    refused(said, place, f"needs the extra '{extra}', which is not installed: pip install 'synthrisk[{extra}]'")


# wrong input that only the data show


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["data.source=absent.csv"], ["there is no file 'absent.csv'"]),
        (["data.source=adlt"], ["did you mean 'adult'?"]),
        (["data.sensitive=[incom]"], ["data.sensitive", "'incom' (did you mean 'income'?)"]),
        (["data.quasi_identifiers=[age, town]"], ["data.quasi_identifiers", "'town'"]),
        (
            ["data.identifier=person", "split.stratify=incme", "data.categorical=[cty]", "data.drop=[hour]"],
            ["4 problems", "'person'", "did you mean 'income'?", "did you mean 'city'?", "did you mean 'hours'?"],
        ),
        (["split.folds=61"], ["split.folds", "61 folds for 60 rows"]),
        (["data.rows=4", "split.folds=5"], ["split.folds", "5 folds for 4 rows"]),
        (["data.source=one.csv"], ["'income'", "at least two different values, got one"]),
        (["data.source=empty.csv"], ["'empty.csv'", "got an empty file"]),
        (["data.source=header.csv"], ["'header.csv' must hold rows"]),
        (["data.source=empty.parquet"], ["'empty.parquet' must be a Parquet file"]),
        (["metrics.0={name: zero_cap, sensitive: [incom]}"], ["'incom'", "did you mean 'income'?"]),
        (["metrics.0={name: zero_cap, quasi_identifiers: [cty]}"], ["'cty'", "did you mean 'city'?"]),
        (["metrics.0={name: zero_cap, quasi_identifiers: [income]}"], ["quasi_identifiers"]),
        (["metrics.rapid.attackers=[linear]"], ["categorical attribute", "'linear'"]),
    ],
)
def test_data_that_do_not_fit(place, people, say, prefect_database, overrides, words):
    people(60).assign(income="low").to_csv("one.csv", index=False)
    people(60).head(0).to_csv("header.csv", index=False)
    Path("empty.csv").touch()
    Path("empty.parquet").touch()
    refused(say("benchmark", "study.yaml", *(part for o in overrides for part in ("--set", o))), place, *words)


EVALUATE = ("evaluate", "--quasi-identifiers", "age,city", "--sensitive", "income", "--workspace", "work")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--real", "absent.csv", "--synthetic", "release.csv"], ["there is no file 'absent.csv'"]),
        (["--real", "people.csv", "--synthetic", "absent.csv"], ["'absent.csv'"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--control", "absent.csv"], ["'absent.csv'"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--control", "narrow.csv"], ["control", "'city'"]),
        (["--real", "people.csv", "--synthetic", "empty.csv"], ["'empty.csv'"]),
        (["--real", "people.csv", "--synthetic", "header.csv"], ["'header.csv'"]),
        (["--real", "empty.csv", "--synthetic", "release.csv"], ["'empty.csv'"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--control", "empty.csv"], ["'empty.csv'"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--metric", "rapit"], ["did you mean 'rapid'?"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--sensitive", "incom"], ["did you mean 'income'?"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--sensitive", "age"], ["'age' in both"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--threshold", "risk/rapid"], ["--threshold must be"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--threshold", "0.1"], ["threshold"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--threshold", "risk/rapid.incom=1"], ["did you"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--threshold", "risk/rapid.income=nan"], ["nan"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--threshold", "risk/rapid.income=7"], ["7"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--coarsen", "age"], ["--coarsen must be"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--coarsen", "aeg=5"], ["did you mean 'age'?"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--without", "income"], ["got 'income'"]),
        (["--real", "people.csv", "--synthetic", "release.csv", "--identifier", "hour"], ["did you mean 'hours'?"]),
    ],
)  # fmt: skip
def test_evaluate_refuses(place, people, say, prefect_database, arguments, words):
    people(60, seed=1).to_csv("release.csv", index=False)
    people(60).drop(columns="city").to_csv("narrow.csv", index=False)
    people(60).head(0).to_csv("header.csv", index=False)
    Path("empty.csv").touch()
    said = say(*EVALUATE, *arguments, "--json", "out.json")
    assert said.code == 2, said
    assert said.out == ""
    assert said.err.startswith("Error: ")
    assert "Traceback" not in said.err
    for word in words:
        assert word in said.err
    assert is_clean(place)
    assert not Path("out.json").exists()


def test_console_script_says_one_sentence(place, start):
    process = start("benchmark", "study.yaml", "--set", "data.sensitive=[incom]", cwd=place)
    out, err = process.communicate(timeout=240)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("Error: ")
    assert err.count("\n") == 1, err


def test_a_terminal_that_lacks_letters_is_no_error(place, start, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    process = start("metrics", cwd=place)
    out, err = process.communicate(timeout=240)
    assert (process.returncode, err) == (0, "")
    assert "zero_cap" in out


@pytest.mark.parametrize("arguments", [["evaluate"], ["bench"], ["ui", "--port", "0"], ["benchmark", "--sett", "a=1"]])
def test_wrong_usage_is_exit_code_2(place, say, arguments):
    said = say(*arguments)
    assert said.code == 2
    assert "Traceback" not in said.err


def test_what_is_checked_before_the_server_starts_is_not_checked_again(place, people):
    study = load("study.yaml", ["synthesizers.0={name: vendor, kind: files, path: release.csv}"])
    people(60, seed=1).to_csv("release.csv", index=False)
    sample = sample_of(study)
    with checked_on(study, sample):
        Path("release.csv").unlink()
        again = sample_of(study)
        check_on(load("study.yaml", ["synthesizers.0={name: vendor, kind: files, path: release.csv}"]), again)
        with pytest.raises(InputError, match=r"found none at 'other\.csv'"):
            check_on(load("study.yaml", ["synthesizers.0={name: vendor, kind: files, path: other.csv}"]), again)
    with pytest.raises(InputError, match=r"found none at 'release\.csv'"):
        check_on(study, sample)


# help


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(say, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    said = say(command, "--help")
    assert said.code == 0
    assert re.search(rf"Example:\s+synthrisk {command}", said.out), said.out


def test_help_lists_the_commands(say):
    said = say("--help")
    assert said.code == 0
    assert all(command in said.out for command in COMMANDS)


def test_examples_of_the_help_are_commands_that_exist(say):
    """Every option that an example names is an option of the command."""
    for command in COMMANDS:
        said = say(command, "--help")
        example = said.out.partition("Example:")[2]
        for option in re.findall(r"--[a-z-]+", example):
            assert option in said.out.partition("Example:")[0]


# metrics, schema


def test_metrics_as_markdown_has_a_row_a_metric(say):
    said = say("metrics", "--markdown")
    lines = said.out.splitlines()
    assert said.code == 0
    assert len(lines) == 2 + len(METRICS)
    assert len({line.count("|") for line in lines}) == 1


def test_schema_is_json(say):
    said = say("schema")
    assert said.code == 0
    assert json.loads(said.out) == schema()


# split


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_split_writes_the_members_of_every_release(place, say, form):
    study = "study.yaml"
    said = say("split", study, "--to", "parts", *(["--csv"] if form == "csv" else []), "--set", "split.repetitions=2")
    assert said.code == 0, said
    names = sorted(p.name for p in Path("parts").iterdir())
    assert names == [f"train-{r}-{f}.{form}" for r in (0, 1) for f in (0, 1)]
    read = pd.read_parquet if form == "parquet" else pd.read_csv
    whole = pd.read_csv("people.csv")
    for repetition in (0, 1):
        parts = [read(f"parts/train-{repetition}-{fold}.{form}").astype(whole.dtypes) for fold in (0, 1)]
        both = pd.concat(parts).sort_values(list(whole)).reset_index(drop=True)
        pd.testing.assert_frame_equal(both, whole.sort_values(list(whole)).reset_index(drop=True))  # 2 folds
    assert {oct(p.stat().st_mode & 0o777) for p in Path("parts").iterdir()} == {"0o600"}
    assert oct(Path("parts").stat().st_mode & 0o777) == "0o700"


def test_split_leaves_the_identifier_out(place, people, say):
    people(60).assign(person=np.arange(60) // 2).to_csv("people.csv", index=False)
    assert say("split", "study.yaml", "--to", "parts", "--set", "data.identifier=person").code == 0
    assert "person" not in pd.read_parquet("parts/train-0-0.parquet").columns


def test_split_of_a_labelled_survey_and_of_a_sheet(place, people, say):
    whole = people(60)
    codes, labels = whole.copy(), {}
    for name in ("city", "income"):
        levels = sorted(whole[name].unique())
        codes[name], labels[name] = whole[name].map(levels.index).astype(float), dict(enumerate(levels))
    pyreadstat.write_sav(codes, "survey.sav", variable_value_labels=labels)
    with pd.ExcelWriter("survey.xlsx") as book:
        pd.DataFrame({"made": ["by hand"]}).to_excel(book, sheet_name="Info", index=False)
        whole.to_excel(book, sheet_name="My data", index=False)
    assert say("split", "study.yaml", "--to", "csv").code == 0
    for source in ("survey.sav", "survey.xlsx#My data"):
        assert say("split", "study.yaml", "--to", source[-3:], "--set", f"data.source={source}").code == 0
        for part in ("train-0-0.parquet", "train-0-1.parquet"):
            pd.testing.assert_frame_equal(pd.read_parquet(f"{source[-3:]}/{part}"), pd.read_parquet(f"csv/{part}"))
    refused(say("split", "study.yaml", "--to", "no", "--set", "data.source=survey.xlsx#Mydata"), place, "'My data'")


def test_split_refuses_data_that_do_not_fit(place):
    with pytest.raises(InputError, match="incom"):
        write_parts(load("study.yaml", ["data.sensitive=[incom]"]), Path("parts"), "csv")
    assert not Path("parts").exists()


# compare, ui


def test_compare_without_a_store(place, say):
    refused(say("compare", "demo", "--workspace", "nowhere"), place, "nowhere")


def test_ui_without_a_store(place, say):
    refused(say("ui", "--workspace", "nowhere"), place, "nowhere", "synthrisk benchmark")
