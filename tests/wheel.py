"""Build sdist and wheel, install the wheel and a package of somebody else's in clean environments, and run them.

An editable install hides a room that is missing from the wheel, and a plugin of ours that only works from within. The
wheel is built from the sdist, so that nothing is missing there either. There are two environments, ``lowest`` and
``newest``, each of another Python and of the versions of ``constraints-lowest.txt`` or ``constraints-newest.txt``: the
study ``smoke`` gives the numbers there that it gives here, to 12 digits, ``evaluate`` answers, and the tests of what
depends on versions pass. The extra ``sdv``, which needs an older pandas, is not in them.

A Python is taken from the path or from pyenv. Where it is not on this machine, the lowest versions are tried with the
Python that runs this, and the newest are skipped; both is said.

    python tests/wheel.py [lowest] [newest]
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from readme_commands import make_tables

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "tests" / "plugin"
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")
SDIST = "from setuptools import build_meta; build_meta.build_sdist('{folder}')"
LEFT = (".git", ".*", "build", "*.egg-info", "tests", "docs", "benchmarks")
READ = ("csv", "excel", "cell_texts", "statistical")
TESTED = ("tasks/data", "tasks/propose", *(f"tasks/workspace/test_{name}.py" for name in READ))
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "openpyxl", "statsmodels")
OF_SDMETRICS = ("utility/test_quality.py",)  # which needs an older pandas
COMMAND = ("-m", "synthrisk.flows.cli.app")
ONE = ("evaluate", "real.csv", "synthetic.csv", "--control", "heldout.csv", "--json", "answer.json")


@dataclass(frozen=True)
class Kit:
    """A Python, the versions that go with it, and the tests that run there."""

    name: str
    version: str
    tests: tuple[str, ...]
    also_here: bool  # whether the Python that runs this takes its place

    @property
    def pins(self) -> str:
        """The versions: its own, and those of ``constraints.txt`` of what it does not name."""
        own, usual = (pins(ROOT / file) for file in (f"constraints-{self.name}.txt", "constraints.txt"))
        return "\n".join((usual | own).values())

    def interpreter(self) -> str | None:
        """Return its Python, if it is on this machine, and say so if it is not."""
        found = next(installed(self.version), None)
        if found is None:
            instead = "this one takes its place" if self.also_here else "skipped"
            print(f"{self.name} versions: python{self.version} is not on this machine, {instead}", flush=True)
        return found or (sys.executable if self.also_here else None)


KITS = (
    Kit("lowest", "3.12", ("metrics/tables", "tasks/data"), also_here=True),
    Kit("newest", "3.13", ("metrics", *TESTED), also_here=False),
)


def main(names: list[str]) -> int:
    """Return 0 where all went well."""
    asked = {kit: kit.interpreter() for kit in KITS if not names or kit.name in names}
    interpreters = {kit: interpreter for kit, interpreter in asked.items() if interpreter is not None}
    with tempfile.TemporaryDirectory(prefix="synthrisk-wheel-") as place:
        folder = Path(place)
        build(folder)
        with ThreadPoolExecutor(len(KITS)) as beside:
            made = {kit: beside.submit(environment, kit, each, folder) for kit, each in interpreters.items()}
            numbers = smoke(Path(sys.executable), folder / "here")
            pythons = {kit: each.result() for kit, each in made.items()}
        for kit, python in pythons.items():
            tried(kit, python, folder / kit.name, numbers)
        if pythons:
            install(python, "--no-deps", *folder.glob("acme*.whl"))
            others(python, folder / "others")
    print("sdist and wheel: built, installed in clean environments, and run")
    return 0


def build(folder: Path) -> None:
    """Build our wheel and somebody else's from copies of their source: what an old build left there is not taken."""
    for name, source in {"synthrisk": ROOT, "acme": PLUGIN}.items():
        copy = shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(*LEFT))
        run(sys.executable, "-c", SDIST.format(folder=folder), cwd=copy)
        (sdist,) = folder.glob(f"*{name}*.tar.gz")
        run(sys.executable, *PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, sdist)


