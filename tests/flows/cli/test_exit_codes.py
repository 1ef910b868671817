"""How a command ends: 2 for what a user can mend, 4 where the run failed, at once, and never a traceback or a cell."""

import re
import stat
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from synthrisk.flows.cli import exit_codes
from synthrisk.flows.cli.exit_codes import UsageError, is_long, told
from synthrisk.metrics.errors import InputError

CELL = "Zebrafink-Qx7"


def ended(capsys, error: BaseException) -> tuple[object, str]:
    with pytest.raises(SystemExit) as end, told():
        raise error
    return end.value.code, capsys.readouterr().err


def test_wrong_input_and_a_wrong_call_are_a_sentence_each(capsys):
    assert ended(capsys, InputError("rows must be above 0, got -1")) == (2, "Error: rows must be above 0, got -1\n")
    said = ended(capsys, UsageError("--csv and --json must not stand together"))
    assert said == (2, "Usage error: --csv and --json must not stand together\n")


def test_a_broken_run_names_kind_and_place_and_keeps_the_text_in_a_private_file_if_it_can(capsys, monkeypatch):
    code, said = ended(capsys, OSError(f"no space left, {CELL}"))
    assert (code, said.count("\n")) == (4, 1)
    assert said.startswith("Error: the run failed: OSError in test_exit_codes.py, line ")
    assert CELL not in said
    path = Path(re.search(r"is in (\S+)$", said.strip())[1])
    assert CELL in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.unlink()

    monkeypatch.setattr("synthrisk.flows.cli.exit_codes.tempfile.mkstemp", Mock(side_effect=OSError))
    code, said = ended(capsys, ValueError("x"))
    assert (code, "no file, for none could be written" in said) == (4, True)


@pytest.mark.parametrize("end", [SystemExit(3), KeyboardInterrupt()])
def test_other_ends_pass(end):
    with pytest.raises(type(end)), told():
        raise end


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


def test_a_full_screen_is_told_by_python_and_a_closed_one_is_no_error(monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with Path("/dev/full").open("w") as full:
        done = run("sys.exit(0)", stdout=full)
    assert done.returncode == 120
    assert "No space left on device" in done.stderr
    command = f"{sys.executable} -m synthrisk.flows.cli.app metrics >&-"
    done = subprocess.run(["/bin/sh", "-c", command], text=True, check=False, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_program_that_runs_the_command_line_ends_as_it_would_without():
    done = subprocess.run([sys.executable, "-c", CALLER], text=True, check=False, capture_output=True)
    assert (done.returncode, done.stdout.splitlines()[-2:]) == (3, ["ended with 0", "at the caller's end"])


@pytest.mark.parametrize(("rows", "long"), [(3, False), (4, True)])
def test_a_table_is_long_by_its_lines(tmp_path, monkeypatch, rows, long):
    monkeypatch.setattr(exit_codes, "TOGETHER", 4)
    monkeypatch.setattr(exit_codes, "_BLOCK", 3)
    (tmp_path / "real.csv").write_text("a,b\n" + "1,é\n" * rows)
    assert is_long(str(tmp_path / "real.csv")) == long


@pytest.mark.parametrize("path", [None, "", "adult", "absent.csv", "s3://bucket/real.csv", "x\0.csv", "."])
def test_what_is_no_csv_file_here_is_not_looked_at(path):
    assert not is_long(path)
