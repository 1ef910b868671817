"""How a command ends: 2 for what a user can mend, 4 where the run itself failed, never a traceback or a cell."""

import re
import stat
from pathlib import Path

import pytest

from synthrisk.flows.cli.exit_codes import UsageError, told
from synthrisk.metrics.errors import InputError

CELL = "Zebrafink-Qx7"


def ended(capsys, error: BaseException) -> tuple[object, str]:
    with pytest.raises(SystemExit) as end, told():
        raise error
    return end.value.code, capsys.readouterr().err


def test_wrong_input_is_its_sentence(capsys):
    assert ended(capsys, InputError("rows must be above 0, got -1")) == (2, "Error: rows must be above 0, got -1\n")


def test_a_wrong_call_is_told_apart_from_wrong_input(capsys):
    said = ended(capsys, UsageError("--csv and --json must not stand together"))
    assert said == (2, "Usage error: --csv and --json must not stand together\n")


def test_a_broken_run_names_kind_and_place_and_keeps_the_text_in_a_private_file(capsys):
    code, said = ended(capsys, OSError(f"no space left, {CELL}"))
    assert (code, said.count("\n")) == (4, 1)
    assert said.startswith("Error: the run failed: OSError in test_ends.py, line ")
    assert CELL not in said
    path = Path(re.search(r"is in (\S+)$", said.strip())[1])
    assert CELL in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.unlink()


def test_a_full_disk_does_not_hide_the_sentence(capsys, monkeypatch):
    def full(**_: object) -> None:
        raise OSError

    monkeypatch.setattr("synthrisk.flows.cli.exit_codes.tempfile.mkstemp", full)
    code, said = ended(capsys, ValueError("x"))
    assert (code, "no file, for none could be written" in said) == (4, True)


@pytest.mark.parametrize("end", [SystemExit(3), KeyboardInterrupt()])
def test_other_ends_pass(end):
    with pytest.raises(type(end)), told():
        raise end