def tried(kit: Kit, python: Path, work: Path, numbers: object) -> None:
    """See that a study has the numbers that it has here, that ``evaluate`` answers, and that the tests pass."""
    began = time.monotonic()
    other = differing(numbers, smoke(python, work))
    expect(not other, f"{kit.name} versions: smoke has other numbers: {'; '.join(other[:5])}")
    make_tables(work, 300)
    run(python, *COMMAND, *ONE, cwd=work)
    expect(bool(json.loads((work / "answer.json").read_text("utf-8"))), f"{kit.name} versions: evaluate has no answer")
    tests = [ROOT / "tests" / room for room in kit.tests]
    beside = [f"--ignore={ROOT / 'tests/metrics' / name}" for name in OF_SDMETRICS]
    run(python, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", *beside, *tests, cwd=ROOT, exits=(0,))
    where = f"{kit.name} versions, {run(python, '--version').strip()}"
    took = f"{time.monotonic() - began:.0f} seconds"
    print(f"{where}: smoke has the same numbers, evaluate answers, and the tests pass; {took}", flush=True)


def installed(version: str) -> Iterator[str]:
    """Yield Pythons of a version that run: a shim of pyenv is on the path also where it runs nothing."""
    places = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python")
    for each in (shutil.which(f"python{version}"), *sorted(places)):
        if each and subprocess.run([each, "-c", "import venv"], capture_output=True).returncode == 0:
            yield str(each)


def pins(file: Path) -> dict[str, str]:
    """Return the lines of a constraints file by the name of the package."""
    lines = [line for line in file.read_text("utf-8").splitlines() if "==" in line]
    return {re.sub(r"[-_.]+", "-", line.partition("==")[0]).lower(): line for line in lines}


def environment(kit: Kit, interpreter: str, folder: Path) -> Path:
    """Return the interpreter of a new environment that holds the wheel, what it needs to read files, and the tools."""
    began = time.monotonic()
    place, pinned = folder / f"{kit.name}-env", folder / f"{kit.name}.txt"
    pinned.write_text(kit.pins, "utf-8")
    run(interpreter, "-m", "venv", "--without-pip", place)
    python = place / "bin" / "python"
    (wheel,) = folder.glob("synthrisk*.whl")
    install(python, "-c", pinned, f"synthrisk[files] @ {wheel.as_uri()}", *TOOLS)
    print(f"{kit.name} versions: installed in {time.monotonic() - began:.0f} seconds", flush=True)
    return python


def install(python: Path, *what: object) -> None:
    """Install something in an environment that has no pip: by uv; where it cannot, for it reads no settings, by pip."""
    uv = (Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--system-certs", "--python", python)
    done = subprocess.run(list(map(str, [*uv, *what])), capture_output=True, text=True)
    if done.returncode:
        print(f"uv: {done.stderr[-500:]}", flush=True)
        run(sys.executable, *PIP, "--python", python, "install", "--no-compile", *what)


def smoke(python: Path, folder: Path) -> object:
    """Return what the study ``smoke`` finds, without what tells one run from another."""
    folder.mkdir()
    run(python, *COMMAND, "benchmark", "smoke", cwd=folder)  # 1: RISK
    told = run(python, *COMMAND, "compare", "smoke", "--json", cwd=folder)
    found = json.loads(told, parse_float=lambda digits: f"{float(digits):.12g}")  # scipy's last digits are its own
    (study,) = found["studies"]
    for name in ("study_id", "start"):
        del study[name]
    for name in ("started", "versions", "release_keys", "answer_digest"):  # digests see versions, as they should
        del study["facts"][name]
    for generator in study["generators"]:
        del generator["cost"]  # seconds and memory of this run
    return found


def differing(here: object, there: object, place: str = "study") -> list[str]:
    """Return where two answers differ, with both values."""
    if isinstance(here, dict) and isinstance(there, dict) and here.keys() == there.keys():
        return [each for key in here for each in differing(here[key], there[key], f"{place}.{key}")]
    if isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        pairs = enumerate(zip(here, there, strict=True))
        return [each for i, (own, other) in pairs for each in differing(own, other, f"{place}[{i}]")]
    return [] if here == there else [f"{place} is {str(there)[:100]}, here {str(here)[:100]}"]


def others(python: Path, work: Path) -> None:
    """See what somebody else's package adds."""
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
    sys.exit(main(sys.argv[1:]))
