"""Authenticity: real records that have a synthetic record as near as any other real one.

Identifiability: real records nearer to the release than to each other, where telling columns weigh more.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from synthrisk.metrics.metric import InStudy, Metric, Records
from synthrisk.metrics.neighbours.distances import TieRule, check_ties, compared, flags
from synthrisk.metrics.neighbours.nearest import nearest_distances
from synthrisk.metrics.neighbours.records import SpaceName, check_space
from synthrisk.metrics.score import Reduction, Score
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
    distance = nearest_distances(tables, "real_to_synthetic", space, weights=weights)[:, 0]
    columns = dict.fromkeys(("score", "risk", "tied", "distance", "real_distance"), np.full(n, np.nan))
    columns["distance"] = distance
    if n > 1:
        other = nearest_distances(tables, "real_to_real", space, weights=weights)[:, 0]
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
    check_values=check_closer,
    records=Records(reduce=reduce_authenticity, mean=False, contribution="risk"),
    study=InStudy(difference_only=True),
)

_BINS = 10


def identifiability_score(tables: Tables, *, space: SpaceName = "euclid", ties: TieRule = "safe") -> Score:
    """IDS: share of real records with d_s < d_r, where column a is multiplied by 1/H_a, its inverse entropy.

    d_s = distance to the nearest synthetic record, d_r = to the nearest other real one. H_a = entropy (nats) of
    the real values, numbers in deciles: few or uneven values weigh much. (The published program turns that round.)
    ``value`` in [0, 1], high = re-identifiable; ``published`` is the value. The value alone is no privacy claim.

    The source: PrivEval's program divides a column by its weight 1/H, which multiplies it by its entropy: what should
    count most counts least. It also takes words for numbers, in the order of the alphabet. Here columns are multiplied
    by 1/H, and words are equal or not.

    Args:
        tables: Real (n >= 2 records) and synthetic (m records). With control records, entropies and the other
            real records are those of both groups.
        space: ``euclid`` (standard deviations) or ``gower`` (share of the columns' ranges).
        ties: What d_s = d_r counts: ``risk`` 1, ``safe`` 0 (strict, as published), ``expected`` 1/2.

    Returns:
        A ``Score``; ``records`` as ``authenticity`` has them. Details: ``strictly_closer`` and ``ties`` (counts).
        Not defined for n < 2, nor where every real column is constant.

    Raises:
        InputError: ``space`` or ``ties`` is another word.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0, 5.0], "c": ["a", "a", "b"]})
        >>> release = pd.DataFrame({"x": [0.5, 2.0], "c": ["a", "b"]})
        >>> round(IDENTIFIABILITY_SCORE(real, release).value, 4)
        1.0
    """
    check_closer(space, ties)
    name, settings = "identifiability_score", {"space": space, "ties": ties}
    weights = tables.shared("inverse entropies", lambda: inverse_entropies(tables))
    if not any(weights.values()):
        nan, columns = float("nan"), ["score", "risk", "tied", "distance", "real_distance"]
        records = pd.DataFrame(nan, index=tables.real.index, columns=columns)
        return Score(name, nan, nan, records, {}, settings, "every real column is constant: no column has a weight")
    records = closer_records(tables, space, ties, weights)
    return Score.of(name, records, reduce_closer(records), {}, settings)


def inverse_entropies(tables: Tables) -> dict[str, float]:
    """Return 1/H of each column among the real records, 0 where H = 0."""
    numeric = {c: tables.kind(c) == "numeric" for c in tables.columns}
    classes = {c: deciles(tables.floats(c)[0]) if n else tables.codes([c]).tables[0] for c, n in numeric.items()}
    found = {column: entropy(own) for column, own in classes.items()}
    return {column: 1 / h if h > 0 else 0.0 for column, h in found.items()}


def entropy(classes: np.ndarray) -> float:
    """Return the entropy of whole numbers in nats.

    Example:
        >>> round(entropy(np.array([0, 0, 3, 3])), 4), entropy(np.array([2, 2]))
        (0.6931, 0.0)
    """
    counts = np.sort(np.unique(classes, return_counts=True)[1])  # sorted: the same bits under other names
    share = counts / counts.sum()
    return float(-(share * np.log(share)).sum()) if len(counts) > 1 else 0.0


def deciles(values: np.ndarray) -> np.ndarray:
    """Return the decile of each value (linear, right-closed, equal edges merged), -1 where missing.

    There are at most as many bins as distinct values.

    Example:
        >>> deciles(np.array([1.0, 2.0, 3.0, np.nan])).tolist()
        [0, 1, 2, -1]
    """
    there = np.sort(values[~np.isnan(values)])
    bins = min(_BINS, len(np.unique(there)))
    if not bins:
        return np.full(len(values), -1)
    place, part = np.divmod(np.arange(1, bins) * (len(there) - 1), bins)  # whole numbers: no edge beside its value
    low, high = there[place], there[np.minimum(place + 1, len(there) - 1)]
    edges = np.unique(np.where(part == 0, low, low * (1 - part / bins) + high * (part / bins)))
    return np.where(np.isnan(values), -1, np.searchsorted(edges, values, side="left"))


IDENTIFIABILITY_SCORE = Metric(
    name="identifiability_score",
    function=identifiability_score,
    group="distance",
    reference="Yoon, Drumright and van der Schaar 2020, doi:10.1109/JBHI.2020.2980262; PrivEval: docs/priveval.md",
    check_values=check_closer,
    records=Records(reduce=reduce_closer, mean=False, contribution="risk"),
    study=InStudy(difference_only=True),
)
