"""The Prefect server of a command: configured or its own, it ends with the command, and a study goes on without it."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from urllib.error import URLError
from urllib.request import urlopen

import httpx
import prefect.context
import psutil
import pytest
import yaml
from mlflow import MlflowClient
from prefect.settings import PREFECT_API_URL, temporary_settings
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from waiting import until

from synthrisk.flows.connections import answers_at
from synthrisk.flows.orchestration.server import (
    OwnServer,
    Patient,
    begun_early,
    is_gone,
    prefect_api,
    remember,
    watched,
    with_or_without,
)


def answers(url: str) -> bool:
    with suppress(URLError), urlopen(f"{url}/health", timeout=5) as answer:
        return answer.read() == b"true"
    return False


def seen_by_a_thread() -> str | None:
    with ThreadPoolExecutor(1) as pool:  # a thread does not inherit settings of a block
        return pool.submit(PREFECT_API_URL.value).result()


@pytest.fixture
def settings_of_others() -> Iterator[None]:
    before = prefect.context.GLOBAL_SETTINGS_CONTEXT
    yield
    prefect.context.GLOBAL_SETTINGS_CONTEXT = before


@pytest.mark.proof
@pytest.mark.usefixtures("settings_of_others")
def test_a_server_of_its_own_answers_in_the_block_also_to_threads_and_ends_with_it_though_it_raises():
    seen: list[object] = []

    def fail() -> None:
        with prefect_api(meanwhile="synthrisk.flows.benchmark") as url:
            seen.extend([url, answers(url), os.environ["PREFECT_API_URL"], PREFECT_API_URL.value()])
            seen.append(seen_by_a_thread())
            raise ZeroDivisionError

    with temporary_settings({PREFECT_API_URL: None}), pytest.raises(ZeroDivisionError):
        fail()
    url = str(seen[0])
    assert seen == [url, True, url, url, url]
    assert not answers(url)
    assert "PREFECT_API_URL" not in os.environ
    assert seen_by_a_thread() != url


@pytest.mark.proof
@pytest.mark.usefixtures("settings_of_others")
def test_a_server_that_began_early_is_the_one_that_is_used_and_ends_where_nobody_comes_to_use_it(monkeypatch):
    began: list[OwnServer] = []
    make = OwnServer

    def counted() -> OwnServer:
        began.append(make())
        return began[-1]

    monkeypatch.setattr("synthrisk.flows.orchestration.server.OwnServer", counted)
    with temporary_settings({PREFECT_API_URL: None}):
        with begun_early(wanted=True), prefect_api() as url:
            assert answers(url)
        with pytest.raises(ZeroDivisionError), begun_early(wanted=True):
            raise ZeroDivisionError
        with begun_early(wanted=False):
            pass
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:1/api"}), begun_early(wanted=True):
        pass
    assert [server.api_url == url for server in began] == [True, False]
    assert not any(server.lives() for server in began)


@pytest.mark.proof
def test_task_runs_that_ask_for_slots_at_the_same_time_are_all_answered_at_once():
    asked = {"slots": 1, "names": ["tag:study:smoke"], "mode": "concurrency", "lease_duration": 60}

    def answered(_: int) -> list[int]:
        with httpx.Client(base_url=url) as client:
            answers = [client.post("/v2/concurrency_limits/increment-with-lease", json=asked) for _ in range(40)]
        return [each.status_code for each in answers]

    with temporary_settings({PREFECT_API_URL: None}), prefect_api() as url, ThreadPoolExecutor(4) as pool:
        codes = set().union(*pool.map(answered, range(4)))
    assert codes == {200}


@pytest.mark.parametrize(("refusals", "told"), [(2, 201), (10**9, 503)], ids=["for a moment", "for good"])
def test_a_request_that_the_server_is_too_busy_for_is_tried_again_with_all_that_was_sent(refusals, told, monkeypatch):
    monkeypatch.setattr("synthrisk.flows.orchestration.server._LONGEST", 0.5)
    seen: list[bytes] = []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(await Request(scope, receive).body())
        await Response(seen[-1].upper(), 503 if len(seen) <= refusals else 201)(scope, receive, send)
        if len(seen) <= refusals:
            raise OSError("database is locked")  # as Prefect's server raises what it has answered

    async def sent() -> AsyncIterator[bytes]:
        yield b"half "
        yield b"and half"

    async def asked() -> httpx.Response:
        transport = httpx.ASGITransport(Patient(answer), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.post("/", content=sent())

    said = asyncio.run(asked())
    assert (said.status_code, said.text) == (told, "HALF AND HALF")
    assert set(seen) == {b"half and half"}


def test_a_server_that_ends_at_once_is_told(monkeypatch):
    monkeypatch.setattr("synthrisk.flows.orchestration.server.sys.executable", "/bin/false")
    server = OwnServer()
    with pytest.raises(RuntimeError, match="ended with exit code 1"):
        server.wait()
    server.stop()


@pytest.fixture(autouse=True)
def looks_often(monkeypatch) -> None:
    monkeypatch.setattr("synthrisk.flows.orchestration.server._LOOK", 0.05)


def refused() -> str:
    raise ConnectionError("nobody is there")


def test_a_server_that_goes_is_seen_and_what_was_found_stands(monkeypatch, capsys):
    monkeypatch.setattr("synthrisk.flows.orchestration.server._UNSENT", threading.Event())
    server = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{server.getsockname()[1]}/api"
    with watched(partial(answers_at, address), 0):
        time.sleep(0.2)
        assert not is_gone()
        with pytest.raises(ConnectionError):
            with_or_without(refused, lambda: "without")
        server.close()
        until(is_gone, seconds=30)
        assert with_or_without(refused, lambda: "without") == "without"
        remember("found")
        assert with_or_without(refused, lambda: "without") == "found"
        assert with_or_without(lambda: "with", lambda: "without") == "with"
    assert not is_gone()
    assert capsys.readouterr().err == "the Prefect server has gone: the study goes on without it\n"


def test_one_that_is_back_in_time_has_not_gone():
    there, back = iter([True, False, False, True, True]), threading.Event()

    def answers() -> bool:
        found = next(there, None)
        if found is None:
            back.set()
        return found is not False

    with watched(answers, 30):
        assert back.wait(30)
        assert not is_gone()


@pytest.mark.proof
def test_a_study_whose_server_is_killed_ends_with_its_verdict(folder, settings, start_python):
    path, workspace = folder / "gone.yaml", folder / "gone"
    parts = {"split": {"folds": 3, "repetitions": 2}, "references": ["copy"], "metrics": ["zero_cap"]}
    limits = {"thresholds": {"memorization/zero_cap.income": -1}}
    path.write_text(yaml.safe_dump(settings(workspace, folder / "people.csv", name="gone", **parts, **limits)))
    arguments = ["benchmark", str(path), "--prefect"]
    command = f"import sys; sys.argv[1:] = {arguments}; from synthrisk.flows.cli.app import main; main()"
    text = f"import os; os.environ.pop('PREFECT_API_URL', None)\nif __name__ == '__main__':\n    {command}\n"
    (folder / "gone.py").write_text(text)
    process = start_python("gone.py", cwd=folder)
    own = psutil.Process(process.pid)
    until(lambda: [*workspace.glob("ledgers/[!.]*")], "no ledger", 240)
    (server,) = [each for each in own.children() if "uvicorn" in each.cmdline()]
    os.kill(server.pid, signal.SIGKILL)
    children = own.children(recursive=True)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 1, err
    assert "the Prefect server has gone: the study goes on without it" in err
    assert "Traceback" not in err
    assert "RISK" in out
    assert list(workspace.glob("reports/*/report.html"))
    client = MlflowClient(f"sqlite:///{workspace / 'mlflow.db'}")
    runs = client.search_runs([client.get_experiment_by_name("gone").experiment_id])
    assert {run.data.tags["role"] for run in runs} == {"synthesizer", "reference", "study"}
    assert not psutil.wait_procs(children, timeout=10)[1]


URL = "http://127.0.0.1:9/api"
PROFILE = f'active = "mine"\n[profiles.mine]\nPREFECT_API_URL = "{URL}"\n'
CASES = {  # files below the home folder (~) or the working folder, variables, and whether an API is configured
    "nothing": ({}, {}, False),
    "a variable": ({}, {"PREFECT_API_URL": URL}, True),
    "a variable in small letters": ({}, {"prefect_api_url": URL}, True),
    "the profile in use": ({"~/.prefect/profiles.toml": PROFILE}, {}, True),
    "a profile elsewhere": ({"profiles.toml": PROFILE}, {"PREFECT_PROFILES_PATH": "profiles.toml"}, True),
    "another home of Prefect": ({"~/here/profiles.toml": PROFILE}, {"PREFECT_HOME": "~/here"}, True),
    "an empty profile": ({"~/.prefect/profiles.toml": 'active = "mine"\n[profiles.mine]\n'}, {}, False),
    "a profile that Prefect ships": ({}, {"PREFECT_PROFILE": "local"}, True),
    "a variable of all that is said of the API": ({}, {"PREFECT_API": f'{{"url": "{URL}"}}'}, True),
    "prefect.toml": ({"prefect.toml": f'[api]\nurl = "{URL}"\n'}, {}, True),
    ".env": ({".env": f"prefect_api_url={URL}\n"}, {}, True),
    ".env of others": ({".env": "COLOUR=blue\n"}, {}, False),
    "pyproject.toml": ({"pyproject.toml": f'[tool.prefect.api]\nurl = "{URL}"\n'}, {}, True),
    "a project that needs Prefect": ({"pyproject.toml": '[project]\ndependencies = ["prefect"]\n'}, {}, False),
}
CHEAP = ("nothing", ".env of others", "a project that needs Prefect")
CODE = """
import sys
from synthrisk.flows.orchestration.server import is_configured
told, cheap = is_configured(), "prefect" not in sys.modules
from prefect.settings import PREFECT_API_URL
print(told, cheap, bool(PREFECT_API_URL.value()))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    def started(files, variables):
        home, place = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("place")
        for name, text in files.items():
            file = home / name[2:] if name.startswith("~") else place / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        known = {name: value for name, value in os.environ.items() if not name.upper().startswith("PREFECT_")}
        known |= {"HOME": str(home)} | {name: value.replace("~", str(home)) for name, value in variables.items()}
        return subprocess.Popen([sys.executable, "-c", CODE], cwd=place, env=known, stdout=subprocess.PIPE, text=True)

    running = {name: started(*case[:2]) for name, case in CASES.items()}
    return {name: process.communicate()[0].split() for name, process in running.items()}


@pytest.mark.proof
@pytest.mark.parametrize("name", CASES)
def test_it_says_what_prefect_says(name, told):
    said, cheap, prefects = told[name]
    assert said == prefects == str(CASES[name][2])
    assert cheap == str(name in CHEAP)


@pytest.mark.proof
def test_what_cannot_be_read_is_asked_of_prefect(tmp_path, monkeypatch):
    from synthrisk.flows.orchestration.server import _hints

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [each for each in os.environ if each.upper().startswith("PREFECT_")]:
        monkeypatch.delenv(name)
    assert not any(_hints())
    for name, content in ((".env", b"\xff\xfe"), ("pyproject.toml", b"[tool")):
        (tmp_path / name).write_bytes(content)
        assert any(_hints())
        (tmp_path / name).unlink()
