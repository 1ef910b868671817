import numpy as np
import pandas as pd
import pyreadstat
import pytest

from synthrisk.metrics import InputError
from synthrisk.tasks.propose.evidence import evidence
from synthrisk.tasks.propose.proposal import Given, Proposal, look
from synthrisk.tasks.workspace.files.cell_texts import truth_words

RNG = np.random.default_rng(11)
ROWS = 300
BASE = {
    "sex": RNG.choice(["m", "f"], ROWS),
    "region": RNG.choice(["north", "south", "west"], ROWS),
    "illness": RNG.choice(["none", "flu", "cold"], ROWS),
}


@pytest.fixture
def looked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def look_at(given: Given | None = None, **columns: object) -> Proposal:
        pd.DataFrame(BASE | columns).to_csv("table.csv", index=False)
        return look("table.csv", given or Given())

    return look_at


def of(proposal: Proposal, name: str):
    return next(each for each in proposal.columns if each.name == name)


def test_the_table_is_that_of_the_study_with_codes_and_facts(looked):
    notes = [f"patient {i} came back with pain and went home again" if i % 3 else None for i in range(ROWS)]
    found = looked(**{"Unnamed: 0": range(ROWS), "iban": [f"AT{i:018d}" for i in range(ROWS)], "notes": notes})
    assert not {"Unnamed: 0", "iban"} & set(found.table.columns)
    assert found.table["notes"].dtype == bool
    found = looked(plz=[f"0{1001 + i % 30}" for i in range(ROWS - 6)] + ["NA"] * 6)
    assert of(found, "plz").kind == "code"
    assert "01001" in set(found.table["plz"].astype("string"))
    assert found.table["plz"].isna().sum() == 6
    notes = ["NA" if i % 3 == 0 else f"patient {i} came back with pain and went home again" for i in range(ROWS)]
    found = looked(notes=notes)
    assert (found.data.columns["notes"].missing, found.table["notes"].sum()) == (["NA"], ROWS - 100)


@pytest.mark.parametrize("day", ["5/5/55", "11/11/11", "2/2/22", "22/02/22", "00.00.0000", "11.11.1111", "31.12.9999"])
def test_a_day_is_a_missing_code_where_it_is_none(looked, day):
    form = "{:02d}.{:02d}.19{}" if "." in day else "{}/{}/{}"
    born = [form.format(1 + i % 28, 1 + i % 12, 40 + i % 50) for i in range(ROWS - 5)] + [day] * 5
    assert looked(born=born).table["born"].isna().sum() == 5 * ("." in day)


@pytest.mark.parametrize(("first", "second", "form"), [
    ("%Y-%m-%d", "%d.%m.%Y", "ISO8601 or %d.%m.%Y"), ("%d.%m.%Y", "%d.%m.%y", "%d.%m.%Y or %d.%m.%y"),
    ("%m/%d/%Y", "%Y-%m-%d %H:%M", "%m/%d/%Y or ISO8601"), ("%d/%m/%Y", "%m/%d/%Y", None), ("%d.%m.%Y", "%m.%Y", None),
    ("%Y-%m-%d", "no. %d", None),
])  # fmt: skip
def test_dates_in_two_forms_are_dates_unless_one_cell_could_be_of_both(looked, first, second, form):
    days = pd.Timestamp("1950-01-01") + pd.to_timedelta(RNG.integers(0, 20_000, ROWS), unit="D")
    found = looked(born=[day.strftime(second if i % 5 == 0 else first) for i, day in enumerate(days)])
    reading = found.data.columns.get("born")
    assert (reading and reading.format, of(found, "born").question) == (form, "")
    if form:
        assert found.table["born"].tolist() == days.tolist()


@pytest.mark.parametrize(("often", "rarely", "days", "form"), [
    ("%m/%d/%Y", "%m/%d/%Y %H:%M", 28, "%m/%d/%Y or %m/%d/%Y %H:%M"),
    ("%m/%d/%Y", "%m-%d-%Y", 28, "%m/%d/%Y or %m-%d-%Y"),
    ("%d/%m/%Y", "%d/%m/%y", 28, "%d/%m/%Y or %d/%m/%y"), ("%m/%d/%Y", "%m/%d/%y", 28, "%m/%d/%Y or %m/%d/%y"),
    ("%m/%d/%Y %H:%M", "%m/%d/%Y", 12, "%m/%d/%Y %H:%M or %m/%d/%Y"),
])  # fmt: skip
def test_day_and_month_have_one_order_in_all_forms_of_a_column(often, rarely, days, form):
    dates = [pd.Timestamp(2015, 1 + i % 12, 1 + i % days) for i in range(200)]
    few = [pd.Timestamp(2015, 3, 4), pd.Timestamp(2015, 5, 6), *([pd.Timestamp(2015, 5, 20)] if days == 12 else [])]
    cells = [*(date.strftime(often) for date in dates), *(date.strftime(rarely) for date in few)]
    found = evidence(pd.DataFrame({"x": pd.Series(cells, dtype="string")}))[0]
    assert (found.reading.format, found.question) == (form, "")


