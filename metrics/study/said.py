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
    """Of a measure that scores single real records: its scores stand in the ledger."""

    all: dict[str, float]  # what it says of all real records together, as named numbers
    # what it says of the members alone; empty where there are none
    members: dict[str, float] = field(default_factory=dict)
    controls: dict[str, float] = field(default_factory=dict)  # what it says of the control records alone
    gains: bool = False  # whether the ledger holds normalised gains, of which a threshold curve is drawn
    reasons: Reasons = NO_REASONS  # why there is no value
    warning: str = ""  # what makes the value hard to read, or an empty string
    errors: bool = False  # whether it holds errors of numbers, of which a curve over the tolerance is drawn


@dataclass(frozen=True)
class OfRelease:
    """Of a measure that has one value a release: see ``contributions.ReleasedValues``."""

    value: float  # the value on all members
    control: float  # the value on all control records
    members: float  # the value against as many members as control records
    controls: float  # the value against these control records
    details: dict[str, float] = field(default_factory=dict)  # what else it says of members, as named numbers
    reasons: Reasons = NO_REASONS  # why there is no value


@dataclass(frozen=True)
class OfIsolation:
    """Of claims that name no target: the records that they isolate stand in the ledger."""

    value: float  # the value on all members
    details: dict[str, float]  # what else it says, as named numbers
    reasons: Reasons = NO_REASONS  # why there is no value


@dataclass(frozen=True)
class OfUtility:
    """Of a measure of utility."""

    value: float  # the utility of the release
    details: dict[str, float] = field(default_factory=dict)  # what else it says of the release, as named numbers
    ceiling: Ceiling | None = None  # what control records reach in place of the release; None without control records
    reason: str = ""  # why there is no value, or an empty string


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
