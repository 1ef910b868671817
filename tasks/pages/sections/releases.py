"""What the releases have shown themselves: broken, copies, verbatim rows, rare keys; and pictures of the data.

All of it is of groups of at least ten real records: this page is logged where many can read it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from synthrisk.metrics.release.k_anonymity import SIZES
from synthrisk.metrics.utility.bins import FEWEST, MISSING, OTHERS
from synthrisk.metrics.utility.pictures import MOST_RELEASES, MOST_ROWS, Column, Made, Picture, picture
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.metrics.verdicts.tables import k_anonymity_table
from synthrisk.tasks.pages.figures import shortened
from synthrisk.tasks.pages.section import Section, Shown
from synthrisk.tasks.pages.templates import number
from synthrisk.tasks.workspace.references import Found, LedgerFolder


def _context(shown: Shown) -> Mapping[str, Any] | None:
    releases = shown.result.releases
    looked_at = {name: releases[name] for name in shown.names if name in releases}
    return {"looked_at": looked_at} if looked_at else None


RELEASES = Section("releases", "The releases before they are judged", "releases.html", _context)


def _context_k_anonymity(shown: Shown) -> Mapping[str, Any] | None:
    keys = k_anonymity_table(shown.result).to_dict("records")
    values = [] if shown.result.keys is None else list(shown.result.keys.values)
    return {"keys": keys, "sizes": SIZES, "guessed": values} if keys else None


K_ANONYMITY = Section(
    "k-anonymity", "How rare keys are (k-anonymity, l-diversity)", "k_anonymity.html", _context_k_anonymity
)

_CELL, _NAMES, _TOP = 18, 170, 20  # pixels
_STEPS = 10  # shades

Pair = tuple[str, str]


def heat_map(columns: Sequence[str], real: Mapping[Pair, float], release: Mapping[Pair, float]) -> Markup:
    """Return the square as an SVG element; associations lie in [0, 1], and one that is not known is left empty."""
    shades: dict[int, list[str]] = {}
    for below, name in enumerate(columns):
        for left, other in enumerate(columns[:below]):
            pair = (other, name) if (other, name) in real else (name, other)
            for value, x, y in ((real.get(pair), left, below), (release.get(pair), below, left)):
                if value is not None and not isnan(value):
                    shades.setdefault(round(value * _STEPS), []).append(f"M{x} {y}h1v1h-1z")
    size = len(columns)
    width, height = _NAMES + _CELL * size + 2, _TOP + _CELL * size + 2
    cells = "".join(
        f'<path d="{"".join(d)}" fill-opacity="{shade / _STEPS:g}"/>' for shade, d in sorted(shades.items())
    )
    names = "".join(_name(i, name) for i, name in enumerate(columns))
    frame = f'<path class="frame" d="M0 0H{size}V{size}H0ZM0 0L{size} {size}" vector-effect="non-scaling-stroke"/>'
    box = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    place = f'transform="translate({_NAMES} {_TOP}) scale({_CELL})"'
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {box}><g>{names}</g><g class="cells" {place}>{cells}{frame}</g></svg>'
    )
    return Markup(drawn)  # noqa: S704 - names are escaped, and all else is numbers


def _name(i: int, name: str) -> str:
    """Return a column's name and number before its row, and its number above its column."""
    told, across = escape(shortened(name, 22)), _NAMES + _CELL * i
    return (
        f'<text x="{_NAMES - 26}" y="{_TOP + _CELL * i + 13}" text-anchor="end">{told}</text>'
        f'<text x="{_NAMES - 6}" y="{_TOP + _CELL * i + 13}" text-anchor="end">{i + 1}</text>'
        f'<text x="{across + _CELL / 2:g}" y="14" text-anchor="middle">{i + 1}</text>'
    )


MOST_SYNTHESIZERS = 6
"""Synthesizers that are drawn: of more, the most and the least useful ones."""
_OPEN, _DRAWN, _LISTED, _WIDTH = 12, 30, 12, 44
_OURS = {OTHERS: "all others", MISSING: "missing"}  # names of groups


class Mark(NamedTuple):
    """The share of one group in the releases of one synthesizer."""

    number: int  # of the synthesizer, from 1: its colour and form
    place: float  # percent of the width
    height: float  # percent of the height: marks of one share stand below each other


class Bar(NamedTuple):
    """One group of a column."""

    name: str
    is_named: bool  # whether the name is a value or a range, not ours
    width: float  # percent of the width that the bar of real records has
    text: str  # the share of real records
    marks: Sequence[Mark]


class Drawing(NamedTuple):
    """One column as bars."""

    column: str
    bars: Sequence[Bar]
    is_binned: bool
    lost: str  # the distances in words
    text: str  # the whole drawing in words, for those who do not see it


class Square(NamedTuple):
    """The associations of one synthesizer."""

    synthesizer: str
    drawing: Markup
    text: str


