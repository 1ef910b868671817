"""A command ends at once, and yet everything that is to be done at its end is done."""

import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = """
import atexit, sys
from synthrisk.flows.cli import app

class TakenApart:
    def __del__(self):
        print("taken apart", flush=True)

def command():
    global kept
    kept = [TakenApart()]
    kept.append(kept)  # what refers to itself is left to the end
    atexit.register(print, "at exit")
    print("done")
    print("warned", file=sys.stderr)
    {end}

app.command = command
app.process()
"""

CALLER = """
import atexit, sys
from synthrisk.flows.cli.app import main

atexit.register(print, "at the caller's end")
sys.argv = ["synthrisk", "schema"]
try:
    main()
except SystemExit as end:
    print("ended with", end.code)
sys.exit(3)
"""


def run(end: str, **given: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", COMMAND.format(end=end)]
    return subprocess.run(
        command, text=True, check=False, stderr=subprocess.PIPE, **{"stdout": subprocess.PIPE} | given
    )


@pytest.mark.parametrize("code", [0, 1, 2])
def test_what_is_printed_and_registered_comes_out_and_nothing_is_taken_apart(code):
    done = run(f"sys.exit({code})")
    assert (done.returncode, done.stdout, done.stderr) == (code, "done\nat exit\n", "warned\n")


@pytest.mark.parametrize(
    ("end", "code", "said"), [("raise ValueError('x')", 1, "ValueError"), ("sys.exit('so')", 1, "so")]
)
def test_any_other_end_is_that_of_python(end, code, said):
    done = run(end)
    assert (done.returncode, done.stdout) == (code, "done\nat exit\ntaken apart\n")
    assert said in done.stderr


def test_a_screen_that_takes_no_more_is_told_by_python(monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with Path("/dev/full").open("w") as full:
        done = run("sys.exit(0)", stdout=full)
    assert done.returncode == 120
    assert "No space left on device" in done.stderr


def test_a_screen_that_is_closed_is_no_error():
    command = f"{sys.executable} -m synthrisk.flows.cli.app metrics >&-"
    done = subprocess.run(["/bin/sh", "-c", command], text=True, check=False, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_program_that_runs_the_command_line_ends_as_it_would_without():
    done = subprocess.run([sys.executable, "-c", CALLER], text=True, check=False, capture_output=True)
    assert (done.returncode, done.stdout.splitlines()[-2:]) == (3, ["ended with 0", "at the caller's end"])
