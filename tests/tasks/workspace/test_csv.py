import pandas as pd
import pytest

from synthrisk.conf.tables import Reading
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.files import csv as module
from synthrisk.tasks.workspace.files.csv import CODED, read_csv


def read(text: str, *missing: str) -> pd.DataFrame:
    return read_csv(text.encode(), "x.csv", missing)


def test_only_the_empty_cell_and_listed_texts_and_numbers_are_missing():
    frame = read("a,b\nNA,None\n,nan\n?,null\n", "?")
    assert (frame.a.isna().tolist(), frame.b.tolist()) == ([False, True, True], ["None", "nan", "null"])
    assert read("income\n-8\n100\n", "-8").income.isna().tolist() == [True, False]


@pytest.mark.parametrize("value", [9007199254740993, -(2**63) + 1, 2**63 - 1])
def test_integers_beside_missing_cells_stay_exact(value):
    assert read(f"a,b\n{value},x\n,y\n").a.iloc[0] == value


@pytest.mark.parametrize("value", ["18446744073709551615", "9223372036854775808", "123456789012345678901234567890"])
def test_integers_beyond_64_bits_are_text(value):
    frame = read(f"a,b\n{value},x\n,y\n")
    assert (frame.a.iloc[0], frame.a.isna().tolist()) == (value, [False, True])


CELLS = [  # a file, and its columns
    ('name,age\n"Zoë, ""Z""",40\n<b>łódź</b>,41\n', {"name": ['Zoë, "Z"', "<b>łódź</b>"], "age": [40, 41]}),
    ("a\n0.1234567890123456789\n2.2250738585072014e-308\n", {"a": [0.1234567890123456789, 2.2250738585072014e-308]}),
    ("\ufeffäge,b\r\n1,2\r\n", {"äge": [1], "b": [2]}),
    *((f'"a,;b"{separator}c\n1{separator}2\n', {"a,;b": [1], "c": [2]}) for separator in ",;\t"),
    ("a;b\n1,5;x\n-2;y\n", {"a": [1.5, -2], "b": ["x", "y"]}), ("a;b\n1.5;x\n2;y\n", {"a": [1.5, 2], "b": ["x", "y"]}),
    ('a,b\n"1,5",x\n"2,5",y\n', {"a": ["1,5", "2,5"], "b": ["x", "y"]}), ('a\n"01"\n2\n', {"a": ["01", "2"]}),
    ("a;b\n0;1\n10;2\n", {"a": [0, 10], "b": [1, 2]}),
    ("a,b\n1,2\n3,4\n\n(2 rows)\n", {"a": [1, 3], "b": [2, 4]}), ("a\nx\n1 row", {"a": ["x", "1 row"]}),
    ("plz;pay\n01003;0,5\n83022;00,5\n", {"plz": ["01003", "83022"], "pay": [0.5, 0.5]}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "columns"), CELLS)
def test_quotes_marks_separators_decimal_commas_and_zeros_in_front_are_read_as_they_are_meant(text, columns):
    assert read(text).to_dict("list") == columns


def test_decimal_commas_are_read_among_codes_too():
    coded = read_csv(b"a;b\n1,5;x\n-2;y\n", "x.csv", coded=True)
    assert coded.a.tolist() == [1.5, -2]
    assert CODED not in coded.attrs


SECRET = "Ada Lovelace"


@pytest.mark.parametrize(("content", "says"), [
    (b" \n\n", "empty file"), (b"a,b\n\x00\xff\xfe\x81\n", "must be text, got NUL bytes"),
    (f"a,b\n{SECRET},2\n{SECRET},2,3\n".encode(), "line 3"), (f"a,b\n{SECRET},2,3\n{SECRET},2,3\n".encode(), "more"),
    (f'a,b\n"{SECRET},2\n3,4\n'.encode(), "cannot be parsed"),
    (f"a,b,c\n{SECRET},2,3\n{SECRET},2\n".encode(), "in its last row as names in its header, got 2 of 3"),
    (f"{SECRET},{SECRET}\n1,2\n".encode(), "columns 1 and 2"),
])  # fmt: skip
def test_unreadable_files_give_one_sentence_without_cells(content, says):
    with pytest.raises(InputError, match=says) as caught:
        read_csv(content, "x.csv")
    assert SECRET not in str(caught.value)
    assert "Ada" not in repr(caught.value.__cause__)


