"""What a grid of studies says of the measures, written: every look, the digest that ships, tables and a heat map."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, fields
from math import isnan
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from synthrisk.conf.grid import LEFT_OUT, WORDS, Grid
from synthrisk.metrics.atlas import Answer, Digest, dose_in_words, mostly_loud, read, text_of, typical
from synthrisk.metrics.verdicts.atlas import Look, answers
from synthrisk.tasks.workspace.digests import versions

LOOKS, DIGEST, FIGURE = "looks.csv", "atlas.json", "atlas.png"
OVERVIEW, TABLES = "atlas.md", "atlas_tables.md"
Shapes = Mapping[str, Mapping[str, float]]
_PACKAGES = ("synthrisk", "numpy", "pandas", "scikit-learn", "scipy")


def write_atlas(looks: Sequence[Look], grid: Grid, shapes: Shapes, to: Path) -> list[Path]:
    """Write all that a grid says to a folder; return what was written.

    ``shapes``: what each of its tables looks like (``shape_of``).
    """
    to.mkdir(parents=True, exist_ok=True)
    with (to / LOOKS).open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([f.name for f in fields(Look)])
        table.writerows(astuple(look) for look in looks)
    text = text_of(digest_of(looks, grid, shapes))
    (to / DIGEST).write_text(text, "utf-8")
    digest = read(text)  # the tables show the numbers that ship
    (to / OVERVIEW).write_text(overview(digest), "utf-8")
    (to / TABLES).write_text(tables(digest), "utf-8")
    draw_heat_map(digest, to / FIGURE)
    return [to / name for name in (LOOKS, DIGEST, OVERVIEW, TABLES, FIGURE)]


def digest_of(looks: Sequence[Look], grid: Grid, shapes: Shapes) -> Digest:
    """Return the digest of a grid, with what was run."""
    leaks = {
        leak: {"words": WORDS[leak], "doses": sorted({x.dose for x in looks if x.leak == leak})} for leak in grid.leaks
    }
    ran = {
        "name": grid.name,
        "tables": {t.name: t.words for t in grid.tables},
        "shapes": dict(shapes),
        **{name: getattr(grid, name) for name in ("studies", "rows", "folds", "repetitions", "nothing")},
        "leaks": leaks,
        "left_out": list(LEFT_OUT),
        "versions": versions(_PACKAGES),
    }
    return Digest(ran, answers(looks))


_MAIN = "memorization"
_SHADES = ("#f3f4f6", "#c6dbef", "#6baed6", "#2171b5", "#08306b")


def overview(digest: Digest) -> str:
    """Return a Markdown table over all tables of a digest: a row a measure, a column a leak.

    A cell is the smallest dose that memorization sees in at least half of the tables, and how many see a dose at all.
    """
    return f"{digest.words}.\n\n{_smallest(digest, digest.answers)}\n"


def tables(digest: Digest) -> str:
    """Return Markdown tables of each table of a digest: smallest doses, false alarms and values, other quantities."""
    parts = []
    for table, words in digest.grid["tables"].items():
        own = [each for each in digest.answers if each.table == table]
        parts += [f"## {words}", _smallest(digest, own), _values(digest, own), _further(digest, own)]
    return "\n\n".join(parts) + "\n"


def _by_measure(answers: Iterable[Answer]) -> list[tuple[str, dict[str, list[Answer]]]]:
    """Return the answers on memorization, one a table, by measure and leak; the measure that sees most first."""
    found: dict[str, dict[str, list[Answer]]] = {}
    for each in answers:
        if each.quantity == _MAIN:
            found.setdefault(each.measure, {}).setdefault(each.leak, []).append(each)
    return sorted(found.items(), key=lambda pair: (-_sees(e for own in pair[1].values() for e in own), pair[0]))


def _in_tables(answers: Sequence[Answer]) -> str:
    """Return the typical dose, and in how many tables one is seen, where there are several."""
    if len(answers) == 1:
        return _cell(answers[0])
    if mostly_loud(answers):
        return "alarms"
    dose, count = typical(answers), _sees(answers)
    of = f"{count} of {len(answers)}"
    if isnan(dose):
        return f"blind ({of})" if count else "blind"
    return f"{dose_in_words(answers[0].leak, dose)} ({of})"


def _smallest(digest: Digest, answers: Iterable[Answer]) -> str:
    """Return a row a measure, a column a leak: the smallest dose of which memorization sees four studies of five."""
    leaks = digest.leaks
    rows = []
    for measure, by_leak in _by_measure(answers):
        cells = [_in_tables(by_leak[leak]) if leak in by_leak else "-" for leak in leaks]
        rows.append([f"`{measure}`", *cells])
    return _table(["memorization of", *(leak["words"] for leak in leaks.values())], rows)


def _cell(answer: Answer) -> str:
    if answer.too_loud:
        return "alarms"
    return "blind" if isnan(answer.smallest) else dose_in_words(answer.leak, answer.smallest)


def _values(digest: Digest, own: Sequence[Answer]) -> str:
    """Return a row a measure: false alarms with their interval, and value and rank correlation of exact copies."""
    rows = []
    for measure, by_leak in _by_measure(own):
        answers = {leak: answer for leak, (answer,) in by_leak.items()}
        one = next(iter(answers.values()))
        cells = [f"{e.value_full:.3f} ({_number(e.rank)})" if e else "-" for e in map(answers.get, digest.leaks)]
        rows.append([f"`{measure}`", _alarms(one), _number(one.value_none), *cells])
    heads = ["memorization of", "false alarms", "no leak", *(leak["words"] for leak in digest.leaks.values())]
    return _table(heads, rows)


def _further(digest: Digest, own: Sequence[Answer]) -> str:
    """Return a row for each quantity that sees a smaller dose than memorization of the same measure does."""
    main = {(e.measure, e.leak): e for e in own if e.quantity == _MAIN}
    rows = []
    for each in own:
        before = main.get((each.measure, each.leak))
        if each.quantity == _MAIN or isnan(each.smallest) or before is None:
            continue
        if isnan(before.smallest) or each.smallest < before.smallest:
            words = digest.leaks[each.leak]["words"]
            dose = dose_in_words(each.leak, each.smallest)
            rows.append([f"`{each.quantity}` of `{each.measure}`", words, dose, _cell(before), _alarms(each)])
    heads = ["quantity", "leak", "smallest dose seen", "memorization sees", "false alarms"]
    return _table(heads, rows) if rows else "No other quantity sees a smaller dose than memorization does."


def _sees(answers: Iterable[Answer]) -> int:
    return sum(not isnan(each.smallest) for each in answers)


def _alarms(answer: Answer) -> str:
    if not answer.quiet:
        return "-"
    return f"{answer.alarms:.2f} [{answer.alarms_lower:.2f}, {answer.alarms_upper:.2f}] of {answer.quiet}"


def _number(value: float) -> str:
    return "-" if isnan(value) else f"{value:.2f}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def draw_heat_map(digest: Digest, path: Path) -> None:
    """Draw a square for each measure and leak: the darker, the smaller the dose that is seen in half of the tables."""
    leaks, rows, several = digest.leaks, _by_measure(digest.answers), len(digest.grid["tables"]) > 1
    figure = Figure(figsize=(3.6 + 5.2, 2.0 + 0.26 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for y, (_, by_leak) in enumerate(rows):
        for x, leak in enumerate(leaks):
            answers = by_leak.get(leak, [])
            shade = _shade(typical(answers), leaks[leak]["doses"])
            axes.add_patch(
                Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=_SHADES[shade], edgecolor="white", linewidth=1)
            )
            colour = "white" if shade > 2 else "#1f2937"
            axes.text(x, y, _mark(answers, several), ha="center", va="center", fontsize=6.5, color=colour)
    axes.set(xlim=(-0.5, len(leaks) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    axes.set_yticks(range(len(rows)), [measure for measure, _ in rows], fontsize=7)
    axes.set_xticks(range(len(leaks)), [leak["words"] for leak in leaks.values()], fontsize=7, rotation=40, ha="right")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    told = "Smallest dose that memorization sees in four studies of five"
    told += " and half of the tables; in brackets how many tables show any" if several else ""
    told += "; empty: blind; !: too many false alarms"
    figure.suptitle(f"{told}\n{digest.words}", fontsize=8, wrap=True)
    figure.savefig(path, dpi=130, metadata={"Software": None})


def _mark(answers: Sequence[Answer], several: bool) -> str:
    """Return what stands in a square."""
    if mostly_loud(answers):
        return "!"
    dose, count = typical(answers), _sees(answers)
    told = "" if isnan(dose) else dose_in_words(answers[0].leak, dose).removeprefix("epsilon ")
    return f"{told} ({count})".strip() if several and count else told


def _shade(dose: float, doses: Sequence[float]) -> int:
    """Return 0 where no dose is seen, 4 for the smallest of the doses, less for larger ones."""
    return 0 if isnan(dose) else max(1, len(_SHADES) - 1 - list(doses).index(dose))
