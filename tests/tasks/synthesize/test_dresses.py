import numpy as np
import pandas as pd
import pytest
from dresses import DRESSES, PEOPLE, Dress, N, people
from pandas.api import types

from synthrisk.conf.tables import FileForm, Reading
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize import run
from synthrisk.tasks.synthesize.callable import CALLABLE
from synthrisk.tasks.synthesize.column_matching import fit_release, fitted
from synthrisk.tasks.synthesize.files import FILES
from synthrisk.tasks.synthesize.synthesizer import Job, Release

FORM = FileForm()
JARGON = {"dtype", "int64", "float64", "object", "datetime64", "nan"}


def real_for(dress: Dress) -> pd.DataFrame:
    """Return the real table: of a dress of one column that one, and two others."""
    column = dress.name.partition(": ")[0]
    return PEOPLE[list(dict.fromkeys([column, "age", "city"]))] if column in PEOPLE else PEOPLE


def read(dress: Dress, folder) -> Release:
    worn = dress.wear(real_for(dress).copy())
    if isinstance(worn, pd.DataFrame):
        return fitted(worn, real_for(dress), FORM, "release")
    content, ending = worn
    path = folder / f"release.{ending}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return run(Job(PEOPLE, PEOPLE.head(0), len(PEOPLE), 0, form=FORM), FILES, {"path": str(path)})


@pytest.mark.parametrize("dress", DRESSES, ids=lambda dress: dress.name)
def test_a_copy_in_any_dress_is_read_as_the_records_that_it_is_and_what_was_done_is_told(dress, tmp_path):
    made, table = read(dress, tmp_path), real_for(dress)
    assert list(made.synthetic.columns) == list(table.columns)
    for name, real in table.items():
        got, there = made.synthetic[name], made.synthetic[name].notna()
        assert there.all() or name in dress.lost, name
        pd.testing.assert_series_equal(
            got[there].astype(object), real[there].astype(object), check_dtype=False, check_names=False
        )
        assert types.is_numeric_dtype(got.dtype) == types.is_numeric_dtype(real.dtype)
    assert all(made.synthetic[name].isna().any() for name in dress.lost)
    lines = [each.words for each in made.told]
    assert any(dress.told in line for line in lines) if dress.told else not lines
    worn = dress.wear(table.copy())
    cells = {str(cell) for name in worn for cell in worn[name]} if isinstance(worn, pd.DataFrame) else set()
    for line in lines:
        words = {word.strip(".,:;'") for word in line.split()}
        assert not words & JARGON
        assert not words & cells - {str(n) for n in range(N + 1)} - {"yes", "no"}, "the counts and the fixed words"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "ages", [[30, 40, 50], [30.0, 40.0, 50.0], [30.25, 39.5, 50.0], ["30.25", "39.5", "50"], ["30", "*", "50"]]
)
def test_ages_that_the_study_reads_as_numbers_are_read_as_where_it_says_nothing(tmp_path, ages, ending):
    train, table = pd.DataFrame({"age": [20, 30, 60]}), pd.DataFrame({"age": ages})
    path = tmp_path / f"release.{ending}"
    table.to_csv(path, index=False) if ending == "csv" else table.to_parquet(path)
    forms = FileForm(), FileForm(columns={"age": Reading(type="number")})
    plain, said = (run(Job(train, train, 3, 0, form=each), FILES, {"path": str(path)}) for each in forms)
    pd.testing.assert_frame_equal(plain.synthetic, said.synthetic)
    assert plain.told == said.told
    due = pd.to_numeric(pd.Series(ages), errors="coerce")
    assert plain.synthetic["age"].astype(float).equals(due.astype(float))


def test_what_a_function_returns_is_read_as_files_are(tmp_path):
    source, words = tmp_path / "maker.py", "{True: 'yes', False: 'no'}"
    source.write_text(f"def make(train, rows, seed):\n    return train.assign(paid=train.paid.map({words}))\n")
    made = run(Job(PEOPLE, PEOPLE.head(0), N, 0, form=FORM), CALLABLE, {"path": f"{source}:make"})
    assert made.synthetic.equals(PEOPLE)
    assert [each.column for each in made.told] == ["paid"]


