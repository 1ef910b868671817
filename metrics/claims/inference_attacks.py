"""Attacks that guess a sensitive value: from the nearest records, from the key class, from a trained model."""

from typing import Any

import numpy as np
import pandas as pd

from synthrisk.metrics.attack import Attack
from synthrisk.metrics.claims.attackers_view import with_unknown
from synthrisk.metrics.claims.votes import voted
from synthrisk.metrics.errors import InputError, is_whole
from synthrisk.metrics.models.attackers import AttackerModel, class_probabilities, predicted_values
from synthrisk.metrics.models.features import level_codes
from synthrisk.metrics.neighbours.distances import ties
from synthrisk.metrics.neighbours.nearest import real_to_synthetic
from synthrisk.metrics.neighbours.value_sets import nearest_by_sets, same_by_sets
from synthrisk.metrics.tables.kinds import as_floats, kind
from synthrisk.metrics.tables.tables import Tables
from synthrisk.metrics.tables.value_sets import shown


def nearest_record(
    release: pd.DataFrame, known: pd.DataFrame, secret: str, rng: np.random.Generator, neighbours: int = 1
) -> pd.DataFrame:
    """Guess the value that the nearest records of the release have, all that are as near as the k-th included.

    Distance: gower over the known columns; of a cell that stands for a set of values, to the nearest of these.
    ``confidence`` = share of the votes for the guessed value x (1 - mean
    distance of the k nearest). It never abstains, unless all that vote have no value.
    """
    check_neighbours(neighbours, len(release))
    view = _view(release, known)
    if view.sets.among(view.columns):
        owner, rows, distance = nearest_by_sets(view, neighbours)
    else:
        tied = ties(view, "real_to_synthetic", "gower", k=neighbours)
        owner, rows = np.repeat(np.arange(len(known)), np.diff(tied.starts)), tied.rows
        distance = real_to_synthetic(view, "gower", k=neighbours).distances.mean(axis=1)
    found = voted(owner, rows, release[secret], len(known))
    return found.assign(confidence=found["confidence"] * (1 - distance)).set_index(known.index)


def key_class(release: pd.DataFrame, known: pd.DataFrame, secret: str, rng: np.random.Generator) -> pd.DataFrame:
    """Guess the most frequent value (a number: the lower median) among the records with exactly the target's key.

    It abstains where no record has it. ``confidence`` = share of those records that have the guessed value. A cell that
    stands for a set of values is each of them.
    """
    owner, rows = _holders(_view(release, known))
    return voted(owner, rows, release[secret], len(known)).set_index(known.index)


def _view(release: pd.DataFrame, known: pd.DataFrame) -> Tables:
    """Return both tables in the known columns, without those of which the release shows nothing."""
    whole = Tables(known, release[list(known.columns)])
    told = shown(whole, whole.columns)
    return whole if len(told) in (0, len(whole.columns)) else Tables(known[told], release[told])


def _holders(tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of a real record and a released one that has its values, or may have them."""
    if tables.sets.among(tables.columns):
        return same_by_sets(tables)
    keys = tables.codes(tables.columns)
    targets, holders = (pd.DataFrame({"key": side, "row": np.arange(len(side))}) for side in keys.tables)
    votes = targets.merge(holders, on="key", suffixes=("", "_held"))
    return votes["row"].to_numpy(), votes["row_held"].to_numpy()


def unanimous_class(release: pd.DataFrame, known: pd.DataFrame, secret: str, rng: np.random.Generator) -> pd.DataFrame:
    """Guess the value that all records with exactly the target's key have; abstain where they are divided or absent.

    Missing cells do not vote. ``confidence`` = (v + 1)/(v + 2) of v records that vote, by Laplace's rule of succession:
    the chance that one more has the value too. Numbers are unanimous where they are equal.
    """
    found = key_class(release, known, secret, rng)
    owner, rows = _holders(_view(release, known))
    votes = np.bincount(owner[release[secret].notna().to_numpy()[rows]], minlength=len(known))
    agreed = found["confidence"] == 1
    return found.assign(confidence=(votes + 1) / (votes + 2)).where(agreed)


NEAREST_RECORD = Attack("nearest_record", "inference", nearest_record, "GDA Score, inference; nearest neighbour")
UNANIMOUS_CLASS = Attack("unanimous_class", "inference", unanimous_class, "GDA Score, inference; Taub et al. 2018")
KEY_CLASS = Attack("key_class", "inference", key_class, "Taub et al. 2018; GDA Score, inference")


def model_attack(model: AttackerModel) -> Attack:
    """Return the attack that trains a model on the release and guesses what it finds likeliest.

    ``confidence`` is the probability of the guessed value; of a number there is none.
    """

    def attack(release: pd.DataFrame, known: pd.DataFrame, secret: str, rng: np.random.Generator) -> pd.DataFrame:
        columns = list(known.columns)
        present = release[secret].notna().to_numpy()
        if not present.any():
            return pd.DataFrame({"guessed": None, "confidence": np.nan}, index=known.index)
        tables = Tables(with_unknown(known, release), release)
        design = model.design(tables, columns, tables.columns)
        estimator = model.estimator(kind(release[secret]), int(rng.integers(2**32)))
        if kind(release[secret]) == "numeric":
            guessed: Any = predicted_values(estimator, design, as_floats(release[secret]))
            return pd.DataFrame({"guessed": guessed, "confidence": np.nan}, index=known.index)
        _, target, levels = level_codes(tables, secret, tables.columns)
        shown = design._replace(synthetic=design.synthetic[present])
        probabilities, classes = class_probabilities(estimator, shown, target[present])
        likeliest = probabilities.argmax(axis=1)
        guessed = levels[classes[likeliest]]
        return pd.DataFrame({"guessed": guessed, "confidence": probabilities.max(axis=1)}, index=known.index)

    return Attack(model.name, "inference", attack, "a model trained on the release")


def check_neighbours(neighbours: int, most: int | None = None) -> None:
    """Refuse a number of neighbours that a release cannot have."""
    if not is_whole(neighbours, 1, np.inf if most is None else most):
        limit = "at least 1" if most is None else f"1 to the number of synthetic records, {most}"
        raise InputError(f"neighbours must be a whole number, {limit}, got {neighbours!r}")
