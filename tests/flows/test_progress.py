"""Progress: a bar on a terminal, a line now and then where there is none."""

import io
import time
from threading import Event, Thread

import pytest
from rich.console import Console
from waiting import until

from synthrisk.flows import study_course
from synthrisk.flows.execution.calls_and_retries import PlainCalls
from synthrisk.flows.orchestration import progress
from synthrisk.flows.orchestration.progress import Lines, shown
from synthrisk.flows.time_estimate import Pace
from synthrisk.metrics.study.ledger import Cell
from synthrisk.tasks.attack import Step, steps_in


def lines_of(*waits: float) -> list[str]:
    """Return the lines of releases that end so many seconds after one another."""
    out, now = io.StringIO(), [100.0]
    lines, pace = Lines(Console(file=out, width=40), len(waits), lambda: now[0]), Pace(len(waits), clock=lambda: now[0])
    for done, seconds in enumerate(waits, 1):
        now[0] += seconds
        lines.advance(done, pace.left(done))
    return out.getvalue().splitlines()


def test_a_line_a_tenth_or_each_ten_seconds_says_how_long_it_still_takes():
    said = lines_of(*[1.5] * 42)
    assert said[:2] == [
        "releases attacked: 5 of 42, about 60 seconds left",
        "releases attacked: 10 of 42, about 50 seconds left",
    ]
    assert said[5] == "releases attacked: 30 of 42, about 20 seconds left"
    assert (said[-1], len(said)) == ("releases attacked: 42 of 42", 9)
    assert lines_of(*[5.0] * 1000)[:2] == [
        "releases attacked: 2 of 1000, about 83 minutes left",
        "releases attacked: 4 of 1000, about 83 minutes left",
    ]


@pytest.mark.parametrize(("total", "seconds", "most"), [(1000, 0.1, 10), (1000, 5.0, 500), (3, 400.0, 3), (1, 1.0, 1)])
def test_lines_are_few(total, seconds, most):
    said = lines_of(*[seconds] * total)
    assert 1 <= len(said) <= most
    assert all(line.count("\n") == 0 and line.startswith("releases attacked: ") for line in said)


def test_a_long_step_is_told_while_it_goes_on(capsys):
    with progress.beating(lambda: "membership, 40 %", pause=0.05), progress.beating(lambda: "inside", pause=0.05):
        time.sleep(0.2)
    assert set(capsys.readouterr().err.splitlines()) == {"inside"}  # the innermost, which knows more
    with progress.beating(lambda: "membership, 40 %", pause=0.05):
        time.sleep(0.2)
    assert set(capsys.readouterr().err.splitlines()) == {"membership, 40 %"}


def test_steps_of_cells_are_told_until_they_end(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_PAUSE", 0.05)
    with progress.progress(5, attacks=600.0) as bar:
        bar.advance("release")
        with bar.watching(lambda: ["copy: membership, 40 %"]):
            time.sleep(0.4)
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "releases attacked: 1 of 5, about 5 minutes left"
    assert said[-1] == "releases attacked: 1 of 5; copy: membership, 40 %; about 5 minutes left"


def test_a_step_is_told_when_it_begins_and_taken_away_where_the_process_ends(capsys, monkeypatch):
    with progress.step("writing the report"):
        assert capsys.readouterr().err == "writing the report\n"
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with progress.step("opening the store"):
        progress.end_moving()
        capsys.readouterr()
        time.sleep(0.3)  # it would be drawn three times
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("terminal", "lines"), [("1", 3), ("0", 1)])
def test_what_is_said_is_wrapped_between_words_on_a_terminal_alone(capsys, monkeypatch, terminal, lines):
    monkeypatch.setenv("TTY_COMPATIBLE", terminal)
    monkeypatch.setenv("COLUMNS", "40")
    words = "of this table's columns three were left out, because they hold the names of people"
    progress.warn([words])
    said = capsys.readouterr().err.splitlines()
    assert len(said) == lines
    assert " ".join(" ".join(said).replace("\x1b[33m", "").replace("\x1b[0m", "").split()) == f"Mind {words}"


