import numpy as np
import pandas as pd
import pyreadstat
import pytest

from synthrisk.metrics import InputError
from synthrisk.tasks.propose.names import says, topic
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


@pytest.mark.parametrize(("value", "cells"), [(99, 1), (99, 4), (-9, 4)])
def test_what_few_people_have_is_no_missing_code(looked, value, cells):
    age = [20 + i % 40 for i in range(ROWS - cells)] + [value] * cells
    found = looked(age=age)
    assert found.table["age"].notna().all()
    assert str(value) not in of(found, "age").why


def test_odd_cells_do_not_fall_over_and_rare_words_are_not_told(looked):
    found = looked(score=[str(i) for i in range(ROWS - 4)] + ["Zebrafink"] * 4)
    assert "Zebrafink" not in str(found.data)
    assert of(looked(x=[str(2**70 + 3 * i) for i in range(ROWS)]), "x").is_unique
    assert of(looked(income=["\uff10\uff11\uff12", "\uff13\uff14"] * (ROWS // 2)), "income").kind == "category"


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


@pytest.mark.parametrize("name", ["remote", "workclass", "class_size", "coord_y", "num_rooms"])
def test_another_column_is_no_target_for_its_place_or_a_part_of_its_name(sensitive, name):
    assert name not in sensitive(CREDIT | {name: ["yes", "no"]})


@pytest.mark.parametrize(("name", "list_of", "expected"), [
    ("나이", "known", "age"), ("성별", "known", "sex"), ("월소득", "sensitive", "money"), ("العمر", "known", "age"),
    ("الدخل الشهري", "sensitive", "money"), ("גיל", "known", "age"), ("הכנסה", "sensitive", "money"),
    ("курить", "sensitive", "health"), ("курс", "sensitive", None), ("venit", "sensitive", "money"),
    ("이름", "direct", "name"), ("c7", "known", None), ("Eintrittsdatum", "known", "visit"),
    ("Spitalaustritt", "known", "visit"), ("date d'entrée", "known", "visit"), ("date de sortie", "known", "visit"),
    ("Sterbedatum", "known", "death"), ("Todestag", "known", "death"), ("Todesursache", "sensitive", "health"),
    ("date de décès", "known", "death"), ("né(e) le", "known", "birth"), ("née le", "known", "birth"),
    ("NPA", "known", "place"),
])  # fmt: skip
def test_a_name_speaks_of(name, list_of, expected):
    assert topic(name, list_of) == expected
    assert says("NPA", "codes")


@pytest.mark.parametrize("answers", [("예", "아니오"), ("ναι", "Όχι"), ("так", "ні"), ("نعم", "لا"), ("Da", "nu")])
def test_two_answers_mean_yes_and_no(answers):
    found = truth_words(answers)
    assert (found.true_values, found.false_values) == ([answers[0]], [answers[1]])
    assert truth_words([*answers, "x"]) is None


def test_what_a_column_means_is_told_by_its_label_too_where_its_file_has_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = {
        "v1": "Age of respondent",
        "v2": "Sex",
        "v3": "Monthly household income",
        "v4": "Satisfaction",
        "v5": None,
    }
    cells = (18 + np.arange(ROWS) % 60, 1 + np.arange(ROWS) % 2, RNG.lognormal(8, 0.5, ROWS), RNG.integers(1, 4, ROWS))
    table = pd.DataFrame({name: np.asarray(own, float).round() for name, own in zip(labels, cells, strict=False)})
    pyreadstat.write_sav(table.assign(v5=table.v4), "table.sav", column_labels=labels)
    found = look("table.sav", Given())
    assert [each.name for each in found.columns] == list(labels) == list(found.table.columns)
    assert (found.data.sensitive, {"v1", "v2"} <= set(found.data.quasi_identifiers)) == (["v3"], True)
    assert next(role.why for role in found.roles if role.name == "v3").startswith("its name or label speaks of income")
