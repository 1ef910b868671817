import numpy as np
import pandas as pd
import pytest

from synthrisk.conf.tables import Reading
from synthrisk.tasks.workspace.files.cell_texts import read_as, released, to_numbers

COMMAS = Reading(type="number", decimal=",", otherwise="missing")
DAYS = Reading(type="date", format="%d.%m.%Y", otherwise="missing")


@pytest.mark.parametrize(("cells", "reading"), [([f"{i}.5" for i in range(100)], COMMAS), (["1970-01-02"] * 50, DAYS)])
def test_a_release_written_otherwise_is_not_emptied_and_so_taken_for_one_that_leaks_nothing(cells, reading):
    assert released(pd.DataFrame({"a": cells}), {"a": reading})["a"].tolist() == cells


def test_a_release_written_alike_is_read_alike_and_what_is_no_number_is_missing():
    read = released(pd.DataFrame({"pay": ["61,5"] * 99 + ["n.b."]}), {"pay": COMMAS})["pay"]
    assert (read.iloc[0], int(read.isna().sum())) == (61.5, 1)


CELLS = np.random.default_rng(1).lognormal(5, 8, 300)


@pytest.mark.parametrize("dtype", [object, "string"])
@pytest.mark.parametrize("first", [0, 3])
def test_each_text_is_the_float_nearest_to_it(dtype, first):
    texts = [None, "abc", *map(repr, CELLS.tolist())][first:] if first else [None, *map(repr, CELLS.tolist())]
    column = pd.Series(texts, dtype=dtype, index=range(7, 7 + len(texts)))
    found = to_numbers(column, errors="coerce")
    assert found.index.equals(column.index)
    assert (found.dropna().tolist(), found.isna().sum()) == (CELLS.tolist()[max(first - 2, 0) :], column.isna().sum())


def test_what_is_no_number_is_refused_or_missing_and_numbers_stay():
    with pytest.raises(ValueError, match="parse"):
        to_numbers(pd.Series(["1.5", "x"]))
    assert to_numbers(pd.Series(["1.5", "x"], dtype="string"), errors="coerce").isna().tolist() == [False, True]
    assert to_numbers(pd.Series(["1", "2"])).tolist() == [1, 2]
    mixed = to_numbers(pd.Series([0.1 + 0.2, "0.30000000000000004", 7, None], dtype=object))
    assert mixed.tolist()[:3] == [0.1 + 0.2, 0.1 + 0.2, 7]


@pytest.mark.parametrize(
    ("text", "thousands", "number"),
    [
        ("5,12,345", ",", 512345),
        ("₹1,05,12,345.50", ",", 10512345.5),
        ("12,345", ",", 12345),
        ("5 12 345", " ", None),  # a phone number rather than an amount
        ("5,12,34", ",", None),
    ],
)
def test_thousands_may_be_grouped_as_in_india(text, thousands, number):
    reading = Reading(type="number", thousands=thousands, unit="₹", otherwise="missing")
    (read,) = read_as(pd.Series([text]), reading)
    assert read == number if number is not None else pd.isna(read)
