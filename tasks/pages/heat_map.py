"""How strongly columns go together, as a square: real records below the diagonal, a release above it."""

from collections.abc import Mapping, Sequence
from math import isnan

from markupsafe import Markup, escape

from synthrisk.tasks.pages.figures import shortened

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