@pytest.mark.parametrize(("cells", "like"), [
    (["secret"] * 20, pd.Series([1, 2])), (["secret"] * 19 + ["1"], pd.Series([1, 2])),
    (["20-30"] * 20, pd.Series([1.5])), (pd.to_datetime(["2020-01-01"] * 3), pd.Series([1.0])),
    ([7, 8, 9], pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"]))),
    ([5.0, 6.0], pd.Series(pd.to_timedelta([1, 2], "h"))), ([2, 3], pd.Series([True, False])),
    ([20.5, 80.2, 99.9] * 9 + [0.9], pd.Series([True, False])),
    (["maybe"] * 3, pd.Series([True, False])),
])  # fmt: skip
def test_a_column_of_another_kind_is_refused_in_plain_words_with_a_way_out(cells, like):
    with pytest.raises(InputError, match=r"column 'x' must hold .* leave the column out with --drop x") as caught:
        fitted(pd.DataFrame({"x": cells}), pd.DataFrame({"x": like}), FileForm(), "release")
    assert not {"secret", "20-30", "maybe", *JARGON} & set(str(caught.value).split())


@pytest.mark.parametrize("cells", [
    ["(1234.50)", "80.00", "(2500.25)", "912.40"], ["$(1,234.50)", "$80.00", "$(2,500.25)", "$912.40"],
    ["€ 1.234,50-", "€ 80,00", "€ 2.500,25-", "€ 912,40"], ["-$1,234.50", "$80.00", "-$2,500.25", "$912.40"],
    ["1,234.50-", "80.00", "2,500.25-", "912.40"], ["–1234.50", "80", "−2500.25", "912.4"],
])  # fmt: skip
def test_negative_amounts_are_read_however_accountants_write_them(cells):
    amounts = [-1234.5, 80.0, -2500.25, 912.4]
    made = fitted(pd.DataFrame({"b": cells}), pd.DataFrame({"b": amounts}), FileForm(), "release")
    assert made.synthetic["b"].tolist() == amounts


@pytest.mark.parametrize("wrap", [
    "({},)", "[{}]", "{{{}}}", "np.float64({})", "tensor({})", "Decimal('{}')", "Some({})", "b'{}'", '="{}"', "**{}**",
    "| {} |", "<b>{}</b>", "{};", "{}&nbsp;", "~{}", "ca. {}", "Rs. {}", "{} J.", "{}/-", "{} руб.", "Fr. {}",
])  # fmt: skip
def test_what_programs_and_hands_write_around_a_number_changes_it_not(wrap):
    amounts = [1234.5, 80.25, 2500.25, 912.4]
    made = fitted(pd.DataFrame({"b": [wrap.format(x) for x in amounts]}), pd.DataFrame({"b": amounts}), FORM, "release")
    assert made.synthetic["b"].tolist() == amounts


@pytest.mark.parametrize("wrap", [
    "datetime.date({:%Y, %-m, %-d})", "datetime.datetime({:%Y, %-m, %-d, 0, 0})", "Timestamp('{:%Y-%m-%d} 00:00:00')",
    "ISODate(\"{:%Y-%m-%d}T00:00:00Z\")", "DATE '{:%Y-%m-%d}'", "'{:%d%b%Y}'d", "#{:%m/%d/%Y}#", "b'{:%Y-%m-%d}'",
    "{:%Y-%j}", "{:%d %m %Y}", "{:%a %b %d %Y} 00:00:00 GMT+0000 (Coordinated Universal Time)", "{:%Y년 %m월 %d일}",
    "{:%B %d, %Y} at 12:00 AM",
])  # fmt: skip
def test_dates_are_read_as_programs_print_them(wrap):
    days = pd.Series(pd.date_range("2021-01-20", periods=40, freq="17D"))
    made = fitted(pd.DataFrame({"d": days.map(wrap.format)}), pd.DataFrame({"d": days}), FORM, "release")
    assert made.synthetic["d"].tolist() == days.tolist()


def test_a_week_is_no_day_of_the_year():
    days = pd.Series(pd.date_range("2021-01-20", periods=40, freq="17D"))
    with pytest.raises(InputError):
        fitted(pd.DataFrame({"d": days.map("{:%Y-%W}".format).iloc[5:17]}), pd.DataFrame({"d": days}), FORM, "release")


@pytest.mark.parametrize("form", [
    "{0} = {1}", "{0}={1}", "{0} - {1}", "{0}: {1}", "[{0}] {1}", "({0}) {1}", "{0}. {1}", "{0} ({1})", "{1} ({0})",
    "{0}_{1}", "{0}|{1}", "{0}) {1}",
])  # fmt: skip
def test_codes_and_labels_beside_each_other_are_the_ones_that_the_real_table_has(form):
    real = pd.DataFrame(
        {"code": [1, 2, 3] * 20, "label": ["flu", "asthma", "type A"] * 20, "icd": ["J1", "J4", "E5"] * 20}
    )
    both = [[form.format(c, n) for c, n in zip(real[c], real["label"], strict=True)] for c in ("code", "code", "icd")]
    made = fitted(pd.DataFrame(dict(zip(real, both, strict=True))), real, FORM, "release")
    assert made.synthetic.equals(real)
    assert "60 of 60 texts have a code or signs beside the real one" in made.told[-1].words


@pytest.mark.parametrize("form", ["1 = {}", "[1] {}", "{} (1)", "{}.", "{}!", "b'{}'", "1: {}"])
@pytest.mark.parametrize("real", [[True, False], [1, 0], ["yes", "no"], ["ja", "nein"]])
def test_answers_are_read_beside_codes_and_signs(form, real):
    yes, no = (form.format(word) for word in (("ja", "nein") if "ja" in real else ("yes", "no")))
    cells = pd.DataFrame({"x": [yes, no.replace("1", "0")] * 20})
    made = fitted(cells, pd.DataFrame({"x": real * 20}), FORM, "release")
    got = made.synthetic["x"].astype(str).str.rstrip(".").tolist()
    assert got == [str(answer) for answer in real * 20] or form in ("{}.", "{}!")


@pytest.mark.parametrize(("cells", "real", "due"), [
    ([-1, 0], [1, 0], [1, 0]), (["-1", "0"], [1, 0], [1, 0]), ([-1, 0], [1, 0, -1], [-1, 0]),
    ([-1, -1], [1, 0], [-1, -1]),
])  # fmt: skip
def test_minus_one_is_yes_beside_nought_where_real_cells_are_1_and_0(cells, real, due):
    made = fitted(pd.DataFrame({"x": cells * 20}), pd.DataFrame({"x": real * 20}), FORM, "release")
    assert made.synthetic["x"].tolist() == due * 20


@pytest.mark.parametrize("empty", ["", None, " "])
@pytest.mark.parametrize("mark", ["x", "X", "✓", "yes", "ja", 1])
@pytest.mark.parametrize("real", [[True, False], [1, 0], ["yes", "no"], ["J", "N"]])
def test_empty_cells_beside_one_answer_are_the_other_where_the_real_table_has_both_in_all_cells(real, mark, empty):
    table, like = pd.DataFrame({"x": [mark, empty] * 20}), pd.DataFrame({"x": real * 20})
    made = fitted(table, like, FORM, "release")
    assert made.synthetic["x"].map(lambda cell: str(cell)[0].lower()).tolist() == [str(c)[0].lower() for c in real * 20]
    assert "empty cells are taken for no" in made.told[0].words
    if mark == 1 and isinstance(real[0], str):
        return
    gaps = fitted(table, pd.DataFrame({"x": pd.Series([*real, None] * 20).convert_dtypes()}), FORM, "release")
    assert gaps.synthetic["x"].isna().sum() == 20


@pytest.mark.parametrize("empty", ["[ ]", "[]", "[  ]"])
def test_empty_boxes_beside_crosses_in_boxes_are_no(empty):
    made = fitted(pd.DataFrame({"x": ["[x]", empty] * 20}), pd.DataFrame({"x": [True, False] * 20}), FORM, "release")
    assert made.synthetic["x"].tolist() == [True, False] * 20


@pytest.mark.parametrize(("mark", "real"), [("yes", [True, False]), ("1", [1, 0]), ("yes", ["yes", "no"])])
@pytest.mark.parametrize("hidden", ["*", "suppressed"])
def test_withheld_answers_beside_one_answer_stay_withheld(hidden, mark, real):
    made = fitted(pd.DataFrame({"x": [mark, hidden] * 20}), pd.DataFrame({"x": real * 20}), FORM, "release")
    assert made.synthetic["x"].isna().tolist() == [False, True] * 20
    assert made.sets.suppressed == {"x"}


@pytest.mark.parametrize("sign", ["?", "-", ".", "(blank)", "#NV"])
@pytest.mark.parametrize("real", [range(20, 80), pd.date_range("2020", periods=60), ["cook", "nurse"] * 30])
def test_a_column_of_a_sign_for_no_value_alone_is_missing_and_it_is_told(sign, real):
    table = pd.DataFrame({"x": real, "job": ["a", "b"] * 30})
    with pytest.warns(UserWarning, match="column 'x': 60 of 60 cells hold a sign for no value and are missing"):
        assert fit_release(table.assign(x=sign), table)["x"].isna().all()
    with pytest.raises(InputError, match="must hold numbers"):
        fit_release(table.assign(x=["?", "none of these"] * 30), table.assign(x=range(60)))


@pytest.mark.parametrize(("cells", "real"), [
    (["nurse", "nurse (1)", "cook"], ["nurse", "cook", "clerk"]), (["A - old", "A - new"], ["A", "B"]),
    (["1. FC", "2. FC"], ["FC", "SC"]), (["A", "B", "A (B)"], ["A", "B", "AB"]),
])  # fmt: skip
def test_texts_that_hold_a_real_one_and_may_be_others_stay(cells, real):
    made = fitted(pd.DataFrame({"c": cells * 20}), pd.DataFrame({"c": real * 20}), FORM, "release")
    assert made.synthetic["c"].tolist() == cells * 20


@pytest.mark.parametrize(("cells", "due"), [
    (["34 years", "35 years"], [34, 35]), (["34 kg", "35 kg"], [34, 35]), (["34 - a", "34 - b", "35 - c"], None),
    (["1 = male", "7 = other"], None),
])  # fmt: skip
def test_units_are_no_labels_and_labels_stand_beside_real_codes_one_each(cells, due):
    table, real = pd.DataFrame({"x": cells * 20}), pd.DataFrame({"x": [34, 35, 1, 2] * 20})
    if due is None:
        with pytest.raises(InputError, match="must hold numbers"):
            fitted(table, real, FORM, "release")
    else:
        assert fitted(table, real, FORM, "release").synthetic["x"].tolist() == due * 20


def test_two_digits_of_the_oldest_are_of_their_century():
    born = pd.Series(pd.to_datetime(["1928-05-13", "1930-11-06", "1972-01-31", "2003-12-24"]))
    made = fitted(pd.DataFrame({"d": born.dt.strftime("%d.%m.%y")}), pd.DataFrame({"d": born}), FORM, "release")
    assert made.synthetic["d"].tolist() == born.tolist()


@pytest.mark.parametrize(("cells", "due", "real"), [
    (["16.5 E", "3.25 W", "7.5 E"], [16.5, -3.25, 7.5], [-9.0, 20.0]),
    (["16.5 E", "3.25 W", "7.5 W", "0", "4 W"], [16.5, -3.25, -7.5, 0, -4], [-9.0, 20.0]),
    (["E 16.5", "W 3.25", "E 7.5"], [16.5, -3.25, 7.5], [-9.0, 20.0]),
    (["16,50 H", "3,25 S", "7,50 H"], [16.5, -3.25, 7.5], [-9.0, 20.0]),
    (["D-01067", "D-01010", "D-80331"], [1067, 1010, 80331], [1067, 99999]),
    (["EUR-12.5", "EUR 3.5"], [-12.5, 3.5], [-20.0, 20.0]), (["12-", "3"], [-12, 3], [-20, 20]),
    (["1_200.5", "3_400.25"], [1200.5, 3400.25], [1000.5, 9000.0]),
    (["1.5D+03", "2.5D+03"], [1500, 2500], [1000, 9000]),
])  # fmt: skip
def test_letters_say_below_zero_only_where_real_numbers_lie_there(cells, due, real):
    made = fitted(pd.DataFrame({"b": cells}), pd.DataFrame({"b": real}), FORM, "release")
    assert made.synthetic["b"].tolist() == due


@pytest.mark.parametrize("cell", ["ü80", "81-", "½", "1.#QNAN", "-1.#IND"])
def test_marks_that_are_no_unit_make_no_number(cell):
    ages = [*range(20, 80)]
    cells = pd.DataFrame({"b": [*map(str, ages), "7½" if cell == "½" else cell]})
    made = fitted(cells, pd.DataFrame({"b": [*ages, 88]}), FORM, "release")
    assert made.synthetic["b"].isna().sum() == 1
    assert "1 of 61 cells is no number" in made.told[0].words


@pytest.mark.parametrize(("cells", "amounts"), [
    (["12.345k", "348", "-934"], [12345, 348, -934]), (["12k", "800", "7.5k"], [12000, 800, 7500]),
    (["2 626.6k", "602400", "1 777.8k"], [2626600, 602400, 1777800]), (["$5.0K", "$6.1K", "$7K"], [5000, 6100, 7000]),
    (["2.626,6k", "602400", "1.777,8k"], [2626600, 602400, 1777800]), (["2,627k", "602400"], [2627000, 602400]),
    (["$2,626.6k", "$1,777.8k", "$602,400"], [2626600, 1777800, 602400]),
])  # fmt: skip
def test_k_is_for_thousands_beside_numbers_without_whatever_the_marks(cells, amounts):
    made = fitted(pd.DataFrame({"b": cells * 20}), pd.DataFrame({"b": amounts * 20}), FileForm(), "release")
    assert made.synthetic["b"].tolist() == amounts * 20


@pytest.mark.parametrize(("cells", "real"), [
    (["+", "-"], ["positive", "negative"]), (["x", "-"], ["yes", "no"]), (["missing", "found"], ["Missing", "Found"]),
    (["NA", "DE"], ["na", "de"]), (["n/a", "x"], ["N/A", "x"]), (["-", "y"], ["−", "y"]),
    (["None", "y"], ["none", "y"]),
    (["-", "+"], ["reacts", "does not"]),
])  # fmt: skip
def test_signs_for_no_value_that_mean_something_in_the_real_column_stay(cells, real):
    made = fitted(pd.DataFrame({"c": cells * 20}), pd.DataFrame({"c": real * 20}), FileForm(), "release")
    assert not made.synthetic["c"].isna().any()


@pytest.mark.parametrize(
    "form", ["%I:%M:%S %p", "%I:%M %p", "%I.%M %p", "%H:%M", "1899-12-30 %H:%M:%S", "%Hh%M", "T%H:%M"]
)
def test_times_of_day_are_read_by_their_half_of_the_day(form):
    times = pd.to_timedelta(["08:30:00", "15:20:00", "00:05:00", "12:10:00", "23:59:00"])
    written = [(pd.Timestamp("2024-01-01") + each).strftime(form) for each in times]
    for cells in (written, [each.lower() for each in written], [each.replace("AM", "a.m.") for each in written]):
        for real in (times, pd.Timestamp("1900-01-01") + times):  # which is how %I:%M %p of a real table is read
            made = fitted(pd.DataFrame({"at": cells}), pd.DataFrame({"at": real}), FileForm(), "release")
            assert made.synthetic["at"].tolist() == real.tolist()


@pytest.mark.parametrize(("real", "cells", "missing"), [
    ([80.5, None] * 30, [90.25, 0] * 30, 30), ([80.5, None] * 30, ["0", "90,25"] * 30, 30),
    ([80.5, None, 0] * 20, [90.25, 0, 0] * 20, 0), ([80.5, None] * 30, [90.25] * 56 + [0] * 4, 0),
    ([80.5, None] * 30, [90.25, 0, None] * 20, 20), ([80.5] * 60, [90.25, 0] * 30, 0),
])  # fmt: skip
def test_noughts_as_many_as_real_cells_are_missing_are_missing_where_no_real_one_is_0(real, cells, missing):
    made = fitted(pd.DataFrame({"owed": cells}), pd.DataFrame({"owed": real}), FORM, "release")
    assert made.synthetic["owed"].isna().sum() == missing
    assert any("cells of 0" in each.words for each in made.told) == (missing == 30)


@pytest.mark.parametrize(("real", "cells", "due"), [
    ([100, 80, 60], [1, 0.8, 0.6], [100, 80, 60]), ([100, 80, 60], ["1", ".8", "0,6"], [100, 80, 60]),
    ([0.05, 0, 0.2], ["5", "0", "20"], [0.05, 0, 0.2]), ([0.05, 0, 0, 0.2], [5, 0, 0, 20], [0.05, 0, 0, 0.2]),
    ([0, 7, 15], [0, 0.07, 0.15], [0, 7, 15]),
    ([100, 1, 50], [1, 1, 1], [1, 1, 1]), ([1, 0, 100], [1, 0, 1], [1, 0, 1]), ([0.5, 1, 2], [0.5, 1, 2], [0.5, 1, 2]),
    ([50, 0.5, 1], [0.5, 0.5, 1], [0.5, 0.5, 1]), ([100, 80, 60], [1, 0.83, 0.57], [1, 0.83, 0.57]),
    ([100, 200, 300], [1, 2, 3], [1, 2, 3]),
])  # fmt: skip
def test_few_shares_of_one_are_the_real_percents_and_percents_the_real_shares(real, cells, due):
    made = fitted(pd.DataFrame({"part": cells * 20}), pd.DataFrame({"part": real * 20}), FORM, "release")
    assert made.synthetic["part"].tolist() == due * 20
    told = " ".join(each.words for each in made.told)
    assert ("times the real ones" in told) == (due[-1] != float(str(cells[-1]).replace(",", ".")))


@pytest.mark.parametrize(("real", "cells", "due"), [
    (["SW1 1AB", "LS17 5HA"], ["SW12AB", "LS175HA"], ["SW1 2AB", "LS17 5HA"]),
    (["30-016", "50-004"], ["30017", "50-004"], ["30-017", "50-004"]),
    (["1011 AB", "3511 XY"], ["1012CD"], ["1012 CD"]),
    (["SW1 1AB", "LS175HA"], ["SW12AB"], ["SW12AB"]),  # real ones are written in both ways
    (["SW1 1AB", "LS17 5HA"], ["SW12ABC", "London"], ["SW12ABC", "London"]),
    (["A 1", "B 22"], ["A1"], ["A1"]),  # at several places
    (["north west", "south west"], ["northwest"], ["northwest"]),
])  # fmt: skip
def test_codes_without_the_blank_or_hyphen_that_all_real_ones_have_are_written_as_these(real, cells, due):
    made = fitted(pd.DataFrame({"code": cells * 20}), pd.DataFrame({"code": real * 20}), FORM, "release")
    assert made.synthetic["code"].tolist() == due * 20
    assert any("where all real ones have one" in each.words for each in made.told) == (due != cells)


@pytest.mark.parametrize("form", ["{0}:{1:04.1f}", "{0}:{1:02.0f}", "0:{0}:{1:04.1f}", "00:{0}:{1:02.0f}"])
@pytest.mark.parametrize("mark", [".", ","])
def test_minutes_and_seconds_are_read_as_the_real_durations_in_any_form(form, mark):
    parts = [(m, s + 0.4) for m, s in zip(range(28, 58), range(30), strict=True)]
    real = pd.DataFrame({"best": pd.to_timedelta([60 * m + s for m, s in parts], "s")})
    cells = pd.DataFrame({"best": [form.format(*each).replace(".", mark) for each in parts]})
    for columns in ({}, {"best": Reading(type="duration")}):
        made = fitted(cells, real, FileForm(columns=columns), "release").synthetic
        assert (real["best"] - made["best"]).abs().max() < pd.Timedelta("1s")


@pytest.mark.parametrize(
    "form", ["syn_{}", "people.{}", "{}_out", "{}:text", "Sum of {}", "Table1[{}]", "df${}", "{}2"]
)
def test_columns_with_more_in_their_names_are_those_that_they_name(form):
    real = pd.DataFrame(
        {"age": [*range(20, 80)], "job": ["cook", "nurse"] * 30, "wage": [x * 100.5 for x in range(60)]}
    )
    made = fitted(real.rename(columns=form.format), real, FORM, "release")
    assert made.synthetic.equals(real)
    assert "3 of its columns have more in their names than the name that each is taken for" in made.told[0].words
    if form != "{}2":
        one = fitted(real.rename(columns={"job": form.format("job"), "age": form.format("age")}), real, FORM, "release")
        assert one.synthetic.equals(real)


def test_codes_of_other_people_under_a_longer_name_are_known_by_how_they_are_written():
    real = pd.DataFrame({"age": [*range(20, 80)], "zip": [f"{k:05d}" for k in range(1067, 1127)], "job": ["cook"] * 60})
    other = real.assign(zip=[f"{k:05d}" for k in range(4109, 4169)])
    assert fitted(other.rename(columns={"zip": "people.zip"}), real, FORM, "release").synthetic.equals(other)


FLAGS = pd.DataFrame({"x": [0, 1] * 30, "y": [1, 0, 0] * 20, "age": [*range(20, 80)]})


@pytest.mark.parametrize("made", [
    FLAGS[["y", "age"]].assign(x_0=1 - FLAGS["x"]), FLAGS[["age"]].assign(x_0=1 - FLAGS["x"], y_0=1 - FLAGS["y"]),
    FLAGS[["y", "age"]].assign(x_1=FLAGS["x"]), FLAGS.add_suffix("_1"), FLAGS.add_suffix("_0"),
])  # fmt: skip
def test_a_column_named_as_one_level_of_a_real_one_is_that_level(made):
    assert fitted(made, FLAGS, FORM, "release").synthetic.astype(int).equals(FLAGS)


@pytest.mark.parametrize("made", [
    FLAGS[["age"]].assign(age_x=FLAGS["age"], **{"x.y": FLAGS["x"]}),
    FLAGS.rename(columns={"x": "y_x"}).drop(columns="y"),
    FLAGS.drop(columns="age").add_prefix("syn_").assign(syn_age_old=["old", "young"] * 30),
    FLAGS[["age"]].assign(x_days=FLAGS["age"] + 2, y_days=FLAGS["age"] - 90),
    FLAGS.rename(columns={"x": "y", "y": "y_y"}).add_suffix("_y").rename(columns={"y_y_y": "y_z_y"}),
])  # fmt: skip
def test_names_that_hold_those_of_two_real_columns_or_lie_beside_one_that_is_not_found_are_not_taken(made):
    with pytest.raises(InputError, match="must have the columns of the real table"):
        fitted(made, FLAGS, FORM, "release")


def test_a_release_whose_own_names_are_those_of_other_real_columns_is_refused():
    real = pd.DataFrame({"x": [*range(20, 80)], "x_syn": [*range(30, 90)], "s": ["m", "f"] * 30})
    with pytest.raises(InputError, match="must have the columns of the real table"):
        fitted(real.add_suffix("_syn"), real, FORM, "release")


@pytest.mark.parametrize(("name", "cells"), [
    ("group of age in parts", ["old", "young"] * 30), ("rank of wage in town", [*range(-60, 0)]),
    *((name, [*range(20, 80)]) for name in (
        "age_of_mother", "mother_age", "Mother's age", "age père", "spouse.age", "age_at_onset", "Age of children",
    )),
])  # fmt: skip
def test_other_columns_whose_names_hold_that_of_an_absent_one_are_not_it(name, cells):
    real = pd.DataFrame(
        {"age": [*range(20, 80)], "job": ["cook", "nurse"] * 30, "wage": [x * 100.5 for x in range(60)]}
    )
    column = next(c for c in ("wage", "age", "job") if c in name.casefold())
    made = fitted(real.drop(columns=column).assign(**{name: cells}), real, FORM, "release")
    assert made.synthetic[column].isna().all()
    if cells[0] == 20:
        beside = real.assign(**{name: cells}).rename(columns={"age": "syn_age"})
        assert fitted(beside, real, FORM, "release").synthetic["age"].tolist() == cells


def test_of_two_names_that_may_be_one_none_is_taken_and_of_two_forms_that_fit_the_one_of_the_real_years():
    train = pd.DataFrame({"age": [1, 2], "city": ["a", "b"], "pay": [1, 2]})
    table = pd.DataFrame({"Age": [1, 2], "AGE": [3, 4], "city": ["a", "b"], "pay": [1, 2]})
    with pytest.raises(InputError, match=r"absent: \['age'\], extra: columns 1 and 2"):
        fitted(table, train, FileForm(), "release")
    real = pd.DataFrame({"born": pd.to_datetime(["2020-01-02", "2020-03-04", "2020-05-06"])})
    american = pd.DataFrame({"born": ["01/02/2020", "03/04/2020", "05/06/2020"]})
    made = fitted(american, real, FileForm(), "release")
    assert made.synthetic.equals(real)
    assert made.told[0].words == (
        "column 'born': dates are written as MM/DD/YYYY (of the forms that fit, by the real column's range)"
    )


SERIALS = {
    "YYYYMMDD": lambda d: int(d.strftime("%Y%m%d")),
    "DDMMYYYY": lambda d: int(d.strftime("%d%m%Y")),
    "day numbers of a spreadsheet": lambda d: (d - pd.Timestamp("1899-12-30")).days,
    "day numbers of a spreadsheet, from 1904": lambda d: (d - pd.Timestamp("1904-01-01")).days,
    "days since 1970": lambda d: (d - pd.Timestamp("1970-01-01")).days,
    "seconds since 1970": lambda d: d.value // 10**9,
}


@pytest.mark.parametrize("form", SERIALS)
@pytest.mark.parametrize("beyond", ["2011-05-05", "1931-05-05"])
def test_dates_beyond_the_real_range_do_not_change_how_the_other_numbers_are_read(form, beyond):
    real = PEOPLE[["born", "age"]]
    dates = real["born"].where(real.index > 2, pd.Timestamp(beyond))
    made = fitted(real.assign(born=dates.map(SERIALS[form])), real, FileForm(), "release")
    assert made.synthetic["born"].equals(dates)
    assert made.told[0].words.startswith(f"column 'born': dates are written as {form}")


ZONE = "Europe/Vienna"
CLOCKS = {
    "times": lambda times: times,
    "a code list of times": lambda times: times.astype("category"),
    "ISO": lambda times: times.astype(str),
    "ISO among tokens": lambda times: times.astype(str).where(times.index % 7 > 0, "?"),
    "another form": lambda times: times.dt.strftime("%d.%m.%Y %H:%M"),
    "seconds": lambda times: times.astype("int64") // 10**9,
    "digits": lambda times: times.dt.strftime("%Y%m%d%H%M%S"),
}


@pytest.mark.parametrize("written", CLOCKS)
@pytest.mark.parametrize("clock", [ZONE, "UTC"])
def test_times_without_a_zone_are_on_the_clock_on_which_more_are_real_also_in_the_hour_that_comes_twice(written, clock):
    seen = pd.Series(pd.date_range("2021-10-30 06:10", periods=300, freq="23min", tz=ZONE))
    real = pd.DataFrame({"seen": seen, "age": range(300)})
    made = fitted(
        real.assign(seen=CLOCKS[written](seen.dt.tz_convert(clock).dt.tz_localize(None))), real, FileForm(), "release"
    )
    there = made.synthetic["seen"].notna()
    assert made.synthetic["seen"][there].equals(seen[there])
    assert there.sum() == (257 if "tokens" in written else 300)


@pytest.mark.parametrize("written", [lambda times: times, lambda times: times.astype(str)], ids=["times", "ISO"])
@pytest.mark.parametrize("clock", [ZONE, "UTC"])
def test_times_with_a_zone_lose_it_where_the_real_ones_have_none_on_the_clock_on_which_more_are_real(written, clock):
    seen = pd.Series(pd.date_range("2021-03-30 06:10", periods=300, freq="23h"))
    real = pd.DataFrame({"seen": seen, "age": range(300)})
    zoned = seen.dt.tz_localize(clock).dt.tz_convert(ZONE)
    assert fitted(real.assign(seen=written(zoned)), real, FileForm(), "release").synthetic.equals(real)


def regular(hours, seed: int, days: int = 250) -> pd.Series:
    """Return 300 times of a schedule: any day, at one of these hours."""
    rng = np.random.default_rng(seed)
    return pd.Series(
        pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, days, 300) * 24 + rng.choice(hours, 300), unit="h")
    )


