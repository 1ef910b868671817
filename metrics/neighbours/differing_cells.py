"""In how few cells a record differs from any of others: distances of tables in which cells are equal or not."""

from collections.abc import Sequence

import numpy as np

_FEW = 256  # levels that a byte tells apart
_CELLS = 5_000_000  # comparisons held at once


def fewest_differing(queries: Sequence[np.ndarray], rows: Sequence[np.ndarray]) -> np.ndarray:
    """Return in how many cells each of n records differs from the most similar of m rows, (n,), in [0, d].

    Every record is compared with every row: where cells are only equal or not, most rows are about as far away, and a
    tree passes none of them by.

    Args:
        queries: d columns of n codes from 0 on, jointly coded with those of the rows.
        rows: d columns of m >= 1 codes.

    Example:
        >>> fewest_differing([np.array([0, 1]), np.array([5, 5])], [np.array([0, 0]), np.array([5, 4])]).tolist()
        [0, 1]
    """
    few = [c for c, own in enumerate(queries) if max(own.max(initial=0), rows[c].max(initial=0)) < _FEW]
    many = [c for c in range(len(queries)) if c not in few]
    kind = np.uint8 if len(queries) < _FEW else np.uint32
    fewest = np.full(len(queries[0]), len(queries), dtype=kind)
    parts = [
        _side_by_side(side, chosen, dtype)
        for side in (queries, rows)
        for chosen, dtype in ((few, np.uint8), (many, np.int32))
    ]
    try:
        from synthrisk.metrics.neighbours.differing_cells_compiled import improve
    except ImportError:
        improve = _improve
    improve(fewest, np.ascontiguousarray(parts[0].T), np.ascontiguousarray(parts[1].T), parts[2], parts[3])
    return fewest.astype(np.int64)


def _side_by_side(columns: Sequence[np.ndarray], chosen: Sequence[int], dtype: type) -> np.ndarray:
    found: np.ndarray = np.empty((len(chosen), len(columns[0])), dtype=dtype)
    for place, c in enumerate(chosen):
        found[place] = columns[c]
    return found


def _improve(
    fewest: np.ndarray, few: np.ndarray, many: np.ndarray, rows_of_few: np.ndarray, rows_of_many: np.ndarray
) -> None:
    """Do what the compiled function of the same name does."""
    step = max(1, _CELLS // max(rows_of_few.shape[1], rows_of_many.shape[1]))
    for start in range(0, len(fewest), step):
        block = slice(start, start + step)
        both = (few[block], rows_of_few), (many[block], rows_of_many)
        differ = sum(
            (own[:, c, None] != column).astype(np.int64) for own, rows in both for c, column in enumerate(rows)
        )
        fewest[block] = np.asarray(differ).min(axis=1)
