"""A metric: the largest share of a record's cells that one released row has too."""

import numpy as np
import pandas as pd

from synthrisk.metrics import Metric, Score, Tables
from synthrisk.metrics.metric import Reduction, mean_score


def equal_cells(tables: Tables) -> Score:
    """Return for each real record the largest share of its cells that a released row has in the same columns."""
    most = np.zeros(len(tables.real))
    released = [tables.codes([c]).tables[1] for c in tables.columns]
    real = [tables.codes([c]).tables[0] for c in tables.columns]
    for row in range(len(tables.synthetic)):
        same = sum((own == each[row]).astype(float) for own, each in zip(real, released, strict=True))
        most = np.maximum(most, same / len(real))
    records = pd.DataFrame({"score": most}, index=tables.real.index)
    return Score.of("acme_equal_cells", records, reduce(records), {}, {})


def reduce(records: pd.DataFrame) -> Reduction:
    """Return the mean of the records' shares."""
    value = mean_score(records)
    return Reduction(value, value, {})


EQUAL_CELLS = Metric(
    name="acme_equal_cells",
    function=equal_cells,
    group="distance",
    per_record=True,
    needs=(),
    range=(0.0, 1.0),
    reference="ACME",
    reduce=reduce,
    ranking="score",
)
