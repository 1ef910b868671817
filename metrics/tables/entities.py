"""Which records are of one person, and which real record each synthetic one was made from, where somebody knows it.

An entity has a value if one of its records has it. Without entities each record is an entity of its own.
"""

import numpy as np
import pandas as pd
import scipy

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.tables.codes import joint_codes, row_codes
from synthrisk.metrics.tables.value_types import same_types


def entity_numbers(*names: pd.Series) -> np.ndarray:
    """Return the number of each record's entity, one table after the other; a record without a name is its own entity.

    Example:
        >>> entity_numbers(pd.Series(["ann", None, "bob", None]), pd.Series(["bob", "eve"])).tolist()
        [0, 5, 1, 7, 1, 2]
    """
    columns = same_types(names)
    codes, _ = joint_codes(columns)
    numbers = np.concatenate(codes.tables)
    return np.where(numbers == codes.size - 1, codes.size + np.arange(len(numbers)), numbers)


def record_groups(frame: pd.DataFrame, identifier: pd.Series | None, with_twins: bool) -> np.ndarray:
    """Return a code a record, equal for records that belong together: of one entity, or exact duplicates."""
    alone = np.arange(len(frame))
    relations = [] if identifier is None else [entity_numbers(identifier)]
    if with_twins:
        relations.append(row_codes(frame))
    if not relations:
        return alone
    nodes = [alone]  # records, then the classes of each relation: an edge from each record to its classes
    for relation in relations:
        nodes.append(pd.factorize(relation)[0] + nodes[-1].max(initial=-1) + 1)
    edges = np.concatenate(nodes[1:])
    size = int(edges.max(initial=-1)) + 1
    graph = scipy.sparse.coo_array(
        (np.ones(len(edges), bool), (np.tile(alone, len(relations)), edges)), shape=(size, size)
    )
    labels = scipy.sparse.csgraph.connected_components(graph, directed=False)[1][: len(frame)]
    return np.asarray(pd.factorize(labels)[0])


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


def checked_links(name: str, links: object, rows: int, real: int) -> np.ndarray:
    """Return links as an array, once it is sure that they name a real record, or none, for each synthetic one.

    Raises:
        InputError: They are no whole numbers, not as many as there are rows, or lead out of the real table.
    """
    given = whole_links(name, links)
    if len(given) != rows:
        raise InputError(f"{name} must name a real row for each of {rows} synthetic rows, got {len(given)}")
    if given.min() < -1 or given.max() >= real:
        rule = f"positions from 0 to {real - 1} in the real table, or -1"
        raise InputError(f"{name} must be {rule}, got {given.min()} to {given.max()}")
    return given


def whole_links(name: str, links: object) -> np.ndarray:
    """Return links as an array of whole numbers.

    Raises:
        InputError: They are none.
    """
    given = np.asarray(links)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        got = f"{given.ndim} dimensions of {given.dtype}"
        raise InputError(f"{name} must be whole numbers, one a synthetic row, got {got}")
    return given


def links_among(links: np.ndarray | None, rows: np.ndarray, records: int) -> np.ndarray | None:
    """Return links where of so many real records these alone are left, in this order.

    Example:
        >>> links_among(np.array([0, 2, -1, 1]), np.array([2, 0]), 3).tolist()
        [1, 0, -1, -1]
    """
    if links is None:
        return None
    place = np.full(records + 1, -1)  # the last is that of no record
    place[rows] = np.arange(len(rows))
    return np.asarray(place[links])
