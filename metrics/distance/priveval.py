"""What PrivEval's own program prints for a release, with its slips, to read its numbers beside ours.

The program is hereditary-eu/PrivEval at 2aecac8, called as its own driver calls it. Our measures are defined anew where
it contradicts its report or itself: docs/priveval.md lists the differences, one measure after the other.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import LabelEncoder, StandardScaler

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.tables import Tables

UNSETTLED = (
    "detection_mlp",
    "membership_inference_risk",
    "distance_to_closest_record",
    "nearest_neighbour_distance_ratio",
    "hidden_rate",
)
"""Measures in which chance has a part there: models, and a plane that a randomised decomposition gives."""
_NOTHING = 1e-8  # what it adds where it divides, and in logarithms


def printed(real: pd.DataFrame, synthetic: pd.DataFrame, sensitive: Sequence[str] | str) -> dict[str, float]:
    """Return the number that PrivEval prints for each of its measures, by our names; all other columns are keys.

    A measure of ``UNSETTLED`` is not among them. NaN: the program fails on these tables, and prints 0 or 0.5 all the
    same. Of records tied at one distance the one counts that scikit-learn's search meets first, so that the order of
    rows has a part in AIR and GCAP. Memory grows with the product of the numbers of records.

    Args:
        real: The records attacked, with the types that ``read_csv`` gives.
        synthetic: The release, with the same columns.
        sensitive: Column or columns guessed.

    Raises:
        InputError: A sensitive column is absent, or no other column is left.

    Example:
        >>> real = pd.DataFrame({"x": [0.0, 1.0, 5.0, 6.0], "c": ["a", "b", "b", "a"]})
        >>> told = printed(real, real, "c")
        >>> told["median_distance_to_closest_record"], told["nearest_synthetic_neighbour_distance"]  # of a copy
        (0.5, 0.0)
    """
    tables = Tables(real, synthetic)
    hidden = tables.check_columns("sensitive", sensitive)
    keys = [c for c in tables.columns if c not in hidden]
    if not keys:
        raise InputError("sensitive must leave a column that the attacker knows, got all columns")
    given = real.reset_index(drop=True), synthetic[tables.columns].reset_index(drop=True)
    codes = _codes(*given)
    ways: dict[str, Callable[[], float]] = {
        "zero_cap": lambda: _zero_cap(*codes, keys, hidden),
        "generalized_cap": lambda: _generalized_cap(*codes, keys, hidden),
        "attribute_inference_risk": lambda: _attribute_inference(*given, keys, hidden),
        "common_rows_proportion": lambda: _common_rows(*given),
        "close_value_probability": lambda: float((_normalised(*given) < 0.2).mean()),
        "distant_value_probability": lambda: 1 - float((_normalised(*given) >= 0.8).mean()),
        "nearest_synthetic_neighbour_distance": lambda: _mean_distance(_normalised(*given)),
        "authenticity": lambda: _authenticity(*given),
        "identifiability_score": lambda: _identifiability(*given),
        "median_distance_to_closest_record": lambda: _median_distance(*_scaled(*codes)),
        "nearest_neighbour_adversarial_accuracy": lambda: _adversarial_accuracy(*codes),
        "hitting_rate": lambda: _hitting_rate(*codes),
    }
    return {name: _or_none(way) for name, way in ways.items()}


def _or_none(way: Callable[[], float]) -> float:
    try:
        return float(way())
    except (ValueError, TypeError):  # what scikit-learn and pandas raise, and the program swallows
        return float("nan")


def _codes(real: pd.DataFrame, synthetic: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables as the driver hands them to half of the measures: words as numbers, in the alphabet's order."""
    both = pd.concat([real, synthetic], ignore_index=True)
    for column in both.select_dtypes(include=["object", "string", "bool"]).columns:
        is_flag = both[column].dtype == bool
        both[column] = both[column].astype(int) if is_flag else LabelEncoder().fit_transform([*map(str, both[column])])
    return both[: len(real)], both[len(real) :].reset_index(drop=True)


