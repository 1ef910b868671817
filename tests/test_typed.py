"""The wheel is typed: the mypy of somebody who installed it sees what a measure returns."""

import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("metrics", "conf", "tasks", "flows")
FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
WHEEL = "from setuptools import build_meta; build_meta.build_wheel('..')"

USER = """
import pandas as pd
from synthrisk.conf import load
from synthrisk.metrics import METRICS, Score

def risk(real: pd.DataFrame, release: pd.DataFrame) -> float:
    score: Score = METRICS["zero_cap"](real, release, quasi_identifiers=["age"], sensitive="income")
    reveal_type(score)
    reveal_type(score.value)
    reveal_type(load("demo"))
    score.valu
    return score.value
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    source = tmp_path_factory.mktemp("built") / "source"
    for package in PACKAGES:
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__", "*.parquet"))
    for file in FILES:
        shutil.copy(ROOT / file, source / file)
    subprocess.run([sys.executable, "-c", WHEEL], cwd=source, check=True, capture_output=True)
    (made,) = source.parent.glob("*.whl")
    return made


def test_each_package_of_the_wheel_says_that_it_is_typed(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"synthrisk/{package}/py.typed" for package in PACKAGES} <= set(names)


@pytest.mark.proof  # mypy reads pandas and what else the measures use: a minute or two
def test_mypy_of_a_user_sees_the_score(wheel, tmp_path):
    venv.create(tmp_path / "env", symlinks=True)
    (here,) = (tmp_path / "env").glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(here)
    others = [path for path in sys.path if path.endswith("site-packages")]
    (here / "others.pth").write_text("\n".join(others), "utf-8")
    (tmp_path / "user.py").write_text(USER, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", "env/bin/python", "user.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    for revealed in ("synthrisk.metrics.score.Score", "float", "synthrisk.conf.study.Study"):
        assert f'Revealed type is "{revealed}"' in said.replace("builtins.float", "float")
    assert '"Score" has no attribute "valu"' in said
    assert said.count("error:") == 1, said