@pytest.mark.parametrize(("day", "form"), [
    ("31.12.2999", "%d.%m.%Y"), ("2999-12-31", "%Y-%m-%d"), ("3000-01-01 00:00:00", "%Y-%m-%d %H:%M:%S"),
])  # fmt: skip
def test_a_day_beyond_all_lives_means_no_end(looked, day, form):
    days = pd.Timestamp("2015-01-01") + pd.to_timedelta(RNG.integers(0, 90, ROWS), unit="D")
    found = looked(end=[day if i % 3 else each.strftime(form) for i, each in enumerate(days)])
    assert found.table["end"].dropna().tolist() == days[::3].tolist()


@pytest.mark.parametrize(("form", "years", "asks"), [
    ("%y.%m.%d", 9, True), ("%y/%m/%d", 9, True), ("%d.%m.%y", 9, False), ("%d.%m.%y", 27, True),
    ("%m/%d/%y", 9, False), ("%y.%m.%d", 40, False), ("%y-%m-%d", 40, False),
])  # fmt: skip
def test_years_of_two_digits_are_asked_for_where_they_may_stand_first_or_last(looked, form, years, asks):
    days = pd.Timestamp("1980-01-01" if years > 31 else "2002-01-01") + pd.to_timedelta(
        RNG.integers(0, 365 * years, ROWS), unit="D"
    )
    found = looked(came=days.strftime(form))
    assert (found.table["came"].tolist(), bool(of(found, "came").question)) == (days.tolist(), asks)


@pytest.mark.parametrize("days", [[1], [15], [1, 15], [28, 29, 30, 31]])
@pytest.mark.parametrize(("form", "asks"), [("%d.%m.%y", False), ("%d-%m-%y", None), ("%d/%m/%y", None)])
def test_years_of_two_digits_stand_last_where_all_dates_are_of_few_days(looked, days, form, asks):
    every = pd.date_range("2005-01-01", "2023-12-31")
    dates = pd.Series(every[every.day.isin(days)]).sample(ROWS, replace=True, random_state=1)
    found = looked(came=dates.dt.strftime(form).to_numpy())
    if days == [1] and asks is None:  # either the day or the month is the same in all, which only people can tell
        assert of(found, "came").question.startswith("does the day come first")
    else:
        assert found.table["came"].tolist() == dates.tolist()
        assert asks is None or of(found, "came").sure == "sure"


