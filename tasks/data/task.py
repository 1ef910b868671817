"""The Prefect task ``data``."""

from pathlib import Path

from synthrisk.conf.study import Data, Split
from synthrisk.tasks.data import Table, read, store, typed
from synthrisk.tasks.workspace.verb import verb


@verb("data")
def data(settings: Data, split: Split, folder: str, seed: int) -> Table:
    """Read, type, check and store the real table in the workspace ``folder``; return where it is.

    Raises:
        InputError: The source cannot be read, or the table does not fit the settings.
    """
    return store(
        typed(read(settings.source, settings.missing, settings.columns, coded=True), settings, split, seed),
        Path(folder),
    )
