"""What a measure says of one release beside the scores of its records: four kinds, and their plain JSON."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from synthrisk.metrics.score import Ceiling


@dataclass(frozen=True)
class Reasons:
    """Why there is no value of members, none of control records and no difference of the two, or empty strings."""

    members: str = ""
    controls: str = ""
    difference: str = ""


NO_REASONS = Reasons()


@dataclass(frozen=True)
class OfRecords:
    """Of a measure that scores single real records: its scores stand in the ledger.

    Attributes:
        all: What it says of all real records together, as named numbers.
        members: What it says of the members alone; empty where there are none.
        controls: What it says of the control records alone.
        gains: Whether the ledger holds normalised gains, of which a threshold curve is drawn.
        reasons: Why there is no value.
        warning: What makes the value hard to read, or an empty string.
    """

    all: dict[str, float]
    members: dict[str, float] = field(default_factory=dict)
    controls: dict[str, float] = field(default_factory=dict)
    gains: bool = False
    reasons: Reasons = NO_REASONS
    warning: str = ""


@dataclass(frozen=True)
class OfRelease:
    """Of a measure that has one value a release: see ``contributions.ReleasedValues``.

    Attributes:
        value: The value on all members.
        control: The value on all control records.
        members: The value against as many members as control records.
        controls: The value against these control records.
        details: What else it says of members, as named numbers.
        reasons: Why there is no value.
    """

    value: float
    control: float
    members: float
    controls: float
    details: dict[str, float] = field(default_factory=dict)
    reasons: Reasons = NO_REASONS


@dataclass(frozen=True)
class OfIsolation:
    """Of claims that name no target: the records that they isolate stand in the ledger.

    Attributes:
        value: The value on all members.
        details: What else it says, as named numbers.
        reasons: Why there is no value.
    """

    value: float
    details: dict[str, float]
    reasons: Reasons = NO_REASONS


@dataclass(frozen=True)
class OfUtility:
    """Of a measure of utility.

    Attributes:
        value: The utility of the release.
        details: What else it says of the release, as named numbers.
        ceiling: What control records reach in place of the release; None without control records.
        reason: Why there is no value, or an empty string.
    """

    value: float
    details: dict[str, float] = field(default_factory=dict)
    ceiling: Ceiling | None = None
    reason: str = ""


Said = OfRecords | OfRelease | OfIsolation | OfUtility
_KINDS: dict[str, type[Said]] = {kind.__name__: kind for kind in (OfRecords, OfRelease, OfIsolation, OfUtility)}
_PARTS = {"reasons": Reasons, "ceiling": Ceiling}


def values_as_plain(values: Mapping[str, Said]) -> dict[str, dict[str, Any]]:
    """Return what each measure says, by key, as plain JSON with its kind.

    Example:
        >>> values = {"coverage": OfUtility(0.5, {"coverage_age": 0.25})}
        >>> values_as_plain(values)["coverage"]["kind"], values_from_plain(values_as_plain(values)) == values
        ('OfUtility', True)
    """
    return {key: {"kind": type(each).__name__, **asdict(each)} for key, each in values.items()}


def values_from_plain(plain: Mapping[str, Mapping[str, Any]]) -> dict[str, Said]:
    """Return what each measure says, by key, from its plain JSON."""
    return {key: _read(**each) for key, each in plain.items()}


def _read(kind: str, **parts: Any) -> Said:
    return _KINDS[kind](**{name: _PARTS[name](**p) if name in _PARTS and p else p for name, p in parts.items()})
