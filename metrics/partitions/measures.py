"""Which metrics are computed in parts, and what they say of members and of control records apart."""

from collections.abc import Callable, Mapping
from typing import Any

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.partitions import cap, exact, utility
from synthrisk.metrics.partitions.agreed import Partitioned
from synthrisk.metrics.partitions.nearest import distance_to_closest_record
from synthrisk.metrics.score import Score

IN_PARTS: Mapping[str, Callable[..., Score]] = {
    "categorical_cap": cap.categorical_cap,
    "zero_cap": cap.zero_cap,
    "generalized_cap": cap.generalized_cap,
    "targeted_cap": cap.targeted_cap,
    "attribute_disclosure": cap.attribute_disclosure,
    "common_rows_proportion": exact.common_rows_proportion,
    "unique_exact_matches": exact.unique_exact_matches,
    "distance_to_closest_record": distance_to_closest_record,
    "coverage": utility.coverage,
    "accuracy": utility.accuracy,
}
"""By the name of a metric, the function that computes it of tables in parts."""


def check_in_parts(name: str, options: Mapping[str, Any]) -> None:
    """Refuse what is not computed in parts.

    Raises:
        InputError: A metric or an option of one is none that is.
    """
    if name not in IN_PARTS:
        raise InputError(f"{name} is not computed in parts{nearest(name, IN_PARTS)}; {', '.join(IN_PARTS)} are")
    for option in ("bins", "control", "identifier"):
        if options.get(option) is not None:
            raise InputError(f"{name} is computed in parts without {option}, got {option}: coarsen or join it before")


def score_in_parts(name: str, tables: Partitioned, **options: Any) -> Score:
    """Return the score of a release in parts: the same to the bit as the metric's own on one machine.

    That of coverage and accuracy is of the members; of the others, of members and control records in one table.

    Raises:
        InputError: The metric or an option is not computed in parts, or breaks a rule.

    Example:
        >>> import pandas as pd
        >>> from synthrisk.metrics.partitions.agreed import agree
        >>> from synthrisk.metrics.partitions.parts import Here
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "a", "b"]})
        >>> release = pd.DataFrame({"age": [30, 30, 40, 40], "vote": ["a", "a", "b", "a"]})
        >>> tables = agree(["age", "vote"], Here([real[:1], real[1:]]), None, Here([release]))
        >>> score_in_parts("zero_cap", tables, quasi_identifiers=["age"], sensitive="vote").value
        0.375
    """
    check_in_parts(name, options)
    return IN_PARTS[name](tables, **{k: v for k, v in options.items() if v is not None or k not in ("bins", "control")})
