"""Whatever a user can get wrong gets one clear sentence, at once: no traceback, no cell, nothing lost, no server."""

from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest
import yaml
from bad_inputs import CASES, Case
from bad_inputs.case import EVALUATE, STUDY

COMPUTED = {"releases", "ledgers", "findings", "reports", "printed", "failures", "mlflow.db", "artifacts", "parts"}
NEW = {"own.yaml", "own.schema.json", "out.json", "out"}
FOREIGN = ("Traceback", "pydantic", "ValidationError", "validation error", "pandas.", "pyarrow", "numpy", "NoneType")


@pytest.fixture(scope="module")
def good(people) -> dict[str, str]:
    tables = {"people.csv": people(60), "release.csv": people(60, seed=1)}
    return {name: table.to_csv(index=False) for name, table in tables.items()} | {"study.yaml": yaml.safe_dump(STUDY)}


@pytest.fixture
def place(tmp_path, good, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name, text in good.items():
        Path(name).write_text(text)
    Path("folder").mkdir()
    return tmp_path


@pytest.fixture(autouse=True)
def no_server(monkeypatch):
    started = Mock(side_effect=pytest.fail.Exception("a server was started"))
    monkeypatch.setattr("synthrisk.flows.orchestration.server.prefect_api", started)
    monkeypatch.setattr("synthrisk.flows.cli.evaluate.course", started)
    monkeypatch.setattr("synthrisk.flows.study_course.course", started)
    monkeypatch.setattr("synthrisk.flows.execution.pool.begin_early", lambda **_: None)


def write(case: Case, people: pd.DataFrame) -> None:
    for name, content in case.files.items():
        found = content(people) if callable(content) else content
        found = found.to_csv(index=False) if isinstance(found, pd.DataFrame) else found
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(found.encode() if isinstance(found, str) else found)


def files(place: Path) -> dict[Path, bytes]:
    return {p: p.read_bytes() for p in place.rglob("*") if p.is_file()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_is_said_in_one_sentence(case, place, people, say, secret):
    write(case, people(60))
    before = files(place)
    said = say(*case.arguments)
    assert (said.code, said.out) == (case.code, ""), said
    assert case.told in said.err
    assert [word for word in (*FOREIGN, secret) if word in said.err] == []
    after = files(place)
    assert {path: after.get(path) for path in before} == before
    assert not NEW & {p.name for p in after.keys() - before.keys()}
    assert not COMPUTED & {p.name for p in place.rglob("*")}


def test_each_case_is_another_one():
    names, inputs = [c.name for c in CASES], [(c.arguments, tuple(c.files.items())) for c in CASES]
    assert len(set(names)) == len(names) >= 200
    assert all(inputs.count(each) == 1 for each in inputs)


GOOD = {
    "benchmark": ("benchmark", "study.yaml"),
    "release": (*EVALUATE, "--synthetic", "release.csv"),
    "control": (*EVALUATE, "--synthetic", "release.csv", "--control", "control.csv"),
    "identifier": (*EVALUATE, "--synthetic", "release.csv", "--identifier", "hours"),  # which the release holds too
}


@pytest.mark.parametrize("arguments", GOOD.values(), ids=GOOD)
def test_what_is_right_gets_as_far_as_the_server(place, people, say, arguments):
    people(60, seed=2).to_csv("control.csv", index=False)
    with pytest.raises(pytest.fail.Exception, match="a server was started"):
        say(*arguments)
