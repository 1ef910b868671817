"""Make an environment of another Python, install the wheel there, and run the study ``smoke`` and ``evaluate``.

The numbers of ``smoke`` must be those that it gives here, all of them. No extra is installed. Takes about six minutes.

    python tests/pythons.py [INTERPRETER ...]
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from readme_commands import make_tables
from wheel import COMMAND, LEFT, PIP, ROOT, SDIST, expect, run, smoke

VERSIONS = ("python3.13",)


def main(interpreters: list[str]) -> int:
    """Return 0 where all went well."""
    with tempfile.TemporaryDirectory(prefix="synthrisk-pythons-") as place:
        folder = Path(place)
        copy = shutil.copytree(ROOT, folder / "source", ignore=shutil.ignore_patterns(*LEFT))
        run(sys.executable, "-c", SDIST.format(folder=folder), cwd=copy)
        (sdist,) = folder.glob("*.tar.gz")
        run(sys.executable, *PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, sdist)
        (wheel,) = folder.glob("*.whl")
        numbers = smoke(Path(sys.executable), folder / "here")
        make_tables(folder, 300)
        for number, interpreter in enumerate(interpreters):
            run(interpreter, "-m", "venv", folder / f"env{number}")
            python = folder / f"env{number}" / "bin" / "python"
            run(python, *PIP, "install", "-c", ROOT / "constraints.txt", wheel)
            expect(smoke(python, folder / f"work{number}") == numbers, f"{interpreter}: smoke has other numbers")
            command = ("evaluate", "real.csv", "synthetic.csv", "--control", "heldout.csv", "--json", "answer.json")
            run(python, *COMMAND, *command, cwd=folder)
            expect(bool(json.loads((folder / "answer.json").read_text("utf-8"))), f"{interpreter}: no answer")
            print(f"{interpreter}: smoke has the same numbers, and evaluate answers")
    return 0


if __name__ == "__main__":
    missing = [each for each in sys.argv[1:] or VERSIONS if shutil.which(each) is None]
    if missing:
        sys.exit(f"interpreters must be installed, got {', '.join(missing)}, which are not")
    sys.exit(main(sys.argv[1:] or list(VERSIONS)))
