"""How much work a first study is: how many folds and repetitions, and how many records in the time that there is."""

import math
from dataclasses import dataclass

import pandas as pd

from synthrisk.conf.study import Study
from synthrisk.flows.durations import in_words
from synthrisk.flows.pilot import SIZES, pilot

_FEWEST = 1000  # records below which no sample is taken


@dataclass(frozen=True)
class Effort:
    """The work of a study."""

    folds: int
    repetitions: int
    seconds: float  # in which it shall be done


EFFORTS = {"quick": Effort(2, 3, 75), "usual": Effort(3, 3, 210), "thorough": Effort(5, 5, math.inf)}


def sized(study: Study, table: pd.DataFrame, effort: Effort) -> tuple[Study, str]:
    """Return the study with as many records as can be done in the time of an effort, and how long it will take.

    How long is tried out on samples; a table of few records is not, as it takes hardly longer than the start.
    """
    records = len(table)
    if records <= SIZES[1]:
        return study, "about a minute"
    tried = pilot(study, table)
    rows = records
    while rows > _FEWEST and tried.expected(study, rows) > effort.seconds:
        rows = max(_round(rows * 0.9), _FEWEST)
    time = in_words(tried.expected(study, rows))
    if rows == records:
        return study, time
    data = study.data.model_copy(update={"rows": rows})
    return study.model_copy(
        update={"data": data}
    ), f"{time} (all {records}: {in_words(tried.expected(study, records))})"


def _round(rows: float) -> int:
    """Return a number with two digits and zeros."""
    step = 10 ** (len(str(int(rows))) - 2)
    return int(rows // step * step)
