"""Run what README and pages of docs tell people to type, each page in an empty folder, and check the table of metrics.

python tests/readme_commands.py [PAGE ...]
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
DOCS = ("own_table", "python", "own_attack", "first_study", "compare_mlflow", "mlflow", "vendor_ci")
PAGES = ("README.md", *(f"docs/{name}.md" for name in DOCS))
BLOCKS = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
BIN = Path(sys.executable).parent


def main(pages: list[str]) -> int:
    """Run the blocks of each page, two pages at a time; return the number of failures, which are printed last."""
    table = subprocess.run([BIN / "synthrisk", "metrics", "--markdown"], capture_output=True, text=True, check=True)
    differs = table.stdout.strip() not in (ROOT / "docs" / "metrics.md").read_text("utf-8")
    failed = ["docs/metrics.md: the table of metrics differs from `synthrisk metrics --markdown`"] if differs else []
    with ThreadPoolExecutor(2) as beside:
        for passed, said in beside.map(run, pages or PAGES):
            print(said, flush=True) if passed else failed.append(said)
    print(*failed, sep="\n")
    return len(failed)


def run(page: str) -> tuple[bool, str]:
    """Run the blocks of a page up to the first that fails; return whether none did, and what they said."""
    said = ""
    with TemporaryDirectory() as place:
        make_tables(Path(place), 3000 if "vendor" in page else 300)  # a tutorial's answer is a word that decides
        for language, block in parts((ROOT / page).read_text("utf-8")):
            for command in commands(language, block):
                said += f"{page} + {shlex.join(command) if language == 'bash' else 'python block'}\n"
                environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "MPLBACKEND": "agg"}
                done = subprocess.run(
                    command, cwd=place, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
                )
                said += done.stdout
                if done.returncode not in (0, 1) or (language == "python" and done.returncode):
                    return False, f"{said}{page}: exit code {done.returncode}"
    return True, said


def parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield the blocks of a page; Python goes on where its last block ended, and what stands in a row is run once."""
    script, blocks = "", BLOCKS.findall(text)
    for (language, block), (following, _) in pairwise([*blocks, ("", "")]):
        script += block if language == "python" else ""
        if language != "python":
            yield language, block
        elif following != "python":
            yield language, script


def commands(language: str, block: str) -> list[list[str]]:
    """Return the commands of a block; console blocks (make, servers) are not run."""
    if language == "python":
        return [[sys.executable, "-c", block]]
    lines = block.replace("\\\n", " ").splitlines() if language == "bash" else []
    return [command for line in lines if (command := shlex.split(line, comments=True))]


def make_tables(folder: Path, rows: int) -> None:
    """Write the files that the pages speak of: parts of Adult, of so many rows each."""
    from synthrisk.tasks.data import read

    adult = read("adult")[["age", "sex", "education", "hours_per_week", "income"]].sample(3 * rows, random_state=0)
    for at, name in enumerate(("real", "heldout", "synthetic")):
        adult.iloc[at * rows : (at + 1) * rows].to_csv(folder / f"{name}.csv", index=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
