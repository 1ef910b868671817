"""A study about nothing: refused before it starts, warned of on the terminal, and never a verdict in its results."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from synthrisk.flows.cli.evaluate import as_json
from synthrisk.flows.terminal.answer import close
from synthrisk.metrics import InputError

pytestmark = pytest.mark.proof

ROWS = 200
LINEAR = [{"name": "rapid", "attackers": ["linear"]}]
DATA = {"quasi_identifiers": ["age", "city"]}
YEAR = "rapid.born: the tolerance is wider than the column: one constant guess is right about 100% of the records"


@pytest.fixture(scope="module")
def visits(folder) -> str:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 80, ROWS)
    seen = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.permutation(ROWS) * 7919, unit="s")
    table = {"age": age, "city": rng.choice(["Graz", "Linz", "Wien"], ROWS), "born": rng.integers(1950, 2011, ROWS)}
    table |= {"seen": seen, "note": [f"came at {t:%H:%M:%S} on day {t.dayofyear}" for t in seen]}
    table |= {"ill": np.where(rng.random(ROWS) < age / 100, "yes", "no")}
    pd.DataFrame(table).to_csv(folder / "visits.csv", index=False)
    return "visits.csv"


@pytest.fixture(scope="module")
def years(run, visits, folder):
    data = DATA | {"source": str(folder / visits), "sensitive": ["born"], "drop": ["seen", "note"]}
    limits = {"risk/rapid.born": 0.1, "memorization/rapid.born": 0.1, "memorization/common_rows_proportion": 0.2}
    return run(
        "years", data=data, metrics=[*LINEAR, "common_rows_proportion"], thresholds=limits, synthesizers=["cart"],
        references=["copy", "near_copy", "marginals"], split={"folds": 2, "repetitions": 2},
    )  # fmt: skip


def test_what_nobody_can_guess_is_refused_before_anything_is_made(run, visits, folder):
    for sensitive, more, told in (
        ("note", {}, "'note' must hold values that records share, got 100% of the records"),
        ("seen", {"metrics": ["zero_cap"]}, r"zero_cap.seen: .*a number of their own"),
        ("born", {"metrics": LINEAR}, r"tolerance is wider than the column.*'0.1 iqr'"),
    ):
        data = DATA | {"source": str(folder / visits), "sensitive": [sensitive]}
        with pytest.raises(InputError, match=told):
            run(f"of-{sensitive}", data=data, **more)
        assert not (folder / f"of-{sensitive}" / "releases").exists()


def test_it_is_warned_of_before_the_long_part(years, say, folder, prefect_database, plain):
    said = say("benchmark", folder / "years.yaml")
    assert said.code == 1, said
    assert f"Mind         {YEAR}" in said.err
    with closing(sqlite3.connect(prefect_database)) as database:
        logged = database.execute("SELECT message FROM log WHERE level = 30").fetchall()
    assert any(message.startswith(YEAR) for (message,) in logged)


def test_a_measure_that_cannot_vary_gets_no_verdict_and_it_is_said_beside_its_numbers(years, capsys, monkeypatch):
    words = {v.quantity: (v.word, v.reason) for v in years.result.verdicts}
    for word, reason in (words["risk/rapid.born"], words["memorization/rapid.born"]):
        assert (word, "does not lie above independent columns" in reason) == ("CANNOT TELL", True)
    assert "says nothing" not in words["memorization/common_rows_proportion"][1]
    assert years.result.valid
    monkeypatch.setenv("COLUMNS", "250")
    close(years, verbose=True)
    printed = capsys.readouterr().out
    assert printed.count(YEAR) == 1
    assert "says nothing in this study: a full copy" in printed
    told = json.loads(json.dumps(as_json(years.result)))
    assert list(told["says_nothing"]) == ["rapid.born"]
    assert any(w.startswith(YEAR) for w in told["warnings"])
    page = Path(years.report).read_text("utf-8")
    assert [each for each in (YEAR, "does not lie above independent columns") if each not in page] == []