@pytest.mark.parametrize(
    ("real", "released"),
    [
        ([8], [9]),
        ([12], [1]),
        (range(8, 18), [1]),
        ([6, 14, 22], [7, 15, 23]),
        ([8], [8.5]),
        ([0], [12]),
        (range(24), range(24)),
    ],
)
def test_times_of_other_people_on_another_schedule_stay_where_they_are(real, released):
    table = pd.DataFrame({"seen": regular(real, 2), "age": range(300)})
    other = table.assign(seen=regular(released, 1))
    made = fitted(other, table, FileForm(), "release")
    assert made.synthetic["seen"].equals(other["seen"])
    assert not made.told


@pytest.mark.parametrize("last", ["2262-04-11 23:47:16", "1677-09-21 12:00:00", "2262-04-11"])
def test_times_at_the_end_of_what_can_be_a_date_stay_and_hide_no_move_of_others(last):
    real = pd.DataFrame({"seen": pd.date_range("2021-01-01 06:00", periods=60, freq="37h"), "age": range(60)})
    moved = (real["seen"] + pd.Timedelta(hours=2)).where(real.index > 1, pd.Timestamp(last))
    made = fitted(real.assign(seen=moved), real, FileForm(), "release")
    assert made.synthetic["seen"].equals(real["seen"].where(real.index > 1, pd.Timestamp(last)))


