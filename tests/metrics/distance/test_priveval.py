"""The 17 measures of PrivEval: its reference values, what its program prints, and what is said of it."""

import inspect
import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from samples.priveval import REFERENCE, priveval, schema, typed
from synthrisk.metrics import METRICS, Tables
from synthrisk.metrics.distance.authenticity import inverse_entropies
from synthrisk.metrics.distance.priveval import UNSETTLED, printed
from synthrisk.metrics.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:.*of the keys are unseen")
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
NORMALISED = {"all_pairs_normalisation": {"normalise": "all_pairs"}, "gower": {"space": "gower"}}
NORMALISED["gower_all_pairs"] = NORMALISED["all_pairs_normalisation"] | NORMALISED["gower"]
GOWER = {"gower": {"space": "gower"}}
VARIANTS = {
    **{"ZCAP": {}, "GCAP": {}, "CRP": {}, "HitR": {}, "CVP": NORMALISED, "DVP": NORMALISED, "NSND": NORMALISED},
    **dict.fromkeys(("MDCR", "HidR", "DCR", "NNDR", "AIR"), GOWER),
    "Auth": GOWER | {"strict": {"ties": "safe"}, "ties_half": {"ties": "expected"}},
    "IDS": {"ties_as_risk": {"ties": "risk"}, "ties_half": {"ties": "expected"}},
    "NNAA": {"euclid": {"space": "euclid"}},
}
# In the pandas of the reference run a table with one column of words was never hit; in ours the program prints 0.5.
OF_ANOTHER_PANDAS = {("constant_column", "HitR")}
EDGE_CASES = pytest.mark.parametrize(
    "case", json.loads((REFERENCE / "edge_cases.json").read_text()), ids=lambda case: case["name"]
)
reference = pytest.mark.parametrize("data", ["mixed_120", "ugly_80x50"])


def ours(short, real, synthetic, keys, sensitive, **options):
    options |= {"quasi_identifiers": keys, "sensitive": sensitive} if short in ("AIR", "ZCAP", "GCAP") else {}
    options |= {"links": range(len(real))} if short == "HidR" and len(real) == len(synthetic) else {}
    return METRICS[PRIVEVAL[short]](real, synthetic, **options)


@reference
@pytest.mark.parametrize("short", VARIANTS)
def test_value_and_variants_are_those_of_the_reference(data, short):
    *tables, expected = priveval(data)
    roles, expected = (expected["keys"], schema(data)["sensitive"]), expected["metrics"][short]
    score = ours(short, *tables, *roles)
    if expected["value"] is None:
        assert math.isnan(score.value)
        assert "no row link" in score.reason
        return
    assert score.value == pytest.approx(expected["value"], rel=0, abs=1e-9)
    for variant, options in VARIANTS[short].items():
        found = ours(short, *tables, *roles, **options).value
        assert found == pytest.approx(expected["variants"][variant], rel=0, abs=1e-9), variant


def ratio(spaces):
    return [a / b if a else 0.0 for a, b in zip(spaces["syn_to_real"], spaces["syn_to_real_second"], strict=True)]


def normalised(told, spaces):
    return (np.array(spaces["real_to_syn"]) - told["d_min"]) / (told["d_max"] - told["d_min"])


BESIDE = {  # of a score and what the reference has of it, its distances of pairs, and the count of real records
    "ZCAP": lambda s, t, d, n: [(s.records["score"], t["per_record"])],
    "GCAP": lambda s, t, d, n: [
        (s.records["score"], t["per_record"]),
        (s.records["distance"], t["hamming_distance"]),
    ],
    "CRP": lambda s, t, d, n: [
        (s.records["score"], t["per_record"]),
        (s.published, t["variants"]["published_distinct_over_rows"]),
        (s.details["distinct_over_distinct"], t["variants"]["distinct_over_distinct"]),
        (s.details["distinct_over_rows"], t["n_distinct_common"] / n),
        (s.details["distinct_common"], t["n_distinct_common"]),
        (s.details["distinct_rows"], t["n_distinct_real"]),
    ],
    "CVP": lambda s, t, d, n: [(s.published, s.value), (s.records["normalised"], normalised(t, d))],
    "DVP": lambda s, t, d, n: [(s.published, 1 - s.value), (s.records["normalised"], normalised(t, d))],
    "NSND": lambda s, t, d, n: [(s.published, 1 - s.value), (s.records["normalised"], normalised(t, d))],
    "Auth": lambda s, t, d, n: [
        (s.published, 1 - t["value"]),
        (list(s.details.values()), [t["counts"]["strictly_closer_syn"], t["counts"]["ties"]]),
        (s.records["distance"], d["real_to_syn"]),
        (s.records["real_distance"], d["real_to_real"]),
        (s.records["score"].mean(), t["variants"]["gower"]),
    ],
    "IDS": lambda s, t, d, n: [
        (s.published, s.value),
        (s.details["ties"], t["ties"]),
        (s.records["distance"], t["real_to_syn"]),
        (s.records["real_distance"], t["real_to_real"]),
    ],
    "MDCR": lambda s, t, d, n: [
        (s.published, t["ratio"]),
        (s.value / 2, t["variants"]["published_1_minus_sigmoid"]),
        (s.details["median_distance"], t["median_real_to_syn"]),
        (s.details["median_real_distance"], t["median_real_to_real"]),
    ],
    "NNAA": lambda s, t, d, n: [
        (s.published, t["AA"]),
        (s.details["real_flags"], 1 - t["left"]),
        (s.details["synthetic_flags"], 1 - t["right"]),
    ],
    "HidR": lambda s, t, d, n: [(s.published, 1 - t["value"]), (s.records["score"], t["per_record"])],
    "HitR": lambda s, t, d, n: [(s.published, s.value), (s.records["score"], t["per_record"])],
    "DCR": lambda s, t, d, n: [(s.published, t["mean_distance"]), (s.records["distance"], d["real_to_syn"])],
    "NNDR": lambda s, t, d, n: [(1 - s.records["score"], t["per_record"]), (1 - s.records["score"], ratio(d))],
    "AIR": lambda s, t, d, n: [
        (s.details["accuracy"], t["accuracy"]),
        (s.published, t["variants"]["published_code_formula_2a_over_1_plus_a"]),
        (s.records["score"], t["per_record"]),
        (s.records["weight"], t["weight"]),
        (s.records["tied"], t["n_tied"]),
    ],
}


