import datetime as dt
import sqlite3
from decimal import Decimal
from functools import partial
from itertools import cycle, product

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from pandas.api import types

from synthrisk.conf.study import Data, Split, Sql
from synthrisk.conf.tables import FileForm, Reading
from synthrisk.tasks.data import read, typed
from synthrisk.tasks.propose.evidence import evidence
from synthrisk.tasks.propose.proposal import Given, look
from synthrisk.tasks.synthesize.column_matching import fitted
from synthrisk.tasks.workspace.files.cell_texts import _NO_VALUE, read_as

ROWS = 240
FAR = dt.date(9999, 12, 31)


def survey() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({
        "age": draw.integers(18, 90, ROWS).astype(float), "sex": draw.integers(1, 3, ROWS).astype(float),
        "smokes": draw.integers(0, 2, ROWS).astype(float), "income": np.round(draw.lognormal(7.5, 0.6, ROWS)),
        "born": [dt.date(1950 + i % 50, 1 + i % 12, 1 + i % 28) for i in range(ROWS)],
        "left": [FAR if i % 3 else dt.date(2020, 1, 1 + i % 28) for i in range(ROWS)],
        "plz": [f"{i % 60:05d}" for i in range(ROWS)],
    })  # fmt: skip
    frame.loc[:9, "age"] = -9
    frame.loc[:3, "sex"] = 9
    frame.loc[:5, "income"] = -8
    frame.loc[7:8, "born"] = None
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    tmp_path, frame = tmp_path_factory.mktemp("survey"), survey()
    labels = {"sex": {1: "männlich", 2: "weiblich", 9: "keine Angabe"}, "smokes": {0: "nein", 1: "ja"}}
    pyreadstat.write_sav(
        frame,
        tmp_path / "a.sav",
        variable_value_labels=labels | {"income": {-8: "verweigert"}},
        missing_ranges={"age": [-9], "sex": [9]},
    )
    frame["sex"] = frame["sex"].map(labels["sex"])
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    return tmp_path


def kinds(found) -> dict[str, str]:
    return {each.name: each.kind for each in found}


each_file = pytest.mark.parametrize("file", ["a.sav", "a.xlsx", "a.parquet"])