def _scaled(real: pd.DataFrame, synthetic: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers and a 0/1 column a level, in standard deviations of the real table."""
    numbers = list(real.select_dtypes(include=[np.number]).columns)
    words = [c for c in real if c not in numbers]
    ours, theirs = (t[numbers].fillna(t[numbers].mean()).to_numpy(dtype=float) for t in (real, synthetic))
    if words:
        texts = pd.concat([t[words].fillna("missing").astype(str) for t in (real, synthetic)])
        levels = pd.get_dummies(texts, dtype=int).to_numpy()
        ours, theirs = np.hstack([ours, levels[: len(real)]]), np.hstack([theirs, levels[len(real) :]])
    scaler = StandardScaler().fit(ours)
    return scaler.transform(ours), scaler.transform(theirs)


def _nearest(queries: np.ndarray, among: np.ndarray, place: int = 0, metric: str = "euclidean") -> np.ndarray:
    """Return the distance to the nearest, or, for records among themselves, to the next (place 1)."""
    search = NearestNeighbors(n_neighbors=place + 1, metric=metric).fit(among)
    return np.asarray(search.kneighbors(queries)[0][:, place])


def _normalised(real: pd.DataFrame, synthetic: pd.DataFrame) -> np.ndarray:
    if not len(real.select_dtypes(exclude=[np.number]).columns):
        raise ValueError("it fails where no column has words")
    ours, theirs = _scaled(real, synthetic)
    distance = _nearest(ours, theirs)
    width = distance.max() - distance.min()
    return np.asarray((distance - distance.min()) / width if width else np.zeros(len(distance)))


def _mean_distance(normalised: np.ndarray) -> float:
    return 1 - float(normalised.mean()) if normalised.any() else 0.0


def _zero_cap(real: pd.DataFrame, synthetic: pd.DataFrame, keys: list[str], hidden: list[str]) -> float:
    ours, theirs = (t.astype(str) for t in (real, synthetic))
    found = []
    for column in hidden:
        pairs = ours[[*keys, column]].reset_index().merge(theirs[[*keys, column]], on=keys)
        right = (pairs[f"{column}_x"] == pairs[f"{column}_y"]).groupby(pairs["index"]).mean()
        found.append(right.sum() / len(ours))
    return float(np.mean(found))


def _generalized_cap(real: pd.DataFrame, synthetic: pd.DataFrame, keys: list[str], hidden: list[str]) -> float:
    search = NearestNeighbors(n_neighbors=1, metric="hamming").fit(synthetic[keys].to_numpy())
    near = search.kneighbors(real[keys].to_numpy(), return_distance=False)[:, 0]
    last = hidden[-1]  # each column takes the place of the one before
    return float((real[last].to_numpy() == synthetic[last].to_numpy()[near]).mean())


def _attribute_inference(real: pd.DataFrame, synthetic: pd.DataFrame, keys: list[str], hidden: list[str]) -> float:
    decimals = [c for c in real if real[c].dtype == np.float64]
    known = [c for c in keys if c not in decimals[:1]]
    levels = pd.get_dummies(pd.concat([real[known], synthetic[known]]), dtype=int)
    ours, theirs = levels[: len(real)].to_numpy(), levels[len(real) :].to_numpy()
    ours, theirs = np.hstack([ours, real[decimals]]), np.hstack([theirs, synthetic[decimals]])
    near = NearestNeighbors(n_neighbors=1).fit(theirs).kneighbors(ours, return_distance=False)[:, 0]
    right = []
    for column in hidden:
        truth, guess = real[column].to_numpy(), synthetic[column].to_numpy()[near]
        right.append(np.abs(guess - truth) <= 0.1 * np.abs(truth) if column in decimals else guess == truth)
    share = float(np.mean(right))
    counts = real.value_counts().to_numpy()
    probability = counts / len(real)
    entropy = -float((probability * np.log(probability)).sum())
    weights = -probability * np.log(probability + _NOTHING) / entropy if entropy > 0 else 1 / len(counts)
    return float(np.sum(weights * (2 * share / (1 + share))))


def _common_rows(real: pd.DataFrame, synthetic: pd.DataFrame) -> float:
    ours, theirs = (set(map(tuple, t.astype(str).to_numpy())) for t in (real, synthetic))
    return len(ours & theirs) / (len(real) + _NOTHING)


def _authenticity(real: pd.DataFrame, synthetic: pd.DataFrame) -> float:
    numbers = list(real.select_dtypes(include=[np.number]).columns)
    if not numbers or min(len(real), len(synthetic)) < 2:
        return 0.0
    ours, theirs = _scaled(real[numbers], synthetic[numbers])
    return 1 - float((_nearest(ours, ours, 1) < _nearest(ours, theirs)).mean())


def _identifiability(real: pd.DataFrame, synthetic: pd.DataFrame) -> float:
    both, words = pd.concat([real, synthetic]), real.select_dtypes(include=["object", "string", "category"]).columns
    for column in words:
        both[column] = LabelEncoder().fit_transform(both[column])
    own = both[: len(real)].fillna(both[: len(real)].mean())
    other = both[len(real) :].fillna(both[len(real) :].mean())
    ours, theirs = _scaled(own.astype(float), other.astype(float))
    weights = np.array([1 / (_entropy(own[c], c in words) + _NOTHING) + _NOTHING for c in own])
    ours, theirs = ours / weights, theirs / weights
    return float((_nearest(ours, theirs) < _nearest(ours, ours, 1)).mean())


def _entropy(values: pd.Series, is_word: bool) -> float:
    if values.dtype == bool:  # it fails on these, and takes them for constant
        return 0.0
    if not is_word:
        values = pd.qcut(values, q=min(10, values.nunique()), duplicates="drop")
    share = values.value_counts(normalize=True).to_numpy()
    return -float((share * np.log(share + _NOTHING)).sum())


def _median_distance(real: np.ndarray, synthetic: np.ndarray) -> float:
    among = np.median(_nearest(real, real, 1))
    return 1 - 1 / (1 + np.exp(-np.median(_nearest(real, synthetic)) / among)) if among else 0.0


def _adversarial_accuracy(real: pd.DataFrame, synthetic: pd.DataFrame) -> float:
    if max(len(real) / len(synthetic), len(synthetic) / len(real)) >= 2:
        return float("nan")
    ours, theirs = (t.astype(float).to_numpy() for t in (real, synthetic))

    def away(queries: np.ndarray, among: np.ndarray) -> np.ndarray:
        widths = np.maximum(np.ptp(np.vstack([queries, among]), axis=0), 1)
        distance = cdist(queries, among, "minkowski", p=1, w=1 / widths) / len(widths)
        itself = np.eye(len(queries)) if np.array_equal(queries, among) else 0.0
        return np.asarray((distance + itself).min(axis=1))

    left = (away(ours, theirs) > away(ours, ours)).mean()
    right = (away(theirs, ours) > away(theirs, theirs)).mean()
    return 1 - float(left + right) / 2


def _hitting_rate(real: pd.DataFrame, synthetic: pd.DataFrame) -> float:
    means = real.mean()
    ours, theirs = (t.fillna(means).to_numpy(dtype=float) for t in (real, synthetic))
    reach = np.ptp(ours, axis=0) / 30
    flags = [set(column) == {0.0, 1.0} for column in ours.T]
    near = np.ones((len(ours), len(theirs)), dtype=bool)
    for mine, their, step, flag in zip(ours.T, theirs.T, reach, flags, strict=True):
        width = 0.0 if flag else step
        near &= (their >= mine[:, None] - width) & (their <= mine[:, None] + width)
    return float(near.any(axis=1).mean())
