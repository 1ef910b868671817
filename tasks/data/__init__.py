"""The real table: read from its source, typed, checked, and stored for the study."""

from pathlib import Path

from synthrisk.conf.study import Data, Split
from synthrisk.tasks.data.source import read
from synthrisk.tasks.data.typed import typed
from synthrisk.tasks.workspace.references import Table
from synthrisk.tasks.workspace.table import store


def load_table(data: Data, split: Split, folder: str | Path, seed: int) -> Table:
    """Return the study's table, typed, checked and stored in the workspace ``folder``.

    Raises:
        InputError: The source cannot be read, or the table does not fit the settings.
    """
    return store(typed(read(data.source, data.missing), data, split, seed), Path(folder))


__all__ = ["Table", "load_table", "read", "store", "typed"]
