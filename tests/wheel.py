"""Build sdist and wheel, install the wheel and a package of somebody else's in a clean environment, and run them.

An editable install hides a room that is missing from the wheel, and a plugin of ours that only works from within. The
wheel is built from the sdist, so that nothing is missing there either.

    python tests/wheel.py
"""

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


def main() -> int:
    """Return 0 where all went well."""
    with tempfile.TemporaryDirectory(prefix="synthrisk-wheel-") as place:
        folder = Path(place)
        for name, source in {"synthrisk": ROOT, "acme": PLUGIN}.items():  # copies: what an old build left is not taken
            copy = shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(*LEFT))
            run(sys.executable, "-c", SDIST.format(folder=folder), cwd=copy)
            (sdist,) = folder.glob(f"*{name}*.tar.gz")
            run(sys.executable, *PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, sdist)
        venv.create(folder / "clean", with_pip=True)
        bin_ = folder / "clean" / "bin"
        wheels = sorted(folder.glob("*.whl"))
        run(bin_ / "python", *PIP, "install", "-c", ROOT / "constraints.txt", *wheels)
        work = folder / "work"
        work.mkdir()
        told = run(bin_ / "synthrisk", "metrics", cwd=work)
        expect("acme_equal_cells" in told, "the register does not list somebody else's metric")
        told = run(bin_ / "synthrisk", "benchmark", "smoke", cwd=work)
        expect("NO EVIDENCE" in told or "RISK" in told or "INCONCLUSIVE" in told, "smoke gave no verdict")
        told = run(bin_ / "synthrisk", "benchmark", PLUGIN / "study.yaml", "--verbose", cwd=work, exits=(1,))
        expect("RISK" in told, "a release of training rows was not seen by somebody else's metric")
        expect("acme_same_job" in told or "inference.vote" in told, "somebody else's attack did not run")
        pages = [path.read_text("utf-8") for path in work.glob(".synthrisk/reports/*/report.html")]
        expect(any("of role reference" in page for page in pages), "somebody else's section is not in the report")
        expect("acme_half" in told and "INVALID" not in told, "somebody else's reference generator did not behave")
    print("sdist and wheel: built, installed in a clean environment, and run")
    return 0


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
    sys.exit(main())
