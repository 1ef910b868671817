"""The tables that a study names: which sources there are, and how cells are written where they do not say so.

How entry points are loaded, and the names of options checked.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.plugins import SOURCE_GROUP, points


class Settings(BaseModel):
    """Settings, each documented by the text below its field."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


def _as_texts(values: Any) -> Any:
    """Return YAML's numbers as the texts that stand in files: ``-9`` in a list of texts is a text."""
    if not isinstance(values, list | tuple):
        return values
    return [str(v) if isinstance(v, int | float) and not isinstance(v, bool) else v for v in values]


Texts = Annotated[list[str], BeforeValidator(_as_texts)]
"""Texts as they stand in files."""


class Reading(Settings):
    """How the cells of one column are read, where they do not say so themselves."""

    type: Literal["number", "date", "duration", "boolean", "presence"] | None = None
    """What the cells are; null: as the cells of a column without a reading are. ``duration`` is hours, minutes and
    perhaps seconds (08:30); ``presence`` keeps one fact of a text: whether there is one."""
    format: str | None = None
    """How dates are written, as for ``strptime``: ``%d.%m.%Y``. Years of two digits (``%y``) are 1931 to 2030."""
    decimal: Literal[".", ","] = "."
    """Decimal mark of numbers."""
    thousands: Literal["", ".", ",", " ", "'"] = ""
    """Mark between thousands. A space is any space, the narrow one too."""
    unit: str = ""
    """What stands before or after each number: ``€``, ``kg``, ``%``."""
    missing: Texts = []
    """Texts that mean a missing cell in this column, beside those of ``data.missing``: ``NA``, ``-9``."""
    otherwise: Literal["refuse", "missing"] = "refuse"
    """What is done with cells that are not of the type: the table is refused, or they are missing cells."""
    true_values: Texts = []
    """Texts of a boolean that mean true."""
    false_values: Texts = []
    """Texts of a boolean that mean false."""

    @property
    def of_months(self) -> bool:
        """Whether its dates name a year and a month, and no day: 2021-03 is a whole value there, not one that was cut.

        Example:
            >>> [Reading(type="date", format=form).of_months for form in ("%b-%y", "%d.%m.%Y")]
            [True, False]
        """
        form = self.format or ""
        return any(f"%{month}" in form for month in "mbB") and "%y" in form.lower() and "%d" not in form

    @model_validator(mode="after")
    def _settings_fit_the_type(self) -> "Reading":
        types = {"format": "date", **dict.fromkeys(("decimal", "thousands", "unit"), "number")}
        types |= dict.fromkeys(("true_values", "false_values"), "boolean")
        for setting, type in types.items():
            if setting in self.model_fields_set and self.type != type:
                raise ValueError(f"{setting} belongs to type {type}, got type {self.type}")
        if self.otherwise == "missing" and self.type in (None, "presence"):
            raise ValueError(f"otherwise belongs to a type whose cells may not fit, got type {self.type}")
        if self.type == "date" and self.format is None:
            raise ValueError("type date needs a format such as %d.%m.%Y, got none")
        if self.type == "boolean" and not (self.true_values and self.false_values):
            raise ValueError("type boolean needs true_values and false_values, got none of one")
        if self.thousands == self.decimal:
            raise ValueError(f"decimal and thousands must be different marks, got {self.decimal!r} for both")
        if both := [text for text in self.true_values if text in (*self.false_values, *self.missing)]:
            raise ValueError(f"each text must mean one thing, got {both[0]!r} twice")
        if not self.model_fields_set:
            raise ValueError("a reading must say something of the column, got nothing")
        return self


class FileForm(Settings):
    """How the study's table is written in files: the real one, and releases that come as files."""

    missing: tuple[str, ...] = ()
    """Texts that mean a missing cell in any column."""
    columns: dict[str, Reading] = {}
    """How single columns are read."""
    left_out: tuple[str, ...] = ()
    """Columns that are in files and not in the study."""


def sources() -> list[str]:
    """Return the names of the tables that come with the package, and with plugins."""
    return sorted(points(SOURCE_GROUP).names)


def source_function(name: str, options: Mapping[str, object]) -> Callable[..., pd.DataFrame]:
    """Return the function behind a name, once it is sure that it takes these options, whose values it checks itself.

    Raises:
        InputError: There is no such table, it cannot be loaded, or an option is unknown or absent.
    """
    function, value = loaded(SOURCE_GROUP, name, "table", "built in")
    if not callable(function):
        raise InputError(f"table {name!r} ({value}) must be a function, got {type(function).__name__}")
    parameters = inspect.signature(function).parameters.values()
    takes = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY, p.VAR_KEYWORD)]
    check_option_names(name, options, takes, (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY))
    return function


def loaded(group: str, name: str, what: str, known_as: str) -> tuple[Any, str]:
    """Return what an entry point gives, and where it is.

    Raises:
        InputError: The group has none of this name, or it cannot be imported.
    """
    found, known = points(group), sorted(points(group).names)
    if name not in known:
        raise InputError(f"no {what} is called {name!r}{nearest(name, known)}; {known_as}: {', '.join(known)}")
    try:
        return found[name].load(), found[name].value
    except (ImportError, AttributeError) as error:
        raise InputError(f"{what} {name!r} ({found[name].value}) cannot be loaded: {error}") from error


def check_option_names(
    name: str, options: Mapping[str, object], takes: Sequence[Parameter], needed: Sequence[Any]
) -> None:
    """Refuse options that a function has no parameter for, and absent ones: parameters of the ``needed`` kinds.

    Raises:
        InputError: It names the option, and what is taken.
    """
    if not any(p.kind is p.VAR_KEYWORD for p in takes):
        names = [p.name for p in takes]
        for option in (each for each in options if each not in names):
            hint = f"it takes {', '.join(names)}" if names else "it takes none"
            raise InputError(f"{name} takes no option {option!r}{nearest(option, names)}; {hint}")
    for p in takes:
        if p.default is p.empty and p.kind in needed and p.name not in options:
            raise InputError(f"{name} needs the option {p.name!r}, got {sorted(options) or 'none'}")
