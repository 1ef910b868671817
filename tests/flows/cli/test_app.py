"""The command line: what bad input gets, and the commands that run no study."""

import importlib.util
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from synthrisk.conf import load, schema
from synthrisk.flows.cli import app
from synthrisk.flows.preflight import check_on, checked_on
from synthrisk.flows.study_course import sample_of
from synthrisk.metrics import METRICS, InputError

COMMANDS = ("benchmark", "evaluate", "try", "init", "split", "metrics", "compare", "ui", "serve", "schema", "doctor")
COMPUTED = {"releases", "ledgers", "findings", "mlflow.db", "artifacts", "report.html", "failures"}


def refused(said, place: Path, words: str) -> None:
    told = said.err.removeprefix("reading the tables\n")
    assert (said.code, said.out, told.count("\n")) == (2, "", 1), said
    assert told.startswith(("Error: ", "Usage error: "))
    assert words in told
    assert not COMPUTED & {p.name for p in place.rglob("*")}


def test_an_absent_table_is_told_before_anything_else(place, say):
    said = say("evaluate", "people.csv", "absent.csv")
    assert (said.code, said.out, said.err.splitlines()) == (2, "", ["Error: there is no file 'absent.csv'"])


@pytest.mark.proof
def test_try_tells_each_number_before_and_after(place, say):
    said = say("try", "study.yaml", "--drop", "age", "--workspace", "elsewhere")
    assert (place / "elsewhere").is_dir()
    assert said.code in (0, 1), said.err
    told = " ".join(said.out.split())
    assert re.search(r"Tried \S+, \S+/\S+.* now [-+.\d]+ \[.*without age: [-+.\d]+ ", told)
    assert re.search(r"; risk (rises|falls|not shown to change), [.\d]+ to [.\d]+", told)
    name = load("study.yaml").name
    assert f"synthrisk record {name}-try" in said.out
    missing = say("record", name, "--workspace", "elsewhere")  # a try-out is not taken for the study
    assert (missing.code, "did you mean" in missing.err) == (2, True)


@pytest.mark.parametrize(("override", "library", "extra"), [
    ("synthesizers=[gaussian_copula]", "sdv", "sdv"), ("synthesizers=[{name: big, kind: ctgan}]", "sdv", "sdv"),
    ("runner.kind=dask", "prefect_dask", "dask"),
])  # fmt: skip
def test_extra_that_is_not_installed(place, say, monkeypatch, override, library, extra):
    find = importlib.util.find_spec
    absent = lambda name, *rest: None if name.partition(".")[0] == library else find(name, *rest)  # noqa: E731
    for module in ("synthrisk.tasks.synthesize", "synthrisk.flows.preflight"):
        monkeypatch.setattr(importlib.import_module(module), "find_spec", absent)
    said = say("benchmark", "study.yaml", "--set", override)
    refused(said, place, f"needs the extra '{extra}', which is not installed: pip install 'synthrisk[{extra}]'")


def test_the_console_script_says_one_sentence_on_a_terminal_that_lacks_its_letters(place, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    command = [sys.executable, "-m", "synthrisk.flows.cli.app", "benchmark", "größe.yaml"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert re.match("Error: .*there is no file 'größe.yaml'", done.stderr)


def test_letters_of_answers_that_a_terminal_lacks_are_no_error(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["synthrisk", "metrics"])
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    with pytest.raises(SystemExit) as end:
        app.command()
    assert not end.value.code
    sys.stdout.flush()
    assert b"zero_cap" in sys.stdout.buffer.getvalue()


def test_what_is_checked_before_the_server_starts_is_not_checked_again(place, people):
    def studied(path):
        return load("study.yaml", [f"synthesizers.0={{name: vendor, kind: files, path: {path}}}"])

    study = studied("release.csv")
    people(60, seed=1).to_csv("release.csv", index=False)
    sample = sample_of(study)
    with checked_on(study, sample):
        Path("release.csv").unlink()
        again = sample_of(study)
        check_on(studied("release.csv"), again)
        with pytest.raises(InputError, match=r"found none at 'other\.csv'"):
            check_on(studied("other.csv"), again)
    with pytest.raises(InputError, match=r"found none at 'release\.csv'"):
        check_on(study, sample)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_lists_the_command_and_shows_an_example_of_options_that_it_has(say, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    said, listed = say(command, "--help"), say("--help")
    assert (said.code, listed.code, command in listed.out) == (0, 0, True)
    before, _, example = said.out.partition("Example:")
    assert re.match(rf"\s+synthrisk {command}", example), said.out
    assert [option for option in re.findall(r"--[a-z-]+", example) if option not in before] == []
    assert ("--limit-on" in before, "--threshold" in said.out) == (command == "evaluate", False)  # its old name


def test_metrics_as_markdown_has_a_row_a_metric_and_the_schema_is_json(say):
    said = say("metrics", "--markdown")
    lines = said.out.splitlines()
    assert (said.code, len(lines), len({line.count("|") for line in lines})) == (0, 2 + len(METRICS), 1)
    said = say("schema")
    assert (said.code, json.loads(said.out)) == (0, schema())


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_split_writes_the_members_of_every_release_without_the_identifier(place, say, form):
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
    whole.assign(person=np.arange(60) // 2).to_csv("people.csv", index=False)
    assert say("split", study, "--to", "more", "--set", "data.identifier=person").code == 0
    assert "person" not in pd.read_parquet("more/train-0-0.parquet").columns


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
