"""Files without a header line: their first row would be taken for the names of columns, and told as such."""

import pandas as pd

from synthrisk.metrics.errors import InputError


def refuse_no_header(texts: pd.DataFrame) -> None:
    """Refuse a table of texts of which most names are values of their columns, one that is no number among them.

    Names that are numbers alone say nothing: columns may be named by years.

    Raises:
        InputError: So it is; the sentence names no column, for their names are cells.
    """
    words = sum(not _is_number(name) and bool(texts[name].astype(str).eq(name).any()) for name in texts.columns)
    numbers = sum(_is_number(name) and _is_between(float(name), texts[name]) for name in texts.columns)
    if words and 2 * (words + numbers) > len(texts.columns):
        raise InputError(
            "the table must begin with a line of column names, got a first line of cells, such as other lines hold too"
        )


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _is_between(number: float, texts: pd.Series) -> bool:
    values = pd.to_numeric(texts.astype(str), errors="coerce").dropna()
    return not values.empty and bool(values.min() <= number <= values.max())
