"""A study has no variable of the machine sent away, and the value of one that it may have is told to nobody."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote, unquote

import pytest
import yaml
from connections import Answering, serving
from leaks import dump, holding, holds
from mlflow import MlflowClient

from synthrisk.conf import load
from synthrisk.flows.benchmark import benchmark
from synthrisk.flows.preflight import check
from synthrisk.metrics import InputError

CANARY = "Kohlmeise é+Tz4"  # a value that an address writes in another way
NAMED = "${CANARY_KEY}"


class _Tables(Answering):
    asked: ClassVar[list[str]] = []
    table = b""

    def do_GET(self) -> None:
        self.asked.append(self.path)
        found = self.path.partition("?")[0].endswith("people.csv")
        self.answer(*((200, self.table) if found else (403, b"")))

    do_HEAD = do_GET  # noqa: N815 - as the base class calls it


@pytest.fixture(scope="module")
def served(folder) -> Iterator[str]:
    _Tables.table = (folder / "people.csv").read_bytes()
    with serving(_Tables) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def host(served) -> str:
    _Tables.asked.clear()
    return served


@pytest.fixture
def held(monkeypatch) -> str:
    monkeypatch.setenv("CANARY_KEY", CANARY)
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "OTHER")
    return CANARY


@pytest.fixture
def allowed(held, monkeypatch) -> str:
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "CANARY_KEY")
    return held


NOT_ALLOWED = "the environment variable CANARY_KEY must be named in SYNTHRISK_VARIABLES"


def assert_refused(said, words: str = NOT_ALLOWED) -> None:
    assert (said.code, tells(said.out + said.err)) == (2, False)
    assert not any(map(tells, _Tables.asked))
    assert words in said.err


def tells(text: str) -> bool:
    return any("Kohlmeise" in each for each in (text, unquote(text))) or holds(text.encode(), CANARY)


TAKING = {
    "a file by URL": lambda at: ["data.source", f"{at}/{NAMED}/people.csv"],
    "a token behind a question mark": lambda at: ["data.source", f"{at}/people.csv?token={NAMED}"],
    "a password": lambda at: ["data.source", f"http://me:{NAMED}@{at[7:]}/people.csv"],
    "a whole address": lambda _: ["data.source", NAMED],
    "a file by path": lambda _: ["data.source", f"{NAMED}/people.csv"],
    "a workbook": lambda at: ["data.source", f"{at}/{NAMED}.xlsx#Sheet"],
    "a database": lambda _: ["data.source", {"url": f"sqlite:///{NAMED}.db", "query": "select 1"}],
    "a tracking server": lambda at: ["tracking.uri", f"{at}/{NAMED}"],
    "a tracking file": lambda _: ["tracking.uri", f"sqlite:///{NAMED}.db"],
}  # settings that take an address in which variables are filled in
OTHERS = {
    "a workspace": lambda at: ["workspace", f"s3://{NAMED}/work"], "a folder": lambda _: ["workspace", NAMED],
    "a table by name": lambda _: ["data.source", {"name": NAMED, "options": {}}],
    "an option of a table": lambda _: ["data.source", {"name": "adult", "options": {"rows": NAMED}}],
    "OpenML": lambda _: ["data.source", f"openml:{NAMED.lower()}"],
    "a query": lambda _: ["data.source", {"url": "sqlite:///x.db", "query": f"select '{NAMED}'"}],
    "files": lambda at: ["synthesizers", [{"name": "v", "kind": "files", "path": f"{at}/{NAMED}/people.csv"}]],
    "a callable": lambda _: ["synthesizers", [{"name": "v", "kind": "callable", "path": f"{NAMED}.py:make"}]],
    "a scheduler": lambda _: ["runner", {"kind": "dask", "address": f"tcp://{NAMED}:1"}],
    "a runner": lambda _: ["runner", {"kind": "prefect.task_runners:ThreadPoolTaskRunner", "options": {"x": NAMED}}],
    "an experiment": lambda _: ["tracking.experiment", NAMED], "a block": lambda _: ["tracking.block", NAMED],
    "a column": lambda _: ["data.columns", {"age": {"type": "date", "format": NAMED}}],
    "a unit": lambda _: ["data.columns", {"age": {"type": "number", "unit": NAMED}}],
    "a missing text": lambda _: ["data.missing", [NAMED]],
    "a source of a limit": lambda _: ["thresholds", {"risk/zero_cap": {"value": 0.1, "source": NAMED}}],
}  # fmt: skip
"""Settings in which none is."""


@pytest.fixture
def asked(settings, folder, tmp_path, host):
    def arguments(setting: str, value: object, how: str) -> list[str]:
        study = settings(tmp_path / "work", folder / "people.csv")
        if how == "a file":
            *parents, last = setting.split(".")
            inner = study
            for each in parents:
                inner = inner.setdefault(each, {})
            inner[last] = value
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(study, allow_unicode=True))
        said = [] if how == "a file" else ["--set", f"{setting}={yaml.safe_dump(value, default_flow_style=True)}"]
        return ["benchmark", str(tmp_path / "study.yaml"), *said]

    return arguments


@pytest.mark.parametrize(
    ("setting", "how"), [*((each, "a file") for each in TAKING), ("a password", "--set"), ("a database", "--set")]
)
def test_a_variable_that_is_not_allowed_is_refused_by_name_and_sent_nowhere(setting, how, asked, say, host, held):
    said = say(*asked(*TAKING[setting](host), how))
    assert_refused(said)
    assert "set SYNTHRISK_VARIABLES=OTHER,CANARY_KEY" in said.err
    assert _Tables.asked == []


@pytest.mark.parametrize("setting", OTHERS)
def test_elsewhere_no_variable_is_filled_in(setting, asked, host, allowed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = asked(*OTHERS[setting](host), "a file")[1]
    refused = ""
    try:
        check(load(path))
    except InputError as error:
        refused = str(error)
    assert not tells(refused)
    assert not any(map(tells, _Tables.asked))
    assert not any(tells(str(each)) for each in tmp_path.rglob("*"))


OTHER_COMMANDS = {"init": ["init", "--yes"], "ui": ["ui", "--tracking-uri"], "compare": ["compare", "--tracking-uri"]}


@pytest.mark.parametrize("told", ["--real", "--control", "--synthetic", "--tracking-uri", "--study", *OTHER_COMMANDS])
def test_other_commands_take_none_that_is_not_allowed(told, say, folder, tmp_path, host, held, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people, address = str(folder / "people.csv"), f"{host}/{NAMED}/people.csv"
    given = {"--real": people, "--synthetic": people, "--quasi-identifiers": "age,city", "--sensitive": "income"}
    given |= {told: address, "--workspace": "work"}
    evaluate = ["evaluate", *(part for pair in given.items() for part in pair)]
    arguments = [*OTHER_COMMANDS[told], address] if told in OTHER_COMMANDS else evaluate
    assert_refused(
        say(*arguments), "" if told in ("--synthetic", "--study") else NOT_ALLOWED
    )  # where none is filled in


@pytest.fixture
def told(capfd, caplog, prefect_database) -> Iterator[list[str]]:
    caplog.set_level("DEBUG")
    texts: list[str] = []
    yield texts
    printed = capfd.readouterr()
    texts += [printed.out, printed.err, caplog.text, dump(prefect_database).decode(errors="replace")]
    assert not [each[max(0, each.find("Kohlmeise") - 300) :][:600] for each in texts if tells(each)]


@pytest.mark.proof
def test_a_study_tells_nobody_the_values_in_its_addresses(settings, host, allowed, told, tmp_path):
    (tmp_path / CANARY).mkdir()
    source, uri = f"{host}/{NAMED}/people.csv", f"sqlite:///{tmp_path}/{NAMED}/store.db"
    study = settings(tmp_path / "work", Path("x"), tracking={"uri": uri}, thresholds={"risk/zero_cap": 0.01})
    study |= {"data": study["data"] | {"source": source}, "runner": {"workers": 1}}
    outcome = benchmark(study)
    assert any(unquote(each) == f"/{CANARY}/people.csv" for each in _Tables.asked)  # it was filled in
    store = tmp_path / CANARY / "store.db"
    runs = MlflowClient(f"sqlite:///{store}").search_runs([outcome.logged.experiment_id])
    assert {r.data.tags["role"] for r in runs} == {"study", "synthesizer"}
    assert outcome.logged.uri == f"sqlite:///{tmp_path}/{NAMED}/store.db"
    told += [repr(outcome), dump(store).decode(errors="replace").replace(str(tmp_path / CANARY), "")]
    assert holding([CANARY, quote(CANARY)], tmp_path / "work") == []
    assert NAMED in (tmp_path / "work" / "reports" / outcome.result.study_id / "report.html").read_text()


WRONG = {"age": {"type": "boolean", "true_values": ["x"], "false_values": ["y"]}}
BROKEN = {
    "refused": lambda at, _: {"data.source": f"{at}/{NAMED}/none.csv"},
    "not there": lambda at, _: {"data.source": f"/{NAMED}/people.csv"},
    "no such protocol": lambda at, _: {"data.source": f"{NAMED}://people.csv"},
    "another format": lambda at, _: {"data.source": f"{at}/{NAMED}.docx"},
    "no table": lambda at, _: {"data.source": f"{at}/people.csv?{NAMED}", "data.columns": WRONG},
    "no database": lambda at, folder: {"data.source": {"url": f"sqlite:///{folder}/{NAMED}/x.db", "query": "select 1"}},
    "no driver": lambda at, _: {"data.source": {"url": f"{NAMED}://host/db", "query": "select 1"}},
    "no host": lambda at, _: {"tracking.uri": f"http://{NAMED}:5000"},
    "no port": lambda at, _: {"tracking.uri": f"http://127.0.0.1:9/{NAMED}"},
    "no folder": lambda at, folder: {"tracking.uri": f"sqlite:///{folder}/{NAMED}/x/store.db"},
    "no store": lambda at, folder: {"tracking.uri": f"{at}/{NAMED}"},
    "no scheme": lambda at, folder: {"tracking.uri": f"{NAMED}://host"},
}  # fmt: skip


@pytest.mark.proof
@pytest.mark.parametrize("fault", BROKEN)
def test_a_study_that_fails_tells_nobody_the_values_in_its_addresses(
    fault, settings, folder, host, allowed, told, tmp_path, monkeypatch
):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("CANARY_KEY", "kohlmeise.tz4")  # as a host and a protocol are written
    monkeypatch.setattr(f"{__name__}.CANARY", "kohlmeise.tz4")
    (tmp_path / "kohlmeise.tz4").mkdir()
    study = settings(tmp_path / "work", folder / "people.csv")
    broken = BROKEN[fault](host, tmp_path)
    overrides = [f"{name}={yaml.safe_dump(value, default_flow_style=True)}" for name, value in broken.items()]
    with pytest.raises(Exception) as raised:  # noqa: PT011 - whatever it is
        benchmark(study, overrides)
    told += [str(raised.value).replace("kohlmeise", "Kohlmeise")]
    assert "kohlmeise" not in str(raised.value).lower()
    assert holding(["kohlmeise.tz4"], tmp_path / "work") == []