@reference
@pytest.mark.parametrize("short", BESIDE)
def test_what_stands_beside_a_value_is_that_of_the_reference(data, short):
    real, synthetic, expected = priveval(data)
    score = ours(short, real, synthetic, expected["keys"], schema(data)["sensitive"])
    if not math.isnan(score.value):
        pairs = BESIDE[short](score, expected["metrics"][short], expected["spaces"]["euclid"], len(real))
        for place, (found, told) in enumerate(pairs):
            np.testing.assert_allclose(found, told, rtol=1e-9, atol=1e-9 * (short == "NNDR"), err_msg=str(place))
    if short == "NNAA":
        assert ("note" in score.settings) == (len(real) != len(synthetic))
    if short == "IDS":
        found, entropy = inverse_entropies(Tables(real, synthetic)), expected["metrics"]["IDS"]["entropy"]
        assert found == pytest.approx({c: 1 / entropy[c] if entropy[c] else 0 for c in found}, rel=1e-12)


@EDGE_CASES
def test_edge_cases_are_those_of_the_reference(case):
    tables = typed(case["columns"], pd.DataFrame(case["real"]), pd.DataFrame(case["synthetic"]))
    keys = [c for c in case["columns"] if c not in case["sensitive"]]
    for short in VARIANTS:
        expected, score = case["expected"][short], ours(short, *tables, keys, case["sensitive"])
        if expected["value"] is None:
            assert math.isnan(score.value), short
            assert score.reason
            continue
        assert score.value == pytest.approx(expected["value"], rel=0, abs=1e-9), short
        if short == "DCR":
            np.testing.assert_allclose(score.records["distance"], case["real_to_syn"], rtol=1e-9, atol=0)
        elif "per_record" in expected:
            found = 1 - score.records["score"] if short == "NNDR" else score.records["score"]
            np.testing.assert_allclose(found, expected["per_record"], rtol=1e-9, atol=1e-12, err_msg=short)
        if "counts" in expected:
            assert score.details["strictly_closer"] == expected["counts"]["strictly_closer_syn"]
        ties = expected.get("counts", expected).get("ties")
        assert ties is None or score.details["ties"] == ties


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


@reference
def test_priveval_prints_these_numbers(data):
    real, synthetic = (pd.read_csv(REFERENCE / data / f"{table}.csv") for table in ("real", "synthetic"))
    expected = json.loads((REFERENCE / data / "expected.json").read_text())["metrics"]
    found = printed(real, synthetic, schema(data)["sensitive"])
    assert_prints(found, {name: each["priveval_original"] for name, each in expected.items()})
    again = printed(real, synthetic[synthetic.columns[::-1]], schema(data)["sensitive"])
    np.testing.assert_allclose(list(again.values()), list(found.values()), atol=1e-12)


@EDGE_CASES
def test_priveval_prints_these_numbers_of_awkward_tables(case):
    real, synthetic = typed(case["columns"], pd.DataFrame(case["real"]), pd.DataFrame(case["synthetic"]))
    assert_prints(printed(real, synthetic, case["sensitive"]), case["priveval_original"], case["name"])


def test_a_copy_looks_safe_there():
    real = pd.DataFrame({"x": [0.0, 0.0, 3.0, 5.0, 9.0], "c": [*"aabab"]})
    found = printed(real, real, "c")
    assert found["median_distance_to_closest_record"] == 0.5
    assert found["nearest_synthetic_neighbour_distance"] == 0
    assert found["common_rows_proportion"] == pytest.approx(4 / 5)
    assert printed(real[["c"]].assign(d=real["c"]), real[["c"]].assign(d="a"), "d")["authenticity"] == 0
    sizes = pd.DataFrame({"x": [0.0, 1.0, 3.0, 5.0, 9.0, 2.0], "c": [*"aababb"]})  # two sizes make it draw
    assert math.isnan(printed(sizes, sizes[:3], "c")["nearest_neighbour_adversarial_accuracy"])


def test_wrong_sensitive_columns():
    real = pd.DataFrame({"x": [0.0, 1.0], "c": ["a", "b"]})
    for named, said in (
        ("y", "sensitive"),
        (["x", "c"], "sensitive must leave a column that the attacker knows, got all"),
    ):
        with pytest.raises(InputError, match=said):
            printed(real, real, named)


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
        score, told = metric(real, synthetic, **given), expected["metrics"][short]["priveval_original"]["value"]
        assert [float(ours), float(program)] == pytest.approx([score.value, told], abs=6e-4), short
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
