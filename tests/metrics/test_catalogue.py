"""The overview says of each metric what the metric itself says, and loads none to say it."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from synthrisk import metrics
from synthrisk.metrics import METRICS, catalogue
from synthrisk.metrics.metric import Metric, Records


def test_every_metric_has_one_line_with_its_own_facts_and_words():
    lines = {line.name: line for line in catalogue.overview()}
    assert sorted(lines) == sorted(METRICS)
    for name, metric in METRICS.items():
        kind = "difference" if metric.study.difference_only else metric.label
        line = lines[name]
        assert (line.family, line.needs, line.kind) == (metric.group, metric.needs, kind), name
        assert line.sees
    assert {line.family for line in lines.values()} == set(catalogue.FAMILIES)
    assert len({(line.family, line.sees) for line in lines.values()}) == len(lines)


CODE = """
import sys
from synthrisk.flows.cli.app import main
sys.argv = ["synthrisk", "metrics"]
try: main()
finally: print(sorted({"pandas", "scipy", "sklearn", "numba", "prefect", "mlflow"} & set(sys.modules)))
"""


def test_the_list_loads_neither_pandas_nor_scipy():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout


def test_the_metric_of_another_package_is_asked(monkeypatch):
    def theirs(tables, *, quasi_identifiers, sensitive):
        """Theirs: share of [bold] things that <script> sees.

        More of it.
        """

    needs = ("quasi_identifiers", "sensitive")
    mine = Metric("theirs", theirs, "own", needs=needs, records=Records(reduce=lambda records: None))
    monkeypatch.setattr(catalogue, "names", lambda: ["rapid", "theirs"])
    monkeypatch.setitem(METRICS.__dict__, "_entries", {"theirs": type("E", (), {"load": lambda self: mine})()})
    *_, last = catalogue.overview()
    told = "Theirs: share of [bold] things that <script> sees"
    assert (last, catalogue.in_words(mine)) == (catalogue.Line("theirs", "own", needs, "signal", told), f"{told}.")
    assert catalogue.in_words(SimpleNamespace(name="silent", function=lambda: None)) == ""


@pytest.mark.parametrize("name", ["Metric", "METRICS", "Tables", "InputError"])
def test_the_package_still_gives_what_it_names(name):
    assert getattr(metrics, name) is metrics.__dict__[name]
    assert name in metrics.__all__


@pytest.mark.parametrize("name", [n for n in METRICS if METRICS[n].function.__module__.startswith("synthrisk.")])
def test_every_metric_of_ours_is_told_in_plain_words(name):
    told = catalogue.in_words(METRICS[name])
    assert told != (METRICS[name].function.__doc__ or "").strip().splitlines()[0]
    assert told.endswith(".")
    assert not {"argmin", "AUC", "sigmoid", "Hamming"} & set(told.split())
