"""What each measure has seen of leaks of known dose, and what it was blind to, on the terminal: the shipped atlas."""

from collections.abc import Mapping, Sequence
from math import isnan

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from synthrisk.metrics.digest import BY_EPSILON, Answer, Digest, dose_in_words, mostly_loud, shipped, typical

_MAIN = "memorization"
_MIND = "What was seen in these tables says little of yours: verdicts rest on your study's own reference generators."


def print_seen(console: Console, name: str) -> None:
    """Print which leaks a measure has seen; nothing where the atlas does not know it."""
    digest = shipped()
    own = digest.of(name) if digest else []
    if digest is None or not own:
        return
    console.print(Text("\nLeaks seen", "bold"))
    console.print(Padding(Text(f"Smallest dose that four studies of five see; {digest.words}."), (0, 0, 0, 2)))
    names = digest.grid["tables"]
    known = {table: [each for each in own if each.table == table] for table in names}
    known = {table: answers for table, answers in known.items() if any(e.quantity == _MAIN for e in answers)}
    if len(known) == 1:
        ((table, answers),) = known.items()
        console.print(Padding(Text(names[table]), (0, 0, 0, 2)))
        console.print(Padding(_of_table(digest, answers), (0, 0, 0, 4), expand=False))
    else:
        console.print(Padding(_of_tables(digest, known), (0, 0, 0, 4), expand=False))
        numbered = ", ".join(f"{number} {names[table]}" for number, table in enumerate(known, 1))
        console.print(Padding(Text(f"{numbered}; . blind, ! too many false alarms"), (0, 0, 0, 4)))
    console.print(Padding(Text(_MIND), (0, 0, 0, 2)))


def _of_table(digest: Digest, answers: Sequence[Answer]) -> Table:
    """Return a line a leak: the smallest dose seen, and by which other quantity a smaller one is."""
    grid = Table.grid(padding=(0, 2))
    for leak, told in digest.leaks.items():
        grid.add_row(Text(told["words"]), Text(_seen([e for e in answers if e.leak == leak])))
    one = next(e for e in answers if e.quantity == _MAIN)
    alarms = (
        f"{one.alarms:.2f} [{one.alarms_lower:.2f}, {one.alarms_upper:.2f}] in {one.quiet} looks at nothing planted"
    )
    grid.add_row(Text("false alarms"), Text(alarms if one.quiet else "not known: no interval"))
    return grid


def _of_tables(digest: Digest, known: Mapping[str, Sequence[Answer]]) -> Table:
    """Return a line a leak, a column a table: the smallest dose seen."""
    grid = Table(box=None, padding=(0, 1), pad_edge=False)
    grid.add_column("", overflow="fold")
    for number in range(1, len(known) + 1):
        grid.add_column(str(number), justify="right", no_wrap=True)
    for leak, told in digest.leaks.items():
        cells = [_mark([e for e in own if (e.leak, e.quantity) == (leak, _MAIN)]) for own in known.values()]
        grid.add_row(f"{told['words']} ({_unit(leak)})", *cells)
    quiet = [next(e for e in own if e.quantity == _MAIN) for own in known.values()]
    grid.add_row("false alarms (%)", *(f"{100 * e.alarms:.0f}" if e.quiet else "-" for e in quiet))
    return grid


def _seen(answers: Sequence[Answer]) -> str:
    """Return the smallest dose that memorization sees, and a quantity that sees a smaller one."""
    main = next((e for e in answers if e.quantity == _MAIN), None)
    if main is None:
        return "-"
    told = _dose(main) if not main.too_loud else "cannot say: too many false alarms"
    better = [e for e in answers if not isnan(e.smallest) and not main.smallest <= e.smallest]
    if better:
        best = min(better, key=lambda e: e.smallest)
        told += f"; {best.quantity} {_dose(best)}"
    return told


def _dose(answer: Answer) -> str:
    if isnan(answer.smallest):
        seen = f" (at full dose {answer.seen_full:.0%} of studies)" if answer.seen_full else ""
        return f"blind{seen}"
    return dose_in_words(answer.leak, answer.smallest)


def print_leaks() -> None:
    """Print a line a measure, a column a leak: the smallest dose that memorization sees."""
    console, digest = Console(highlight=False), shipped()
    if digest is None:
        console.print("This installation has no atlas; make one with: synthrisk atlas")
        return
    leaks, own = digest.leaks, dict[tuple[str, str], list[Answer]]()
    for each in (e for e in digest.answers if e.quantity == _MAIN):
        own.setdefault((each.measure, each.leak), []).append(each)
    measures = list(dict.fromkeys(measure for measure, _ in own))
    columns = [
        [f"{number}", *(_mark(own.get((m, leak), [])) for m in measures)] for number, leak in enumerate(leaks, 1)
    ]
    width, widths = max(map(len, measures)), [max(map(len, column)) for column in columns]
    for measure, *marks in zip(["", *measures], *columns, strict=True):
        cells = "".join(f" {mark:>{wide}}" for mark, wide in zip(marks, widths, strict=True))
        console.print(Text(f"{measure:<{width}}{cells}"), soft_wrap=True)
    for number, (leak, known) in enumerate(leaks.items(), 1):
        console.print(Text(f"{number}  {known['words']} ({_unit(leak)})", "dim"))
    several = " and in half of the tables" if len(digest.grid["tables"]) > 1 else ""
    legend = f"Smallest dose that memorization sees in four studies of five{several}; . blind, ! too many false alarms."
    _print_words(
        console,
        digest,
        f"{legend}\nTable by table: synthrisk metrics NAME\n{_MIND}" if several else f"{legend}\n{_MIND}",
    )


def _print_words(console: Console, digest: Digest, legend: str) -> None:
    left_out = f" Not run: {', '.join(digest.grid['left_out'])}." if digest.grid["left_out"] else ""
    console.print(Text(f"{legend}\n{digest.words}.{left_out}", "dim"))


def _unit(leak: str) -> str:
    return "epsilon" if leak == BY_EPSILON else "%"


def _mark(answers: Sequence[Answer]) -> str:
    """Return the dose that is seen in half of some tables."""
    if not answers:
        return "-"
    if mostly_loud(answers):
        return "!"
    dose = typical(answers)
    if isnan(dose):
        return "."
    return f"{dose:g}" if answers[0].leak == BY_EPSILON else f"{100 * dose:g}"
