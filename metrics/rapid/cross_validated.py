"""RAPID's third mode: what a generator, not a release, gives away about people whom it never saw."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold

from synthrisk.metrics.errors import InputError, check_whole
from synthrisk.metrics.intervals.distributions import t_quantile
from synthrisk.metrics.rapid.rapid import RAPID
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.tables.kinds import kind


@dataclass(frozen=True)
class CrossValidated:
    """RAPID over folds.

    Folds share their training records, so that the t interval over folds is too narrow for a new table: trust that of a
    study instead (METHODS 6).
    """

    value: float  # mean over folds
    sd: float  # standard deviation over folds
    lower: float
    upper: float
    folds: tuple[float, ...]  # value of each fold, in order


def cross_validated(
    real: pd.DataFrame,
    synthesizer: Callable[[pd.DataFrame, int], pd.DataFrame],
    *,
    sensitive: str,
    folds: int = 5,
    confidence: float = 0.95,
    seed: int = 0,
    **options: Any,
) -> CrossValidated:
    """Fit a synthesizer on K - 1 folds, attack the held-out fold, K times (``rapid_synthesizer_cv`` in R).

    The folds are stratified by a categorical target whose classes allow it. Class shares come from all real
    records. A study does the same with repetitions, control records and member scores beside it.

    Args:
        real: The real records.
        synthesizer: ``(training records, seed) -> release``.
        sensitive: The attribute guessed.
        folds: K >= 2.
        confidence: Confidence level.
        seed: Root seed of folds, fits and attacks.
        **options: Further options of ``rapid``.

    Raises:
        InputError: ``folds`` is no whole number between 2 and the number of records, or an option breaks its rule.
    """
    check_whole("folds", folds, 2, len(real), "a whole number between 2 and the number of records")
    if sensitive not in real.columns:
        raise InputError(f"sensitive must be a column of the table, got {sensitive!r}")
    values = []
    for fold, (train, held_out) in enumerate(_parts(real, sensitive, folds, seed)):
        members, controls = real.iloc[train], real.iloc[held_out]
        release = synthesizer(members.reset_index(drop=True), seed_of(seed, fold, "synthesizer"))
        own = seed_of(seed, fold, "attack")
        score = RAPID(members, release, control=controls, sensitive=sensitive, mode="holdout", seed=own, **options)
        values.append(score.value)
    mean, sd = float(np.mean(values)), float(np.std(values, ddof=1))
    half = float(t_quantile(0.5 + confidence / 2, folds - 1)) * sd / np.sqrt(folds)
    return CrossValidated(mean, sd, mean - half, mean + half, tuple(values))


def _parts(real: pd.DataFrame, sensitive: str, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    random_state = seed_of(seed, "folds")
    classes = pd.factorize(real[sensitive], use_na_sentinel=False)[0]
    if kind(real[sensitive]) == "categorical" and np.bincount(classes).min() >= folds:
        cut = StratifiedKFold(folds, shuffle=True, random_state=random_state)
        return list(cut.split(np.zeros(len(real)), classes))
    return list(KFold(folds, shuffle=True, random_state=random_state).split(np.zeros(len(real))))
