"""What each measure has seen of leaks of known dose, and what it was blind to, on the terminal: the shipped atlas."""

from collections.abc import Sequence
from math import isnan

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from synthrisk.metrics.digest import BY_EPSILON, Answer, Digest, dose_in_words, shipped

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
    for table, words in digest.grid["tables"].items():
        answers = [each for each in own if each.table == table]
        main = [each for each in answers if each.quantity == _MAIN]
        if not main:
            continue
        grid = Table.grid(padding=(0, 2))
        for leak, known in digest.leaks.items():
            grid.add_row(Text(known["words"]), Text(_seen([e for e in answers if e.leak == leak])))
        one = main[0]
        alarms = (
            f"{one.alarms:.2f} [{one.alarms_lower:.2f}, {one.alarms_upper:.2f}] in {one.quiet} looks at nothing planted"
        )
        grid.add_row(Text("false alarms"), Text(alarms if one.quiet else "not known: no interval"))
        console.print(Padding(Text(words), (0, 0, 0, 2)))
        console.print(Padding(grid, (0, 0, 0, 4), expand=False))
    console.print(Padding(Text(_MIND), (0, 0, 0, 2)))


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
    leaks = digest.leaks
    for table, words in digest.grid["tables"].items():
        console.print(Text(words, "bold"))
        own = {(e.measure, e.leak): e for e in digest.answers if (e.table, e.quantity) == (table, _MAIN)}
        measures = list(dict.fromkeys(measure for measure, _ in own))
        width = max(map(len, measures))
        numbers = "".join(f"{number:>4}" for number in range(1, len(leaks) + 1))
        console.print(Text(f"  {'':<{width}}{numbers}"))
        for measure in measures:
            cells = "".join(f"{_mark(own.get((measure, leak))):>4}" for leak in leaks)
            console.print(Text(f"  {measure:<{width}}{cells}"), soft_wrap=True)
    for number, (leak, known) in enumerate(leaks.items(), 1):
        unit = "epsilon" if leak == BY_EPSILON else "%"
        console.print(Text(f"{number}  {known['words']} ({unit})", "dim"))
    legend = f"Smallest dose that memorization sees in four studies of five; . blind, ! too many false alarms.\n{_MIND}"
    _print_words(console, digest, legend)


def _print_words(console: Console, digest: Digest, legend: str) -> None:
    left_out = f" Not run: {', '.join(digest.grid['left_out'])}." if digest.grid["left_out"] else ""
    console.print(Text(f"{legend}\n{digest.words}.{left_out}", "dim"))


def _mark(answer: Answer | None) -> str:
    if answer is None:
        return "-"
    if answer.too_loud:
        return "!"
    if isnan(answer.smallest):
        return "."
    return f"{answer.smallest:g}" if answer.leak == BY_EPSILON else f"{100 * answer.smallest:g}"
