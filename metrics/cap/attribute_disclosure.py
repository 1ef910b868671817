"""The classical table measures of disclosure: what unanimous and unique key classes of the release say."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

from synthrisk.metrics.cap.cap import continuity, encoded, has_sets
from synthrisk.metrics.cap.nearest_keys import Pools, pools
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.metric import InStudy, Metric, Records, Yardsticks
from synthrisk.metrics.score import Reduction, Score
from synthrisk.metrics.tables.codes import Codes, frequencies, matches, values_in_class
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
    key, pair, known, hidden = encoded(tables, quasi_identifiers, sensitive)
    of_real = _flags(key, pair, 0)
    flags = _flags_of_sets(key, pair, pools(tables, known, hidden)) if has_sets(tables, known, hidden) else None
    flags = flags or _flags(key, pair, 1)
    target = tables.codes(hidden)
    frequency = frequencies(target)
    columns = {"score": flags[measure].astype(float), **flags, "claim": flags["di_s"]}
    records = pd.DataFrame(columns | {"baseline": frequency[target.tables[0]]}, index=tables.real.index)
    return Score.of(
        "attribute_disclosure",
        records,
        reduce_flags(records),
        _guess(measure, frequency, target, of_real) | {"ceiling": float(of_real[measure].mean())},
        {"quasi_identifiers": known, "sensitive": hidden, "measure": measure},
        continuity(tables, known, 1 - flags["i_s"].mean()),
    )


def reduce_flags(records: pd.DataFrame) -> Reduction:
    """Return the share of the records for which each measure holds."""
    value = float(records["score"].mean())
    return Reduction(value, 100 * value, {name: float(records[name].mean()) for name in MEASURES})


def check_measure(measure: str = "di_sco") -> None:
    """Refuse a name that is no measure."""
    if measure not in MEASURES:
        raise InputError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")


def _flags(key: Codes, pair: Codes, release: int) -> dict[str, np.ndarray]:
    """Return which real records each measure holds for, with a table as release: 0 real, 1 synthetic."""
    unanimous = values_in_class(key, pair, release)[key.tables[0]] == 1
    correct = unanimous & (matches(pair, release) > 0)
    return {
        "rep_u": (matches(key, 0) == 1) & (matches(key, release) == 1),
        "i_s": matches(key, release) > 0,
        "di_s": unanimous,
        "di_sco": correct,
        "di_sdi_o": correct & (values_in_class(key, pair, 0)[key.tables[0]] == 1),
    }


def _flags_of_sets(key: Codes, pair: Codes, found: Pools) -> dict[str, np.ndarray]:
    """Return the same where released cells stand for sets: a class is all records that may have the key."""
    seen = found.distance == 0
    correct = seen & found.unanimous & (found.hit > 0)
    return {
        "rep_u": (matches(key, 0) == 1) & seen & (found.total == 1),
        "i_s": seen,
        "di_s": seen & found.unanimous,
        "di_sco": correct,
        "di_sdi_o": correct & (values_in_class(key, pair, 0)[key.tables[0]] == 1),
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
    key, pair, _known, hidden = encoded(tables, quasi_identifiers, sensitive)
    target = tables.codes(hidden)
    return _guess(measure, frequencies(target), target, _flags(key, pair, 0)).get("guess", float("nan"))


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
