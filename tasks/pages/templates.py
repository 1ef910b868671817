"""HTML pages from templates: one file each, nothing fetched, nothing executed, every text escaped.

How numbers are written, what must stand beside them, and pages without values of the real table.
"""

import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import isnan
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from synthrisk.metrics.intervals.estimates import decimals
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.verdicts.results import interval_text
from synthrisk.metrics.verdicts.tables import BESIDE

_PLACES = ("synthrisk.tasks.pages", "synthrisk.tasks.pages.sections")


def render(template: str, **values: Any) -> str:
    """Return the page of a template; it has the functions below, and ``style``, too.

    ``template`` is a file of this folder or of its ``sections``, or ``<package>:<file>`` in another package.
    """
    return _environment().get_template(template).render(**values)


@cache
def looks() -> str:
    """Return a digest of our templates and styles."""
    own = [each for place in _PLACES for each in files(place).iterdir() if each.name.endswith((".html", ".css"))]
    texts = sorted((each.name, each.read_text("utf-8")) for each in own)
    return sha256(repr(texts).encode()).hexdigest()[:12]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style = Markup(_source("style.css") + _source("pictures.css"))  # noqa: S704 - ours
    functions = (number, either, breakable, interval, isnan, named, whole, listed, quoted)
    environment.globals |= {each.__name__: each for each in functions} | {"style": style}
    return environment


def _source(name: str) -> str:
    package, colon, file = name.rpartition(":")
    found = [files(place).joinpath(file) for place in ((package,) if colon else _PLACES)]
    return next((each for each in found if each.is_file()), found[0]).read_text("utf-8")


def number(value: float, sign: bool = False) -> str:
    """Return three decimals with a true minus sign, and no signed zero.

    Example:
        >>> number(0.0321, sign=True), number(-0.0001), number(-0.5)
        ('+0.032', '0.000', '−0.500')
    """
    return decimals(value, signed=sign)


def either(value: float, sign: bool = False) -> str:
    """Return a number, or a dash where there is none."""
    return "–" if isnan(value) else number(value, sign)


def interval(lower: float, upper: float, sign: bool = False) -> str:
    """Return the limits of an interval in brackets, or that there is none."""
    return interval_text(lower, upper, lambda value: number(value, sign))


def breakable(key: str) -> Markup:
    """Return a name that a browser may break after its dots and underscores, and that turns no other text around."""
    return named(key, Markup("<wbr>"))


def named(name: str, pause: Markup = Markup(), most: int = 80) -> Markup:  # noqa: B008 - it cannot be changed
    """Return a name by itself: one that is written from right to left turns nothing around it; a long one is cut.

    Example:
        >>> named("<a>"), named("abcdef", most=5)
        (Markup('<bdi>&lt;a&gt;</bdi>'), Markup('<bdi>ab…ef</bdi>'))
    """
    return Markup("<bdi>{}</bdi>").format(escape(cut(name, most)).replace("_", "_" + pause).replace(".", "." + pause))


def cut(name: str, most: int = 80) -> str:
    """Return a name, of a long one both its ends."""
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"


def whole(name: str) -> Markup:
    """Return a name by itself, however long it is."""
    return named(name, most=len(name))


def listed(names: Sequence[str], most: int = 12) -> Markup:
    """Return names with commas between; of many the first, and how many more there are.

    Example:
        >>> listed(["a", "b", "c"], 2)
        Markup('<bdi>a</bdi>, <bdi>b</bdi> and 1 more')
    """
    more = Markup(" and {} more").format(len(names) - most) if len(names) > most else Markup()
    return Markup(", ").join(named(name) for name in names[:most]) + more


def quoted(text: str) -> Markup:
    r"""Return a text as a string of CSS, whatever it holds.

    Example:
        >>> quoted('a"b')
        Markup('"a\\22 b"')
    """
    safe = "".join(c if c.isascii() and (c.isalnum() or c in " -.,") else f"\\{ord(c):x} " for c in text)
    return Markup(f'"{safe}"')  # noqa: S704 - no other character is left in it


def cause(finding: Finding) -> str:
    """Return what makes a gain over the guess negative where the attack has no answer for some; else nothing."""
    metric, silent = METRICS[finding.measure.metric], 1 - finding.reach
    if metric.study.answered is None or metric.claims or not finding.risk_gain.value < 0 or not silent > 0:
        return ""  # a claim that is not made is no wrong one
    return f"below the guess since the attack has no answer for {silent:.1%} of the members, which counts as wrong"


def beside(finding: Finding) -> str:
    """Return in words what must stand beside a value: unseen keys, ceiling, null, accuracy; on control in brackets.

    Of several releases the worst is told too, with its simultaneous interval.
    """
    texts = []
    for name, words in BESIDE.items():
        members, controls = finding.details.get(name, (float("nan"), float("nan")))
        if not isnan(members):
            apart = not isnan(controls) and number(controls) != number(members)
            texts.append(f"{words} {number(members)}" + (f" (control {number(controls)})" if apart else ""))
    if len(finding.release_risk) > 1 and not isnan(finding.worst.value):
        limits = f" [{number(finding.worst.lower)}, {number(finding.worst.upper)}]"
        known = not isnan(finding.worst.upper)
        texts.append(f"worst of {len(finding.release_risk)} releases {number(finding.worst.value)}{limits * known}")
    return ", ".join(texts)


_VALUES = re.compile(r"<!-- values of the real table -->.*?<!-- end of values -->", re.DOTALL)
_KEPT_APART = (
    "<p>This part names values of the real table, so it is kept out of tracking. It stands in the page that the study "
    "has left in its workspace.</p>"
)


def without_values(text: str) -> str:
    """Return a page without its private sections."""
    return _VALUES.sub(_KEPT_APART, text)
