"""In how few cells a record differs from any of others: distances of tables in which cells are equal or not."""

from collections.abc import Callable, Sequence

import numpy as np

_FEW = 256  # levels that a byte tells apart
_CELLS = 500_000  # comparisons held at once
_MANY = 10**9  # cells compared from which compiled code is worth loading, or compiling: here a tenth of a second


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
    pairs = len(fewest) * len(rows[0]) if rows else 0
    improve = _improve if pairs * len(queries) < _MANY else _quickest()
    improve(fewest, np.ascontiguousarray(parts[0].T), np.ascontiguousarray(parts[1].T), parts[2], parts[3])
    return fewest.astype(np.int64)


def _quickest() -> Callable[..., None]:
    try:
        from synthrisk.metrics.neighbours.differing_cells_compiled import improve
    except ImportError:
        return _improve
    return improve


def _side_by_side(columns: Sequence[np.ndarray], chosen: Sequence[int], dtype: type) -> np.ndarray:
    found: np.ndarray = np.empty((len(chosen), len(columns[0])), dtype=dtype)
    for place, c in enumerate(chosen):
        found[place] = columns[c]
    return found


def _improve(
    fewest: np.ndarray, few: np.ndarray, many: np.ndarray, rows_of_few: np.ndarray, rows_of_many: np.ndarray
) -> None:
    """Do what the compiled function of the same name does."""
    m = max(rows_of_few.shape[1], rows_of_many.shape[1])
    step = max(1, _CELLS // m)
    for start in range(0, len(fewest), step):
        block = slice(start, start + step)
        differ = np.zeros((len(fewest[block]), m), dtype=fewest.dtype)
        for own, rows in ((few[block], rows_of_few), (many[block], rows_of_many)):
            for c, column in enumerate(rows):
                differ += own[:, c, None] != column
        fewest[block] = np.minimum(fewest[block], differ.min(axis=1))
