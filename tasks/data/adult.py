"""UCI Adult, the 32,561 training rows, shipped with the package (CREDIT.md)."""

from importlib.resources import as_file, files

import pandas as pd


def read_adult() -> pd.DataFrame:
    """Return the Adult training table: 15 columns, missing cells in three of them."""
    with as_file(files("synthrisk.tasks.data") / "adult.parquet") as path:
        return pd.read_parquet(path)


ADULT = read_adult
