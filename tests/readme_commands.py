"""Run what the README tells people to type, in an empty folder, and compare its table with the register.

python tests/readme_commands.py
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
BIN = Path(sys.executable).parent


def main() -> int:
    """Run each block; return the number of failures."""
    text, failures = README.read_text(), 0
    table = subprocess.run([BIN / "synthrisk", "metrics", "--markdown"], capture_output=True, text=True, check=True)
    if table.stdout.strip() not in text:
        print("README: the table of metrics differs from `synthrisk metrics --markdown`")
        failures += 1
    with TemporaryDirectory() as place:
        make_tables(Path(place))
        script = ""
        for language, block in BLOCKS.findall(text):
            script += block if language == "python" else ""  # a block goes on where the last one ended
            for command in commands(language, script if language == "python" else block):
                print("+", shlex.join(command) if language == "bash" else "python block", flush=True)
                done = subprocess.run(command, cwd=place, env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"})
                if done.returncode not in (0, 1) or (language == "python" and done.returncode):
                    print(f"README: exit code {done.returncode}")
                    failures += 1
    return failures


def commands(language: str, block: str) -> list[list[str]]:
    """Return the commands of a block; console blocks (make) are what runs this."""
    if language == "python":
        return [[sys.executable, "-c", block]]
    return [shlex.split(line, comments=True) for line in block.splitlines()] if language == "bash" else []


def make_tables(folder: Path) -> None:
    """Write the files that the README speaks of: small parts of Adult."""
    from synthrisk.tasks.data import read

    adult = read("adult")[["age", "sex", "education", "hours_per_week", "income"]].sample(900, random_state=0)
    for name, rows in (("real", slice(0, 300)), ("heldout", slice(300, 600)), ("synthetic", slice(600, 900))):
        adult.iloc[rows].to_csv(folder / f"{name}.csv", index=False)


if __name__ == "__main__":
    sys.exit(main())
