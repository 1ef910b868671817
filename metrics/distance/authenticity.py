"""Authenticity: real records that have a synthetic record as near as any other real one."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from synthrisk.metrics.metric import Metric, Reduction, Score
from synthrisk.metrics.neighbours.distances import TieRule, check_ties, compared, flags
from synthrisk.metrics.neighbours.nearest import real_to_real, real_to_synthetic
from synthrisk.metrics.neighbours.records import SpaceName, check_space
from synthrisk.metrics.tables.tables import Tables

ALONE = "fewer than two real records: none has another real record to compare with"


def authenticity(tables: Tables, *, space: SpaceName = "euclid", ties: TieRule = "risk") -> Score:
    """Auth: share of real records with d_s <= d_r: to the nearest synthetic, and to the nearest other real record.

    ``value`` in [0, 1], high = the release lies nearer to real records than they lie to each other;
    ``published = 1 - value``, the share of authentic records. All columns count. The value alone is no privacy
    claim (an ideal generator has about a half): the signal is how much more often it holds for members.

    The source: PrivEval's program looks at numeric columns alone, and prints 0 = safe where there is none. Here all
    columns count. It prints the value; ``published`` is the share of authentic records, as Alaa et al. have it.

    Args:
        tables: Real (n >= 2 records) and synthetic (m records). With control records the other real records are
            those of both groups.
        space: ``euclid`` (standard deviations) or ``gower`` (share of the columns' ranges).
        ties: What d_s = d_r counts: ``risk`` 1, ``safe`` 0, ``expected`` 1/2.

    Returns:
        A ``Score``; ``records``: score (the flag in gower space: what member/control differences are taken on,
        whatever ``space``), risk (the flag in ``space``; the value is its mean), tied, distance (d_s),
        real_distance (d_r). Details: ``strictly_closer`` and ``ties`` (counts). Not defined for n < 2.

    Raises:
        InputError: ``space`` or ``ties`` is another word.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0, 5.0]})
        >>> release = pd.DataFrame({"x": [-1.0, 1.0]})
        >>> AUTHENTICITY(real, release).details["ties"], round(AUTHENTICITY(real, release).value, 4)
        (2.0, 1.0)
        >>> round(AUTHENTICITY(real, release, ties="safe").value, 4)
        0.3333
    """
    check_closer(space, ties)
    records = closer_records(tables, space, ties)
    return Score.of("authenticity", records, reduce_authenticity(records), {}, {"space": space, "ties": ties})


def closer_records(
    tables: Tables, space: SpaceName, ties: TieRule, weights: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Return which real records are nearer to a synthetic than to another real record; NaN where n < 2."""
    n = len(tables.real)
    distance = real_to_synthetic(tables, space, weights=weights).distances[:, 0]
    columns = dict.fromkeys(("score", "risk", "tied", "distance", "real_distance"), np.full(n, np.nan))
    columns["distance"] = distance
    if n > 1:
        other = real_to_real(tables, space, weights=weights).distances[:, 0]
        found = compared(distance, other)
        columns |= {"risk": flags(found, ties), "tied": found.tied.astype(float), "real_distance": other}
        columns["score"] = columns["risk"]
        if space != "gower":
            columns["score"] = closer_records(tables, "gower", ties, weights)["risk"].to_numpy()
    return pd.DataFrame(columns, index=tables.real.index)


def reduce_closer(records: pd.DataFrame) -> Reduction:
    """Return the share of records at risk, and how many are strictly closer and tied."""
    risk, tied = records["risk"].to_numpy(), records["tied"].to_numpy()
    if np.isnan(risk).all():
        return Reduction(float("nan"), float("nan"), {"strictly_closer": float("nan"), "ties": float("nan")}, ALONE)
    strictly = float(((risk == 1) & (tied == 0)).sum())
    return Reduction(float(risk.mean()), float(risk.mean()), {"strictly_closer": strictly, "ties": float(tied.sum())})


def reduce_authenticity(records: pd.DataFrame) -> Reduction:
    """Return the same, with the share of authentic records that the source prints."""
    found = reduce_closer(records)
    return found._replace(published=1 - found.value)


def check_closer(space: str = "euclid", ties: str = "risk") -> None:
    """Refuse a space or a rule for ties that there is not."""
    check_space(space)
    check_ties(ties)


AUTHENTICITY = Metric(
    name="authenticity",
    function=authenticity,
    group="distance",
    reference="Alaa et al. 2022, arXiv:2102.08921; PrivEval (hereditary-eu): docs/priveval.md",
    mean=False,
    contribution="risk",
    difference_only=True,
    reduce=reduce_authenticity,
    check_values=check_closer,
)
