"""HTML pages from templates: one file each, nothing fetched, nothing executed, every text escaped."""

from functools import cache
from importlib.resources import files
from math import isnan
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from synthrisk.metrics.study.league import interval_text

_PLACES = ("synthrisk.tasks.pages", "synthrisk.tasks.pages.sections")


def render(template: str, **values: Any) -> str:
    """Return the page of a template; it has the functions below, and ``style``, too.

    ``template`` is a file of this folder or of its ``sections``, or ``<package>:<file>`` in another package.
    """
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_source), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style = Markup(_source("style.css"))  # noqa: S704 - ours
    environment.globals |= {"style": style, "number": number, "either": either, "breakable": breakable}
    environment.globals |= {"interval": interval, "isnan": isnan}
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
    text = f"{value:+.3f}" if sign else f"{value:.3f}"
    return "0.000" if text.strip("+-") == "0.000" else text.replace("-", "−")


def either(value: float, sign: bool = False) -> str:
    """Return a number, or a dash where there is none."""
    return "–" if isnan(value) else number(value, sign)


def interval(lower: float, upper: float, sign: bool = False) -> str:
    """Return the limits of an interval in brackets, or that there is none."""
    return interval_text(lower, upper, lambda value: number(value, sign))


def breakable(key: str) -> Markup:
    """Return a name that a browser may break after its dots and underscores."""
    return escape(key).replace("_", Markup("_<wbr>")).replace(".", Markup(".<wbr>"))
