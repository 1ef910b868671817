"""The names of records, and the order in which records stand under them."""

from functools import cached_property

import numpy as np
import pyarrow as pa


class Names:
    """The names of the records of a table, by their position in it.

    What is written of records stands in the order of their names: the order of the table would name them.
    """

    def __init__(self, hashes: np.ndarray):
        self._hashes = hashes
        self._placed = np.empty(0, np.int64), np.empty(0, np.int64), pa.array([], pa.string())

    def __len__(self) -> int:
        return len(self._hashes)

    @cached_property
    def texts(self) -> pa.Array:
        """The name of each record: 16 hexadecimal digits."""
        digits = self._hashes.astype(">u8").tobytes().hex().encode()
        return pa.array(np.frombuffer(digits, dtype="S16")).cast(pa.string())

    @cached_property
    def order(self) -> np.ndarray:
        """Positions in the order of the names."""
        return np.argsort(self._hashes, kind="stable")

    def placed(self, rows: np.ndarray) -> tuple[np.ndarray, pa.Array]:
        """Return the order in which rows of these records stand, and their names in it.

        They are kept for the next table, which mostly has the same rows.
        """
        if not np.array_equal(rows, self._placed[0]):
            order = ordered(rows, self.order)
            self._placed = rows, order, self.texts.take(pa.array(rows[order]))
        return self._placed[1:]


def ordered(rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the order in which records stand as ``places`` has them, those of one record as they stood."""
    n = len(places)
    if len(rows) % n == 0 and (rows.reshape(-1, n) == np.arange(n)).all():  # every record in every block
        return np.asarray((places[:, None] + n * np.arange(len(rows) // n)).ravel())
    rank = np.empty(n, dtype=np.int64)
    rank[places] = np.arange(n)
    return np.argsort(rank[rows], kind="stable")
