"""What can be said of the files in ``deployments/`` without a server."""

import inspect
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.events import DeploymentTriggerTypes
from prefect.flows import Flow, load_flow_from_entrypoint
from prefect.server.schemas.schedules import CronSchedule
from prefect.utilities.templating import apply_values
from pydantic import TypeAdapter

from synthrisk.flows.benchmark import settings_of
from synthrisk.flows.evaluate_settings import UNDERSTOOD, study_of, understood

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deployments"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SERVER = "http://127.0.0.1:5000"


def parsed(name: str) -> dict[str, Any]:
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))


DEPLOYMENTS = {d["name"]: d for d in parsed("prefect.yaml")["deployments"]}


def flow_of(name: str) -> Flow[Any, Any]:
    return load_flow_from_entrypoint(DEPLOYMENTS[name]["entrypoint"], use_placeholder_flow=False)


def parameters_of(name: str) -> dict[str, Any]:
    """Return the parameters as ``prefect deploy`` stores them: environment first, what is not set is empty."""
    return apply_values(apply_values(DEPLOYMENTS[name]["parameters"], dict(os.environ), remove_notset=False), {})


@pytest.fixture(params=[None, SERVER])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str | None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    if request.param:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", request.param)
    return request.param


@pytest.mark.parametrize("name", ["benchmark", "evaluate"])
def test_the_flow_takes_the_parameters(name: str, server: str | None) -> None:
    assert sorted(DEPLOYMENTS) == ["benchmark", "evaluate"]
    given = parameters_of(name)
    inspect.signature(flow_of(name).fn).bind(**given)
    assert flow_of(name).name == name
    assert flow_of(name).validate_parameters(given)


def test_the_study_is_tracked_where_the_environment_says_and_its_form_shows_no_override(server: str | None) -> None:
    assert parameters_of("benchmark") == {"study": "adult", "tracking_uri": server or ""}
    assert settings_of(**parameters_of("benchmark")).tracking.uri == server
    before = ([f"tracking.uri='{server}'"], "") if server else (["tracking.uri=''"],)  # in copies of an earlier file
    assert settings_of("adult", *before).tracking.uri == server


def test_the_evaluation_is_tracked_where_the_environment_says(server: str | None) -> None:
    given = parameters_of("evaluate")
    meant = understood(**dict.fromkeys(UNDERSTOOD) | {name: given[name] for name in given if name in UNDERSTOOD})
    others = {"what_if": None, "references": "limited", "experiment": "evaluate", "workspace": ".synthrisk", "seed": 1}
    study = study_of(meant, given["synthetic"], tracking_uri=given["tracking_uri"], **others)
    assert study.tracking.uri == server


def test_the_schedule_has_a_time_zone_and_the_event_brings_the_path() -> None:
    (schedule,) = DEPLOYMENTS["benchmark"]["schedules"]
    assert schedule["active"]
    assert CronSchedule(cron=schedule["cron"], timezone=schedule["timezone"]).timezone
    (trigger,) = DEPLOYMENTS["evaluate"]["triggers"]
    read = TypeAdapter(DeploymentTriggerTypes).validate_python(trigger | {"name": "published"})
    assert (read.expect, read.parameters) == ({"synthetic-data.published"}, {"synthetic": "{{ event.payload.path }}"})
    assert set(read.parameters) <= set(inspect.signature(flow_of("evaluate").fn).parameters)


def test_the_image_gets_every_package_and_nothing_else() -> None:
    allowed = set(re.findall(r"^!(\S+)", (FOLDER / "Dockerfile.dockerignore").read_text("utf-8"), re.MULTILINE))
    packages = set(PROJECT["tool"]["setuptools"]["package-dir"].values())
    metadata = {"pyproject.toml", "setup.py", PROJECT["project"]["readme"], *PROJECT["project"]["license-files"]}
    assert allowed == packages | metadata | {"constraints.txt", "deployments/prefect.yaml"}


def test_the_image_runs_without_root_and_sends_nothing() -> None:
    text = (FOLDER / "Dockerfile").read_text("utf-8")
    assert re.findall(r"^USER (\S+)", text, re.MULTILINE) == ["synthrisk"]
    off = ("SERVER_ANALYTICS_ENABLED", "CLOUD_ENABLE_ORCHESTRATION_TELEMETRY", "TELEMETRY_ENABLE_RESOURCE_METRICS")
    for setting in ("DO_NOT_TRACK=true", "MLFLOW_DISABLE_TELEMETRY=true", *(f"PREFECT_{name}=false" for name in off)):
        assert setting in text


def test_ports_are_open_to_this_machine_alone_and_postgresql_is_added_with_its_drivers() -> None:
    first, second = parsed("compose.yaml"), parsed("compose.postgresql.yaml")
    ports = [p for s in first["services"].values() for p in s.get("ports", [])]
    assert len(ports) == 2
    assert all(p.startswith("127.0.0.1:") for p in ports)
    assert set(second["services"]) - set(first["services"]) == {"postgres"}
    assert sorted(re.findall(r"postgresql([+]\w+)?://", yaml.safe_dump(second))) == ["+asyncpg", "+psycopg"]
