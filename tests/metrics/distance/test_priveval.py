"""The 17 measures of PrivEval: each says where its source differs, and has a place on the page that lists all."""

import inspect
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from samples.priveval import REFERENCE, priveval, schema, typed
from synthrisk.metrics import METRICS
from synthrisk.metrics.distance.priveval import UNSETTLED, printed
from synthrisk.metrics.errors import InputError

PAGE = Path(__file__).parents[3] / "docs" / "priveval.md"
PRIVEVAL = {
    "ZCAP": "zero_cap",
    "GCAP": "generalized_cap",
    "AIR": "attribute_inference_risk",
    "CRP": "common_rows_proportion",
    "CVP": "close_value_probability",
    "DVP": "distant_value_probability",
    "D-MLP": "detection_mlp",
    "Auth": "authenticity",
    "IDS": "identifiability_score",
    "NSND": "nearest_synthetic_neighbour_distance",
    "NNDR": "nearest_neighbour_distance_ratio",
    "DCR": "distance_to_closest_record",
    "MDCR": "median_distance_to_closest_record",
    "NNAA": "nearest_neighbour_adversarial_accuracy",
    "MIR": "membership_inference_risk",
    "HidR": "hidden_rate",
    "HitR": "hitting_rate",
}
# In the pandas of the reference run a table with one column of words was never hit; in ours the program prints 0.5.
OF_ANOTHER_PANDAS = {("constant_column", "HitR")}


def assert_prints(found, expected, context=""):
    """Compare with what the program printed; where it swallowed an error, or drew, there is nothing to compare."""
    assert set(found) == set(PRIVEVAL.values()) - set(UNSETTLED)
    for short, name in PRIVEVAL.items():
        if name in UNSETTLED or (context, short) in OF_ANOTHER_PANDAS:
            continue
        told = expected[short]
        if told.get("error") or told["value"] is None:
            assert math.isnan(found[name]), (context, short)
        else:
            assert found[name] == pytest.approx(told["value"], abs=1e-8), (context, short)


# What the program prints


@pytest.mark.parametrize("data", ["mixed_120", "ugly_80x50"])
def test_priveval_prints_these_numbers(data):
    real, synthetic = (pd.read_csv(REFERENCE / data / f"{table}.csv") for table in ("real", "synthetic"))
    expected = json.loads((REFERENCE / data / "expected.json").read_text())["metrics"]
    found = printed(real, synthetic, schema(data)["sensitive"])
    assert_prints(found, {name: each["priveval_original"] for name, each in expected.items()})
    again = printed(real, synthetic[synthetic.columns[::-1]], schema(data)["sensitive"])
    np.testing.assert_allclose(list(again.values()), list(found.values()), atol=1e-12)


@pytest.mark.parametrize("case", json.loads((REFERENCE / "edge_cases.json").read_text()), ids=lambda case: case["name"])
def test_priveval_prints_these_numbers_of_awkward_tables(case):
    real, synthetic = typed(case["columns"], pd.DataFrame(case["real"]), pd.DataFrame(case["synthetic"]))
    assert_prints(printed(real, synthetic, case["sensitive"]), case["priveval_original"], case["name"])


def test_a_copy_looks_safe_there():
    """Counted by hand: half of MDCR's scale, no distance for NSND, and fewer rows than there are for CRP."""
    real = pd.DataFrame({"x": [0.0, 0.0, 3.0, 5.0, 9.0], "c": [*"aabab"]})
    found = printed(real, real, "c")
    assert found["median_distance_to_closest_record"] == 0.5
    assert found["nearest_synthetic_neighbour_distance"] == 0
    assert found["common_rows_proportion"] == pytest.approx(4 / 5)
    assert printed(real[["c"]].assign(d=real["c"]), real[["c"]].assign(d="a"), "d")["authenticity"] == 0


def test_two_sizes_make_it_draw():
    real = pd.DataFrame({"x": [0.0, 1.0, 3.0, 5.0, 9.0, 2.0], "c": [*"aababb"]})
    assert math.isnan(printed(real, real[:3], "c")["nearest_neighbour_adversarial_accuracy"])


def test_wrong_sensitive_columns():
    real = pd.DataFrame({"x": [0.0, 1.0], "c": ["a", "b"]})
    with pytest.raises(InputError, match="sensitive"):
        printed(real, real, "y")
    with pytest.raises(InputError, match="sensitive must leave a column that the attacker knows, got all columns"):
        printed(real, real, ["x", "c"])


# What is said of the source


@pytest.mark.parametrize("name", PRIVEVAL.values())
def test_the_help_has_one_line_about_the_source(name):
    paragraphs = inspect.getdoc(METRICS[name].function).split("\n\n")
    told = [each for each in paragraphs if each.startswith("The source: ")]
    assert len(told) == 1, name
    assert "docs/priveval.md" in METRICS[name].reference + told[0]
    assert "defects corrected" not in METRICS[name].reference


def test_the_page_lists_all_of_them_with_their_names_there():
    text = PAGE.read_text("utf-8")
    headings = dict(re.findall(r"^### (\S+): `(\w+)`$", text, re.MULTILINE))
    assert headings == PRIVEVAL
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        assert "**The source.**" in part
        assert "**Ours.**" in part


@pytest.mark.filterwarnings("ignore:.*of the keys are unseen")
def test_the_numbers_on_the_page_are_these():
    real, synthetic, expected = priveval("mixed_120")
    roles = {"quasi_identifiers": expected["keys"], "sensitive": schema("mixed_120")["sensitive"]}
    table = PAGE.read_text("utf-8").partition("<!-- priveval: numbers -->")[2].partition("<!-- end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()[2:]]
    assert {row[0] for row in rows} == set(PRIVEVAL) - {"D-MLP", "MIR"}
    for short, ours, program, beside in rows:
        metric = METRICS[PRIVEVAL[short]]
        given = {name: value for name, value in roles.items() if name in metric.needs}
        given |= {"links": range(len(real))} if short == "HidR" else {}
        score = metric(real, synthetic, **given)
        assert float(ours) == pytest.approx(score.value, abs=6e-4), short
        told = expected["metrics"][short]["priveval_original"]["value"]
        assert float(program) == pytest.approx(told, abs=6e-4), short
        option = re.search(r'`(\w+)="(\w+)"`', beside)
        if option:
            number = metric(real, synthetic, **given, **{option[1]: option[2]}).value
        elif "`published`" in beside:
            number = score.published
        elif "details" in beside:
            number = score.details["weighted_f1"]
        else:
            number = told
        if beside != "-":
            assert float(beside.partition(" ")[0].rstrip(",")) == pytest.approx(number, abs=6e-4), short
