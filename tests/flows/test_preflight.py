"""Servers, places and tables that a study names are looked at, once, before anything is computed."""

import socket

import pandas as pd
import pytest
from connections import free_port
from prefect.settings import PREFECT_API_URL, temporary_settings

from synthrisk.conf import load
from synthrisk.conf.plan import plan
from synthrisk.conf.study import Data, Runner, Tracking
from synthrisk.flows import preflight as module
from synthrisk.flows.connections import check_address, check_port, check_tracking
from synthrisk.flows.evaluate_settings import check_control, check_strangers
from synthrisk.flows.orchestration.server import prefect_api
from synthrisk.flows.preflight import check, foreseen
from synthrisk.metrics import InputError
from synthrisk.metrics.study.feasibility import Foreseen
from synthrisk.tasks.data.task import given
from synthrisk.tasks.synthesize import files, find_synthesizer, try_out
from synthrisk.tasks.workspace.references import Sample

TABLE = pd.DataFrame({"age": range(40), "zip": [1, 2] * 20, "ill": ["yes", "no", "no", "no"] * 10})


@pytest.fixture
def looks(monkeypatch) -> list[int]:
    found, look = [], module.foresee
    monkeypatch.setattr(module, "foresee", lambda *given: found.append(1) or look(*given))
    return found


def test_a_table_is_looked_at_once_for_the_same_questions(tmp_path, looks):
    def told(metric: str, table: pd.DataFrame) -> Foreseen:
        table.to_csv(tmp_path / "real.csv", index=False)
        data = Data(source=str(tmp_path / "real.csv"), quasi_identifiers=["age", "zip"], sensitive=["ill"])
        sample = Sample.of(data, *given.fn(data, None, 1, str(tmp_path / "ws")), str(tmp_path / "ws"), 1)
        return foreseen(sample, plan([metric], sample.columns, sample.key, sample.sensitive))

    first = told("zero_cap", TABLE)
    assert (told("zero_cap", TABLE), len(looks)) == (first, 1)
    told("generalized_cap", TABLE)
    assert told("generalized_cap", TABLE.assign(ill=[f"of {k}" for k in range(40)])).refusals
    assert (told("zero_cap", TABLE), len(looks)) == (first, 4)


def test_a_release_is_read_beside_the_members_alone_and_once_by_all_that_look_at_it_beforehand(tmp_path, monkeypatch):
    reads, read = [], files.read_file
    monkeypatch.setattr(files, "read_file", lambda *given: reads.append(len(given[-1].train)) or read(*given))
    for name, rows in {
        "real": TABLE,
        "release": TABLE.iloc[5:25],
        "control": TABLE.assign(age=TABLE.age + 0.5),
    }.items():
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    real, release, control = (str(tmp_path / f"{name}.csv") for name in ("real", "release", "control"))
    data = Data(source=real, quasi_identifiers=["zip"], sensitive=["ill"])
    sample = Sample.of(data, *given.fn(data, control, 1, str(tmp_path / "ws")), str(tmp_path / "ws"), 1)
    check_strangers(sample, release)
    try_out(find_synthesizer("files"), {"path": release}, sample.records(), (1, 1), sample.members, sample.form)
    assert reads == [40]


@pytest.fixture
def open_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_tracking_server_must_answer(open_port, monkeypatch):
    closed = free_port()
    monkeypatch.setenv("PASSWORD", "hidden")
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "PASSWORD")
    for scheme in ("http", "postgresql+psycopg"):
        check_tracking(Tracking(uri=f"{scheme}://127.0.0.1:{open_port}"))
    for uri in (None, "sqlite:///x.db", "postgresql+psycopg:///db", "file:runs", "runs"):
        check_tracking(Tracking(uri=uri))
    with pytest.raises(InputError, match=f"got none at 127.0.0.1:{closed} .ConnectionRefusedError") as refused:
        check_tracking(Tracking(uri=f"http://me:${{PASSWORD}}@127.0.0.1:{closed}/mlflow"))
    assert "hidden" not in str(refused.value)


def test_a_scheme_that_is_none_is_refused_without_the_rest(monkeypatch):
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "HOME")
    with pytest.raises(InputError, match=r"tracking\.uri must begin with one of http, https, .*, got foo://$"):
        check_tracking(Tracking(uri="foo://me:${HOME}@host"))


def test_the_page_needs_a_port_of_its_own(open_port, tmp_path, monkeypatch, say):
    check_port(free_port())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mlflow.db").touch()
    said = say("ui", "--workspace", ".", "--port", open_port)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"Error: --port must be one at which nobody listens yet, got {open_port}; give another\n"


def test_a_prefect_server_must_answer(open_port):
    closed = free_port()
    with temporary_settings({PREFECT_API_URL: f"http://127.0.0.1:{open_port}/api"}), prefect_api() as address:
        assert address == f"http://127.0.0.1:{open_port}/api"
    for url, told in (
        (f"http://127.0.0.1:{closed}/api", f"must lead to a server that answers, got none at 127.0.0.1:{closed}"),
        ("nonsense", "must be an address such as http://host:4200/api, got one without http://"),
    ):
        refused = pytest.raises(InputError, match=f"PREFECT_API_URL {told}")
        with temporary_settings({PREFECT_API_URL: url}), refused, prefect_api():
            pytest.fail("a server that is not there was taken")


def test_the_address_of_a_dask_scheduler_has_host_and_port(open_port):
    check_address(Runner())
    for address in (f"tcp://127.0.0.1:{open_port}", f"127.0.0.1:{open_port}"):
        check_address(Runner(kind="dask", address=address))
    for address in ("tcp://host", "host:port", "tcp://"):
        with pytest.raises(InputError, match=r"runner\.address must be tcp://host:port, got"):
            check_address(Runner(kind="dask", address=address))


STUDY = {
    "name": "x", "data": {"source": "adult", "quasi_identifiers": ["age"], "sensitive": ["income"]},
    "synthesizers": ["cart"], "metrics": ["zero_cap"],
}  # fmt: skip


def test_all_of_it_is_told_at_once_and_each_problem_once(tmp_path):
    (tmp_path / "file").touch()
    study = STUDY | {"workspace": str(tmp_path / "file"), "tracking": {"uri": f"http://127.0.0.1:{free_port()}"}}
    told = r"study x has 2 errors:\n- workspace must be a folder.*\n- tracking\.uri must "
    with pytest.raises(InputError, match=told):
        check(load(study))
    study = STUDY | {"workspace": str(tmp_path), "synthesizers": [{"name": "cart", "leaves": 2}], "power": {}}
    with pytest.raises(InputError, match=r"^cart takes no option 'leaves'") as refused:
        check(load(study))
    assert "errors" not in str(refused.value)


def test_a_limit_against_control_records_needs_them():
    check_control(None, {"risk/zero_cap": 0.1})
    check_control("held.csv", {"memorization/zero_cap": 0.1})
    for name in ("memorization/zero_cap", "control_gain/rapid.income", "tpr/membership", "population_gain/rapid"):
        with pytest.raises(InputError, match=f"control must be given for the limit '{name}'"):
            check_control(None, {name: 0.1})
