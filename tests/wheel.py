"""Build sdist and wheel, install the wheel and a package of somebody else's in clean environments, and run them.

An editable install hides a room that is missing from the wheel, and a plugin of ours that only works from within. The
wheel is built from the sdist, so that nothing is missing there either. There is an environment for the oldest and for
the newest pandas that we say we work with: the tests of what depends on pandas pass there, and the study ``smoke``
gives the numbers that it gives here, to the bit. The extra ``sdv``, which needs an older pandas, is not in them.

    python tests/wheel.py [VERSION OF PANDAS ...]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "tests" / "plugin"
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
SDIST = "from setuptools import build_meta; build_meta.build_sdist('{folder}')"
LEFT = (".git", ".*", "build", "*.egg-info", "tests", "docs", "benchmarks")
VERSIONS = ("2.2.*", "3.*")
READ = ("coded_table", "csv", "excel", "readings", "statistical")
TESTED = ("metrics/tables", "tasks/data", "tasks/propose", *(f"tasks/workspace/test_{name}.py" for name in READ))
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "openpyxl", "pyreadstat", "statsmodels", "moto[server]")
COMMAND = ("-m", "synthrisk.flows.cli.app")


def main(versions: list[str]) -> int:
    """Return 0 where all went well."""
    with tempfile.TemporaryDirectory(prefix="synthrisk-wheel-") as place:
        folder = Path(place)
        for name, source in {"synthrisk": ROOT, "acme": PLUGIN}.items():  # copies: what an old build left is not taken
            copy = shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(*LEFT))
            run(sys.executable, "-c", SDIST.format(folder=folder), cwd=copy)
            (sdist,) = folder.glob(f"*{name}*.tar.gz")
            run(sys.executable, *PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, sdist)
        numbers = smoke(Path(sys.executable), folder / "here")
        for version in versions:
            python = environment(folder / version.strip(".*"), folder, version)
            expect(smoke(python, python.parents[1] / "work") == numbers, f"pandas {version}: smoke has other numbers")
            tests = [ROOT / "tests" / room for room in TESTED]
            run(python, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", *tests, cwd=ROOT)
            print(f"pandas {version}: the tests pass, and smoke has the same numbers")
        others(python, folder)
    print("sdist and wheel: built, installed in clean environments, and run")
    return 0


def environment(place: Path, wheels: Path, version: str) -> Path:
    """Return the interpreter of a new environment that holds the wheels and a version of pandas."""
    pins = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pinned = place.with_suffix(".txt")
    pinned.write_text("\n".join(pin for pin in pins if not pin.startswith("pandas")), "utf-8")
    venv.create(place, with_pip=True)
    python = place / "bin" / "python"
    run(python, *PIP, "install", "-c", pinned, *sorted(wheels.glob("*.whl")), f"pandas=={version}", *TOOLS)
    return python


def smoke(python: Path, folder: Path) -> object:
    """Return what the study ``smoke`` finds, without what tells one run from another."""
    folder.mkdir()
    run(python, *COMMAND, "benchmark", "smoke", cwd=folder)  # 1: RISK
    found = json.loads(run(python, *COMMAND, "compare", "smoke", "--json", cwd=folder))
    (study,) = found["studies"]
    for name in ("study_id", "start"):
        del study[name]
    for name in ("started", "versions", "answer_digest"):  # the digest sees versions, as it should
        del study["facts"][name]
    return found


def others(python: Path, folder: Path) -> None:
    """See what somebody else's package adds."""
    work = folder / "others"
    work.mkdir()
    told = run(python.with_name("synthrisk"), "metrics", cwd=work)
    expect("acme_equal_cells" in told, "the register does not list somebody else's metric")
    told = run(python, *COMMAND, "benchmark", PLUGIN / "study.yaml", "--verbose", cwd=work, exits=(1,))
    expect("RISK" in told, "a release of training rows was not seen by somebody else's metric")
    expect("acme_same_job" in told or "inference.vote" in told, "somebody else's attack did not run")
    pages = [path.read_text("utf-8") for path in work.glob(".synthrisk/reports/*/report.html")]
    expect(any("of role reference" in page for page in pages), "somebody else's section is not in the report")
    expect("acme_half" in told and "INVALID" not in told, "somebody else's reference generator did not behave")


def run(*command: object, cwd: Path | None = None, exits: tuple[int, ...] = (0, 1)) -> str:
    """Return what a command prints; end with its words where its exit code is another one."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PREFECT_", "MLFLOW_"))}
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True)
    if done.returncode not in exits:
        sys.exit(f"{' '.join(map(str, command[:4]))} ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def expect(held: bool, otherwise: str) -> None:
    """End with a sentence where something does not hold."""
    if not held:
        sys.exit(otherwise)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(VERSIONS)))
