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


def test_text_names_kind_place_and_private_file_which_has_the_whole_story(tmp_path):
    told = str(failed(tmp_path))
    place = r"KeyError in test_failures.py, line \d+, in foreign; the full text, which may hold data, is in "
    assert re.match(place, told)
    assert CELL not in told
    (kept,) = (tmp_path / "failures").iterdir()
    assert kept.name.startswith("cart-r0-f1")
    assert f"no such city: {CELL}" in kept.read_text()
    assert "invalid literal" in kept.read_text()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (kept, kept.parent)] == [0o600, 0o700]


def test_no_exception_traceback_pickle_or_log_carries_the_text_along(tmp_path, caplog):
    error = failed(tmp_path)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert CELL not in "".join(traceback.format_exception(error))
    assert CELL.encode() not in pickle.dumps(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    try:
        told_safely(tmp_path, "x", foreign)
    except CellError:
        logging.getLogger("test").exception("failed")
    assert "CellError" in caplog.text
    assert CELL not in caplog.text


def raises(error: BaseException):
    def work() -> None:
        raise error

    return work


@pytest.mark.parametrize("error", [InputError("the rule"), KeyboardInterrupt("being stopped")])
def test_what_is_no_failure_passes_as_it_is_and_leaves_nothing_as_work_that_succeeds(tmp_path, error):
    with pytest.raises(type(error)) as told:
        told_safely(tmp_path, "x", raises(error))
    assert told.value is error
    assert (told_safely(tmp_path, "x", lambda: 7), list(tmp_path.iterdir())) == (7, [])


def test_a_failure_within_a_failure_passes_as_it_is_and_code_that_ends_the_process_is_one(tmp_path):
    assert str(failed(tmp_path, lambda: told_safely(tmp_path, "inner", foreign))).startswith("KeyError")
    assert len(list((tmp_path / "failures").iterdir())) == 1
    ended = str(failed(tmp_path, raises(SystemExit("Zebra"))))
    assert (ended.startswith("SystemExit"), "Zebra" in ended) == (True, False)