@pytest.mark.parametrize("rows", [5, 19, 40])
def test_a_copy_in_the_time_of_another_continent_is_a_copy_however_few_its_times_are(rows):
    real = pd.DataFrame({"seen": pd.date_range("2021-01-01 06:10", periods=rows, freq="197h"), "age": range(rows)})
    there = real["seen"].dt.tz_localize("Europe/Vienna").dt.tz_convert("America/New_York").dt.tz_localize(None)
    assert fitted(real.assign(seen=there), real, FileForm(), "release").synthetic.equals(real)


def test_names_may_be_numbers_and_numbers_a_dictionary_with_missing_cells():
    real = pd.DataFrame({0: PEOPLE["born"], 1: PEOPLE["age"]})
    days = (PEOPLE["born"] - pd.Timestamp("1970-01-01")).dt.days
    coded = days.where(days.index > 2).astype("Int64").astype("category")
    made = fitted(pd.DataFrame({"0": coded, "1": PEOPLE["age"]}), real, FileForm(), "release")
    assert made.synthetic[0][3:].equals(PEOPLE["born"][3:])
    assert made.synthetic[0][:3].isna().all()


def test_dates_are_no_numbers():
    real = pd.DataFrame({"pay": range(1, 61), "age": PEOPLE["age"]})
    with pytest.raises(InputError, match="column 'pay' must hold numbers"):
        fitted(real.assign(pay=PEOPLE["born"]), real, FileForm(), "release")


