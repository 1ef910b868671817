import datetime as dt
import io
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.workspace.files import split_sheet
from synthrisk.tasks.workspace.files.csv import read_csv
from synthrisk.tasks.workspace.files.excel import read_excel

SECRET = "Ada Lovelace"


def workbook(merged=(), **sheets) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    for area in merged:
        sheet.merge_cells(area)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_cells_keep_their_types():
    day, second, time = dt.date(1980, 1, 2), dt.datetime(2020, 1, 2, 3, 4), dt.time(6, 30)
    rows = [
        ["postcode", "age", "pay", "vote", "born", "seen", "wakes", "mixed", "when"],
        ["01003", 40, 1.5, True, day, second, time, 5, dt.date(9999, 12, 31)],
        ["83022", None, 2, False, None, None, None, "34a", None],
        [None, 41, *[None] * 7],
    ]
    frame = read_excel(workbook(Data=rows), "a.xlsx")
    assert frame.postcode.tolist()[:2] == ["01003", "83022"]
    assert (frame.age.dtype, frame.vote.dtype) == ("Int64", "boolean")
    assert (frame.age.tolist()[::2], frame.pay.tolist()[:2]) == ([40, 41], [1.5, 2])
    told = [pd.Timestamp("1980-01-02"), pd.Timestamp("2020-01-02 03:04"), pd.Timedelta("6:30:00")]
    assert (frame.loc[0, ["born", "seen", "wakes"]].tolist(), frame.mixed.tolist()[:2]) == (told, [5, "34a"])
    assert frame.isna().sum().tolist() == [1, 1, 1, 1, 2, 2, 2, 1, 2]
    assert "notes" not in frame.attrs


def test_listed_texts_and_numbers_are_missing():
    raw = workbook(Data=[["age", "vote"], [-9, "yes"], [40, "refused"], [41, "NA"]])
    frame = read_excel(raw, "a.xlsx", missing=["-9", "refused"])
    assert frame.isna().to_numpy().tolist() == [[True, False], [False, True], [False, False]]


def test_sheets():
    raw = workbook(Daten=[["a"], [1]], Codes=[["b"], [2]])
    first = read_excel(raw, "'a.xlsx'")
    assert list(first.columns) == ["a"]
    assert first.attrs["notes"] == ["'a.xlsx': the first sheet, 'Daten', was read; the others: 'Codes' (file#sheet)"]
    assert list(read_excel(raw, "a.xlsx", "Codes").columns) == ["b"]
    with pytest.raises(InputError, match=r"no sheet 'Code' \(did you mean 'Codes'\?\); its sheets: 'Daten', 'Codes'"):
        read_excel(raw, "a.xlsx", "Code")


@pytest.mark.parametrize(("given", "split"), [
    ("a.XLSX#My data", ("a.XLSX", "My data")), ("https://host/a.xls?x=1#Data", ("https://host/a.xls?x=1", "Data")),
    *((path, (path, None)) for path in ("a#b/c.xlsx", "a#1.csv")),
])  # fmt: skip
def test_names_of_sheets_stand_behind_a_hash(given, split):
    assert split_sheet(given) == split


def test_empty_rows_and_columns_around_a_table_are_no_cells_of_it_and_one_without_a_name_is_unnamed():
    rows = [[], [None, "a", None, "b"], [], [None, 1, None, "x"], [None, 2, None, ""]]
    frame = read_excel(workbook(Data=rows), "a.xlsx")
    assert (frame.a.tolist(), frame.b.isna().tolist()) == ([1, 2], [False, True])
    assert "notes" not in frame.attrs
    unnamed = read_excel(workbook(Data=[["a", None, "c"], [1, 2, 3]]), "a.xlsx")
    assert list(unnamed.columns) == ["a", "Unnamed: 1", "c"]


PAID = [["name", "age", "pay"], *([f"P{i}", 20 + i, 100 + i] for i in range(30))]
REMARK = ["Source: HR"]


@pytest.mark.parametrize(("rows", "told"), [
    ([["Who", None, "What"], *PAID], "begins with 1 line that is no row"),
    ([["Pay"], ["as of 2024"], [], *PAID], "begins with 2 lines that are no rows"),
    ([PAID[0], [None, "years", "€"], *PAID[1:]], "below"),
    ([*PAID, ["Total", None, 3435]], "totals"),
    ([*PAID, ["Summe", 1035, 3435.0], REMARK], "1 line that is no row (remarks)"),
    ([*PAID, [], ["All that are paid"]], "remarks"),
])  # fmt: skip
def test_rows_around_a_table_that_are_none_of_it_are_left_out_and_told(rows, told):
    frame = read_excel(workbook(Data=rows), "a.xlsx")
    assert (list(frame), len(frame), frame.pay.tolist()) == (PAID[0], 30, [row[2] for row in PAID[1:]])
    assert told in frame.attrs["notes"][-1]


@pytest.mark.parametrize("ends", ["xlsx", "csv"])
def test_what_is_said_of_a_table_above_it_is_no_row_of_it(ends):
    paid = [["name", "age", "pay", "job"], *([f"P{i}", 20 + i, 100 + i, "cook"] for i in range(30))]
    rows = [["Unit:", "North"], ["Year:", 2024], ["All people"], [], *paid]
    lines = "".join(",".join(str(cell) for cell in [*row, "", "", ""][:4]) + "\n" for row in rows if row)
    frame = read_excel(workbook(Data=rows), "a.xlsx") if ends == "xlsx" else read_csv(lines.encode(), "a.csv")
    assert (list(frame), len(frame), "begins with 3 lines" in frame.attrs["notes"][0]) == (paid[0], 30, True)


