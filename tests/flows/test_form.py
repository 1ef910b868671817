"""What Prefect's forms offer for the parameters of our flows, and that all that was taken before is taken still."""

from pathlib import Path

import pytest
from prefect.utilities.callables import parameter_schema
from prefect.utilities.schema_tools.validation import validate

from synthrisk.conf import load
from synthrisk.conf.loader import shipped
from synthrisk.flows.benchmark import benchmark
from synthrisk.flows.evaluate import evaluate
from synthrisk.metrics import METRICS

FILES = {"real": "real.csv", "synthetic": "release.csv"}


def schema(flow) -> dict:
    return parameter_schema(flow.fn).model_dump()


def choices(flow, parameter: str) -> dict:
    return {each.get("title") or each["type"]: each for each in schema(flow)["properties"][parameter]["anyOf"]}


@pytest.mark.parametrize("flow", [benchmark, evaluate], ids=lambda flow: flow.name)
def test_every_parameter_is_described(flow):
    for name, each in schema(flow)["properties"].items():
        assert each.get("description"), name


def test_shipped_studies_and_metrics_are_choices_and_a_limit_is_called_so():
    assert list(choices(benchmark, "study")) == ["shipped", "file", "settings"]
    assert choices(benchmark, "study")["shipped"]["enum"] == list(shipped())
    assert choices(evaluate, "study")["shipped"]["enum"] == list(shipped())
    assert choices(evaluate, "metrics")["names"]["items"]["enum"] == ["all", *METRICS]
    assert schema(evaluate)["properties"]["references"]["enum"] == ["limited", "all", "none"]
    described = {name: each["description"] for name, each in schema(evaluate)["properties"].items()}
    assert "limit" in described["references"]
    assert not [name for name, text in described.items() if "threshold" in text.lower()]


@pytest.mark.parametrize(("flow", "parameters"), [
    (benchmark, {}), (benchmark, {"study": "adult", "tracking_uri": ""}),
    (benchmark, {"study": "mine.yaml", "overrides": ["split.folds=3"], "tracking_uri": None}),
    (benchmark, {"study": {"name": "mine"}}), (evaluate, FILES),
    (evaluate, FILES | {"metrics": ["all"], "study": "adult"}),
    (evaluate, FILES | {"metrics": ["zero_cap", {"name": "rapid", "threshold": 0.5}], "study": "mine.yaml"}),
    (evaluate, FILES | {"metrics": None, "study": None, "thresholds": {"risk/rapid": 0.1}}),
    (evaluate, FILES | {"limits": {"risk/rapid": 0.1}, "limit_source": "the board"}),
])  # fmt: skip
def test_a_server_takes_what_the_flow_takes(flow, parameters):
    validate(parameters, schema(flow), raise_on_error=True)
    assert flow.validate_parameters(parameters).items() >= parameters.items()


def test_a_server_refuses_what_no_flow_takes():
    with pytest.raises(Exception, match="is not valid under any of the given schemas"):
        validate({"study": 3}, schema(benchmark), raise_on_error=True)


@pytest.mark.parametrize("study", [Path("mine.yaml"), load("smoke")], ids=["path", "study"])
def test_a_flow_takes_paths_and_studies_too(study):
    taken = benchmark.validate_parameters({"study": study})["study"]
    assert taken == study
    assert type(taken) is type(study)
