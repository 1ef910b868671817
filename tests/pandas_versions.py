"""Run the core with the oldest and the newest pandas that it says it works with: same tests, same numbers.

Each in an environment of its own, without the extra ``sdv``, which alone needs pandas below 3. The study ``smoke``
gives the numbers of this environment there, to the bit.

    python tests/pandas_versions.py [VERSION ...]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
VERSIONS = ("2.2.*", "3.*")
EXTRAS = "dask,postgresql,fair,files,s3"
TOOLS = ("pytest>=9", "pytest-xdist", "hypothesis", "moto[s3]>=5.1", "openpyxl>=3.1")
NOT_PINNED = ("pandas", "pandas-stubs", "sdv", "sdmetrics", "rdt", "copulas", "ctgan", "deepecho", "torch")
LEFT = (".git", ".*", "build", "*.egg-info", "__pycache__")
PLACES = ("tests/metrics", "tests/conf", "tests/tasks/data", "tests/tasks/propose", "tests/tasks/synthesize")


def main(versions: list[str]) -> int:
    """Return how many versions failed."""
    with tempfile.TemporaryDirectory(prefix="synthrisk-pandas-") as place:
        own = numbers(Path(sys.executable), Path(place) / "own")
        return sum(not works(version, Path(place) / f"pandas-{version.strip('.*')}", own) for version in versions)


def works(version: str, folder: Path, own: dict[str, Any]) -> bool:
    """Tell whether tests and study pass with a version of pandas."""
    copy = shutil.copytree(ROOT, folder / "source", ignore=shutil.ignore_patterns(*LEFT))
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    pins = [
        line
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        if line.partition("==")[0].lower() not in NOT_PINNED
    ]
    (folder / "constraints.txt").write_text("\n".join(pins), "utf-8")
    install = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-c",
        folder / "constraints.txt",
    ]
    run(*install, "setuptools>=77", "wheel", cwd=copy)
    run(*install, "--no-build-isolation", "-e", f".[{EXTRAS}]", f"pandas=={version}", *TOOLS, cwd=copy)
    run(python, "-c", "import pandas; print('pandas', pandas.__version__)", cwd=folder)
    passed = run(python, "-m", "pytest", "-n", "auto", "--maxprocesses", "4", *PLACES, cwd=copy, check=False)
    same = numbers(python, folder / "work") == own
    print(f"pandas {version}: tests {'pass' if passed else 'FAIL'}, smoke {'is the same' if same else 'DIFFERS'}")
    return passed and same


def numbers(python: Path, folder: Path) -> dict[str, Any]:
    """Return all that the study ``smoke`` says, without what names the run."""
    folder.mkdir(parents=True)
    command = [python, "-m", "synthrisk.flows.cli.app", "benchmark", "smoke", "--json", folder / "smoke.json"]
    done = subprocess.run(list(map(str, command)), cwd=folder, env=environment(), capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"smoke ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    found: dict[str, Any] = json.loads((folder / "smoke.json").read_text("utf-8"))
    del found["study_id"], found["facts"]
    return found


def run(*command: object, cwd: Path, check: bool = True) -> bool:
    """Run a command; tell whether it ended well."""
    return subprocess.run(list(map(str, command)), cwd=cwd, env=environment(), check=check).returncode == 0


def environment() -> dict[str, str]:
    """Return variables without those that lead to another environment."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PREFECT_", "MLFLOW_", "PYTEST_"))}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(VERSIONS)))