def test_digits_that_begin_with_0_are_codes():
    frame = read('plz,"age",pay,code\n01003,40,0.5,007\n83022,0,00.5,12\n,7,1,\n')
    assert (frame.plz.tolist()[:2], frame.plz.isna().tolist()) == (["01003", "83022"], [False, False, True])
    assert (frame.age.tolist(), frame.pay.tolist()) == ([40, 0, 7], [0.5, 0.5, 1])
    assert frame.code.tolist()[:2] == ["007", "12"]


def test_a_short_row_in_between_ends_in_missing_cells():
    assert read("a,b\n1\n2,3\n").b.isna().tolist() == [True, False]
    assert read('a,b\n1,2\n"x\ny",3\n').b.tolist() == [2, 3]


def test_few_texts_are_read_as_codes_and_are_the_same_texts(monkeypatch):
    monkeypatch.setattr(module, "_LOOKED_AT", 4)
    known = {"read": Reading(missing=["-"])}
    head = "text,late,ids,number,truth,huge,read,none\n"
    first = '"say ""b,\r\nä""",1,p,1,True,x,-,\n,2,q,,True,-9.0,x,\n'
    last = "-9,3,r,0.5,False,x,y,\n?,4,s,-9,True,-9,x,\na,5x,p,1e3,,18446744073709551616,x,\n"
    raw = (head + first + last).encode()
    plain, coded = (read_csv(raw, "x.csv", ["-9", "?"], known, coded=coded) for coded in (False, True))
    assert coded.attrs[CODED] == ["text", "huge"], "late begins with numbers, ids are many, read has a reading"
    for name in ("text", "huge"):
        assert coded[name].cat.categories.is_monotonic_increasing
        pd.testing.assert_series_equal(coded[name].astype("string"), plain[name])
    rest = [name for name in plain if name not in ("text", "huge")]
    pd.testing.assert_frame_equal(coded[rest], plain[rest])


def test_numbers_that_are_too_large_at_first_are_floats_if_one_is_later(monkeypatch):
    monkeypatch.setattr(module, "_LOOKED_AT", 4)
    raw = b"a,b\n9223372036854775808,x\n,x\n5,y\n5,y\n1.5,x\n"
    plain, coded = (read_csv(raw, "x.csv", coded=coded) for coded in (False, True))
    assert coded.attrs[CODED] == ["b"]
    pd.testing.assert_series_equal(coded.a, plain.a)


@pytest.mark.parametrize(
    ("text", "names", "rows"),
    [
        ("name\tx\nfoo,bar,baz\t1\nq,w,e\t2\n", ["name", "x"], 2),
        ("x;y\n1,5;a,b,c,d\n2,5;a,b,c,d\n", ["x", "y"], 2),
        ("tags\na|b|c\nd|e|f\n", ["tags"], 2),
        ("id,,\n1,2,3\n4,5,6\n", ["id", "Unnamed: 1", "Unnamed: 2"], 2),
        (",,age\n1,2,3\n4,5,6\n", ["Unnamed: 0", "Unnamed: 1", "age"], 2),
        ("#id,age\n1,2,\n2,3,\n", ["#id", "age", "Unnamed: 2"], 2),
        ("#a,b\n1,5,6\n2,5,6\n", ["Unnamed: 0", "#a", "b"], 2),
        ("# id,age,sex\n1,2,f\n2,3,m\n", ["# id", "age", "sex"], 2),
        ('"a\nb",c,d\n1,2,3\n', ["a\nb", "c", "d"], 1),
        ("'a','b'\n1,'s Gravenhage\n2,x\n", ["'a'", "'b'"], 2),
        ("'a','b'\n'1','say \"hi\"'\n2,\"x, y\"\n", ["'a'", "'b'"], 2),
        ("a,b\n3,=\"\"\n4,x\n", ["a", "b"], 2),
        ("name:,age\nAnna,5\nBert,6\n", ["name:", "age"], 2),
        ("name:,age,\nAnna,f,x\nBert,m,y\n", ["name:", "age", "Unnamed: 2"], 2),
    ],
)  # fmt: skip
def test_a_header_is_not_taken_for_a_title_nor_an_apostrophe_for_a_quote(text, names, rows):
    frame = read_csv(text.encode(), "a.csv")
    assert (list(frame.columns), len(frame), "notes" in frame.attrs) == (names, rows, False)