def test_two_digits_are_the_years_of_the_real_column():
    real = pd.DataFrame({"due": pd.date_range("2028-01-01", periods=60, freq="97D"), "age": PEOPLE["age"]})
    made = fitted(real.assign(due=real["due"].dt.strftime("%d.%m.%y")), real, FileForm(), "release")
    assert made.synthetic["due"].equals(real["due"])


def test_times_of_another_form_with_a_zone_are_on_the_clock_on_which_more_are_real_as_in_iso():
    seen = pd.Series(pd.date_range("2021-03-30 06:10", periods=60, freq="23h"))
    real = pd.DataFrame({"seen": seen, "age": PEOPLE["age"]})
    made = fitted(real.assign(seen=seen.dt.strftime("%d.%m.%Y %H:%M +0200")), real, FileForm(), "release")
    assert made.synthetic["seen"].equals(seen)
    assert [each.words for each in made.told] == ["column 'seen': dates are written as DD.MM.YYYY hh:mm"]


MANY = people(200, 9)
IN_UNITS = {  # a column, how it is written, by how many times that is larger
    "metres": ("Größe_cm", lambda x: round(x / 100, 5), 0.01),
    "1.705 m": ("Größe_cm", lambda x: f"{x / 100:.3f} m", 0.01),
    "months": ("age", lambda x: 12 * x, 12),
    "cents": ("wage", lambda x: round(100 * x), 100),
    "1.23450k": ("wage", lambda x: f"{x / 1000:.5f}k", 0.001),
    "12.3 for .123": ("share", lambda x: round(100 * x, 1), 100),
    "123‰": ("share", lambda x: f"{1000 * x:.0f}‰", 1000),
}


