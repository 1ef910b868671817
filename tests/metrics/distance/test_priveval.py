"""The 17 measures of PrivEval: each says where its source differs, and has a place on the page that lists all."""

import inspect
import re
from pathlib import Path

import pytest

from synthrisk.metrics import METRICS

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
