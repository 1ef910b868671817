"""Tables of Stata, SPSS and SAS, through pyreadstat: their labels, dates and codes for missing cells."""

import io
from collections.abc import Sequence

import pandas as pd

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.display_formats import displayed
from synthrisk.tasks.workspace.labelled import Declared, with_labels, without_declared
from synthrisk.tasks.workspace.narrowed import blanked, narrowed

_READERS = {
    ".dta": ("Stata", "read_dta"),
    ".sav": ("SPSS", "read_sav"),
    ".zsav": ("SPSS", "read_sav"),
    ".por": ("SPSS", "read_por"),
    ".sas7bdat": ("SAS", "read_sas7bdat"),
    ".xpt": ("SAS", "read_xport"),
}
STATISTICAL = tuple(_READERS)
_NO_USER_MISSING = (".por", ".xpt")


def read_statistical(raw: bytes, suffix: str, name: str, missing: Sequence[str] = ()) -> pd.DataFrame:
    """Return the table in a file of Stata (.dta), SPSS (.sav, .zsav, .por) or SAS (.sas7bdat, .xpt).

    A column whose codes all have a value label becomes a category of the labels; one of which only some have keeps
    its codes. Codes that the file declares missing are missing, and so are codes and labels listed in ``missing``
    and the empty text. Numbers with a display format of dates or times become such. SAS keeps labels in a catalog
    apart, which is not read. ``attrs["notes"]`` holds a sentence for each column where this is not plain.

    Raises:
        InputError: pyreadstat is not installed, or the file cannot be read.
    """
    try:
        import pyreadstat
    except ImportError:
        needs = "needs the package pyreadstat, which is not installed"
        raise InputError(f"{name} {needs}: pip install 'synthrisk[files]'") from None
    program, reader = _READERS[suffix]
    options = {} if suffix in _NO_USER_MISSING else {"user_missing": True}
    try:
        read = getattr(pyreadstat, reader)
        frame, about = read(io.BytesIO(raw), disable_datetime_conversion=True, **options)
    except Exception:  # noqa: BLE001 - the reader's errors are its own, and may quote the file
        raise InputError(
            f"{name} must be a file of {program}, but cannot be read as one: it is another kind of file, damaged, "
            "cut short or encrypted"
        ) from None
    columns, notes = {}, []
    for name_of in frame.columns:
        declared = Declared(about.missing_ranges.get(name_of, ()), about.missing_user_values.get(name_of, ()))
        codes, of_declared = without_declared(frame[name_of], declared)
        codes = narrowed(displayed(codes, about.original_variable_types.get(name_of), program))
        labels = pd.Series(about.variable_value_labels.get(name_of, {}), dtype=object)
        labels = labels[~declared.among(labels.index.to_series()).to_numpy()]
        labelled, of_labels = with_labels(blanked(codes, missing), labels.to_dict())
        columns[name_of] = blanked(labelled, missing)
        notes += [note for note in (of_declared, of_labels) if note]
    table = pd.DataFrame(columns, index=frame.index)
    table.attrs["notes"] = notes
    return table
