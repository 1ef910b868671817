"""Small tables, studies and runs that the tests of the flows share: a run is dear, so many tests read one."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import typer.main
import yaml

from synthrisk.flows.cli.app import command

SECRET = "Zebrafink-Qx7"
"""A cell of every real table here: it must be found nowhere but in the private folders of a workspace."""

GENERATORS = """
import pandas as pd

def resample(train: pd.DataFrame, rows: int, seed: int) -> pd.DataFrame:
    return train.sample(rows, replace=True, random_state=seed % 2**32)

def draws(train: pd.DataFrame, rows: int, seed: int) -> pd.DataFrame:
    import time
    import numpy as np
    np.random.seed(seed % 2**32)  # the generator that numpy has one of for the process
    chosen = []
    for _ in range(rows):
        chosen.append(np.random.randint(len(train)))
        time.sleep(0.0005)  # lets another thread in, as a fit that calls compiled code does
    return train.iloc[chosen]

def breaks(train: pd.DataFrame, rows: int, seed: int) -> pd.DataFrame:
    try:
        int(train["city"].astype(str).max())
    except ValueError as error:
        raise ValueError(f"cannot handle {train['city'].astype(str).max()}") from error

def stuck(train: pd.DataFrame, rows: int, seed: int) -> pd.DataFrame:
    import time
    time.sleep(3600)

def leaves(train: pd.DataFrame, rows: int, seed: int) -> pd.DataFrame:
    raise SystemExit(f"no idea of {train['city'].astype(str).max()}")

def killed(train: pd.DataFrame, rows: int, seed: int) -> pd.DataFrame:
    import os
    os.kill(os.getpid(), 9)
"""


def _people(rows: int = 240, seed: int = 0) -> pd.DataFrame:
    """Return a table in which income follows from age and city, in part."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows)
    city = rng.choice(["Graz", "Linz", "Wien", SECRET], rows)
    income = np.where((age > 45) ^ (city == "Wien") ^ (rng.random(rows) < 0.15), "high", "low")
    return pd.DataFrame({"age": age, "city": city, "hours": rng.normal(40, 8, rows).round(1), "income": income})


THREADS = {"kind": "prefect.task_runners:ThreadPoolTaskRunner"}
"""A runner with the numbers of the usual one, whose two processes import for 12 seconds a study."""


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


_made_once = cache(typer.main.get_command)  # else all commands with all their options are made for each call


def _say(*arguments: object) -> Said:
    """Run the command line in this process, as the console script does."""
    out, err = io.StringIO(), io.StringIO()
    told = patch.object(sys, "argv", ["synthrisk", *map(str, arguments)])
    made = patch.object(typer.main, "get_command", _made_once)
    with told, made, redirect_stdout(out), redirect_stderr(err):
        try:
            command()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    return Said(code, out.getvalue(), err.getvalue())


def _start(*arguments: object, cwd: Path, api: bool = True) -> subprocess.Popen[str]:
    """Run the command line in a process group of its own, against the test server, or without a Prefect API."""
    return _start_python("-m", "synthrisk.flows.cli.app", *arguments, cwd=cwd, api=api)


def _start_python(*arguments: object, cwd: Path, api: bool = True) -> subprocess.Popen[str]:
    """Run Python in a process group of its own, against the test server, or without a Prefect API."""
    from prefect.settings import PREFECT_API_URL

    environment = os.environ | ({"PREFECT_API_URL": PREFECT_API_URL.value() or ""} if api else {})
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)], cwd=cwd, env=environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip


def _settings(workspace: Path, source: Path, **parts: object) -> dict:
    """Return a cheap study: 2 folds, CAP and RAPID."""
    return {
        "name": "spine", "data": {"source": str(source), "quasi_identifiers": ["age", "city"], "sensitive": ["income"]},
        "split": {"folds": 2, "repetitions": 1}, "synthesizers": ["cart"], "references": [],
        "metrics": ["zero_cap", {"name": "rapid", "attackers": ["logistic"]}], "workspace": str(workspace)
    } | parts  # fmt: skip


def _given(what: object, told: str):
    """Return a fixture that gives what is shared."""

    @pytest.fixture(scope="session")
    def fixture():
        return what

    fixture.__doc__ = told
    return fixture


secret = _given(SECRET, "The cell that must be found nowhere.")
people = _given(_people, "The function that makes a table.")
settings = _given(_settings, "The function that makes a study's settings.")
say = _given(_say, "The command line, in this process.")
threads = _given(THREADS, "The runner that starts no processes.")
start_alone = _given(partial(_start, api=False), "The command line, in a process, without any Prefect API.")


@pytest.fixture
def plain(monkeypatch) -> None:
    """Have the command line find no Prefect API, whatever server other tests have: what it says is the same."""
    for module in ("orchestration.server", "execution.pool", "cli.evaluate"):
        monkeypatch.setattr(f"synthrisk.flows.{module}.is_configured", lambda: False)


@pytest.fixture(scope="session")
def evaluate_on_threads(prefect_database) -> Callable:
    """Give the flow ``evaluate`` where no processes are started."""
    from prefect.task_runners import ThreadPoolTaskRunner

    from synthrisk.flows.evaluate import evaluate

    def on_threads(*arguments: object, **named: object):
        with patch("synthrisk.flows.evaluate.task_runner", lambda _: ThreadPoolTaskRunner()):
            return evaluate(*arguments, **named)

    return on_threads


@pytest.fixture(scope="session")
def start(prefect_database) -> Callable[..., subprocess.Popen[str]]:
    """Give the command line, in a process of its own."""
    return _start


@pytest.fixture(scope="session")
def start_python(prefect_database) -> Callable[..., subprocess.Popen[str]]:
    """Give Python, in a process of its own."""
    return _start_python


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """A folder with ``people.csv`` and ``generators.py``."""
    place = tmp_path_factory.mktemp("flows")
    _people().to_csv(place / "people.csv", index=False)
    (place / "generators.py").write_text(GENERATORS)
    return place


@pytest.fixture(scope="session")
def run(folder, prefect_database) -> Callable:
    """Give a function that writes a study and runs the flow ``benchmark`` on it, on threads unless another is named."""
    from synthrisk.flows.benchmark import benchmark

    def run_study(workspace: str, source: str = "people.csv", **parts: object):
        study = _settings(folder / workspace, folder / source, **{"runner": THREADS} | parts)
        path = folder / f"{workspace}.yaml"
        path.write_text(yaml.safe_dump(study, allow_unicode=True))
        return benchmark(str(path))

    return run_study
