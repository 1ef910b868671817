"""The Prefect task ``data``."""

from prefect import task
from prefect.cache_policies import NO_CACHE

from synthrisk.conf.study import Data, Split
from synthrisk.tasks.data import Table, load_table


@task(name="data", cache_policy=NO_CACHE)  # the source may have changed since
def data(settings: Data, split: Split, folder: str, seed: int) -> Table:
    """Read, type, check and store the real table; return where it is."""
    return load_table(settings, split, folder, seed)
