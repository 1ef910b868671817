"""Odd tables, looked at: what must not be lost, taken for missing, or fall over."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import InputError
from synthrisk.tasks.propose.proposal import Given, Proposal, look

RNG = np.random.default_rng(11)
ROWS = 300
BASE = {
    "sex": RNG.choice(["m", "f"], ROWS),
    "region": RNG.choice(["north", "south", "west"], ROWS),
    "illness": RNG.choice(["none", "flu", "cold"], ROWS),
}


@pytest.fixture
def looked(tmp_path, monkeypatch):
    """Give a function that looks at a table with some columns beside others."""
    monkeypatch.chdir(tmp_path)

    def look_at(given: Given | None = None, **columns: object) -> Proposal:
        pd.DataFrame(BASE | columns).to_csv("table.csv", index=False)
        return look("table.csv", given or Given())

    return look_at


def of(proposal: Proposal, name: str):
    return next(each for each in proposal.columns if each.name == name)


def test_the_table_is_that_of_the_study(looked):
    notes = [f"patient {i} came back with pain and went home again" if i % 3 else None for i in range(ROWS)]
    found = looked(**{"Unnamed: 0": range(ROWS), "iban": [f"AT{i:018d}" for i in range(ROWS)], "notes": notes})
    assert not {"Unnamed: 0", "iban"} & set(found.table.columns)
    assert found.table["notes"].dtype == bool


def test_codes_keep_their_zeros_beside_missing_ones(looked):
    codes = [f"0{1001 + i % 30}" for i in range(ROWS - 6)] + ["NA"] * 6
    found = looked(plz=codes)
    assert of(found, "plz").kind == "code"
    assert "01001" in set(found.table["plz"].astype("string"))
    assert found.table["plz"].isna().sum() == 6


def test_a_fact_is_missing_where_its_text_is_a_missing_code(looked):
    notes = ["NA" if i % 3 == 0 else f"patient {i} came back with pain and went home again" for i in range(ROWS)]
    found = looked(notes=notes)
    assert found.data.columns["notes"].missing == ["NA"]
    assert found.table["notes"].sum() == ROWS - 100


@pytest.mark.parametrize("day", ["5/5/55", "11/11/11", "2/2/22", "22/02/22"])
def test_a_real_day_is_no_missing_code(looked, day):
    born = [f"{1 + i % 28}/{1 + i % 12}/{40 + i % 50}" for i in range(ROWS - 5)] + [day] * 5
    found = looked(born=born)
    assert found.table["born"].notna().all()


@pytest.mark.parametrize("day", ["00.00.0000", "11.11.1111", "31.12.9999"])
def test_a_day_that_is_none_is_a_missing_code(looked, day):
    born = [f"{1 + i % 28:02d}.{1 + i % 12:02d}.{1940 + i % 50}" for i in range(ROWS - 5)] + [day] * 5
    assert looked(born=born).table["born"].isna().sum() == 5


@pytest.mark.parametrize(("value", "cells"), [(99, 1), (99, 4), (-9, 4)])
def test_what_few_people_have_is_no_missing_code(looked, value, cells):
    age = [20 + i % 40 for i in range(ROWS - cells)] + [value] * cells
    found = looked(age=age)
    assert found.table["age"].notna().all()
    assert str(value) not in of(found, "age").why


def test_a_word_that_few_people_have_is_not_told(looked):
    found = looked(score=[str(i) for i in range(ROWS - 4)] + ["Zebrafink"] * 4)
    assert "Zebrafink" not in str(found.data)


def test_huge_integers_of_no_name_do_not_fall_over(looked):
    assert of(looked(x=[str(2**70 + 3 * i) for i in range(ROWS)]), "x").is_unique


def test_other_digits_than_ours_are_texts(looked):
    assert of(looked(income=["\uff10\uff11\uff12", "\uff13\uff14"] * (ROWS // 2)), "income").kind == "category"


def test_a_file_of_one_word_is_refused(tmp_path):
    file = Path(tmp_path / "one.csv")
    file.write_text('"age"')
    with pytest.raises(InputError):
        look(str(file), Given())


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_a_table_of_few_records_is_refused_for_that(tmp_path, rows):
    pd.DataFrame(BASE).head(rows).to_csv(tmp_path / "few.csv", index=False)
    with pytest.raises(InputError, match=f"at least 10 records for a study, got {rows}"):
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
