"""The Prefect task ``data``."""

from pathlib import Path

from synthrisk.conf.study import Data, Split
from synthrisk.tasks.data.source import read
from synthrisk.tasks.data.types import left_out, typed
from synthrisk.tasks.workspace.references import Table
from synthrisk.tasks.workspace.table import store
from synthrisk.tasks.workspace.verb import verb


@verb("data")
def data(settings: Data, split: Split, folder: str, seed: int) -> Table:
    """Read, type, check and store the real table in the workspace ``folder``; return where it is.

    Raises:
        InputError: The source cannot be read, or the table does not fit the settings.
    """
    frame = read(settings.source, settings.missing, settings.columns, coded=True)
    return store(typed(frame, settings, split, seed), Path(folder), left_out(frame, settings, seed))
