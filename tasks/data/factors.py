"""Simulated people whose columns hang together through a few hidden factors: as wide, and of such kinds, as asked."""

import numpy as np
import pandas as pd

from synthrisk.metrics.errors import ABOVE_0, BELOW_1, check_range, check_whole

_HIDDEN = 4
_LEVELS = 4
_NOISE = 0.7


def factors(
    rows: int = 1000, numeric: int = 4, categorical: int = 4, rare: float = 0.3, records_each: int = 1, seed: int = 0
) -> pd.DataFrame:
    """Draw a table of which all columns follow from four hidden standard normal factors, and noise.

    Each person has factors f. A numeric column is a.f + .7 e, rounded to two digits, a categorical one the quarter
    (``a`` .. ``d``) in which such a number falls; a is a direction of length 1 of the column's own. ``target`` is
    ``yes`` for the share ``rare`` of the records with the largest such number, otherwise ``no``; in a table without
    categorical columns it is the number itself. The records of one person share f, and differ by e.

    Args:
        rows: Number of records, at least 2.
        numeric: Numeric columns ``n1``, ``n2`` ..., beside the target.
        categorical: Categorical columns ``c1``, ``c2`` ...; there is one column at least beside the target.
        rare: Share of the records whose target is ``yes``, in (0, 1).
        records_each: Records of each person, at least 1; from 2 on a column ``person`` names it.
        seed: Seed of all draws, in [0, 2^32).

    Raises:
        InputError: An argument breaks its rule.

    Example:
        >>> factors(rows=100, numeric=1, categorical=2, rare=0.1)["target"].value_counts().to_dict()
        {'no': 90, 'yes': 10}
    """
    check_whole("rows", rows, 2)
    check_whole("numeric", numeric, 0)
    check_whole("categorical", categorical, 0 if numeric else 1)
    check_range("rare", rare, ABOVE_0, BELOW_1, "a share in (0, 1)")
    check_whole("records_each", records_each, 1)
    check_whole("seed", seed, 0, 2**32 - 1, "a whole number in [0, 2^32)")
    of_columns, rng = (np.random.default_rng([seed, part]) for part in (0, 1))
    person = np.arange(rows) // records_each
    hidden = rng.standard_normal((person[-1] + 1, _HIDDEN))[person]

    def signal() -> np.ndarray:
        direction = of_columns.standard_normal(_HIDDEN)
        return np.asarray(hidden @ (direction / np.linalg.norm(direction)) + _NOISE * rng.standard_normal(rows))

    columns: dict[str, object] = {"person": [f"p{i}" for i in person]} if records_each > 1 else {}
    columns |= {f"n{i + 1}": signal().round(2) for i in range(numeric)}
    for i in range(categorical):
        codes = np.argsort(np.argsort(signal())) * _LEVELS // rows
        columns[f"c{i + 1}"] = pd.Categorical.from_codes(codes, pd.Index(list("abcd")))
    target = signal()
    if categorical:
        yes = np.argsort(np.argsort(-target)) < max(1, round(rare * rows))
        columns["target"] = pd.Categorical(np.where(yes, "yes", "no"), ["no", "yes"])
    else:
        columns["target"] = target.round(2)
    return pd.DataFrame(columns)


FACTORS = factors
