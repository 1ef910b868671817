"""Links: which real record each synthetic one was made from, where somebody knows it."""

import numpy as np

from synthrisk.metrics.errors import InputError


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
