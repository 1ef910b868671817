"""The classical table measures of disclosure: what unanimous and unique key classes of the release say."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from synthrisk.metrics.cap.cap import continuity, counts, unanimous
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import InStudy, Metric, Records, Yardsticks
from synthrisk.metrics.score import Reduction, Score
from synthrisk.metrics.tables.codes import Codes, frequencies
from synthrisk.metrics.tables.tables import Tables

MeasureName = Literal["rep_u", "i_s", "di_s", "di_sco", "di_sdi_o"]
MEASURES: tuple[MeasureName, ...] = get_args(MeasureName)


def attribute_disclosure(
    tables: Tables, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str, measure: MeasureName = "di_sco"
) -> Score:
    """DiSCO: share of real records whose key class in the release is unanimous, and right about them.

    The five table measures are shares of the real records, in [0, 1], high = the release discloses much:
    ``rep_u`` (unique on the keys in both tables), ``i_s`` (key occurs in the release), ``di_s`` (its class there
    is unanimous), ``di_sco`` (and right), ``di_sdi_o`` (and the record's class in the real table is unanimous
    too). ``value = mean(score)`` is the one chosen by ``measure``; ``published`` is the same in percent. A high
    value may be due to a common sensitive value: read it beside ``guess`` and control.

    A missing cell is a value of its own, as a key and as what is guessed: it equals another missing cell and nothing
    else.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows.
        sensitive: Column or columns guessed; several are taken jointly.
        measure: Which measure is the value.

    Returns:
        A ``Score``; ``records``: score (1 where the measure holds), a flag for each of the five, claim (the class is
        unanimous), baseline (share of the record's sensitive values among the real records). Details: all five,
        ``ceiling`` (the measure if the real table were the release), and of ``di_sco`` and ``di_sdi_o``, which alone
        ask whether a value is right, ``guess``: the measure of one and the same answer about everybody.

    Raises:
        InputError: A column is absent, or both a quasi-identifier and sensitive; no such measure.

    Example:
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "a", "b"]})
        >>> release = pd.DataFrame({"age": [30, 30, 40, 40], "vote": ["a", "a", "b", "a"]})
        >>> ATTRIBUTE_DISCLOSURE(real, release, quasi_identifiers=["age"], sensitive="vote").value
        0.25
    """
    check_measure(measure)
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    of_real, flags = (_flags(tables, known, hidden, table) for table in (0, 1))
    target = tables.codes(hidden)
    frequency = frequencies(target)
    columns = {"score": flags[measure].astype(float), **flags, "claim": flags["di_s"]}
    records = pd.DataFrame(columns | {"baseline": frequency[target.tables[0]]}, index=tables.real.index)
    details = _guess(measure, frequency, target, of_real) | {"ceiling": float(of_real[measure].mean())}
    settings = {"quasi_identifiers": known, "sensitive": hidden, "measure": measure}
    warning = continuity(tables, known, 1 - flags["i_s"].mean())
    return Score.of("attribute_disclosure", records, reduce_flags(records), details, settings, warning)


def reduce_flags(records: pd.DataFrame) -> Reduction:
    """Return the share of the records for which each measure holds."""
    value = float(records["score"].mean())
    return Reduction(value, 100 * value, {name: float(records[name].mean()) for name in MEASURES})


def check_measure(measure: str = "di_sco") -> None:
    """Refuse a name that is no measure."""
    if measure not in MEASURES:
        raise InputError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")


def _flags(tables: Tables, known: list[str], hidden: list[str], table: int) -> dict[str, np.ndarray]:
    """Return the flags of each real record by each measure, of the release (table 1) or of the real table (0)."""
    alone, (total, hit) = counts(tables, known, hidden, 0)[0] == 1, counts(tables, known, hidden, table)
    of_table, of_real = (unanimous(tables, known, hidden, each) for each in (table, 0))
    return flags_by_name(alone, total, hit, of_table, of_real)


def flags_by_name(
    alone: np.ndarray, total: np.ndarray, hit: np.ndarray, unanimous: np.ndarray, of_real: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the flags by the name of the measure, of records or of classes.

    Args:
        alone: Whether one real record has the key.
        total: How many records of the table have the key.
        hit: How many of them have the sensitive values too.
        unanimous: Whether all of them have the same sensitive values.
        of_real: The same among the real records.
    """
    correct = unanimous & (hit > 0)
    return {
        "rep_u": alone & (total == 1),
        "i_s": total > 0,
        "di_s": unanimous,
        "di_sco": correct,
        "di_sdi_o": correct & of_real,
    }


def _guess(
    measure: MeasureName, frequency: np.ndarray, target: Codes, of_real: dict[str, np.ndarray]
) -> dict[str, float]:
    """Return the measure of an attacker who says one value of everybody; nothing where no value is guessed."""
    if measure == "di_sco":
        return {"guess": float(frequency.max())}
    if measure == "di_sdi_o":
        of_unanimous = target.tables[0][of_real["di_s"]]
        return {"guess": float(np.bincount(of_unanimous, minlength=1).max() / len(of_real["di_s"]))}
    return {}


def best_answer(
    tables: Tables,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] | str,
    measure: MeasureName = "di_sco",
    **_: object,
) -> float:
    """Return the measure of one and the same answer about everybody; NaN where no value is guessed."""
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    target, of_real = tables.codes(hidden), _flags(tables, known, hidden, 0)
    return _guess(measure, frequencies(target), target, of_real).get("guess", float("nan"))


ATTRIBUTE_DISCLOSURE = Metric(
    name="attribute_disclosure",
    function=attribute_disclosure,
    group="cap",
    needs=("quasi_identifiers", "sensitive"),
    check_values=check_measure,
    looks_up=True,
    jointly=True,
    reference="Raab, Nowok and Dibben, Practical privacy metrics for synthetic data (DiSCO, repU)",
    records=Records(reduce=reduce_flags),
    yardsticks=Yardsticks(guess="guess", best_answer=best_answer, ceiling="ceiling"),
    study=InStudy(answered=lambda details: details["i_s"]),
)