@pytest.mark.parametrize("unit", IN_UNITS)
def test_a_copy_in_another_unit_is_read_in_the_real_one_and_that_is_told(unit):
    column, write, times = IN_UNITS[unit]
    made = fitted(MANY.assign(**{column: MANY[column].map(write)}), MANY, FORM, "release")
    assert made.synthetic[column].tolist() == MANY[column].tolist()
    assert any(f"numbers are {times:g} times the real ones" in each.words for each in made.told)


def test_exact_cells_beside_coarse_ones_are_in_no_other_unit():
    real = pd.DataFrame({"pay": np.arange(1, 1001), "job": ["cook", "nurse"] * 500})
    release = real.assign(pay=real["pay"].astype(object).where(real["pay"] <= 100, ">100"))
    assert fitted(release, real, FORM, "release").synthetic["pay"][:100].tolist() == real["pay"][:100].tolist()


@pytest.mark.parametrize(
    "write", [lambda d: int(d.strftime("%Y%m%d")), lambda d: (d - pd.Timestamp("1899-12-30")).days]
)
def test_numbers_are_dates_though_one_real_date_lies_far_away(write):
    days = pd.Series(pd.date_range("2023-01-01", periods=300))
    real = pd.DataFrame({"day": days.replace(days[0], pd.Timestamp("1900-01-01")), "job": ["cook", "nurse"] * 150})
    made = fitted(pd.DataFrame({"day": days.map(write), "job": real["job"]}), real, FORM, "release")
    assert made.synthetic["day"].tolist() == days.tolist()


