"""Entities: the people (or others) that records belong to, where one may have several records.

An entity has a value if one of its records has it. Without entities each record is an entity of its own.
"""

import numpy as np
import pandas as pd

from synthrisk.metrics.tables.codes import joint_codes
from synthrisk.metrics.tables.value_types import same_types


def entity_numbers(*names: pd.Series) -> np.ndarray:
    """Return the number of each record's entity, one table after the other; a record without a name is its own entity.

    Example:
        >>> entity_numbers(pd.Series(["ann", None, "bob", None]), pd.Series(["bob", "eve"])).tolist()
        [0, 5, 1, 7, 1, 2]
    """
    codes, _ = joint_codes(same_types(names))
    numbers = np.concatenate(codes.tables)
    return np.where(numbers == codes.size - 1, codes.size + np.arange(len(numbers)), numbers)


def how_many(held: np.ndarray, entities: np.ndarray | None) -> int:
    """Return the number of entities that have one of the records marked in ``held``, (n,) booleans."""
    return int(held.sum()) if entities is None else len(np.unique(entities[held]))


def how_many_with(codes: np.ndarray, size: int, entities: np.ndarray | None) -> np.ndarray:
    """Return the number of entities with each code, (size,); -1 is none.

    Example:
        >>> how_many_with(np.array([0, 0, 1, -1]), 3, np.array([7, 7, 7, 8])).tolist()
        [1, 1, 0]
    """
    codes, own = codes[codes >= 0], None if entities is None else entities[codes >= 0]
    if own is not None:
        codes = np.unique(own * size + codes) % size
    return np.bincount(codes, minlength=size)


def has(codes: np.ndarray, claimed: np.ndarray, entities: np.ndarray | None) -> np.ndarray:
    """Tell for each record whether its entity has the code claimed of it, (n,) booleans; claimed -1 is none.

    Example:
        >>> has(np.array([3, 4, 4]), np.array([4, -1, 3]), np.array([7, 7, 8])).tolist()
        [True, False, False]
    """
    if entities is None:
        return np.asarray(codes == claimed)
    size = int(max(codes.max(), claimed.max())) + 2  # and a place for -1
    return np.isin(entities * size + claimed + 1, entities * size + codes + 1)