@pytest.mark.parametrize(
    "row",
    [
        ["Total", 40, 100],
        ["Total", 40],
        ["Note: sick", 40],
        ["Other: sick"],
        ["Ada", None, 5],
        ["Ada Lovelace"],
        [None, "unknown", 5],
    ],
)
def test_a_first_or_last_person_stays_one(row):
    assert [len(read_excel(workbook(Data=rows), "a.xlsx")) for rows in ([*PAID, row], [PAID[0], row, *PAID[1:]])] == [
        31,
        31,
    ]


def test_rows_of_a_merged_cell_all_have_its_value_and_empty_rows_stay_empty():
    rows = [["unit", "age", "pay"], ["HR", 40, 1], [None, 41, 2], [], [None, 42, 3], ["IT", 43, 4], [None, 44, None]]
    frame = read_excel(workbook(Data=rows, merged=["A2:A5", "A6:A7", "B7:C7", "F3:H9"]), "a.xlsx")
    assert (frame.unit.tolist(), frame.age.tolist()) == (["HR"] * 3 + ["IT"] * 2, [40, 41, 42, 43, 44])
    assert frame.pay.isna().tolist() == [False] * 4 + [True]
    assert frame.attrs["notes"] == [
        "a.xlsx, sheet 'Data' has 1 empty row between others: left out",
        "a.xlsx, sheet 'Data', has cells merged with those below them: 3 empty ones got their value",
    ]
    above = [["unit", "Person", None], [None, "age", "pay"], *[["HR", 40 + k, k] for k in range(9)]]
    assert list(read_excel(workbook(Data=above, merged=["A1:A2", "B1:C1"]), "a.xlsx")) == ["unit", "age", "pay"]
    lower = [[], [], *([None, *row] for row in rows)]
    assert read_excel(workbook(Data=lower, merged=["B4:B7"]), "a.xlsx").unit.tolist()[:3] == ["HR"] * 3


@pytest.mark.parametrize(("rows", "says"), [
    ([], "must hold a header line and rows, got no filled cells; other sheets: 'More'"),
    ([["a", "b"]], "got a header line alone"),
    ([[SECRET], [SECRET], [SECRET, "x", "y"], *[[SECRET, "z", "w"]] * 9], "first row, got 1 filled cells there and 3"),
    ([[SECRET], ["a", "b", "c"], [1, 2, 3]], "first row, got 1 filled cells there and 3 in a row below"),
    ([["Person", None, "Health", None], ["a", "b", "c", "d"]], "got 2 filled cells there and 4 in a row below"),
    ([[SECRET, "b", SECRET], [1, 2, 3]], r"distinct column names, got one twice \(columns 1 and 3\)"),
    ([["1", "b", 1], [1, 2, 3]], r"got one twice \(columns 1 and 3\)"),
])  # fmt: skip
def test_what_is_no_table_gives_one_sentence_without_cells(rows, says):
    with pytest.raises(InputError, match=says) as caught:
        read_excel(workbook(Data=rows, More=[["a"], [1]]), "a.xlsx")
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)


def damaged() -> bytes:
    """Return a workbook with a sheet that ends in a cell."""
    whole, file = zipfile.ZipFile(io.BytesIO(workbook(A=[["Ada"], [1]]))), io.BytesIO()
    with zipfile.ZipFile(file, "w") as parts:
        for name in whole.namelist():
            cut = b"<worksheet><sheetData><row><c t='n'><v>Ada</c"
            parts.writestr(name, cut if "sheet1" in name else whole.read(name))
    return file.getvalue()


ENCRYPTED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 600
OTHERS = [b"", b"a,b\nAda,2\n", b"PK\x03\x04Ada", workbook(A=[["Ada"], [1]])[:900], damaged()]


@pytest.mark.parametrize(("raw", "got"), [
    *((raw, "must be an Excel or OpenDocument workbook, got something else") for raw in OTHERS),
    (ENCRYPTED, "got an encrypted file: save it without a password"),
])  # fmt: skip
def test_what_is_no_workbook_or_an_encrypted_one_is_refused(raw, got):
    with pytest.raises(InputError, match=got) as caught:
        read_excel(raw, "a.xlsx")
    assert "Ada" not in str(caught.value)


def test_old_excel():
    raw = (Path(__file__).parents[2] / "samples" / "people.xls").read_bytes()  # made with xlwt 1.3
    frame = read_excel(raw, "people.xls")
    assert (frame.plz.tolist(), frame.city.tolist()) == (["01003", "83022"], ["Köln", "Łódź"])
    assert (frame.age.dtype, frame.born[0]) == ("Int64", pd.Timestamp("1980-01-02"))


def test_open_document():
    cell = '<table:table-cell office:value-type="{}" {}><text:p>{}</text:p></table:table-cell>'.format
    text, number = lambda t: cell("string", "", t), lambda n: cell("float", f'office:value="{n}"', n)
    rows = [[text("plz"), text("age")], [text("01003"), number(40)], [text("Köln"), number(41)]]
    body = "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in rows)
    names = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "table", "text"))
    content = (
        f'<office:document-content {names}><office:body><office:spreadsheet><table:table table:name="Data">{body}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as parts:
        parts.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        parts.writestr("META-INF/manifest.xml", "<manifest/>")
        parts.writestr("content.xml", content)
    frame = read_excel(file.getvalue(), "a.ods")
    assert (frame.plz.tolist(), frame.age.tolist()) == (["01003", "Köln"], [40, 41])
