"""Errors of foreign code: told by kind and place, never by text."""

import logging
import pickle
import re
import stat
import traceback
from pathlib import Path

import pytest

from synthrisk.metrics import InputError
from synthrisk.tasks.workspace.failures import CellError, told_safely

CELL = "Zebrafink-Qx7"


def foreign() -> None:
    try:
        int(CELL)
    except ValueError as error:
        raise KeyError(f"no such city: {CELL}") from error


def failed(folder: Path, work=foreign) -> CellError:
    with pytest.raises(CellError) as caught:
        told_safely(folder, "cart-r0-f1", work)
    return caught.value


def test_text_names_kind_place_and_private_file(tmp_path):
    told = str(failed(tmp_path))
    assert re.match(
        r"KeyError in test_failure.py, line \d+, in foreign; the full text, which may hold data, is in ", told
    )
    assert CELL not in told


def test_private_file_has_the_whole_story(tmp_path):
    failed(tmp_path)
    (kept,) = (tmp_path / "failures").iterdir()
    assert kept.name.startswith("cart-r0-f1")
    text = kept.read_text()
    assert f"no such city: {CELL}" in text
    assert "invalid literal" in text
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def test_no_exception_carries_the_text_along(tmp_path):
    error: BaseException | None = failed(tmp_path)
    seen = []
    while error is not None:
        seen.append(error)
        error = error.__cause__ or error.__context__
    assert [type(e) for e in seen] == [CellError]


def test_traceback_shows_no_text(tmp_path):
    error = failed(tmp_path)
    assert CELL not in "".join(traceback.format_exception(error))


def test_log_with_exception_shows_no_text(tmp_path, caplog):
    try:
        told_safely(tmp_path, "x", foreign)
    except CellError:
        logging.getLogger("test").exception("failed")
    assert "CellError" in caplog.text
    assert CELL not in caplog.text


def test_error_travels_between_processes(tmp_path):
    error = failed(tmp_path)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert CELL.encode() not in pickle.dumps(error)


def test_wrong_input_passes_as_it_is(tmp_path):
    def wrong() -> None:
        raise InputError("the rule")

    with pytest.raises(InputError, match="the rule"):
        told_safely(tmp_path, "x", wrong)
    assert list(tmp_path.iterdir()) == []


def test_failure_within_a_failure_passes_as_it_is(tmp_path):
    def inner() -> None:
        told_safely(tmp_path, "inner", foreign)

    told = str(failed(tmp_path, inner))
    assert told.startswith("KeyError")
    assert len(list((tmp_path / "failures").iterdir())) == 1


def test_foreign_code_that_ends_the_process_has_failed(tmp_path):
    def leaves() -> None:
        raise SystemExit("Zebra")

    told = str(failed(tmp_path, leaves))
    assert told.startswith("SystemExit")
    assert "Zebra" not in told


def test_being_stopped_is_no_failure(tmp_path):
    def stopped() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        told_safely(tmp_path, "x", stopped)
    assert list(tmp_path.iterdir()) == []


def test_work_that_succeeds_leaves_nothing(tmp_path):
    assert told_safely(tmp_path, "x", lambda: 7) == 7
    assert list(tmp_path.iterdir()) == []
