"""Files of other programs, by their suffix: Excel, OpenDocument, Stata, SPSS, SAS."""

from collections.abc import Sequence

import pandas as pd

from synthrisk.tasks.workspace.excel import EXCEL, read_excel
from synthrisk.tasks.workspace.statistical import STATISTICAL, read_statistical

FORMATS = (*EXCEL, *STATISTICAL)


def read_format(raw: bytes, suffix: str, name: str, sheet: str | None, missing: Sequence[str]) -> pd.DataFrame:
    """Return the table in a file with one of ``FORMATS`` as its suffix; its ``attrs["notes"]`` say what is not plain.

    Args:
        raw: The file.
        suffix: Of its name, in lower case.
        name: What messages call it.
        sheet: Of a workbook; None takes the first.
        missing: Texts, also of numbers, that mean a missing cell.

    Raises:
        InputError: It cannot be read, or needs a package that is not installed.
    """
    if suffix in EXCEL:
        return read_excel(raw, name, sheet, missing)
    return read_statistical(raw, suffix, name, missing)
