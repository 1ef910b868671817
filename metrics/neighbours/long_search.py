"""Telling in time that an exact search will be long."""

import warnings


def warn_if_long(queries: int, rows: float, columns: int, limit: float) -> None:
    """Warn if ``queries`` records, each beside ``rows`` others in ``columns``, mean more than ``limit`` cells.

    Cells are counted, not timed, so that the warning is the same on every machine: ``limit`` cells are compared in
    about two minutes by two processors.
    """
    cells = queries * rows * columns
    if cells > limit:
        warnings.warn(
            f"the nearest of each of {queries} records will take about {2 * cells / limit:.0f} minutes of two "
            f"processors: each is compared with about {rows:.0f} others in {columns} columns; fewer records or "
            "columns take less",
            UserWarning,
            stacklevel=2,
        )