def test_what_keeps_excel_from_reading_numbers_is_taken_off_also_where_cells_are_quoted():
    for cells in ('="052"', '"=""052"""'):
        assert read_csv(f"zip,b\n{cells},1\n{cells},2\n".encode(), "a.csv").zip.tolist() == ["052", "052"]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_blanks_behind_all_separators_are_left_out_at_any_end_of_a_line(end):
    frame = read_csv(end.join(["code, town", '01, "Graz, West"', "02,  Linz", ""]).encode(), "a.csv")
    assert frame.to_dict("list") == {"code": ["01", "02"], "town": ["Graz, West", "Linz"]}


@pytest.mark.parametrize("header", ["a, b", "'a','b'"])
def test_a_cell_that_is_too_long_to_be_looked_at_is_read_as_it_is(header):
    frame = read_csv(f"{header}\n1,{'z' * 200_000}\n2,y\n".encode(), "a.csv")
    assert [len(cell) for cell in frame.iloc[:, 1]] == [200_000, 1]


def test_a_quote_that_is_not_closed_behind_a_blank_swallows_no_row():
    assert len(read_csv(b'a, b\n1, "x\n2, y\n', "a.csv")) == 2


PEOPLE = "".join(f"{20 + i},{'mf'[i % 2]},{60 + i / 2}\n" for i in range(30))
IMPORT_IDS = ",".join(['"{""ImportId"":""QID1""}"'] * 3)
ABOVE, BELOW = "begins with 1 line that is no row", "1 line that is no row below the names"


@pytest.mark.parametrize(("head", "told"), [
    ("age,sex,kg\nHow old, in years?,\"Sex\nat birth\",Weight\n" + IMPORT_IDS + "\n", "2 lines that are no rows below"),
    ("age,sex,kg\n" + IMPORT_IDS + "\n", BELOW), ("age,sex,kg\nyears,,kg\n", BELOW),
    ("age,sex,kg\n\n(years),,kg/m2\n", BELOW), ("age,sex,kg\nin years,text,1\n".replace("1", "thousand g"), BELOW),
    ("age,sex,kg\nAge at intake,m or f,Weight (kg)\n", BELOW), ("age,sex,kg\nNo of years,,kg\n", BELOW),
    ("age,sex,kg\nHow old are you?,Are you m or f?,What do you weigh?\n", BELOW),
    ("age,sex,kg\nint,text,float\n", BELOW),
    ("Person,,Body\nage,sex,kg\n", ABOVE), ("Person,Person,Body\nage,sex,kg\n", ABOVE),
    ("Person,,\nage,sex,kg\n", ABOVE),
    ("Person,,Body\nage,sex,kg\nyears,,kilos\n", BELOW),
])  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_around_the_names_that_are_no_rows_are_left_out_and_told(head, told, end):
    frame = read((head + PEOPLE).replace("\n", end))
    assert (list(frame.columns), len(frame), frame.age.dtype) == (["age", "sex", "kg"], 30, "Int64")
    assert told in frame.attrs["notes"][-1]


@pytest.mark.parametrize("head", [
    "age,sex,kg\nunknown,m,unknown\n", "age,sex,kg\nunknown,refused,unknown\n", "age,sex,kg\nrefused,m,unsure\n",
    "age,sex,kg\nNA,,NaN\n", "age,sex,kg\n?,,-\n", "age,sex,kg\n40,Anna,unknown\n", "age,sex,kg\n,Anna,unknown\n",
    ",sex,kg\nunknown,m,70\n", "age,,\nunknown,m,refused\n", "age,,\nunknown,boy,living\n",
    *(f"age,sex,kg\n{row}\n" for row in (
        "unknown,Anna,living", "under 18,Anna,none", "young,A1,slim", "unknown,,", "(years),,", "youngish,,slim",
        "kg,Anna,", "(unknown),,[refused]", "18 years,,60 kg", "no age,,no kg", "years,Anna,>100 kg", "years,,n/a",
        "grown,m,slim", "sehr alt,,keine Angabe", "baby?,Anna,tiny?")),
])  # fmt: skip
def test_a_first_person_who_has_not_answered_is_one(head):
    frame = read(head + PEOPLE)
    assert (len(frame), "notes" in frame.attrs) == (31, False)


def test_a_first_text_among_numbers_that_a_later_row_has_too_is_an_answer():
    assert len(read("age,sex,kg\nrefused,,unknown\n" + PEOPLE + "refused,m,60\n")) == 32
    assert len(read("age,kg\n" + "unknown,refused\n" + "40,60\n" * 30 + "50,refused")) == 32