@pytest.mark.parametrize(("others", "gone"), [(["K", "Hb"], False), (["K", "M"], True), (["yes", "no"], True)])
def test_sodium_beside_other_tests_of_blood_is_no_missing_cell(looked, others, gone):
    assert looked(test=["Na", *others] * (ROWS // 3)).table["test"].isna().any() == gone


def test_two_marks_before_decimals_are_told(looked):
    assert "not all with the same mark" in of(looked(x=[f"{i}{',.'[i % 2]}5" for i in range(ROWS)]), "x").why


@pytest.mark.parametrize("form", [
    "%Y-%m-%d %H:%M:%S+00", "%Y-%m-%d %H:%M:%S +0000", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S.%f UTC",
    "%d.%m.%Y %H:%M Uhr", "%d/%m/%y %Hh%M", "%m/%d/%Y %I:%M%p", "%m/%d/%Y, %I:%M:%S %p", "%d %b %Y %I:%M%p",
])  # fmt: skip
def test_times_behind_dates_are_read_as_databases_and_programs_write_them(looked, form):
    times = pd.Timestamp("1990-01-31 08:20") + pd.to_timedelta(RNG.integers(0, 90, ROWS) * 60 * 61, unit="min")
    assert looked(came=times.strftime(form)).table["came"].tolist() == times.tolist()


@pytest.mark.parametrize("form", [
    "%b-%y", "%d/%m-%Y", "%a, %d %b %Y", "%A, %B %d, %Y", "%Y-%b-%d", "%Y年%m月", "%Y년 %m월 %d일", "%b '%y",
    "%I:%M %p", "%I:%M:%S%p", "%Hh%M", "%H:%M Uhr", "%H.%M Uhr", "%d.%m.%Y r.",
])  # fmt: skip
def test_days_and_times_of_the_day_are_read_as_people_write_them(looked, form):
    times = pd.Timestamp("1990-01-31 08:20") + pd.to_timedelta(RNG.integers(0, 90, ROWS) * 60 * 61, unit="min")
    found = looked(came=times.strftime(form))
    assert found.table["came"].tolist() == pd.to_datetime(times.strftime(form), format=form).tolist()
    assert ("times of the day" in of(found, "came").why) == ("%M" in form)


@pytest.mark.parametrize(("power", "numbers"), [("1e+05", True), ("1,5E-04", True), ("1E5", False), ("12E3", False)])
def test_powers_of_ten_are_numbers_beside_others_and_codes_of_an_e_are_none(looked, power, numbers):
    cells = [power if i % 20 == 0 else f"{20 + i},5" if i % 2 else str(20 + i) for i in range(ROWS)]
    found = looked(income=cells)
    assert of(found, "income").kind == ("number" if numbers else "category")
    if numbers:
        assert found.table["income"].tolist() == [float(cell.replace(",", ".")) for cell in cells]


@pytest.mark.parametrize(("form", "below"), [
    ("{}", "({})"), ("{} €", "({} €)"), ("${}", "(${})"), ("{}", "{}-"), ("{} EUR", "{}- EUR"), ("Fr. {}", "-Fr. {}"),
    ("Rs. {}", "-Rs. {}"), ("{}", "−{}"),
])  # fmt: skip
@pytest.mark.parametrize("marks", ["", ",.", ".,"])
def test_amounts_are_read_as_accounts_write_them(looked, form, below, marks):
    numbers = (RNG.lognormal(8, 1, ROWS) - 2000).round(0 if "Rs" in form else 2)
    written = [(f"{abs(number):,.{0 if 'Rs' in form else 2}f}", number < 0) for number in numbers]
    swap = str.maketrans(",.", marks) if marks else {ord(","): ""}
    texts = [(below if negative else form).format(text.translate(swap)) for text, negative in written]
    assert looked(income=texts).table["income"].tolist() == numbers.tolist()


@pytest.mark.parametrize("cells", [["1", "1-", "2", "2-", "3"], ["(1)", "(2)", "3"], ["1)", "2)"], ["No. 1", "No. 2"]])
def test_grades_notes_and_counts_are_no_amounts(looked, cells):
    assert of(looked(x=[cells[i % len(cells)] for i in range(ROWS)]), "x").kind == "category"


@pytest.mark.parametrize(("cells", "limit", "kind"), [
    (range(18, 90), "90+", "number"), (range(5), "5+", "number"), (range(1, 90), "> 90", "number"),
    (range(1, 4), "3+", "category"), (range(91), "90+", "number"), (range(1, 5), "<1", "category"),
    ([f"0.{i}" for i in range(5, 9)], "<0.5", "number"), (range(18, 90), "40+", "category"), ([0], "1+", "category"),
    (["0", "1+", "2+"], "3+", "category"), (["18-30", "31-64"], "65+", "category"), (["A+", "B+"], "0+", "category"),
])  # fmt: skip
def test_numbers_cut_at_a_limit_are_numbers_and_the_limit_is_one_of_them(looked, cells, limit, kind):
    for every in (9, ROWS // 3 - 1)[: 1 + (kind == "number")]:
        texts = [limit if i % every == 0 else str(list(cells)[i % len(cells)]) for i in range(ROWS)]
        found = looked(x=texts)
        if kind == "number":
            assert found.table["x"].tolist() == [float(text.strip("<>+")) for text in texts]
        assert (of(found, "x").kind, "limit" in of(found, "x").why) == (kind, kind == "number")


@pytest.mark.parametrize(("value", "cells"), [(99, 1), (99, 4), (-9, 4)])
def test_what_few_people_have_is_no_missing_code(looked, value, cells):
    age = [20 + i % 40 for i in range(ROWS - cells)] + [value] * cells
    found = looked(age=age)
    assert found.table["age"].notna().all()
    assert str(value) not in of(found, "age").why


@pytest.mark.parametrize(("answers", "codes", "kind"), [
    ([0, 1], [-9], "boolean"), ([0, 1], [-9, -8], "boolean"), ([0, 1], [-99], "boolean"), ([0, 5], [-1], "code"),
    ([1, 2], [-2, -1], "code"), (range(11), [77, 88, 99], "number"), ([1, 2], [8, 9], "code"),
    (range(1, 6), [7, 8, 9], "code"), (range(41), [97, 98, 99], "number"), (range(18, 300), [777, 999], "number"),
    ([*range(7), 8], [88, 99], "code"), (range(1, 10), [], "code"), (range(1, 11), [], "code"), (range(8), [], "code"),
    (range(18, 100), [], "number"), ([1, 2, 3], [99, 999], "code"),
    ([-1, 0, 1], [], "number"), ([-1, 0, 1], [-9], "number"), (range(-2, 3), [], "number"),
    (range(-20, 20), [-999], "number"), (range(-20, 20), [-888, -99], "number"), (range(-99, 99), [], "number"),
    ([i / 10 for i in range(99)], [999.9], "number"), ([90.5 + i / 10 for i in range(99)], [], "number"),
    ([9.99, 19.99, 29.99, 49.99, 99.99], [], "number"), ([97.8, 98.2, 98.6, 99.0, 99.9], [], "number"),
    ([*range(100, 300), *[999.99] * 100], [], "number"),
    ([9.99, 14.5, 19.99, 20.0, 999.99], [], "number"), ([36.5, 37.1, 38.2, 40.1], [999.9], "number"),
])  # fmt: skip
def test_numbers_that_mean_no_answer_are_missing_and_answers_are_kept(looked, answers, codes, kind):
    codes = {9 * i: code for i, code in enumerate(codes * (18 // max(len(codes), 1)))}
    cells = [codes.get(i, answers[i % len(answers)]) for i in range(ROWS)]
    found = looked(answer=cells)
    assert found.table["answer"].isna().tolist() == [i in codes for i in range(ROWS)]
    assert (of(found, "answer").kind, bool(of(found, "answer").question)) == (kind, -9 < answers[0] < 0)


@pytest.mark.parametrize(("numbers", "codes"), [
    ([*[*range(1, 7)] * 20, *[7] * 4, *[8] * 4, *[9] * 10], []),
    ([*[*range(20, 97)] * 3, *[97, 98] * 2, *[99] * 16], []),
    ([*[*range(20, 61)] * 3, *[97, 98] * 2, *[99] * 16], [99]), ([*[1, 2, 3] * 20, *[8] * 2, *[9] * 10], [9]),
])  # fmt: skip
def test_the_top_of_a_scale_is_an_answer_where_few_have_the_numbers_below_it(numbers, codes):
    found = evidence(pd.DataFrame({"x": pd.Series(map(str, numbers), dtype="string")}))[0]
    assert (found.reading.missing if found.reading else []) == [str(code) for code in codes]


def test_odd_cells_do_not_fall_over_and_rare_words_are_not_told(looked):
    found = looked(score=[str(i) for i in range(ROWS - 4)] + ["Zebrafink"] * 4)
    assert "Zebrafink" not in str(found.data)
    assert of(looked(x=[str(2**70 + 3 * i) for i in range(ROWS)]), "x").is_unique
    assert of(looked(income=["\uff10\uff11\uff12", "\uff13\uff14"] * (ROWS // 2)), "income").kind == "code"  # as 012 is


@pytest.mark.parametrize("rows", [0, 1, 2, 9])
def test_a_file_of_one_word_and_a_table_of_few_records_are_refused(tmp_path, rows):
    pd.DataFrame(BASE).head(rows).to_csv(tmp_path / "few.csv", index=False)
    if not rows:
        (tmp_path / "few.csv").write_text('"age"')
    with pytest.raises(InputError, match=f"at least 10 records for a study, got {rows}" if rows else "must hold rows"):
        look(str(tmp_path / "few.csv"), Given())


def test_what_somebody_has_settled_is_not_proposed_again(looked):
    settled = Given(sensitive=["illness"], quasi_identifiers=["sex"], every_role=True)
    data = looked(settled, id=range(ROWS), constant="x").data
    assert (data.identifier, data.drop) == (None, ["constant"])


def test_a_role_that_is_confirmed_keeps_its_reason(looked):
    proposal = looked()
    proposed = {role.name: role.why for role in proposal.roles}
    known, guessed = proposal.data.quasi_identifiers, proposal.data.guessed
    again = looked(Given(sensitive=guessed, quasi_identifiers=known))
    assert {role.name: role.why for role in again.roles} == proposed
    assert {role.sure for role in again.roles if role.name in (*known, *guessed)} == {"sure"}
    turned = looked(Given(sensitive=known, quasi_identifiers=guessed))
    assert {role.why for role in turned.roles if role.name in (*known, *guessed)} == {"given"}


def drawn(texts) -> np.ndarray:
    return np.random.default_rng(3).choice(np.array(list(texts), object), ROWS)


SURNAMES = drawn(a + b for a in ["Bau", "Hof", "Wag", "Leh", "Sto", "Kra"] for b in ["er", "mann", "ner", "inger", "l"])


@pytest.mark.parametrize("name", [
    "Familienname", "Nachname", "last_name", "Surname", "Last", "First", "FirstName", "Vorname", "Rufname", "apellido1",
    "prenom_enfant", "Emergency Contact", "Manager", "Vorgesetzte/r", "student_name", "Mother's Name", "Geburtsname",
    "姓名",
])  # fmt: skip
def test_names_of_people_are_left_out_however_many_share_one(looked, name):
    found = looked(**{name: SURNAMES})
    assert (found.data.drop, found.data.identifier) == ([name], None)


def test_initials_and_addresses_are_left_out(looked):
    own = {"Addr1": [f"{i} Main St" for i in range(ROWS)], "Anschrift": [f"Am Bach {i}" for i in range(ROWS)]}
    assert looked(**{"Middle Initial": drawn("ABCDEFGHIJKL"), **own}).data.drop == ["Middle Initial", *own]


@pytest.mark.parametrize(("name", "cells"), [
    ("first", RNG.integers(0, 200, ROWS)), ("last", drawn(["won", "lost"])), ("First", drawn(["red", "blue", "green"])),
    ("manager", drawn(["yes", "no"])), ("manager_rating", drawn(["low", "middle", "high"])), ("City Name", SURNAMES),
    ("product_name", SURNAMES), ("contact", drawn(["cellular", "telephone", "unknown"])), ("Teilnahme", SURNAMES),
    ("customer_segment_name", drawn(["small", "large", "new"])), ("name_of_drug", SURNAMES),
    *((name, drawn(["spouse", "parent", "friend"])) for name in ("contact_person", "emergency_contact", "next_of_kin")),
    *((name, drawn(["yes", "no", "maybe"])) for name in ("lname_origin", "surname_changed", "nachname_geandert")),
    *((name, drawn(f"{a}{b}" for a in "abcdefghijklm" for b in "uvwxyz")) for name in (
        "productname", "product_name", "hostname", "schoolname", "drugname", "file_name", "brandName", "team_name",
    )), ("acct_bal", RNG.integers(0, 10**7, ROWS)), ("acct_len", RNG.permutation(ROWS)[:ROWS] * 3),
    ("acct_amount", RNG.normal(9000, 3000, ROWS).round(2)), ("acct", RNG.normal(9000, 3000, ROWS).round(2)),
])  # fmt: skip
def test_other_columns_with_such_words_stay(looked, name, cells):
    assert name in looked(**{name: cells}).table.columns


@pytest.mark.parametrize(("name", "cells"), [
    ("acct", RNG.integers(10**6, 10**7, ROWS)), ("contact_person", SURNAMES), ("next_of_kin", SURNAMES),
    *((name, [f"{a}{i}" for i, a in enumerate(SURNAMES)]) for name in ("customerName", "host_name")),
    ("work_email", [f"p{i // 3}@x.org" for i in range(ROWS)]), ("school_phone", [f"555-{i:04d}" for i in range(ROWS)]),
    ("work_phone", [5550000 + 7 * i for i in range(ROWS)]), ("vehicle_plate", [f"M-AB {i}" for i in range(ROWS)]),
    ("Domicilio", [f"Calle {i}" for i in range(ROWS)]), ("home_address", [f"{i} Main St" for i in range(ROWS)]),
    ("household_name", [a + b + c for a in "ABCDE" for b in "aeiou" for c in "klmnprstvwxz"]),
])  # fmt: skip
def test_what_names_a_person_is_left_out_whatever_else_its_name_says(looked, name, cells):
    assert looked(**{name: cells}).data.drop == [name]


@pytest.mark.parametrize(("name", "cells"), [
    ("postcode", [f"AB{i % 10} {i // 10}CD" for i in range(ROWS)]), ("plz", [f"0{1001 + 29 * i}" for i in range(ROWS)]),
    ("address_zip", [f"0{1001 + 29 * i}" for i in range(ROWS)]), ("address_city", SURNAMES), ("email_region", SURNAMES),
    ("account_age", RNG.permutation(ROWS) * 7), ("phone_country", drawn(["AT", "DE", "CH"])),
])  # fmt: skip
def test_what_is_known_of_people_stays_known_beside_a_word_for_contact(looked, name, cells):
    assert name in looked(**{name: cells}).data.quasi_identifiers


KEYS = np.repeat(RNG.choice(10**5, ROWS // 3, replace=False), 3)


@pytest.mark.parametrize("name", [
    "patient", "pid", "subject", "person", "Kunde", "student", "user", "employee", "patient_nbr", "uid", "USUBJID",
])  # fmt: skip
def test_whole_numbers_under_a_word_for_a_person_tell_people_apart(looked, name):
    assert looked(**{name: KEYS}).data.identifier == name
    assert looked(**{name: RNG.permutation(10**5)[:ROWS]}).data.identifier == name
    assert looked(**{name: drawn(["yes", "no"])}).data.identifier is None


@pytest.mark.parametrize("keys", [
    np.repeat(range(1, 61), 5), np.tile(range(1, 61), 5), RNG.permutation(ROWS),
    [f"P{i:02d}" for i in RNG.integers(0, 90, ROWS)], [f"{i:03d}" for i in RNG.integers(0, 90, ROWS)],
    np.repeat(range(10, 110), RNG.multinomial(200, [0.01] * 100) + 1),
])  # fmt: skip
def test_small_keys_tell_people_apart_where_the_records_of_each_stand_together_or_are_as_many(looked, keys):
    assert looked(subject=keys).data.identifier == "subject"


@pytest.mark.parametrize("name", ["Kind", "child", "Bewohner", "player"])
def test_names_under_a_word_for_a_person_tell_people_apart_and_kin_and_counts_do_not(looked, name):
    assert looked(**{name: SURNAMES}).data.identifier == name
    for cells in (drawn(["son", "wife"]), RNG.integers(0, 7, ROWS)):
        assert looked(**{name: cells}).data.identifier is None


def test_a_second_key_is_left_out(looked):
    data = looked(uid=RNG.permutation(10**5)[:ROWS], employee=RNG.permutation(10**5)[:ROWS]).data
    assert (data.identifier, data.drop) == ("uid", ["employee"])


@pytest.mark.parametrize(("name", "cells"), [
    ("person", 1 + RNG.poisson(1, ROWS)), ("persons", KEYS), ("customers", KEYS), ("hh", RNG.integers(1, 8, ROWS)),
    ("user", RNG.integers(0, 2, ROWS)), ("patient", RNG.normal(9, 2, ROWS)), ("family", RNG.integers(1, 9, ROWS)),
    *((name, RNG.integers(5, 90, ROWS)) for name in ("employee", "student", "customer", "case", "user")),
])  # fmt: skip
def test_counts_of_people_tell_nobody_apart(looked, name, cells):
    data = looked(**{name: cells}).data
    assert (data.identifier, data.drop) == (None, [])
    pd.DataFrame(BASE | {name: cells}).head(60).to_csv("few.csv", index=False)
    assert look("few.csv", Given()).data.identifier is None


@pytest.mark.parametrize("name", [
    "SUBJNO", "Aktenzeichen", "Ref.", "NHC", "N. polizza", "N° dossier", "№ п/п", "Номер пациента", "Asiakasnro",
    "学号", "病历号", "환자번호", "رقم الملف", "מספר תיק", "रोगी संख्या", "Kürzel", "Ticket",
    "Badge", "Legajo", "Договор", "Törzsszám", "Лицевой счет",
])  # fmt: skip
def test_numbers_of_people_files_and_contracts_are_not_in_the_study_as_numbers(looked, name):
    data = looked(**{name: RNG.permutation(10**6)[:ROWS]}).data
    assert [*data.drop, data.identifier or name] in ([name, name], [name])
    assert name in looked(**{name: RNG.integers(1, 40, ROWS)}).table.columns


@pytest.mark.parametrize("name", ["Postnr", "Postnr.", "Postinumero", "Post nr", "post_no", "CEP", "PSČ", "pc4"])
def test_postcodes_that_nearly_everybody_has_for_oneself_are_known(looked, name):
    assert name in looked(**{name: RNG.permutation(9000)[:ROWS] + 1000}).data.quasi_identifiers
    assert looked(post_id=RNG.permutation(9000)[:ROWS]).data.identifier == "post_id"


@pytest.mark.parametrize(("name", "digits"), [
    ("card", 16), ("credit_card", 16), ("celular", 10), ("Móvil", 9), ("手机号码", 11), ("身份证号", 18), ("acct", 20),
    ("x", 20), ("ref", 12),
])  # fmt: skip
def test_long_digits_of_ones_own_are_left_out(looked, name, digits):
    assert looked(**{name: [str(10 ** (digits - 1) + 7919 * i) for i in range(ROWS)]}).data.drop == [name]


@pytest.mark.parametrize("name", [
    "gdp_lcu", "price_vnd", "house_price", "market_value", "population", "revenue", "Umsatz", "land_area", "x",
])  # fmt: skip
def test_amounts_and_counts_of_many_digits_stay(looked, name):
    assert name in looked(**{name: 10 ** RNG.uniform(9, 14, ROWS) // 1}).table.columns
    even = looked(**{name: RNG.integers(10**9, 9 * 10**9, ROWS)})
    assert (name in even.table.columns) == (name != "x")  # as phones, where the name says nothing


def test_digits_that_no_number_holds_are_codes_where_many_share_them(looked):
    found = looked(x=[str(10**19 + i % 7) for i in range(ROWS)])
    assert (of(found, "x").kind, found.data.categorical, found.table["x"].nunique()) == ("code", ["x"], 7)


@pytest.mark.parametrize(("name", "cells"), [
    ("card", RNG.integers(0, 2, ROWS)), ("card", drawn(["visa", "gold"])), ("credit_card", RNG.integers(0, 9000, ROWS)),
    ("account_balance", RNG.normal(9000, 3000, ROWS).round(2)), ("wealth_idr", 10**10 + RNG.permutation(10**6)[:ROWS]),
    ("Kontostand", RNG.normal(9000, 3000, ROWS).round(2)), ("net_worth", RNG.permutation(10**6)[:ROWS]),
    *((name, RNG.permutation(10**5)[:ROWS]) for name in ("Number of steps", "Dossier costs", "Ticket price")),
    ("drug_name", SURNAMES), ("body_mass_index", RNG.normal(25, 4, ROWS)), ("glycemic_index", RNG.normal(60, 9, ROWS)),
])  # fmt: skip
def test_amounts_flags_and_measures_stay(looked, name, cells):
    assert looked(**{name: cells}).data.drop == []


@pytest.mark.parametrize(("name", "codes", "kind"), [
    ("country", [276, 250, 840], "code"), ("B_COUNTRY", [276, 250, 840], "code"), ("state", [1, 6, 36], "code"),
    ("county", [1001, 1003, 6037], "code"), ("count", [276, 250, 840], "number"), ("counts", [1, 6, 36], "number"),
    ("ManagerID", range(20), "code"), ("provider_id", range(9000, 9040), "code"), ("store.id", range(60), "code"),
    ("paid", range(20), "number"), ("humid", range(60), "number"), ("id", range(60), "number"),
    ("id_count", range(60), "number"), ("Land (acres)", [1.5, 2.5], "number"),
    ("worked", ["0.50h", "1.00h", "7.50h"], "number"), ("headcount", [1, 6, 36], "number"),
    ("cell_count", [1, 6, 36], "number"), ("type_count", [1, 6], "number"),
])  # fmt: skip
def test_numbers_of_countries_and_counties_are_codes_and_counts_are_none(looked, name, codes, kind):
    assert of(looked(**{name: drawn(codes)}), name).kind == kind


def test_cp_is_a_postcode_only_where_its_cells_are_some(looked):
    assert looked(cp=drawn(["28001", "08003", "41010"])).data.quasi_identifiers == ["sex", "region", "cp"]
    scores = RNG.normal(0, 20, ROWS).round(5)
    for cells in (RNG.integers(0, 4, ROWS), drawn(["typical angina", "asymptomatic", "none"]), scores):
        for name in ("cp", "PC1"):
            found = looked(**{name: cells}, age=RNG.integers(20, 80, ROWS))
            assert found.data.quasi_identifiers == ["sex", "region", "age"]
    assert of(looked(pc=RNG.integers(0, 12, ROWS)), "pc").kind == "number"
    assert looked(ETH=scores, M_W=scores, race=scores, age=scores + 50).data.quasi_identifiers == [
        "sex",
        "region",
        "age",
    ]


@pytest.mark.parametrize(("name", "distinct"), [("Provincia", 5), ("Prov.", 5), ("state", 4), ("province", 4)])
def test_na_is_naples_among_the_provinces_of_italy(looked, name, distinct):
    assert of(looked(**{name: drawn(["RM", "MI", "NA", "BA", "TO"])}), name).distinct == distinct


def test_north_and_south_are_no_answers(looked):
    cells = np.where(RNG.random(ROWS) < 0.1, "NA", drawn("NS"))
    found = looked(region=cells, fumante=drawn("NS"))
    assert [of(found, name).kind for name in ("region", "fumante")] == ["category", "boolean"]
    assert of(found, "region").why == f"texts of a place; 'NA' taken for missing ({(cells == 'NA').sum()} cells)"
    assert found.table["region"].value_counts().to_dict() == {c: (cells == c).sum() for c in "NS"}


@pytest.mark.parametrize("codes", [383, 200_000])
def test_the_last_column_is_guessed_with_the_true_reason_where_codes_of_illnesses_are_too_many(looked, codes):
    icd = [f"{'ABCDEFGH'[i % 8]}{i // 8 % 90 + 10}.{i % 9}" for i in RNG.integers(0, codes, ROWS)]
    found = looked(illness=drawn("ab"), **{"ICD10": icd, "ward": drawn("abc")}, sex="f")
    assert found.data.guessed == ["illness"]
    (guess,) = [r for r in looked(illness="flu", ICD10=icd, ward=drawn("abc")).roles if r.meaning == "sensitive"]
    assert (guess.name, guess.sure) == ("ward", "a guess")
    assert guess.why.startswith("no column whose name speaks of something sensitive can be guessed; it is the last")


@pytest.mark.parametrize("marks", [("+", "-"), ("x", ""), ("X", None), ("yes", "")])
def test_marks_for_an_illness_or_none_are_sensitive_facts(looked, marks):
    cells = np.where(RNG.random(ROWS) < 0.3, *marks)
    found = looked(illness="flu", diabetes=cells, HIV=cells[::-1], ticked=cells, region=drawn("abc"))
    assert found.data.guessed == ["diabetes", "HIV"]
    assert {found.data.columns[name].type for name in ("diabetes", "HIV", "ticked")} == {"presence"}
    assert found.table["HIV"].sum() == (cells == marks[0]).sum()
    rare = np.where(np.arange(ROWS) < 9, *marks)
    assert looked(diabetes=rare).data.guessed == ["illness"]


def people(names, rows=60):
    rng = np.random.default_rng(0)
    parts = [rng.choice(["Graz", "Linz"], rows), rng.choice(["yes", "no"], rows), *rng.integers(1900, 2100, (3, rows))]
    return pd.DataFrame(dict(zip(names, parts, strict=True)))


def test_a_first_line_of_cells_is_refused_and_not_told_but_years_and_one_value_are_names(tmp_path):
    people(["town", "ill", "born", "a", "b"]).to_csv(tmp_path / "headless.csv", index=False, header=False)
    with pytest.raises(InputError, match="the table must begin with a line of column names") as error:
        look(str(tmp_path / "headless.csv"), Given())
    assert not [cell for cell in ("Graz", "Linz", "yes", "19", "20") if cell in str(error.value)]
    for names in (["town", "ill", "1990", "2000", "2010"], ["yes", "ill", "born", "a", "b"]):
        people(names).to_csv(tmp_path / "named.csv", index=False)
        assert [each.name for each in look(str(tmp_path / "named.csv"), Given()).columns] == names


def test_header_lines_among_the_records_are_refused_as_such(tmp_path):
    part = people(["town", "ill", "born", "1990", "b"]).to_csv(index=False)
    (tmp_path / "appended.csv").write_text(part * 3)
    with pytest.raises(InputError, match="the line of column names must stand once, got it 2 times more among the rec"):
        look(str(tmp_path / "appended.csv"), Given())


def test_a_first_sheet_that_is_no_table_is_told_with_the_other_sheets(tmp_path):
    told = "the first sheet, 'Readme', was read; the others: 'Data'"
    for lines, refused in (([["from", "to"], ["us", "you"]], "at least 10 records"), ([["x"]] * 20, "two columns")):
        with pd.ExcelWriter(tmp_path / "a.xlsx") as book:
            pd.DataFrame(lines[1:], columns=lines[0]).to_excel(book, sheet_name="Readme", index=False)
            pd.DataFrame(BASE).to_excel(book, sheet_name="Data", index=False)
        with pytest.raises(InputError, match=f"{refused}.*; .*{told}"):
            look(str(tmp_path / "a.xlsx"), Given())
    with pytest.raises(InputError, match="--drop must name a column") as error:
        look(f"{tmp_path / 'a.xlsx'}#Data", Given(drop=["x"]))
    assert "sheet" not in str(error.value)


@pytest.mark.parametrize("separator", [" ", "~", "fixed"])
def test_a_table_of_one_column_is_told_how_cells_are_separated(tmp_path, separator):
    frame = pd.DataFrame(BASE)
    text = frame.to_string(index=False) if separator == "fixed" else frame.to_csv(index=False, sep=separator)
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(InputError, match="at least two columns, got one; cells of a CSV file are separated by , or ;"):
        look(str(tmp_path / "a.txt"), Given())


CREDIT = {  # German credit: the names of two columns speak of money, and the target is neither
    "checking_status": ["<0", "0<=X<200", ">=200", "no checking"], "duration": 60,
    "credit_history": ["paid", "delayed", "critical"], "purpose": ["car", "tv", "education"], "credit_amount": 15_000,
    "age": 70, "housing": ["rent", "own", "free"], "foreign_worker": ["yes", "no"],
}  # fmt: skip
CUSTOMERS = {"gender": ["f", "m"], "tenure": 72, "Contract": ["month", "year"], "MonthlyCharges": 120, "Payroll": 9000}
HEART = {"age": 80, "sex": 2, "cp": 4, "trestbps": 200, "chol": 500, "fbs": 2, "slope": 3, "ca": 4, "thal": 3}


@pytest.fixture
def sensitive(tmp_path):
    rng = np.random.default_rng(5)

    def proposed(columns: dict) -> dict:
        drawn = [rng.choice(v, ROWS) if isinstance(v, list) else rng.integers(0, v, ROWS) for v in columns.values()]
        pd.DataFrame(dict(zip(columns, drawn, strict=True))).to_csv(tmp_path / "table.csv", index=False)
        roles = look(str(tmp_path / "table.csv"), Given()).roles
        return {role.name: role for role in roles if role.meaning == "sensitive"}

    return proposed


@pytest.mark.parametrize("target", ["class", "Risk", "good_bad", "default", "Risiko", "Klasse", "Ziel", "label", "y"])
def test_the_target_of_a_credit_table_stands_beside_the_columns_of_money(sensitive, target):
    found = sensitive(CREDIT | {target: ["a", "b"]})
    assert (list(found), found[target].sure) == (["credit_history", "credit_amount", target], "likely")


@pytest.mark.parametrize("target", ["Churn", "churned", "Kündigung", "Exited", "Abwanderung", "resiliation", "отток"])
def test_churn_stands_beside_pay(sensitive, target):
    assert list(sensitive(CUSTOMERS | {target: ["Yes", "No"]})) == ["Payroll", target]


@pytest.mark.parametrize(
    ("target", "classes"), [("target", 2), ("output", 2), ("num", 5), ("outcome", 2), ("Ergebnis", 2)]
)
def test_the_target_of_a_heart_table_is_found(sensitive, target, classes):
    assert target in sensitive(HEART | {target: classes})


def test_good_and_bad_are_a_target_under_any_name_a_last_column_a_guess_and_money_crowds_none_out(sensitive):
    assert "V3" in sensitive({"V3": ["gut", "schlecht"], **CREDIT})
    assert sensitive(CREDIT | {"V21": 2})["V21"].sure == "a guess"
    amounts = {f"bill_amt_{i}_income": 5000 for i in range(6)}
    found = sensitive({"sex": ["f", "m"], **amounts, "default payment next month": 2})
    assert len(found) == 3
    assert "default payment next month" in found


@pytest.mark.parametrize(("name", "cells", "known"), [
    ("Klasse", ["5a", "5b", "10c"], True), ("class", ["5A", "6B"], True), ("Klasse", ["1", "2", "3"], False),
    ("Klasse", "abc", False), *((name, ["1a", "1b", "2a"], False) for name in ("label", "target", "outcome", "y")),
])  # fmt: skip
def test_a_class_of_a_school_is_known_and_no_target(looked, name, cells, known):
    data = looked(**{name: drawn(cells)}).data
    assert (name in data.quasi_identifiers, name in data.sensitive) == (known, not known)


@pytest.mark.parametrize("name", ["remote", "workclass", "class_size", "coord_y", "num_rooms"])
def test_another_column_is_no_target_for_its_place_or_a_part_of_its_name(sensitive, name):
    assert name not in sensitive(CREDIT | {name: ["yes", "no"]})


@pytest.mark.parametrize("answers", [("예", "아니오"), ("ναι", "Όχι"), ("так", "ні"), ("نعم", "لا"), ("Da", "nu")])
def test_two_answers_mean_yes_and_no(answers):
    found = truth_words(answers)
    assert (found.true_values, found.false_values) == ([answers[0]], [answers[1]])
    assert truth_words([*answers, "x"]) is None


def test_what_a_column_means_is_told_by_its_label_too_where_its_file_has_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = ("Age of respondent", "Sex", "Monthly household income", "Satisfaction", None)
    labels = {f"v{1 + i}": each for i, each in enumerate(said)}
    cells = (18 + np.arange(ROWS) % 60, 1 + np.arange(ROWS) % 2, RNG.lognormal(8, 0.5, ROWS), RNG.integers(1, 4, ROWS))
    table = pd.DataFrame({name: np.asarray(own, float).round() for name, own in zip(labels, cells, strict=False)})
    pyreadstat.write_sav(table.assign(v5=table.v4), "table.sav", column_labels=labels)
    found = look("table.sav", Given())
    assert [each.name for each in found.columns] == list(labels) == list(found.table.columns)
    assert (found.data.sensitive, {"v1", "v2"} <= set(found.data.quasi_identifiers)) == (["v3"], True)
    assert next(role.why for role in found.roles if role.name == "v3").startswith("its name or label speaks of income")
