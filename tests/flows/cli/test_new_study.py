"""init: a first study for a table of one's own, with and without somebody to ask."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from synthrisk.conf import load, schema
from synthrisk.flows.cli.init import LIMIT_WORDS, study_name
from synthrisk.flows.preflight import check


def clinic(rows: int = 120, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    born = pd.Timestamp("1940-01-01") + pd.to_timedelta(rng.integers(0, 25_000, rows), unit="D")
    return pd.DataFrame({
        "id": np.arange(1, rows + 1), "geburtsdatum": born.strftime("%d.%m.%Y"),
        "plz": [f"0{zip_code}" for zip_code in rng.integers(1003, 1010, rows)],
        "geschlecht": rng.choice(["m", "w"], rows),
        "raucher": rng.choice(["ja", "nein", "NA"], rows, p=[0.3, 0.6, 0.1]),
        "gehalt": [f"{x:.2f}".replace(".", ",") for x in rng.lognormal(8, 0.4, rows)],
        "aufnahme": [f"0{d}/0{m}/2021" for d, m in zip(*rng.integers(1, 9, (2, rows)), strict=True)],
    })  # fmt: skip


def test_init_writes_a_study_that_loads_and_passes_the_checks(place, say):
    assert say("init", "people.csv", "--sensitive", "income", "--to", "own.yaml").code == 0
    study = load("own.yaml")
    assert (study.data.sensitive, study.split.folds, study.split.repetitions) == (["income"], 3, 3)
    assert study.data.quasi_identifiers == ["age", "city"]
    check(study)
    assert json.loads(Path("own.schema.json").read_text()) == json.loads(json.dumps(schema()))
    assert "own.schema.json" in Path("own.yaml").read_text().splitlines()[0]


def test_init_takes_the_last_column_the_roles_and_the_effort_given(place, say):
    Path("study.yaml").unlink()
    assert (say("init", "people.csv").code, load("study.yaml").data.sensitive) == (0, ["income"])
    assert say("init", "people.csv", "--to", "b.yaml", "--sensitive", "city", "--quasi-identifiers", "age").code == 0
    assert load("b.yaml").data.quasi_identifiers == ["age"]
    for option, parts in (("--quick", (2, 3)), ("--thorough", (5, 5))):
        assert say("init", "people.csv", "--to", "own.yaml", "--force", "--yes", option).code == 0
        split = load("own.yaml").split
        assert (split.folds, split.repetitions) == parts


def test_init_overwrites_where_it_is_told_to(place, say):
    before = Path("study.yaml").read_bytes()
    assert say("init", "people.csv", "--to", "study.yaml").code == 2
    assert not Path("study.schema.json").exists()
    assert say("init", "people.csv", "--to", "study.yaml", "--force").code == 0
    assert Path("study.yaml").read_bytes() != before


ODD = ["it's", 'the "x"', "a: b", "a #b", "{x}", "[x]", "- x", "*", "&x", "!x", "%", "null", "1", "a\tb"]
ODD += ["😀", "a\nb"]


@pytest.mark.parametrize("names", [["größe", "other"], *(ODD[at : at + 3] for at in range(0, len(ODD), 3))])
def test_init_with_odd_column_names(place, say, names):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.integers(0, 9, 40) for name in names} | {f"{names[-1]}2": list("ab") * 20})
    frame.to_csv("odd.csv", index=False)
    assert say("init", "odd.csv", "--to", "own.yaml").code == 0
    study = load("own.yaml")
    assert (study.data.quasi_identifiers, study.data.sensitive) == (names, [f"{names[-1]}2"])
    check(study)


@pytest.mark.parametrize("stem", ["yes", "1e5", "großes Haus", "it's"])
def test_init_with_odd_file_names(place, people, say, stem):
    people(40).to_csv(f"{stem}.csv", index=False)
    assert say("init", f"{stem}.csv", "--to", "own.yaml").code == 0
    assert load("own.yaml").data.source == f"{stem}.csv"
    check(load("own.yaml"))


def test_init_reads_a_table_as_its_steward_would(place, say):
    clinic().to_csv("clinic.csv", index=False, sep=";")
    said = say("init", "clinic.csv", "--to", "own.yaml", "--yes")
    assert said.code == 0, said
    data = load("own.yaml").data
    assert data.quasi_identifiers == ["geburtsdatum", "plz", "geschlecht", "aufnahme"]
    assert (data.sensitive, data.identifier, data.drop) == (["raucher", "gehalt"], "id", [])
    assert (data.categorical, data.columns["geburtsdatum"].format) == (["plz"], "%d.%m.%Y")
    assert data.columns["gehalt"].decimal == ","
    assert (data.columns["raucher"].true_values, data.columns["raucher"].missing) == (["ja"], ["NA"])
    told, all_of_it = " ".join(said.out.split()), (
        "What an attacker may know", "where somebody lives", "99.99.9999", "single out 100% of the records",
        "aufnahme: does the day come first (%d/%m/%Y) or the month (%m/%d/%Y)?", "'NA' in raucher means a missing cell",
        "Taken as guesses, for nobody was asked", "aufnahme is a date",
        "id number, 120 values", "raucher boolean (likely)", "aufnahme date (a guess)",  # and how sure that is
    )  # fmt: skip
    assert [each for each in all_of_it if each not in told] == []


def test_init_shows_no_cell(place, people, secret, say):
    people(300).to_csv("people.csv", index=False)
    said = say("init", "people.csv", "--to", "own.yaml", "--yes")
    assert (said.code, secret in said.out + said.err + Path("own.yaml").read_text("utf-8")) == (0, False)


def test_init_says_that_there_are_no_limits_and_how_to_set_them_or_who_chose_them(place, say):
    said = say("init", "people.csv", "--to", "own.yaml", "--yes")
    assert "No limits: the study will show numbers and no verdict" in said.out
    assert load("own.yaml").thresholds == {}
    text = Path("own.yaml").read_text("utf-8")
    assert "# No limits: no verdict." in text
    assert '#   "memorization/singling_out": {value: 0.05' in text
    assert "control_gain/zero_cap.income" not in text  # 60 records can tell nothing by it
    asked = ("--force", "--yes", "--limit", "0.1", "--limit-source", "the board")
    said = say("init", "people.csv", "--to", "own.yaml", *asked)
    assert said.code == 0, said
    assert "No limits" not in said.out
    (left,) = (line for line in said.out.splitlines() if line.startswith("Not limited  too few records for a limit"))
    assert "control_gain/zero_cap.income, control_gain/rapid.income (from about 290 members" in left
    assert "memorization/membership@outliers, memorization/membership@rare_keys (from about 2,600 members" in left
    limits = load("own.yaml").thresholds
    assert {name: limit.value for name, limit in limits.items()} == {
        "memorization/singling_out": 0.1,
        "memorization/common_rows_proportion": 0.1,
        "memorization/common_rows_proportion@outliers": 0.1,  # it will say that 60 records are too few
        "memorization/common_rows_proportion@rare_keys": 0.1,  # and so will this
        "memorization/membership": 0.1,  # of 60 records nobody can tell 1 %
        "memorization/hitting_rate": 0.1,  # so another measure is there for near copies
    }
    assert {limit.source for limit in limits.values()} == {"the board"}


@pytest.mark.parametrize(
    ("source", "name"), [("data/my table.csv", "my-table"), ("s3://b/x.parquet", "x"), ("😀.csv", "study")]
)
def test_a_study_is_named_as_its_table(source, name):
    assert study_name(source) == name


def talked(arguments: list[str], answers: dict[str, str], width: int = 200, seconds: float = 120) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "synthrisk.flows.cli.app", *arguments],
        stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | {"COLUMNS": str(width)},
    )  # fmt: skip
    os.close(theirs)
    said, left, end = "", dict(answers), time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([ours], [], [], 0.2)[0]:
            try:
                said += os.read(ours, 65536).decode()
            except OSError:  # the other side is closed
                break
        for question in [q for q in left if q in said]:
            os.write(ours, f"{left.pop(question)}\n".encode())
    os.close(ours)
    assert not left, said
    return process.wait(30), said


@pytest.mark.proof
def test_init_asks_on_a_terminal(place):
    clinic().to_csv("clinic.csv", index=False, sep=";")
    answers = {
        "does the day come first (%d/%m/%Y) or the month (%m/%d/%Y)? %d/%m/%Y? (no: %m/%d/%Y)": "n",
        "What nobody should learn (sensitive) [raucher, gehalt]": "rauchr", "no column is called rauchr": "raucher",
        "What an attacker knows (quasi-identifiers)": "geburtsdatum, plz", "Columns to leave out": "gehalt",
        "Column that names the person": "", "Limit between 0 and 1": "3",
        "it must be a number between 0 and 1, got 3": "0,05", "Who chose it": "the board",
    }  # fmt: skip
    code, said = talked(["init", "clinic.csv", "--to", "own.yaml"], answers)
    assert code == 0, said
    assert "how much more an attacker may learn about a person" in said
    study = load("own.yaml")
    assert study.data.columns["aufnahme"].format == "%m/%d/%Y"
    assert (study.data.sensitive, study.data.quasi_identifiers) == (["raucher"], ["geburtsdatum", "plz"])
    assert (study.data.identifier, study.data.drop) == ("id", ["gehalt"])
    limit = study.thresholds["memorization/singling_out"]
    assert (limit.value, limit.source) == (0.05, "the board")
    assert "too few records for a limit on control_gain/zero_cap.raucher" in said


@pytest.mark.proof
def test_init_asks_in_lines_of_whole_words_with_the_columns_in_view(place):
    clinic().to_csv("clinic.csv", index=False, sep=";")
    answers = {
        "[Y/n]: ": "", "[raucher, gehalt]: ": "", "aufnahme]: ": "", "leave out [none]: ": "", "person [id]: ": "",
        "limit [none]: ": "",
    }  # fmt: skip
    code, said = talked(["init", "clinic.csv", "--to", "own.yaml"], answers, width=70)
    assert code == 0, said
    asked, _, _ = re.sub(r"\x1b\[[0-9;]*m", "", said).partition("Trying how long")
    assert [line for line in asked.splitlines() if len(line.rstrip()) > 70] == []
    assert LIMIT_WORDS in " ".join(asked.split())
    before, _, _ = asked.partition("What nobody should learn (sensitive) [")
    assert "Guessed      raucher, gehalt" in "".join(before.splitlines(True)[-6:])