def context(shown: Shown) -> Mapping[str, Any] | None:
    """Return what the template needs: None where the study has no release that could be drawn."""
    found = {f.name: f for f in shown.judged.estimated.found if f.generator.role == "synthesizer"}
    names = [n for n in shown.own if n in found]
    if not names:
        return None
    drawn = chosen(shown.result, names)
    try:
        made = pictured([found[name] for name in drawn])
    except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as error:  # the numbers stand without it
        return {"failure": type(error).__name__}
    shapes = [c for c in made.columns.values() if not c.reason]
    order = _worst_first(made, [c.name for c in shapes])
    paired = _pairs_worst_first(made)
    return {
        "failure": "",
        "synthesizers": drawn,
        "absent": len(names) - len(drawn),
        "drawings": [drawing(made, made.columns[name]) for name in order[:_DRAWN]],
        "open": _OPEN,
        "order": order,
        "listed": _LISTED,
        "picture": made,
        "unshown": [(c.name, c.reason) for c in made.columns.values() if c.reason],
        "unreadable": [(name, seen.unreadable) for name, seen in made.synthesizers.items() if seen.unreadable],
        "squares": [_square(made, name) for name in drawn] if made.associations else [],
        "pairs": paired[:_LISTED],
        "fewest": FEWEST,
        "most_rows": MOST_ROWS,
        "most_releases": MOST_RELEASES if any(len(found[n].ledgers) > MOST_RELEASES for n in drawn) else 0,
        "columns_of_pairs": len(shapes),
        "has_yardstick": any(not isnan(c.expected) for s in made.synthesizers.values() for c in s.columns.values()),
        "shortened": partial(shortened, width=_WIDTH),
    }


def chosen(result: StudyResult, names: Sequence[str]) -> list[str]:
    """Return the synthesizers that are drawn: all, or of many the most and the least useful, in the study's order.

    Usefulness is the study's first utility measure; without one, they are the first and the last.
    """
    if len(names) <= MOST_SYNTHESIZERS:
        return list(names)
    first = result.utility[0].measure if result.utility else None
    values = {u.synthesizer: u.at_one_size.value for u in result.utility if u.measure == first}
    known = [n for n in names if not isnan(values.get(n, float("nan")))]
    ranked = sorted(known, key=lambda n: -values[n]) if len(known) >= MOST_SYNTHESIZERS else list(names)
    half = MOST_SYNTHESIZERS // 2
    kept = {*ranked[:half], *ranked[-half:]}
    return [n for n in names if n in kept]


def pictured(found: Sequence[Found]) -> Picture:
    """Return the real table of a study beside the releases of some of its synthesizers."""
    sample = found[0].sample

    def made(ledger: LedgerFolder) -> Made:
        place = ledger.cell.repetition, ledger.cell.fold
        return Made(place, sample.held_out(*place), ledger.release.synthetic)

    releases = {each.name: [made(ledger) for ledger in each.ledgers[:MOST_RELEASES]] for each in found}
    first = [*sample.key, *sample.guessed]
    return picture(sample.records(), releases, first=first, entities=sample.entities(), seed=sample.seed)


def drawing(made: Picture, column: Column) -> Drawing:
    """Return one column as bars of real records and marks of the synthesizers."""
    losses = {n: s.columns[column.name] for n, s in made.synthesizers.items() if column.name in s.columns}
    numbers = {name: i + 1 for i, name in enumerate(made.synthesizers)}
    real = [0.0 if isnan(share) else share for share in column.shares]
    shares = {name: loss.shares for name, loss in losses.items()}
    most = max([*real, *(share for own in shares.values() for share in own)]) or 1.0
    bars, words = [], []
    for i, group in enumerate(column.groups):
        is_named = i < len(column.groups) - 2
        if isnan(column.shares[i]) and not any(own[i] > 0 for own in shares.values()):
            continue
        name = shortened(group, _WIDTH) if is_named else _OURS[group]
        text = f"< {FEWEST}" if isnan(column.shares[i]) else f"{column.shares[i]:.1%}"
        marks = [
            Mark(numbers[n], round(100 * own[i] / most, 1), round(100 * (numbers[n] - 0.5) / len(numbers), 1))
            for n, own in shares.items()
        ]
        bars.append(Bar(name, is_named, round(100 * real[i] / most, 1), text, marks))
        told = ", ".join(f"{n} {own[i]:.1%}" for n, own in shares.items())
        words.append(f"{name}: real {'under 10 records' if isnan(column.shares[i]) else text}, {told}")
    lost = "; ".join(f"{n} {number(loss.distance)}{_beside(loss.expected)}" for n, loss in losses.items())
    return Drawing(column.name, bars, column.is_binned, lost, f"{shortened(column.name, _WIDTH)}. {'; '.join(words)}")


def _beside(expected: float) -> str:
    return "" if isnan(expected) else f" (other real people {number(expected)})"


def _worst_first(made: Picture, names: Sequence[str]) -> list[str]:
    """Return columns, those first of which some synthesizer loses most beyond what other real people would."""

    def lost(name: str) -> float:
        return max((s.columns[name].beyond for s in made.synthesizers.values() if name in s.columns), default=0.0)

    return sorted(names, key=lambda name: -lost(name))


def _pairs_worst_first(made: Picture) -> list[tuple[str, str]]:
    def lost(pair: tuple[str, str]) -> float:
        return max((s.pairs[pair].own_beyond for s in made.synthesizers.values() if pair in s.pairs), default=0.0)

    return sorted(made.associations, key=lambda pair: -lost(pair))


def _square(made: Picture, name: str) -> Square:
    seen = made.synthesizers[name]
    release = {pair: loss.association for pair, loss in seen.pairs.items()}
    known = [pair for pair, value in made.associations.items() if not isnan(value)]
    strongest = sorted(known, key=lambda pair: -made.associations[pair])[:5]
    words = "; ".join(
        f"{shortened(a)} and {shortened(b)} {number(made.associations[a, b])} real, "
        f"{number(release[a, b]) if (a, b) in release and not isnan(release[a, b]) else 'none'} in the release"
        for a, b in strongest
    )
    text = f"associations of {len(made.paired)} columns, real and {name}; the strongest: {words}"
    return Square(name, heat_map(made.paired, made.associations, release), text)


DATA_PICTURES = Section("data_pictures", "Pictures of the data", "data_pictures.html", context, private=True)
