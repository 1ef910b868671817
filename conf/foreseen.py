"""What a study could say little about, of a table that is read but not stored: for whoever proposes a study."""

import numpy as np
import pandas as pd

from synthrisk.conf.plan import plan
from synthrisk.conf.study import Study
from synthrisk.metrics import InputError
from synthrisk.metrics.study.emptiness import Foreseen, foresee
from synthrisk.metrics.study.split import split_table
from synthrisk.metrics.tables.entities import entity_numbers


def foreseen_of(study: Study, table: pd.DataFrame) -> Foreseen:
    """Return why a study of a table would be refused, and what it would say little about; nothing is computed or kept.

    Args:
        study: The study; its source is not read.
        table: The table as ``tasks.data.typed`` returns it, with its identifier if the study names one.

    Raises:
        InputError: A metric names a column that is not there.
    """
    name, data = study.data.identifier, study.data
    records, identifier = (table, None) if name is None else (table.drop(columns=name), table[name])
    planned = plan(study.metrics, list(records.columns), data.quasi_identifiers, data.sensitive)
    entities = None if identifier is None else entity_numbers(identifier)
    try:
        parts = split_table(records, study.split, identifier, study.seed)[0]
    except InputError as too_small:
        found = foresee(records, planned, entities=entities)
        return Foreseen((str(too_small), *found.refusals), found.warnings)
    return foresee(records, planned, np.bincount(parts[parts >= 0]).tolist(), entities)
