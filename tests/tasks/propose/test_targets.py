"""What models of a table are made for is proposed as sensitive, beside what names of columns say."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.tasks.propose.proposal import Given, look

RNG = np.random.default_rng(5)
ROWS = 300
TWO = ["a", "b"]
CREDIT = {  # German credit: the names of two columns speak of money, and the target is neither
    "checking_status": ["<0", "0<=X<200", ">=200", "no checking"],
    "duration": 60,
    "credit_history": ["paid", "delayed", "critical"],
    "purpose": ["car", "tv", "education"],
    "credit_amount": 15_000,
    "age": 70,
    "housing": ["rent", "own", "free"],
    "foreign_worker": ["yes", "no"],
}
CUSTOMERS = {"gender": ["f", "m"], "tenure": 72, "Contract": ["month", "year"], "MonthlyCharges": 120, "Payroll": 9000}
HEART = {"age": 80, "sex": 2, "cp": 4, "trestbps": 200, "chol": 500, "fbs": 2, "slope": 3, "ca": 4, "thal": 3}


@pytest.fixture
def sensitive(tmp_path):
    """Give a function that returns the sensitive columns of a table, by what the cells of each are drawn from."""

    def proposed(columns: dict) -> dict:
        drawn = {
            c: RNG.choice(v, ROWS) if isinstance(v, list) else RNG.integers(0, v, ROWS) for c, v in columns.items()
        }
        pd.DataFrame(drawn).to_csv(tmp_path / "table.csv", index=False)
        roles = look(str(tmp_path / "table.csv"), Given()).roles
        return {role.name: role for role in roles if role.meaning == "sensitive"}

    return proposed


@pytest.mark.parametrize("target", ["class", "Risk", "good_bad", "default", "Risiko", "Klasse", "Ziel", "label", "y"])
def test_the_target_of_a_credit_table_stands_beside_the_columns_of_money(sensitive, target):
    found = sensitive(CREDIT | {target: TWO})
    assert list(found) == ["credit_history", "credit_amount", target]
    assert found[target].sure == "likely"


@pytest.mark.parametrize("target", ["Churn", "churned", "Kündigung", "Exited", "Abwanderung", "resiliation", "отток"])
def test_churn_stands_beside_pay(sensitive, target):
    assert list(sensitive(CUSTOMERS | {target: ["Yes", "No"]})) == ["Payroll", target]


@pytest.mark.parametrize(
    ("target", "classes"), [("target", 2), ("output", 2), ("num", 5), ("outcome", 2), ("Ergebnis", 2)]
)
def test_the_target_of_a_heart_table_is_found(sensitive, target, classes):
    assert target in sensitive(HEART | {target: classes})


def test_a_target_is_not_crowded_out_by_columns_of_money(sensitive):
    amounts = {f"bill_amt_{i}_income": 5000 for i in range(6)}
    found = sensitive({"sex": ["f", "m"], **amounts, "default payment next month": 2})
    assert len(found) == 3
    assert "default payment next month" in found


def test_good_and_bad_are_a_target_under_any_name(sensitive):
    assert "V3" in sensitive({"V3": ["gut", "schlecht"], **CREDIT})


def test_a_last_column_without_a_word_for_name_is_a_guess(sensitive):
    assert sensitive(CREDIT | {"V21": 2})["V21"].sure == "a guess"


@pytest.mark.parametrize("name", ["remote", "workclass", "class_size", "coord_y", "num_rooms"])
def test_another_column_is_no_target_for_its_place_or_a_part_of_its_name(sensitive, name):
    assert name not in sensitive(CREDIT | {name: ["yes", "no"]})
