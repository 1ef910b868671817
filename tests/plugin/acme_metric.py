"""A metric: how much more than half of a record's cells one released row has too."""

import numpy as np
import pandas as pd

from synthrisk.metrics import InStudy, Metric, Records, Score, Tables
from synthrisk.metrics.score import Reduction


def equal_cells(tables: Tables) -> Score:
    """Return the mean of max(0, 2 share - 1), share of a record's cells that the most similar released row has."""
    most = np.zeros(len(tables.real))
    released = [tables.codes([c]).tables[1] for c in tables.columns]
    real = [tables.codes([c]).tables[0] for c in tables.columns]
    for row in range(len(tables.synthetic)):
        same = sum((own == each[row]).astype(float) for own, each in zip(real, released, strict=True))
        most = np.maximum(most, same / len(real))
    records = pd.DataFrame({"score": most, "excess": np.maximum(0, 2 * most - 1)}, index=tables.real.index)
    return Score.of("acme_equal_cells", records, reduce(records), {}, {})


def reduce(records: pd.DataFrame) -> Reduction:
    """Return the mean excess of some records; NaN where there are none."""
    value = float(records["excess"].mean())
    return Reduction(value, value, {})


EQUAL_CELLS = Metric(
    name="acme_equal_cells",
    function=equal_cells,
    group="distance",
    reference="ACME",
    records=Records(reduce=reduce, mean=False, contribution="excess"),
    study=InStudy(ranking="score"),
)