def test_two_columns_of_one_name_above_a_line_that_may_have_the_names_are_refused_with_what_to_do():
    with pytest.raises(InputError, match=r"\(columns 1 and 2\): if the names are in line 2, delete line 1$"):
        read("Person,Person,Health\nname,sex,ill\nA,m,flu\nB,f,none\n")


PAID = "name,age,pay\n" + "".join(f"P{i},{20 + i},{100 + i}.5\n" for i in range(30))
SUMMED = f"{sum(range(20, 50))},{sum(range(100, 130)) + 15}"


@pytest.mark.parametrize(("tail", "told"), [
    *((f"{said},,3450\n", "ends in a row of totals") for said in ("Total", "SUMME:", "Gesamt", '"Somme"', "合計")),
    (f"Total,{SUMMED}", "totals"), ("Grand total (30),1035", "totals"), ("Total,1035,", "totals"),
    ('Total,"1,035","3,450.0"', "totals"), ("Total,1035", "totals"),
    (",Total,3450\n\n", "totals"),
    *((f"{said}\n", "1 line that is no row (remarks)") for said in (
        "Source: HR department", "Source: HR department,,", "Data as of: 2024", '"Quelle: Amt, Wien",,',
        "Note: paid, in euros", "\nAll that are paid", ",,\nAll that are paid,,", "* without interns",
        "\nOther: mixed,,", "Note: paid,,", "\n* without interns,,")),
    ("\nTotal,,3450\n,,\nSource: HR\nNote: in euros\n", "2 lines that are no rows (remarks)"),
])  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_totals_and_remarks_below_a_table_are_left_out_and_told(tail, told, end):
    frame = read((PAID + tail).replace("\n", end))
    assert (len(frame), frame.age.tolist()[-1], frame.pay.sum()) == (30, 49, 3450)
    assert told in frame.attrs["notes"][-1]
    assert read((PAID + tail).replace("\n", end).replace(",", ";")).pay.sum() == 3450 or '"' in tail


@pytest.mark.parametrize("tail", [
    "Total,40,3450", "Total,,", "Total,unknown,", "Totalenberg,,3450", "Ada,,3450", "Total,,7\nTotal,,3450", "\n***,,",
    "Som,34,", "Total,40,", "Total,1035,7", "Grand total (30),30,", "Total,30,", "Note: sick,34,", "Source: x,,7",
    "Other: mixed,,", "\nOther: mixed,34,", "† Ada Lovelace,,", "Note: sick, in bed,7", "Total,unknown,3450",
    "Ada: x,40,100", "Ada,,", "Ada Lovelace,,", "https,,5", "\nAda Lovelace,40,", "12:30,,", "***,,",
])  # fmt: skip
def test_a_last_person_is_none_of_totals_nor_a_remark(tail):
    assert len(read(PAID + tail)) == 30 + len(tail.strip().splitlines())


def test_sums_are_totals_where_cells_above_are_missing_and_remarks_stand_below_two_columns():
    assert len(read(PAID + "Ada,,NA\nTotal,1035,3450\n")) == 31
    two = "a,b\n" + "x,1\n" * 9 + "y,NA\n"
    assert len(read(two + "Total,9\n")) == len(read(two + "Source: Mr Z,\n")) == len(read(two + "\nOther: z,\n")) == 10
    assert len(read(two + "Total,10\n")) == len(read(two + "Other: z,\n")) == len(read(two + "\nOther z,\n")) == 11


def test_a_last_row_that_was_cut_in_a_column_of_texts_with_colons_is_no_remark():
    with pytest.raises(InputError, match="may have been cut off"):
        read("site,age,pay\n" + "https://a,40,5\n" * 30 + "https://b")


def test_rows_of_separators_between_others_are_left_out_unless_there_are_two_columns_or_it_is_in_a_cell():
    frame = read("a,b,c\n1,2,3\n,,\n,,\n4,5,6\n,,\n")
    assert (frame.a.tolist(), "2 empty rows between" in frame.attrs["notes"][-1]) == ([1, 4], True)
    assert len(read("a,b,c\r\n,,\r\n1,2,3\r\n")) == 1
    assert len(read("a,b\n1,2\n,\n3,4\n")) == 3
    assert read('a,b,c\n"x\n,,\ny",2,3\n,,\n1,2,3\n').a.tolist() == ["x\n,,\ny", "1"]
