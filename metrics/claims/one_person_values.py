"""One-person values: real people of whom the release holds a level or text that nobody else has."""

import numpy as np
import pandas as pd

from synthrisk.metrics.metric import Metric, Reduction, Score, mean_score
from synthrisk.metrics.tables.codes import matches
from synthrisk.metrics.tables.entities import how_many_with
from synthrisk.metrics.tables.kinds import kind
from synthrisk.metrics.tables.tables import Tables


def one_person_values(tables: Tables) -> Score:
    """One-person values: share of real records with a level that no other person has, and that the release holds.

    Looked at are the columns of levels or texts; a missing cell is no value. A level is one person's if no other real
    record (of another entity) has it. A record counts where one such level of its own is in the release, in whatever
    row. ``value = published = mean(own level released)``, in [0, 1], high = what names single people is given out. With
    control records, one person means one among members and control records together.

    A generator that draws cells from the training table releases such levels by design, and a list of levels that
    everybody knows (all occupations there are) holds those of control records as often. So only the difference between
    members and control records is a signal.

    Args:
        tables: Real (n records) and synthetic (m records).

    Returns:
        A ``Score``; ``records``: score (1 if a level that this person alone has is in the release, else 0), alone (1 if
        there is such a level). Details: ``alone_share`` (share of the records with such a level), ``released_share``
        (share of these of whom one is released, NaN where there is none), ``released`` (their number).

    Raises:
        InputError: A numeric column holds text or an infinity in a table.

    Example:
        >>> real = pd.DataFrame({"job": ["clerk", "clerk", "bishop", "diver"], "age": [30, 40, 50, 60]})
        >>> score = ONE_PERSON_VALUES(real, pd.DataFrame({"job": ["bishop", "clerk"], "age": [20, 20]}))
        >>> score.records["score"].tolist(), score.details["alone_share"], score.details["released_share"]
        ([0.0, 0.0, 1.0, 0.0], 0.5, 0.5)
    """
    columns = [name for name in tables.columns if kind(tables.real[name]) == "categorical"]
    tables.check_comparable(tables.columns)
    alone, released = (np.zeros(len(tables.real), dtype=bool) for _ in range(2))
    for name in columns:
        cells = tables.codes([name])
        own = cells.tables[0]
        one = (how_many_with(own, cells.size, tables.entities)[own] == 1) & tables.real[name].notna().to_numpy()
        alone |= one
        released |= one & (matches(cells) > 0)
    records = pd.DataFrame({"score": released.astype(float), "alone": alone}, index=tables.real.index)
    return Score.of("one_person_values", records, reduce_alone(records), {}, {})


def reduce_alone(records: pd.DataFrame) -> Reduction:
    """Return the share of records of whom a level that they alone have is released, also among those who have one."""
    alone, released = int(records["alone"].sum()), float(records["score"].sum())
    of_alone = released / alone if alone else np.nan
    details = {"alone_share": float(np.mean(records["alone"])), "released_share": of_alone, "released": released}
    value = mean_score(records)
    return Reduction(value, value, details)


ONE_PERSON_VALUES = Metric(
    name="one_person_values",
    function=one_person_values,
    group="claims",
    reference="Article 29 Working Party, Opinion 05/2014, singling out: a value of one person alone",
    reduce=reduce_alone,
    difference_only=True,
)
