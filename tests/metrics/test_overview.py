"""The overview says of each metric what the metric itself says, and loads none to say it."""

import subprocess
import sys

import pytest

from synthrisk.metrics import METRICS, catalogue
from synthrisk.metrics.metric import Metric, Records


def test_every_metric_has_one_line_with_its_own_facts():
    lines = {line.name: line for line in catalogue.overview()}
    assert sorted(lines) == sorted(METRICS)
    for name, metric in METRICS.items():
        kind = "difference" if metric.study.difference_only else metric.label
        line = lines[name]
        assert (line.family, line.needs, line.kind) == (metric.group, metric.needs, kind), name
        assert line.sees
    assert {line.family for line in lines.values()} == set(catalogue.FAMILIES)


def test_no_two_metrics_of_a_family_have_the_same_words():
    own = [(line.family, line.sees) for line in catalogue.overview()]
    assert len(set(own)) == len(own)


def test_the_list_loads_neither_pandas_nor_scipy():
    code = (
        "import sys\n"
        "from synthrisk.flows.cli.app import main\n"
        "sys.argv = ['synthrisk', 'metrics']\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted({'pandas', 'scipy', 'sklearn', 'numba', 'prefect', 'mlflow'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout


def test_the_metric_of_another_package_is_asked(monkeypatch):
    def theirs(tables, *, quasi_identifiers, sensitive):
        """Theirs: share of [bold] things that <script> sees.

        More of it.
        """

    mine = Metric(
        "theirs", theirs, "own", needs=("quasi_identifiers", "sensitive"), records=Records(reduce=lambda records: None)
    )
    monkeypatch.setattr(catalogue, "names", lambda: ["rapid", "theirs"])
    monkeypatch.setitem(METRICS.__dict__, "_entries", {"theirs": type("E", (), {"load": lambda self: mine})()})
    *_, last = catalogue.overview()
    assert last == catalogue.Line(
        "theirs", "own", mine.needs, "signal", "Theirs: share of [bold] things that <script> sees"
    )


@pytest.mark.parametrize("name", ["Metric", "METRICS", "Tables", "InputError"])
def test_the_package_still_gives_what_it_names(name):
    import synthrisk.metrics as package

    assert getattr(package, name) is package.__dict__[name]
    assert name in package.__all__