def test_what_is_printed_in_a_step_is_on_lines_of_its_own(capsys, monkeypatch):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with progress.step("reading the tables"):
        with progress.paused():
            Console().print("Known  age")
        progress.say("found again: 2 of 3")
    said = capsys.readouterr()
    assert said.out == "Known  age\n"  # not where the step moves
    assert "found again: 2 of 3\n" in said.err
    assert "tables" not in said.err.partition("found again")[0].rpartition("\x1b[2K")[2]


def test_a_terminal_gets_a_bar_and_else_there_are_lines():
    out = io.StringIO()
    with shown(Console(file=out, force_terminal=True, width=80), 2) as show:
        show("cart [bold] 1", 1, "about 2 seconds left")
    assert "releases attacked" not in out.getvalue()
    assert [each for each in ("1/2", "about 2 seconds left", "cart [bold] 1") if each not in out.getvalue()] == []
    out = io.StringIO()
    with shown(Console(file=out, width=80), 2) as show:
        show("cart [bold] 1", 1, "about 2 seconds left")
        show("cart 2", 2, "")
    assert out.getvalue().splitlines()[-1] == "releases attacked: 2 of 2"
    assert "\x1b" not in out.getvalue()


def test_what_goes_before_the_first_release_is_not_reckoned_with():
    assert lines_of(300.0, 10.0, 10.0, 10.0) == [
        "releases attacked: 1 of 4", "releases attacked: 2 of 4, about 20 seconds left",
        "releases attacked: 3 of 4, about 10 seconds left", "releases attacked: 4 of 4",
    ]  # fmt: skip


def test_one_time_is_left_whether_a_release_ends_or_a_step_goes_on_and_two_at_once_are_not_taken_for_a_fast_pace():
    now = [0.0]
    pace = Pace(6, 160.0, 20.0, lambda: now[0])
    truth, said = 135.0, []
    for done, moment in enumerate([35.0, 38.5, 70.6, 72.4, 92.0], 1):
        now[0] = moment
        words = pace.left(done)
        said.append((words, truth - moment))
        assert pace.left_now() == words
    seconds = [float(words.split()[1]) * (60 if "minutes" in words else 1) for words, _ in said]
    assert all(0.5 <= told / left <= 2 for told, (_, left) in zip(seconds, said, strict=True)), said


def test_generators_that_learn_for_long_make_releases_late_and_not_what_ends_a_study():
    now = [0.0]
    pace = Pace(10, 10.0, 20.0, lambda: now[0])
    now[0] = 900.0
    assert pace.left(9) == "about 2 minutes left"


class Cells:
    def __init__(self, name: str):
        self.name, self.over = name, Event()

    def has_ended(self, seconds: float = 0.0) -> bool:
        return self.over.wait(seconds)

    def failure(self) -> None:
        assert self.over.is_set()


def test_cells_are_counted_when_they_end():
    order = []
    one, two, three = every = [Cells(name) for name in ("one", "two", "three")]

    def count() -> None:
        order.extend(each.name for each in study_course._as_they_end(every))

    counting = Thread(target=count)
    counting.start()
    for each in (three, one, two):
        each.over.set()
        until(lambda each=each: each.name in order, seconds=30, pause=0.01)
    counting.join()
    assert order == ["three", "one", "two"]


def test_what_is_called_when_asked_for_is_called_in_order():
    called = []
    asked = [PlainCalls().submit(_Noted(called, name)) for name in ("one", "two")]
    assert (asked[0].has_ended(), called) == (False, [])
    assert ([each.result() for each in study_course._as_they_end(asked)], called) == (["one", "two"],) * 2


class _Noted:
    def __init__(self, called: list[str], name: str):
        self.called, self.name = called, name

    def fn(self) -> str:
        self.called.append(self.name)
        return self.name


def test_a_step_is_seen_by_others_until_its_cell_has_ended(tmp_path):
    cell = Cell("near-copy", 1, 2)
    with Step(tmp_path, cell.name) as step:
        assert steps_in(tmp_path) == {}
        step.tell("membership")
        assert steps_in(tmp_path) == {cell.name: "membership"}
        step.tell_again("accuracy")
        assert steps_in(tmp_path) == {cell.name: "accuracy, second reading"}
    assert steps_in(tmp_path) == {}
