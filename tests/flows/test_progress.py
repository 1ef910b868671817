"""Progress: a bar on a terminal, a line now and then where there is none."""

import io

import pytest
from rich.console import Console

from synthrisk.flows.progress import Lines, Pace, shown


def lines_of(total: int, seconds: float) -> list[str]:
    """Return what is said of releases that take so many seconds each."""
    out, now = io.StringIO(), [100.0]
    lines, pace = Lines(Console(file=out, width=40), total, lambda: now[0]), Pace(total, lambda: now[0])
    for done in range(1, total + 1):
        now[0] += seconds
        lines.advance(done, pace.left(done))
    return out.getvalue().splitlines()


def test_a_line_a_tenth_says_how_long_it_still_takes():
    said = lines_of(42, 6.0)
    assert said[:2] == [
        "releases attacked: 5 of 42, about 4 minutes left",
        "releases attacked: 10 of 42, about 3 minutes left",
    ]
    assert said[5] == "releases attacked: 30 of 42, about 70 seconds left"
    assert said[-1] == "releases attacked: 42 of 42"
    assert len(said) == 9


@pytest.mark.parametrize(("total", "seconds", "most"), [(1000, 0.1, 10), (1000, 5.0, 167), (3, 400.0, 3), (1, 1.0, 1)])
def test_lines_are_few(total, seconds, most):
    said = lines_of(total, seconds)
    assert 1 <= len(said) <= most
    assert all(line.count("\n") == 0 and line.startswith("releases attacked: ") for line in said)


def test_slow_releases_get_a_line_each_half_minute():
    assert lines_of(1000, 10.0)[:2] == [
        "releases attacked: 3 of 1000, about 2.8 hours left",
        "releases attacked: 6 of 1000, about 2.8 hours left",
    ]


def test_a_terminal_gets_a_bar_and_no_lines():
    out = io.StringIO()
    with shown(Console(file=out, force_terminal=True, width=80), 2) as show:
        show("cart [bold] 1", 1, "about 2 seconds left")
    assert "releases attacked" not in out.getvalue()
    assert "1/2" in out.getvalue()
    assert "about 2 seconds left" in out.getvalue()
    assert "cart [bold] 1" in out.getvalue()


def test_where_there_is_no_terminal_there_is_no_bar():
    out = io.StringIO()
    with shown(Console(file=out, width=80), 2) as show:
        show("cart [bold] 1", 1, "about 2 seconds left")
        show("cart 2", 2, "")
    assert out.getvalue().splitlines()[-1] == "releases attacked: 2 of 2"
    assert "\x1b" not in out.getvalue()


def test_what_goes_before_the_first_release_is_not_reckoned_with():
    out, now = io.StringIO(), [0.0]
    lines, pace = Lines(Console(file=out), 4, lambda: now[0]), Pace(4, lambda: now[0])
    for done, at in enumerate((300.0, 310.0, 320.0, 330.0), 1):
        now[0] = at
        lines.advance(done, pace.left(done))
    assert out.getvalue().splitlines() == [
        "releases attacked: 1 of 4",
        "releases attacked: 2 of 4, about 20 seconds left",
        "releases attacked: 3 of 4, about 10 seconds left",
        "releases attacked: 4 of 4",
    ]
