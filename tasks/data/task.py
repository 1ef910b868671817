"""The Prefect task ``data``."""

from synthrisk.conf.study import Data, Split
from synthrisk.tasks.data import Table, load_table
from synthrisk.tasks.workspace.verb import verb


@verb("data")
def data(settings: Data, split: Split, folder: str, seed: int) -> Table:
    """Read, type, check and store the real table; return where it is."""
    return load_table(settings, split, folder, seed)
