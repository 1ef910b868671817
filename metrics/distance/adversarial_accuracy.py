"""Adversarial accuracy: whether the nearest neighbour tells real records from synthetic ones."""

from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import check_word
from synthrisk.metrics.metric import InStudy, Metric, Records
from synthrisk.metrics.neighbours.distances import Chances, CloserOrTied, TieRule, chances, check_ties, compared, flags
from synthrisk.metrics.neighbours.nearest import Direction, nearest_distances
from synthrisk.metrics.neighbours.records import SpaceName, check_space
from synthrisk.metrics.score import Reduction, Score
from synthrisk.metrics.tables.tables import Tables

Sizes = Literal["given", "equal"]
_ALONE = "fewer than two real or two synthetic records: one has no other of its kind to be nearer to"


class Adversary(NamedTuple):
    """What the records of each table say: 1 where the nearest other record is of the other table."""

    real: np.ndarray  # (n,)
    synthetic: np.ndarray  # (m,)
    tied: np.ndarray  # (n,) of the real records


def nearest_neighbour_adversarial_accuracy(
    tables: Tables, *, space: SpaceName = "gower", ties: TieRule = "risk", sizes: Sizes = "given"
) -> Score:
    """NNAA: one minus the accuracy with which nearest neighbours tell real records from synthetic ones.

    AA = (share of real records with d_s > d_r + share of synthetic ones farther from real than from synthetic)/2,
    ``value = 1 - AA`` in [0, 1]: 0.5 where no neighbour tells the tables apart, near 1 where the release sits on real
    records, near 0 where it is elsewhere. ``published = AA``. The value alone is no privacy claim.

    The measure assumes tables of one size: in the larger table the nearest other record is nearer for that reason
    alone. ``sizes="equal"`` gives the mean over all subsamples of the larger table of the size of the smaller one,
    computed exactly (``subsamples``), so that no seed and no order of rows moves it.

    Ties are a risk by default. The adversary is right where d_s > d_r, as published, so that a tie is no success: an
    exact copy scores 1 even where the real table has duplicates. The reference numbers are these.

    The source: PrivEval's program prints 1 - AA on codes, where words are numbers in the order of the alphabet and a
    range below 1 counts as 1. Each of its four searches has ranges of its own, it takes a table for itself where two
    hold the same cells, and draws subsamples without a seed. Here one range holds for all, and words are equal or not.
    ``published`` is AA.

    Args:
        tables: Real (n >= 2 records) and synthetic (m >= 2 records). With control records, real ones are those
            of both groups.
        space: ``gower`` (share of the columns' ranges) or ``euclid`` (standard deviations).
        ties: What equal distances count: ``risk`` 1, ``safe`` 0, ``expected`` 1/2.
        sizes: ``given`` (all rows of both tables) or ``equal``.

    Returns:
        A ``Score``; ``records``: score (flag in gower space: 0 where d_s > d_r, else 1), flag (the same in
        ``space``), risk (mean of the flag and the synthetic records' mean flag: the value is its mean), tied.
        Details: ``real_flags`` and ``synthetic_flags`` (shares), ``ties`` (count, of real records), ``real_records``,
        ``synthetic_records``. ``settings["note"]`` speaks of unequal sizes. Not defined for n < 2 or m < 2.
        ``adversary`` gives the synthetic records' flags.

    Raises:
        InputError: ``space``, ``ties`` or ``sizes`` is another word.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0, 10.0]})
        >>> release = pd.DataFrame({"x": [0.1, 20.0, 21.0]})
        >>> round(NEAREST_NEIGHBOUR_ADVERSARIAL_ACCURACY(real, release).value, 4)
        0.5
    """
    check_adversary(space, ties, sizes)
    n, m = len(tables.real), len(tables.synthetic)
    name = "nearest_neighbour_adversarial_accuracy"
    settings: dict[str, Any] = {"space": space, "ties": ties, "sizes": sizes}
    if n != m:
        settings["note"] = f"sizes differ ({n} real, {m} synthetic): {_NOTES[sizes]}"
    found, plain = (adversary(tables, each, ties, sizes) for each in (space, "gower"))
    right = found.synthetic.mean()
    columns = {"score": plain.real, "flag": found.real, "risk": (found.real + right) / 2, "tied": found.tied}
    records = pd.DataFrame(columns, index=tables.real.index)
    details = {"synthetic_flags": float(right), "real_records": float(n), "synthetic_records": float(m)}
    return Score.of(name, records, reduce_adversary(records), details, settings)


def adversary(tables: Tables, space: SpaceName, ties: TieRule, sizes: Sizes = "given") -> Adversary:
    """Return the flags of the records of both tables; NaN where a table has one record."""
    n, m = len(tables.real), len(tables.synthetic)
    if min(n, m) < 2:
        return Adversary(*(np.full(length, np.nan) for length in (n, m, n)))
    ways: tuple[Direction, ...] = "real_to_synthetic", "real_to_real", "synthetic_to_real", "synthetic_to_synthetic"
    of_real, among_real, of_synthetic, among_synthetic = (nearest_distances(tables, way, space)[:, 0] for way in ways)
    real, synthetic = (of_real, among_real), (of_synthetic, among_synthetic)
    ours: CloserOrTied | Chances = compared(*real)
    theirs: CloserOrTied | Chances = compared(*synthetic)
    if sizes == "equal" and m > n:
        ours = chances(tables, "real_to_synthetic", space, real[1], n)
        theirs = _turned(chances(tables, "synthetic_to_synthetic", space, synthetic[0], n - 1))
    elif sizes == "equal" and n > m:
        ours = _turned(chances(tables, "real_to_real", space, real[0], m - 1))
        theirs = chances(tables, "synthetic_to_real", space, synthetic[1], m)
    first, second = (flags(CloserOrTied(*each), ties) for each in (ours, theirs))
    return Adversary(first, second, np.asarray(ours.tied, dtype=float))


def reduce_adversary(records: pd.DataFrame) -> Reduction:
    """Return one minus the accuracy, the accuracy, the share of flags and the number of ties."""
    value = float(records["risk"].mean())
    details = {"real_flags": float(records["flag"].mean()), "ties": float(records["tied"].sum(skipna=False))}
    return Reduction(value, 1 - value, details, _ALONE if np.isnan(value) else None)


def check_adversary(space: str = "gower", ties: str = "risk", sizes: str = "given") -> None:
    """Refuse a space, a rule for ties or a choice of sizes that there is not."""
    check_space(space)
    check_ties(ties)
    check_word("sizes", sizes, "given", "equal")


def _turned(found: Chances) -> Chances:  # that the given distance is the smaller one
    return Chances(1 - found.nearer - found.tied, found.tied)


_NOTES = {
    "given": "all rows count, and the nearest of more rows is nearer",
    "equal": "mean over all subsamples of the larger table that have the size of the smaller",
}

NEAREST_NEIGHBOUR_ADVERSARIAL_ACCURACY = Metric(
    name="nearest_neighbour_adversarial_accuracy",
    function=nearest_neighbour_adversarial_accuracy,
    group="distance",
    reference="Yale et al. 2020, doi:10.1016/j.neucom.2019.12.136; PrivEval (hereditary-eu): docs/priveval.md",
    check_values=check_adversary,
    records=Records(reduce=reduce_adversary, mean=False, contribution="risk"),
    study=InStudy(difference_only=True, same_difference_as="authenticity"),
)