@each_file
def test_kinds_and_missing_codes_and_far_dates_that_mean_no_date(folder, file):
    found = {each.name: each for each in evidence(read(str(folder / file), as_texts=True))}
    due = {"age": "number", "sex": "category", "smokes": "boolean", "income": "number", "born": "date", "plz": "code"}
    assert ({name: found[name].kind for name in due}, found["income"].reading) == (due, Reading(missing=["-8"]))
    assert found["born"].filled == ROWS - 2
    if file == "a.sav":  # the file itself says that -9 and 9 are missing
        assert (found["age"].filled, found["age"].reading, found["sex"].distinct) == (ROWS - 10, None, 2)
    else:
        assert found["age"].reading == Reading(missing=["-9"])
    assert found["left"].reading == Reading(type="date", format="ISO8601", missing=["9999-12-31"])
    assert (found["left"].kind, found["left"].filled) == ("date", ROWS // 3)


@each_file
def test_what_is_proposed_reads_the_table(folder, file):
    source = str(folder / file)
    proposal = look(source, Given(sensitive=["income"]))
    split = Split(holdout=0.5)
    table = typed(read(source, proposal.data.missing, proposal.data.columns), proposal.data, split)
    assert (table[["income", "age"]].isna().sum().tolist(), table["smokes"].dtype) == ([6, 10], bool)
    assert table["born"].dtype == table["left"].dtype == "datetime64[ns]"
    assert table["left"].notna().sum() == ROWS / 3


@pytest.mark.parametrize("file", ["a.sav", "a.xlsx"])
def test_far_dates_may_be_listed_in_data_missing(folder, file):
    for texts, share in ((["9999-12-31"], 2 / 3), (["9999-12-31 00:00"], 2 / 3), (["9999-12-32", "x"], 0)):
        assert read(str(folder / file), texts)["left"].isna().sum() == share * ROWS


def test_dates_that_no_code_explains_are_missing_where_the_reading_says_so(folder):
    column = read(str(folder / "a.sav"))["left"].mask(lambda c: c > "9000", pd.Timestamp("1066-10-14").as_unit("ms"))
    frame = pd.DataFrame({"left": column, "age": range(ROWS), "sex": ["f", "m"] * (ROWS // 2)})
    reading = {"left": {"type": "date", "format": "ISO8601", "otherwise": "missing"}}
    data = Data(source="a.sav", quasi_identifiers=["age"], sensitive=["sex"], columns=reading)
    assert typed(frame, data, Split(holdout=0.5))["left"].notna().sum() == ROWS / 3


def test_what_the_file_has_told_reaches_the_proposal(folder):
    notes = look(str(folder / "a.sav"), Given(sensitive=["income"])).notes
    assert notes[0] == "column 'age': missing by codes that the file declares so (-9): 10 cells"
    assert any("column 'income' keeps its numbers" in note for note in notes)
    (folder / "a.csv").write_bytes(("geschlecht;alter\n" + "männlich;40\nweiblich;41\n" * 5).encode("cp1252"))
    assert "it was read as cp1252" in look(str(folder / "a.csv"), Given(sensitive=["geschlecht"])).notes[0]


def test_types_of_parquet(tmp_path):
    draw = np.random.default_rng(0)
    frame = pd.DataFrame({
        "decimal": [Decimal(f"{v:.2f}") for v in draw.normal(10, 2, ROWS)],
        "day": [dt.date(2000, 1, 1) + dt.timedelta(days=int(i)) for i in draw.integers(0, 5000, ROWS)],
        "zone": pd.to_datetime(draw.integers(0, 9000, ROWS) // 100, unit="D", utc=True),
        "dictionary": pd.Categorical(draw.choice(["urban", "rural"], ROWS)),
        "truth": pd.array([None if i % 7 == 0 else bool(i % 2) for i in range(ROWS)], dtype="boolean"),
        "clock": [dt.time(i % 24, i % 60) for i in range(ROWS)], "several": [[i, 2] for i in range(ROWS)],
        "fields": [{f"a{i}": i} for i in range(ROWS)], "raw": [b"x%d" % i for i in range(ROWS)],
    })  # fmt: skip
    frame.to_parquet(tmp_path / "a.parquet")
    source = str(tmp_path / "a.parquet")
    found = evidence(read(source, as_texts=True))
    due = {"decimal": "number", "day": "date", "zone": "date", "dictionary": "category", "truth": "boolean"}
    held = {"several": "lists", "fields": "of type dict", "raw": "of type bytes"}
    assert kinds(found) == due | {"clock": "duration"} | dict.fromkeys(held, "container")
    assert [each.why for each in found[-3:]] == [f"its cells are {e}, which no measure reads" for e in held.values()]
    proposal = look(source, Given())
    assert proposal.data.drop == ["several", "fields", "raw"]
    table = typed(read(source, (), proposal.data.columns), proposal.data, Split(holdout=0.5))
    dtypes = {"decimal": "float64", "dictionary": "category", "truth": "boolean", "clock": "timedelta64[ns]"}
    assert table.dtypes.astype(str).to_dict() == dtypes | dict.fromkeys(("day", "zone"), "datetime64[ns]")


def test_whole_numbers_of_parquet_with_missing_cells_are_no_decimals(tmp_path):
    frame = pd.DataFrame({"answer": [0.0, 1.0, None] * 80, "age": range(ROWS)})
    frame.to_parquet(tmp_path / "a.parquet")
    found = evidence(read(str(tmp_path / "a.parquet"), as_texts=True))[0]
    assert found.reading == Reading(type="boolean", true_values=["1"], false_values=["0"])
    data = Data(source="a", quasi_identifiers=["age"], sensitive=["answer"], columns={"answer": found.reading})
    table = typed(read(str(tmp_path / "a.parquet"), (), data.columns), data, Split(holdout=0.5))
    assert table["answer"].tolist()[:2] == [False, True]


def test_types_of_databases(tmp_path):
    base = sqlite3.connect(tmp_path / "a.db")
    base.execute("create table t (age integer, pay numeric(9, 2), born date, smokes boolean, plz text, remark blob)")
    ages = [i % 70 if i > 3 else None for i in range(ROWS)]
    rows = [(age, 1000.5 + i, f"19{50 + i % 40}-01-02", i % 2, f"{i % 50:05d}", None) for i, age in enumerate(ages)]
    base.executemany("insert into t values (?, ?, ?, ?, ?, ?)", rows)
    base.commit()
    base.close()
    frame = read(Sql(url=f"sqlite:///{tmp_path / 'a.db'}", query="select * from t"), as_texts=True)
    due = {"age": "number", "pay": "number", "born": "date", "smokes": "boolean", "plz": "code", "remark": "empty"}
    assert kinds(evidence(frame)) == due


@pytest.mark.parametrize("suffix", ["xlsx", "json", "parquet"])
def test_numbers_that_a_source_holds_as_texts_are_numbers_and_codes_stay_codes(tmp_path, suffix):
    drawn = np.random.default_rng(0).lognormal(10.5, 0.5, ROWS).round().astype(int)
    columns = {"age": range(ROWS), "sex": ["f", "m"] * (ROWS // 2), "income": drawn.astype(str), "plain": drawn}
    columns |= {"plz": [f"{i:05d}" for i in range(ROWS)], "number": [str(2**60 + i // 2) for i in range(ROWS)]}
    columns |= {"mixed": [str(n) if i % 9 else n for i, n in enumerate(drawn.tolist())]} if suffix == "xlsx" else {}
    frame, file = pd.DataFrame(columns), str(tmp_path / f"a.{suffix}")
    write = {"xlsx": frame.to_excel, "parquet": frame.to_parquet}.get(suffix, partial(frame.to_json, orient="records"))
    write(file, **({"index": False} if suffix == "xlsx" else {}))
    proposal = look(file, Given(sensitive=["income"]))
    numbers = ["income", "plain", *["mixed"] * (suffix == "xlsx")]
    assert [proposal.table[name].tolist() for name in numbers] == [drawn.tolist()] * len(numbers)
    assert proposal.table[["plz", "number"]].dtypes.eq("category").all()
    assert list(proposal.data.columns) == [name for name in columns if name in ("income", "mixed")]


def test_dates_of_a_workbook_of_which_some_are_texts_are_dates(tmp_path):
    days = [dt.datetime(1950 + i % 50, 1 + i % 12, 1 + i % 28) for i in range(ROWS)]
    cells = [f"{day:%d.%m.%Y}" if i % 9 == 0 else day for i, day in enumerate(days)]
    frame = pd.DataFrame({"age": range(ROWS), "born": cells, "ill": ["flu", "none"] * (ROWS // 2)})
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    assert look(str(tmp_path / "a.xlsx"), Given()).table["born"].tolist() == days


@pytest.mark.parametrize(("form", "kind"), [
    ("{}/100", "number"), ("{}.5/100", "number"), ("{} GB", "number"), ("{} 원", "number"), ("Rp {}.000.000", "number"),
    ("{} k€", "number"), ("Year {}", "number"), ("EUR{}", "number"), ("{}/80", "code"), ("3/{}", "code"),
    *((form, "code") for form in ("MAR-{}", "A{}h", "{}h99", "{}/100/2", "FR{}", "MG{}", "GB{}", "30{}s")),
    *((form, "code") for form in ("MB-{}", "MB-0{}", "SEC-{}", "SQFT-{}", "SAR-{}", "CAD0{}", "RP0{}", "TB 0{}")),
    *((form, "number") for form in ("{} bp", "{}bps", "{} in", "{}·5", "{}·25", "1{}．５", "٣{}", "٣{}٫٥")),
    *((form, "code") for form in ("1{}/80", "120/{} mmHg", "A·{}", "{}'15\"", "5'{}\"")),
    *((form, "number") for form in ("{}.-", "{},—", "{}/min", "{}点", "{}年", "{} Punkte", "{}件", "{} U/mol")),
    *((form, "code") for form in ("{}A", "{} A", "{}bis", "0{}点", "{}/A4", "1{}号", "{}st", "{}#", "10{} Wien")),
    *((form, "number") for form in ("Rp{}000", "EUR -{}.50", "Months {}", "year 0{}", "kg {}", "CAD 0.{}")),
])  # fmt: skip
def test_numbers_with_a_unit_or_out_of_a_most_are_numbers_and_codes_are_none(form, kind):
    cells = pd.DataFrame({"x": [form.format(20 + i % 79) for i in range(300)]}, dtype="string")
    (found,) = evidence(cells)
    assert found.kind == kind
    read = read_as(cells["x"], found.reading) if found.reading and kind == "number" else cells["x"]
    assert types.is_numeric_dtype(read.dtype) == (kind == "number")


@pytest.mark.parametrize(("form", "cells", "kind"), [
    ("{}年", [1, 2, 3], "code"), ("{}.-", [300, 500, 1000, 2500], "number"), ("{} Besuche", [1, 2, 3], "code"),
    ("{}点", range(60), "number"), ("{},-", [1, 2, 3], "code"),
])  # fmt: skip
def test_few_numbers_with_a_mark_behind_them_are_codes_as_those_without_are(tmp_path, form, cells, kind):
    many = [form.format(each) for each in cells] * 30
    pd.DataFrame({"x": many, "y": range(len(many))}).to_csv(tmp_path / "a.csv", index=False)
    found = look(str(tmp_path / "a.csv"), Given())
    assert found.columns[0].kind == kind
    assert found.table["x"].astype(int).tolist() == [*cells] * 30


@pytest.mark.parametrize(("cells", "codes"), [
    (dict.fromkeys(range(-5, 25), 10), []), (dict.fromkeys(range(-2, 9), 10), []),
    (dict.fromkeys(range(-5, 5), 20), []),
    ({-3: 9, -2: 30, -1: 70, 0: 90, 1: 80, 2: 60, 3: 20}, []), ({-4: 2, -3: 9, -2: 30, -1: 40, 0: 50, 1: 60, 2: 9}, []),
    (dict.fromkeys([-9, *range(-3, 30)], 10), ["-9"]), (dict.fromkeys([-99, *range(-3, 30)], 10), ["-99"]),
    ({-2: 60, -1: 9, 0: 90, 1: 50, 2: 30, 3: 20}, ["-2", "-1"]), ({-2: 9, -1: 9, 1: 90, 2: 50}, ["-2", "-1"]),
    ({-2: 9, -1: 9, 0: 9, 1: 9, 2: 9}, []), ({-2: 9, -1: 9, 0: 20, 1: 30, 2: 40, 3: 9}, ["-2", "-1"]),
    ({-3: 6, -2: 90, -1: 9} | dict.fromkeys(range(40), 12), ["-3", "-2", "-1"]), ({-1: 9, 0: 9, 1: 9, 2: 9}, ["-1"]),
    ({-8: 9, -5: 6, -2: 9, -1: 12} | dict.fromkeys(range(40), 12), ["-8", "-5", "-2", "-1"]),
    ({-9: 9, -8: 6, -2: 9, -1: 12} | dict.fromkeys(range(40), 12), ["-9", "-8", "-2", "-1"]),
    ({-3: 6, -2: 9, -1: 12} | {0: 200, 1: 50, 2: 20, 3: 9, 4: 6}, ["-3", "-2", "-1"]),
])  # fmt: skip
def test_numbers_below_0_are_values_where_they_go_on_from_0_and_codes_of_no_answer_else(cells, codes):
    column = pd.Series([str(n) for n, many in cells.items() for _ in range(many)], dtype="string")
    reading = evidence(pd.DataFrame({"x": column}))[0].reading
    assert sorted(reading.missing if reading else [], key=int) == codes


def meaning(tmp_path, name: str, cells) -> tuple[str, str]:
    draw = np.random.default_rng(0)
    base = {"age": draw.integers(18, 90, ROWS), "sex": ["f", "m"] * (ROWS // 2), "income": draw.lognormal(8, 1, ROWS)}
    base["job"] = draw.choice(["cook", "nurse"], ROWS)
    pd.DataFrame(base | {name: draw.choice(np.array(list(cells), object), ROWS)}).to_csv(tmp_path / "a.csv")
    proposal = look(str(tmp_path / "a.csv"), Given())
    kind = next(each.kind for each in proposal.columns if each.name == name)
    return kind, next(role.meaning for role in proposal.roles if role.name == name)


SURNAMES = [f"{a}{b}" for a in ("Mar", "Ber", "Dup", "Rou", "Mor") for b in ("tin", "nard", "ont", "ssel", "eau", "er")]
PEOPLE = [f"{a.upper()} {b}" for a in SURNAMES for b in ("Paul", "Anne-Lise", "J. de")]


@pytest.mark.parametrize(("name", "cells", "role"), [
    *((name, SURNAMES, "dropped") for name in ("Nom", "NOM", "Nom patient", "Nom élève", "Nom du patient")),
    *((name, PEOPLE, "dropped") for name in ("Runner", "Defendant", "Versicherter", "Assuré", "Titular", "Licencié")),
    ("Player", PEOPLE, "identifier"), ("Product", PEOPLE, "other"), ("Runner", SURNAMES, "other"),
    ("Nom", "ab", "other"),
    ("Driver", [f"{text} x" for text in SURNAMES], "other"), ("Q3_1 I feel valued at work", range(1, 6), "other"),
    ("work", range(1, 6), "quasi-identifier"), ("tenure", range(72), "other"), ("tenure", "ab", "quasi-identifier"),
    ("handicap", [n / 10 for n in range(540)], "other"), ("Handicap", range(37), "other"),
    ("handicap", range(20, 101), "sensitive"), ("Handicap", ["moteur", "visuel", "aucun"], "sensitive"),
    ("handicap", [1, 2, 3, 4], "sensitive"), ("Voto", range(18, 31), "other"), ("Voto", range(66, 111), "other"),
    ("Voto", ["PD", "FI", "M5S"], "sensitive"), ("voto", range(1, 9), "sensitive"),
    ("Classe", ["CE1", "CE2", "CM1", "CM2"], "quasi-identifier"), ("Classe", ["CM2", "6e", "5e"], "quasi-identifier"),
    ("Classe", ["6ème", "5ème", "4ème", "Tle"], "quasi-identifier"), ("classe", ["A", "B"], "sensitive"),
    ("class", ["AB1", "AB2"], "sensitive"),
    ("Index HP", range(1000, 99999), "other"), ("index", range(1000, 99999), "dropped"),
])  # fmt: skip
def test_a_column_has_the_role_that_its_name_and_its_cells_give_it(tmp_path, name, cells, role):
    assert meaning(tmp_path, name, cells)[1] == role


@pytest.mark.parametrize(("name", "cells", "kind"), [
    *((name, [4100, 4200, 4310, 5000], "code") for name in ("Kostenstelle", "Cost centre")),
    ("Cost", [4100, 4200, 4310, 5000], "number"), ("Entlassgrund", [6, 7, 8, 9], "code"),
    ("Mode sortie", [6, 7, 8, 9], "code"), ("Period", [202301, 202302, 202312], "code"),
    ("x", [202301, 202302, 202313], "number"),
    ("NIR", [f"1 84 12 75 {i} 004 38" for i in range(100, 999)], "code"),
])  # fmt: skip
def test_numbers_of_places_of_cost_reasons_and_months_are_codes(tmp_path, name, cells, kind):
    assert meaning(tmp_path, name, cells)[0] == kind


def test_one_column_of_each_topic_comes_before_a_second_of_money(tmp_path):
    draw = np.random.default_rng(0)
    pay = {name: draw.integers(3000, 9000, ROWS) for name in ("Lohn", "Monatslohn", "Gehalt")}
    frame = pd.DataFrame(pay | {"Konfession": draw.choice(["rk", "ev"], ROWS), "Krank.-Tage": draw.poisson(4, ROWS)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert look(str(tmp_path / "a.csv"), Given()).data.sensitive == ["Lohn", "Konfession", "Krank.-Tage"]


def with_columns(tmp_path, columns):
    own = {"sex": DRAW.choice(["f", "m"], ROWS), "region": DRAW.choice(["a", "b", "c"], ROWS)}
    table = pd.DataFrame(own | columns | {"illness": DRAW.choice(["flu", "none"], ROWS)})
    table.to_csv(tmp_path / "a.csv", index=False)
    return look(str(tmp_path / "a.csv"), Given())


DRAW = np.random.default_rng(3)
WHOSE = DRAW.integers(0, 120, ROWS)
OWN, MAIL = DRAW.permutation(10**6)[:120][WHOSE], [f"p{i}@x.org" for i in WHOSE]
EACH = DRAW.permutation(10**5)[:ROWS]


PERSONS = {
    "MRN": OWN, "patient_id": OWN, "e-mail": MAIL, "Subject": [f"S{i:03d}" for i in WHOSE], "member_no": OWN,
    "Medical Record Number": OWN, "NHS number": OWN, "Patientennummer": OWN, "id_paciente": OWN, "employee id": OWN,
    "user_id": OWN, "IPP": OWN,
}  # fmt: skip
VISITS = ["Encounter ID", "visit_id", "order_no", "invoice", "id", "case_id", "record_id"]


@pytest.mark.parametrize(
    ("person", "visit"), [*zip(PERSONS, cycle(VISITS)), *product(["patient_id", "user_id"], VISITS)]
)
def test_the_repeated_key_of_a_person_tells_people_apart_and_the_number_of_each_visit_is_left_out(
    tmp_path, person, visit
):
    cells = PERSONS[person]
    for columns in ({visit: EACH, person: cells}, {person: cells, visit: EACH}):
        found = with_columns(tmp_path, columns)
        why = {role.name: role.why for role in found.roles}
        assert (found.data.identifier, found.data.drop) == (person, [visit])
        assert why[person] == f"its name says that it tells people apart: {len(set(WHOSE))} people in {ROWS} records"
        assert why[visit].startswith("it numbers the records")


@pytest.mark.parametrize(("columns", "identifier", "drop"), [
    ({"MRN": OWN, "e-mail": MAIL}, "MRN", ["id", "e-mail"]), ({"MRN": EACH}, "id", ["MRN"]),
    ({"customer_id": OWN, "member_no": OWN + 7}, "customer_id", ["id", "member_no"]),
    ({"patient_id": OWN, "employee_id": WHOSE[::-1] + 2000}, "patient_id", ["id"]),
    ({"employee_id": WHOSE[::-1] + 2000, "patient_id": OWN}, "patient_id", ["id"]),
    ({"person_no": EACH * 3, "household_no": OWN}, "person_no", ["id"]),
    ({"household_no": OWN, "person_no": EACH * 3}, "person_no", ["id"]),
    ({"household_no": OWN}, "household_no", ["id"]),
    ({"patient_id": EACH * 3, "employee_id": OWN}, "patient_id", ["id"]),
    ({"customer": EACH * 3, "account_no": OWN}, "id", ["customer", "account_no"]),
    *(({name: OWN}, "id", []) for name in (
        "ward_id", "product_id", "country_code", "customer_zip", "patient_ward_id", "member_group_no",
        "doctor_id", "number_of_customers", "patients", "Anzahl Kunden",
    )),
    ({"email": WHOSE}, "id", ["email"]), ({"SSN last 4": OWN}, "id", ["SSN last 4"]),
    ({"customer_town": [f"Town {i}" for i in WHOSE]}, "id", []),
    ({"Subject": [f"{'abcdefghij'[i // 12]}{'abcdefghijkl'[i % 12]}" for i in WHOSE]}, "id", []),
    *(({name: EACH, "patient_id": OWN}, "patient_id", ["id"]) for name in ("order_value", "session_ms", "visit_cost")),
])  # fmt: skip
def test_a_persons_own_number_stays_and_no_other_repeated_number_is_taken_for_one(tmp_path, columns, identifier, drop):
    data = with_columns(tmp_path, {"id": DRAW.permutation(10**5)[:ROWS]} | columns).data
    assert (data.identifier, [name for name in data.drop if name in {"id", *columns}]) == (identifier, drop)


HEIGHTS = [(feet, inches) for feet in (4, 5, 6) for inches in range(12)]
TIMES = [(hours, minutes, (7 * minutes) % 60) for hours in (0, 1) for minutes in range(8, 60)]


@pytest.mark.parametrize(("cells", "due"), [
    *(([form.format(*each) for each in HEIGHTS], [12 * feet + inches for feet, inches in HEIGHTS])
      for form in ("{}'{}\"", "{}' {}''", "{} ft {} in", "{}′{}″", "{}ft {}in", "{} feet {} inches")),
    ([f"{h}:{m:02d}:{s:02d}" if h else f"{m}:{s:02d}" for h, m, s in TIMES],
     [3600 * h + 60 * m + s for h, m, s in TIMES]),
    ([f"{7 + m // 5}:{m:02d}" + f":{s:02d}" * (s > 50) for _, m, s in TIMES],
     [3600 * (7 + m // 5) + 60 * m + s * (s > 50) for _, m, s in TIMES]),
    ([f"{m}:{s:02d}" for _, m, s in TIMES], [3600 * m + 60 * s for _, m, s in TIMES]),
    ([f"{n}·5" for n in range(60)], [n + 0.5 for n in range(60)]),
    ([f"{n}.5".translate(str.maketrans("0123456789.", "０１２３４５６７８９．")) for n in range(60)],
     [n + 0.5 for n in range(60)]),
    ([f"{n}".translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")) for n in range(60)], list(range(60))),
    ([f"{n}".translate(str.maketrans("0123456789", "०१२३४५६७८९")) for n in range(60)], list(range(60))),
])  # fmt: skip
def test_heights_elapsed_times_and_digits_of_other_scripts_are_the_numbers_that_they_are(tmp_path, cells, due):
    column = pd.Series(cells * 7)
    release = pd.DataFrame({"x": column.iloc[:ROWS], "age": [20 + i % 50 for i in range(ROWS)]})
    found = with_columns(tmp_path, dict(release))
    read = found.table["x"]
    read = read.dt.total_seconds() if pd.api.types.is_timedelta64_dtype(read) else read
    assert read.tolist() == (due * 7)[:ROWS]
    form = FileForm(columns={"x": found.data.columns["x"]})
    again = fitted(release, found.table[["x", "age"]], form, "release").synthetic["x"]
    assert again.tolist() == found.table["x"].tolist()


@pytest.mark.parametrize("form", [
    "%Y-%m-%d-%H.%M.%S", "%Y-%m-%d-%H.%M.%S.%f", "%d/%m/%Y à %Hh%M", "%d/%m/%Y à %H:%M", "%d/%m/%Y %H h %M",
    "%d.%m.%Y um %H:%M", "%d.%m.%Y kl. %H.%M", "%d %b %Y at %H:%M", "%d/%m/%Y a las %H:%M", "%d.%m.%Y - %H:%M",
    "%Y-%m-%d %H.%M.%S",
])  # fmt: skip
def test_times_behind_a_date_are_read_in_real_tables_and_releases_as_databases_and_people_write_them(tmp_path, form):
    times = pd.Series(pd.Timestamp("2021-01-03 08:05") + pd.to_timedelta(61 * np.arange(80) * 60, unit="min")).repeat(3)
    column = pd.DataFrame({"seen": times.dt.strftime(form), "age": [20 + i % 50 for i in range(ROWS)]})
    found = with_columns(tmp_path, dict(column.reset_index(drop=True)))
    assert found.table["seen"].tolist() == times.tolist()
    assert (
        fitted(column, found.table[["seen", "age"]], FileForm(), "release").synthetic["seen"].tolist() == times.tolist()
    )
    own = with_columns(
        tmp_path, {"seen": (times + pd.to_timedelta(np.arange(ROWS), unit="min")).dt.strftime(form).array}
    )
    assert own.data.drop == ["seen"]


@pytest.mark.parametrize("cells", ["{}-14.30.00", "1.2.{} - 30", "{}-14.30", "Lot {} - 14.30"])
def test_numbers_with_marks_are_no_times_behind_a_date(cells):
    column = pd.DataFrame({"x": [cells.format(20 + i % 79) for i in range(300)]}, dtype="string")
    assert evidence(column)[0].kind in ("code", "text")


@pytest.mark.parametrize(("cells", "missing"), [
    (["rk", "ev", "--"], None), (["rk", "ev", "--", None], ["--"]), (["rk", "ev"] * 10 + ["--"], ["--"]),
    ([f"{chr(65 + k)}x" for k in range(20)] + ["--"] * 9, ["--"]), (["1,5", "2", "--"], ["--"]),
    (["rk", "--"], ["--"]), (["rk", "ev", "-"], ["-"]),
])  # fmt: skip
def test_two_dashes_are_a_level_where_they_are_frequent_beside_few_texts_and_no_cell_is_empty(cells, missing):
    (found,) = evidence(pd.DataFrame({"konfession": cells * 30}, dtype="string"))
    assert (found.reading.missing if found.reading else None) == missing


@pytest.mark.parametrize("sign", sorted(_NO_VALUE - {"", "None", "missing"}))
def test_a_sign_for_no_value_in_releases_is_one_in_real_tables_too_but_words_that_may_be_answers(sign):
    found = evidence(pd.DataFrame({"x": pd.Series(["cook", "nurse", sign] * 20, dtype="string")}))[0]
    assert (found.distinct, found.reading.missing) == (2, [sign])
    alone = evidence(pd.DataFrame({"x": pd.Series([sign] * 20, dtype="string")}))[0]
    assert (alone.kind, alone.why) == ("empty", f"all cells are missing; {sign!r} taken for missing (20 cells)")
    assert evidence(pd.DataFrame({"x": pd.Series(["flu", "none"] * 20, dtype="string")}))[0].distinct == 2
