"""Servers and places that a study names are looked at before anything is computed."""

import socket

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from synthrisk.conf import load
from synthrisk.conf.study import Runner, Tracking
from synthrisk.flows.connections import check_address, check_port, check_tracking
from synthrisk.flows.evaluate_settings import check_control
from synthrisk.flows.orchestration.server import prefect_api
from synthrisk.flows.preflight import check
from synthrisk.metrics import InputError


@pytest.fixture
def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.fixture
def open_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_tracking_server_must_answer(free_port, open_port, monkeypatch):
    monkeypatch.setenv("PASSWORD", "hidden")
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "PASSWORD")
    for scheme in ("http", "postgresql+psycopg"):
        check_tracking(Tracking(uri=f"{scheme}://127.0.0.1:{open_port}"))
    for uri in (None, "sqlite:///x.db", "postgresql+psycopg:///db", "file:runs", "runs"):
        check_tracking(Tracking(uri=uri))
    with pytest.raises(InputError, match=f"got none at 127.0.0.1:{free_port} .ConnectionRefusedError") as refused:
        check_tracking(Tracking(uri=f"http://me:${{PASSWORD}}@127.0.0.1:{free_port}/mlflow"))
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize("uri", ["htp://host:5000", "foo://me:${HOME}@host"])
def test_a_scheme_that_is_none_is_refused_without_the_rest(uri, monkeypatch):
    monkeypatch.setenv("SYNTHRISK_VARIABLES", "HOME")
    with pytest.raises(InputError, match=r"tracking\.uri must begin with one of http, https, .*, got (htp|foo)://$"):
        check_tracking(Tracking(uri=uri))


def test_the_page_needs_a_port_of_its_own(free_port, open_port, tmp_path, monkeypatch, say):
    check_port(free_port)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mlflow.db").touch()
    said = say("ui", "--workspace", ".", "--port", open_port)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"Error: --port must be one at which nobody listens yet, got {open_port}; give another\n"


def test_a_prefect_server_must_answer(free_port, open_port):
    with temporary_settings({PREFECT_API_URL: f"http://127.0.0.1:{open_port}/api"}), prefect_api() as address:
        assert address == f"http://127.0.0.1:{open_port}/api"
    for url, told in (
        (f"http://127.0.0.1:{free_port}/api", f"must lead to a server that answers, got none at 127.0.0.1:{free_port}"),
        ("nonsense", "must be an address such as http://host:4200/api, got one without http://"),
    ):
        refused = pytest.raises(InputError, match=f"PREFECT_API_URL {told}")
        with temporary_settings({PREFECT_API_URL: url}), refused, prefect_api():
            pytest.fail("a server that is not there was taken")


def test_a_dask_scheduler_must_answer(free_port, open_port):
    check_address(Runner())
    for address in (f"tcp://127.0.0.1:{open_port}", f"127.0.0.1:{open_port}"):
        check_address(Runner(kind="dask", address=address))
    with pytest.raises(
        InputError, match=f"runner.address must lead to a server that answers, got none at .*{free_port}"
    ):
        check_address(Runner(kind="dask", address=f"tcp://127.0.0.1:{free_port}"))
    for address in ("tcp://host", "host:port", "tcp://"):
        with pytest.raises(InputError, match=r"runner\.address must be tcp://host:port, got"):
            check_address(Runner(kind="dask", address=address))


def test_all_of_it_is_told_at_once(tmp_path, free_port):
    (tmp_path / "file").touch()
    study = load({
        "name": "x", "data": {"source": "adult", "quasi_identifiers": ["age"], "sensitive": ["income"]},
        "synthesizers": ["cart"], "metrics": ["zero_cap"], "tracking": {"uri": f"http://127.0.0.1:{free_port}"},
        "workspace": str(tmp_path / "file"),
    })  # fmt: skip
    told = r"study x has 2 errors:\n- tracking\.uri must .*\n- workspace must be a folder"
    with pytest.raises(InputError, match=told):
        check(study)


def test_a_limit_against_control_records_needs_them():
    check_control(None, {"risk/zero_cap": 0.1})
    check_control("held.csv", {"memorization/zero_cap": 0.1})
    for name in ("memorization/zero_cap", "control_gain/rapid.income", "tpr/membership", "population_gain/rapid"):
        with pytest.raises(InputError, match=f"control must be given for the limit '{name}'"):
            check_control(None, {name: 0.1})


def test_names_that_power_takes_are_refused_and_each_problem_is_told_once(tmp_path):
    study = {
        "name": "x", "data": {"source": "adult", "quasi_identifiers": ["age"], "sensitive": ["income"]},
        "synthesizers": [{"name": "leaky-1pct", "kind": "cart"}], "metrics": ["zero_cap"], "power": {},
        "workspace": str(tmp_path),
    }  # fmt: skip
    with pytest.raises(InputError, match="must have distinct names, got 'leaky-1pct' twice"):
        check(load(study))
    with pytest.raises(InputError, match=r"^cart takes no option 'leaves'") as refused:
        check(load(study | {"synthesizers": [{"name": "cart", "leaves": 2}]}))
    assert "errors" not in str(refused.value)