def test_rows_that_are_called_alike_are_rows_of_their_own():
    release = pd.concat([MANY.head(100).assign(born=MANY["born"].dt.strftime("%Y%m%d"))] * 2)
    assert fitted(release, MANY, FORM, "release").synthetic["born"].tolist() == [*MANY["born"][:100]] * 2


def test_k_is_a_unit_where_no_number_is_without():
    release = pd.DataFrame(
        {"age": ["34K", "unknown", *(f"{a}K" for a in range(20, 60))], "job": ["cook", "nurse"] * 21}
    )
    real = pd.DataFrame({"age": range(20, 62), "job": ["cook", "nurse"] * 21})
    assert fitted(release, real, FORM, "release").synthetic["age"].dropna().tolist() == [34, *range(20, 60)]


JOBS = pd.Series(["cook", "nurse", "clerk", "pilot", "smith"] * 12)
ONE_HOT = {
    "0 and 1": lambda jobs: pd.get_dummies(jobs, prefix="job", dtype=int),
    "true and false": lambda jobs: pd.get_dummies(jobs, prefix="job"),
    "texts": lambda jobs: pd.get_dummies(jobs, prefix="job").astype(str),
    "numbers with decimals": lambda jobs: pd.get_dummies(jobs, prefix="job", dtype=float) * 0.7 + 0.1,
    "without the first": lambda jobs: pd.get_dummies(jobs, prefix="job", dtype=int, drop_first=True),
    "other signs and letters": lambda jobs: pd.get_dummies(jobs, prefix="Job", prefix_sep=".", dtype=int).rename(
        columns=str.title
    ),
    "as R": lambda jobs: pd.get_dummies(jobs, prefix="job", prefix_sep="", dtype=int),
    "one for missing cells": lambda jobs: pd.get_dummies(jobs, prefix="job", dtype=int, dummy_na=True),
}


