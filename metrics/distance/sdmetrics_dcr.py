"""What SDMetrics' DCR metrics print: protection by distance to the closest record, with their distance.

Their distance is gower's with each numeric column divided by the range of the table searched, and cut off at 1.
"""

from typing import Literal

import numpy as np
import pandas as pd

from synthrisk.metrics.neighbours.distances import compared
from synthrisk.metrics.neighbours.nearest import synthetic_to_real, synthetic_to_some
from synthrisk.metrics.neighbours.subsamples import chances_among
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.level_order import level_order
from synthrisk.metrics.tables.tables import Tables

Overfitting = Literal["sdmetrics", "corrected"]


def closest_record(tables: Tables) -> np.ndarray:
    """Return SDMetrics' DCR of each synthetic record to the real table, (m,).

    Example:
        >>> closest_record(Tables(pd.DataFrame({"x": [0.0, 10.0]}), pd.DataFrame({"x": [1.0, 40.0]}))).tolist()
        [0.1, 1.0]
    """
    return synthetic_to_real(tables, "gower", ranges="reference").distances[:, 0]


def baseline_protection(tables: Tables, seed: int) -> dict[str, float]:
    """Return DCRBaselineProtection: median DCR of the release / that of random records, at most 1.

    NaN where the random records' median is 0, as SDMetrics has it. 1 = as far from the real table as random records;
    a release that is useful is nearer than that.
    """
    ours = float(np.median(closest_record(tables)))
    random = float(np.median(closest_record(Tables(*random_records(tables, seed)))))
    return {
        "baseline_protection": min(ours / random, 1.0) if random > 0 else float("nan"),
        "median_synthetic": ours,
        "median_random": random,
    }


def overfitting_protection(tables: Tables, rule: Overfitting) -> dict[str, float]:
    """Return DCROverfittingProtection: min(1, 2(1 - share of synthetic records nearer to training than to holdout)).

    Training is what ``tables.groups`` calls members, holdout is control. ``corrected`` gives an ideal release a share
    of a half, score 1. SDMetrics does not, for three reasons:

    - it counts a tie as nearer to the holdout: a release of few distinct values looks safe. Here a tie counts half;
    - the nearest of more records is nearer: with a training table ten times the holdout nearly all of an honest
      release is nearer to it. Here the larger counts as its mean subsample of the size of the smaller;
    - it divides each distance by the ranges of the table searched, and more records have wider ranges, hence smaller
      distances. Here both are divided by the ranges of all records.

    ``closer_to_training_expected`` is the share of a release without knowledge of either table where nothing ties:
    n/(n + h) of n training and h holdout records; 1/2 where corrected.
    """
    training, holdout = (int(np.sum(tables.groups == group)) for group in (1, 0))
    share, tied = _as_sdmetrics(tables) if rule == "sdmetrics" else _corrected(tables)
    return protection(share, tied, rule, training, holdout)


def protection(share: float, tied: float, rule: Overfitting, training: int, holdout: int) -> dict[str, float]:
    """Return what the shares of synthetic records that are nearer to training, and that are tied, come to."""
    return {
        "overfitting_protection": min(2 * (1 - share), 1.0),
        "closer_to_training": share,
        "closer_to_training_expected": training / (training + holdout) if rule == "sdmetrics" else 0.5,
        "closer_to_holdout": 1 - share,
        "ties": tied,
    }


def _as_sdmetrics(tables: Tables) -> tuple[float, float]:  # shares nearer to training, and tied
    parts = [tables.part(group) for group in (1, 0)]
    found = compared(*(closest_record(part) for part in parts if part is not None))
    return float(found.closer.mean()), float(found.tied.mean())


def _corrected(tables: Tables) -> tuple[float, float]:
    training, holdout = (np.flatnonzero(tables.groups == group) for group in (1, 0))
    n, h = len(training), len(holdout)
    ours, theirs = (synthetic_to_some(tables, "gower", rows).distances[:, 0] for rows in (training, holdout))
    nearer, tied = (np.asarray(found, dtype=float) for found in compared(ours, theirs))
    if n > h:
        nearer, tied = chances_among(tables, "gower", training, theirs, h)
    elif n < h:
        farther, tied = chances_among(tables, "gower", holdout, ours, n)
        nearer = 1 - farther - tied
    return float(np.mean(nearer + tied / 2)), float(np.mean(tied))


def random_records(tables: Tables, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the real table and as many random records as synthetic ones, numbers as floats and words as codes.

    Each column is uniform over the range or the levels of real: whole numbers where it has no others; missing cells as
    often as in real. Each column has a generator of its own, keyed by its name, and levels are taken by frequency, then
    ``level_order``, so that neither order nor names move a draw.
    """
    real, random, count = {}, {}, len(tables.synthetic)
    for column in tables.columns:
        rng = np.random.default_rng(seed_of(seed, str(column)))
        if tables.kind(column) == "numeric":
            real[column] = pd.Series(tables.floats(column)[0])
            random[column] = pd.Series(_random_numbers(tables.floats(column)[0], rng, count))
        else:
            codes = tables.codes([column])
            real[column] = pd.Series(codes.tables[0]).astype("category")  # as objects they would be numbers
            drawn = _random_codes(codes.tables[0], level_order(tables, tables.columns)[column], rng, count)
            random[column] = pd.Series(drawn).astype("category")
    return pd.DataFrame(real), pd.DataFrame(random)


def _random_codes(codes: np.ndarray, place: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    frequency = np.bincount(codes, minlength=len(place))
    missing = len(place) - 1  # the last level
    ordered = np.lexsort((place[:missing], -frequency[:missing]))[: np.count_nonzero(frequency[:missing])]
    ordered = ordered if len(ordered) else np.array([missing])
    gone = rng.random(count) < frequency[missing] / len(codes)
    return np.where(gone, missing, ordered[rng.integers(len(ordered), size=count)])


def _random_numbers(values: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    there = values[~np.isnan(values)]
    if not len(there):
        return np.full(count, np.nan)
    low, high = there.min(), there.max()
    gone, share = rng.random(count) < np.isnan(values).mean(), rng.random(count)
    if (there == np.floor(there)).all():
        drawn = np.minimum(np.floor(low * (1 - share) + (high + 1) * share), high)
    else:
        drawn = low * (1 - share) + high * share
    return np.where(gone, np.nan, drawn)
