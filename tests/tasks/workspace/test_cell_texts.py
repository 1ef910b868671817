import numpy as np
import pandas as pd
import pytest

from synthrisk.conf.tables import Reading
from synthrisk.tasks.propose.evidence import evidence
from synthrisk.tasks.workspace.files.cell_texts import (
    paired_names,
    read_as,
    released,
    texts_of,
    to_numbers,
    without_marks,
)

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


@pytest.mark.parametrize(
    ("cells", "hours"),
    [
        (["6h30", "0h00", "31h00"], [6.5, 0, 31]),
        (["25m 30s", "1m 0s", "n.a."], [25.5 / 60, 1 / 60]),
        (["1h 5m", "2h", "45m"], [13 / 12, 2, 0.75]),
        (["2 days 3 hrs", "45 min", "1 hour"], [51, 0.75, 1]),
        (["PT1H30M", "PT45M", "P1DT2H"], [1.5, 0.75, 26]),
        (["-0h30", "2h15"], [-0.5, 2.25]),
        (["31:15,3", "1:02:33,5", "75:00"], [1875.3 / 3600, 3753.5 / 3600, 1.25]),
        (["31:15.3", "28:45"], [1875.3 / 3600, 1725 / 3600]),
        (["0:31:15.25", "1:31:15.5"], [1875.25 / 3600, 5475.5 / 3600]),
    ],
)
def test_elapsed_times_in_words_and_with_parts_of_seconds_are_durations(cells, hours):
    read = read_as(pd.Series(cells), Reading(type="duration", missing=["n.a."]))
    assert (read.dropna() / pd.Timedelta("1h")).tolist() == pytest.approx(hours)
    if min(hours) >= 0:
        (found,) = evidence(pd.DataFrame({"x": cells * 9}, dtype="string"))
        assert (found.kind, found.reading.type) == ("duration", "duration")


@pytest.mark.parametrize(
    "cells",
    [["6h30", "23h45"], ["3 d", "6 m"], ["10s", "12m"], ["45 min", "5 min"], ["2 h", "3 h"], ["101H05", "305H22"],
     ["12M", "3S"], ["1h 5m", "cell 9"], ["3d", "x"], ["8:30", "12:15"],
     ["12 k€", "5 k€"], ["12k€", "13k€"], ["£950 pcm", "£90 pw"], ["$5 / month", "$60"], ["12S", "14H"],
     ["5 CR", "6 CR"], ["3 GB", "5 GB"], ["3 m", "2 kg"], ["266k", "12k"], ["€5", "£1.2k, or less"], ["$5", "€7"],
     ["80", "nil"], ["£80", "None"], ["£80 or less", "nil"], ["none", "nil"]],
)  # fmt: skip
def test_what_may_be_something_else_than_elapsed_times_or_amounts_stays(cells):
    assert texts_of(pd.Series(cells)).tolist() == cells


@pytest.mark.parametrize("sign", ["–", "—", "-"])
def test_a_dash_says_that_there_is_no_value_in_most_cells_of_numbers_and_in_texts_of_a_release(sign):
    (found,) = evidence(pd.DataFrame({"pigs": [str(k) if k % 3 == 0 else sign for k in range(300)]}, dtype="string"))
    assert (found.kind, found.reading) == ("number", Reading(type="number", missing=[sign]))
    cells, told = without_marks(pd.Series(["cook", sign]), pd.Series(["cook", "nurse"]))
    assert cells.isna().tolist() == [False, True]
    assert len(told) == 1
    assert without_marks(pd.Series(["+", sign]), pd.Series(["+", "0"]))[1] == []


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["£266k", "£1.2m", "£950"], [266_000, 1_200_000, 950]),
        (["$1.2K", "-$80", "$1,234K"], [1200, -80, 1_234_000]),
        (["2,2 Mio. €", "1,05 Mrd. €"], [2_200_000, 1_050_000_000]),
        (["EUR 3bn", "EUR 12.345k"], [3e9, 12_345]),
        (["£950 pcm", "£1,200 pcm"], [950, 1200]),
        (["Rs. 5,000/-", "Rs. 12,500/-", "Rs. 70"], [5000, 12_500, 70]),
        (["100.50 CR", "20.00 DR"], [100.5, -20]),
        (["1.234,56S", "80,00H", "1,50H"], [-1234.56, 80, 1.5]),
        (["3.9 GB", "800 MB", "12 KB"], [3900, 800, 0.012]),
        (["500 mg", "1 g", "n.a."], [0.5, 1]),
        (["500.-", "1'250.50", "80.–"], [500, 1250.5, 80]),
        (["CHF 500.--", "CHF 1'250.50"], [500, 1250.5]),
        (["12,- €", "7,- €"], [12, 7]),
        (["500,- €", "1.250,50 €"], [500, 1250.5]),
        (["nil", "£80", "£1,200.50", "None"], [0, 80, 1200.5]),
        (["80 €", "keine"], [80, 0]),
        (["$1.2K", "none"], [1200, 0]),
    ],
)
def test_amounts_that_are_shortened_have_sides_or_several_units_are_numbers(cells, numbers):
    many = [cell for cell in cells for _ in range(9)]
    (found,) = evidence(pd.DataFrame({"x": many}, dtype="string"))
    assert (found.kind, found.reading.type) == ("number", "number")
    read = read_as(pd.Series(many), found.reading).dropna()
    assert read.astype(float).tolist() == pytest.approx([number for number in numbers for _ in range(9)])


@pytest.mark.parametrize(
    ("got", "due", "pairs"),
    [
        (["Verbrauch"], ["Verbrauch (kWh)"], {0: "Verbrauch (kWh)"}),
        (["verbrauch_kwh"], ["Verbrauch (kWh)"], {0: "Verbrauch (kWh)"}),
        (["Verbrauch (kWh)"], ["Verbrauch"], {0: "Verbrauch"}),
        (["Verbrauch (MWh)"], ["Verbrauch (kWh)"], {}),
        (["Verbrauch"], ["Verbrauch (kWh)", "Verbrauch (EUR)"], {}),
        (["Verbrauch", "Verbrauch [kWh]"], ["Verbrauch (kWh)"], {1: "Verbrauch (kWh)"}),
        (["haushaltsgroesse"], ["Haushaltsgröße"], {0: "Haushaltsgröße"}),
        (["Date ouverture"], ["Date d'ouverture"], {0: "Date d'ouverture"}),
        (["Date douverture"], ["Date d'ouverture"], {0: "Date d'ouverture"}),
    ],
)
def test_names_are_the_same_without_units_articles_and_the_e_of_two_dots_where_one_alone_is_meant(got, due, pairs):
    assert paired_names(got, due) == pairs