@pytest.mark.parametrize("kind", ["category", "object"])
@pytest.mark.parametrize("form", ONE_HOT)
def test_columns_one_a_level_are_the_real_column_that_is_absent(form, kind):
    real = pd.DataFrame({"age": range(60), "job": JOBS.astype(kind)})
    made = fitted(ONE_HOT[form](JOBS).assign(age=range(60)), real, FORM, "release")
    assert made.synthetic["job"].tolist() == JOBS.tolist()
    assert not made.beside.shape[1]
    columns = 4 if "first" in form else 6 if "missing" in form else 5
    assert made.told[0].words == f"column 'job': {columns} columns, one a level, are put together"


def test_columns_one_a_level_may_have_numbers_and_two_levels_for_names_and_missing_cells():
    real = pd.DataFrame({"age": range(60), "code": [1, 2, 3] * 20, "sex": ["f", "m"] * 30, "paid": [True, False] * 30})
    release = pd.get_dummies(real, columns=["code", "sex", "paid"], dtype=int).drop(columns="sex_f")
    release.loc[:1, ["code_1", "code_2", "code_3"]] = 0
    made = fitted(release, real, FORM, "release").synthetic
    assert made[["sex", "paid"]].equals(real[["sex", "paid"]])
    assert made["code"].isna().tolist() == [True, True, *[False] * 58]
    assert made["code"][2:].tolist() == real["code"][2:].tolist()


def test_columns_one_a_level_of_which_rows_have_several_are_refused_and_others_are_no_such_columns():
    real = pd.DataFrame({"age": range(60), "job": JOBS})
    with pytest.raises(
        InputError, match=r"column 'job' must be one column, or columns of 0 and 1.* --drop job"
    ) as caught:
        fitted(pd.get_dummies(JOBS, prefix="job").assign(age=range(60), job_cook=1, job_nurse=1), real, FORM, "release")
    assert "cook" not in str(caught.value)
    with pytest.raises(InputError, match=r"absent: \['job'\], extra: columns 2 and 3 \(nearly 'job'\)"):
        fitted(pd.DataFrame({"age": range(60), "job_cook": 1, "jobs": 0}), real, FORM, "release")
    codes = pd.DataFrame({"age": range(60), "code": [0, 1] * 30, "job": JOBS})
    with pytest.raises(InputError, match=r"absent: \['code'\]"):
        fitted(codes.rename(columns={"code": "code_1"}).assign(code_1=7.5), codes, FORM, "release")
    kept = fitted(real.assign(job_cook=1, job_nurse=0), real, FORM, "release")
    assert list(kept.beside.columns) == ["job_cook", "job_nurse"]


@pytest.mark.parametrize(("column", "levels", "numbers"), [
    *(("pain", ["left", "right"], lambda rng, k=k: rng.random((60, k))) for k in (1, 2)),
    *(("visit", [1, 2], lambda rng, k=k: rng.normal(1, 2, (60, k))) for k in (1, 2)),
])  # fmt: skip
def test_scores_called_as_a_column_and_its_levels_are_no_columns_one_a_level(column, levels, numbers):
    real = pd.DataFrame({"age": range(60), column: levels * 30})
    scores = numbers(np.random.default_rng(0))
    release = pd.DataFrame(scores, columns=[f"{column}_{level}" for level in levels][: scores.shape[1]])
    with pytest.raises(InputError, match=f"column '{column}' must be one column|absent: \\['{column}'\\]"):
        fitted(release.assign(age=range(60)), real, FORM, "release")


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("true", [1, 2])
def test_of_1_and_2_the_one_is_true_whose_share_is_the_real_one_and_it_is_told(true, as_text):
    smokes = np.random.default_rng(4).random(400) < 0.3
    real = pd.DataFrame({"age": range(400), "smokes": smokes})
    written = pd.Series(np.where(smokes, true, 3 - true))
    with pytest.warns(UserWarning, match=f"yes and no are taken as true and false: {true} is true"):
        got = fit_release(real.assign(smokes=written.astype(str) if as_text else written), real)
    assert got["smokes"].tolist() == smokes.tolist()
    with pytest.warns(UserWarning, match="1 is true"):  # as in surveys, where the shares do not say
        fit_release(pd.DataFrame({"age": range(400), "smokes": [1, 2] * 200}), real)


@pytest.mark.parametrize(("yes", "no"), [("smoker", "non-smoker"), ("Raucher", "Nichtraucher"), ("active", "inactive")])
def test_an_answer_and_its_denial_are_true_and_false(yes, no):
    real = pd.DataFrame({"age": range(60), "smokes": [True, False, False] * 20})
    with pytest.warns(UserWarning, match="yes and no are taken as true and false"):
        got = fit_release(real.assign(smokes=[yes, no, no] * 20), real)
    assert got["smokes"].tolist() == real["smokes"].tolist()
