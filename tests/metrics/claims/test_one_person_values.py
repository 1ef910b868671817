"""One-person values, against counts by hand."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics import METRICS
from synthrisk.metrics.study.ledger import Cell, Measure, Planned
from synthrisk.metrics.study.scoring import attack_release

METRIC = METRICS["one_person_values"]
REAL = pd.DataFrame(
    {
        "job": ["clerk", "clerk", "bishop", "diver", None, "nurse", "nurse"],
        "town": ["Ulm", "Ulm", "Ulm", "Bonn", "Ulm", "Ulm", "Trier"],
        "age": [1, 2, 3, 4, 5, 6, 7],
    }
)


def test_a_person_counts_where_any_own_level_of_any_column_is_in_the_release():
    release = pd.DataFrame({"job": ["bishop", "clerk", None], "town": ["Ulm", "Trier", "Köln"], "age": [4, 4, 4]})
    score = METRIC(REAL, release)
    assert score.records["alone"].tolist() == [False, False, True, True, False, False, True]
    assert (score.records["score"].tolist(), score.value) == ([0, 0, 1, 0, 0, 0, 1], 2 / 7)
    assert (score.details["alone_share"], score.details["released_share"]) == (3 / 7, 2 / 3)


def test_numbers_and_missing_cells_are_no_levels():
    release = pd.DataFrame({"job": [None, "clerk"], "town": ["Ulm", "Ulm"], "age": [1, 2]})
    assert (METRIC(REAL, release).value, METRIC(REAL[["age"]], release[["age"]]).value) == (0, 0)


def test_a_level_of_one_entity_is_one_persons_however_many_records_have_it():
    real = pd.DataFrame({"who": [1, 1, 2, 3], "job": ["bishop", "bishop", "clerk", "clerk"]})
    score = METRIC(real, pd.DataFrame({"job": ["bishop"]}), identifier="who")
    assert score.records["score"].tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(("share", "value"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_members_beside_control_records(share, value):
    n = 200
    own = pd.DataFrame({"job": [f"job {i}" for i in range(2 * n)]})
    real, control = own[:n], own[n:]
    release = pd.concat([real[: int(share * n)], pd.DataFrame({"job": ["clerk"] * n})])
    score = METRIC(real, release, control=control)
    assert (score.value, score.details["control"]) == (value, 0)
    assert score.details["control_gain"] == pytest.approx(value)


def test_a_list_that_everybody_knows_shows_no_difference():
    own = pd.DataFrame({"job": [f"job {i}" for i in range(400)]})
    score = METRIC(own[:200], own, control=own[200:])
    assert (score.value, score.details["control"]) == (1, 1)


def test_in_a_study_members_and_control_records_are_scored_alike():
    own = pd.DataFrame({"job": [f"job {i}" for i in range(60)] + ["clerk"] * 40})
    member = pd.array(np.arange(100) % 2 == 0, dtype="boolean")
    planned = [Planned(Measure("one_person_values", "one_person_values"), {})]
    ledger, _ = attack_release(own, own[np.arange(100) % 2 == 0], member, planned, 0, Cell("cart", 0, 0))
    means = ledger.groupby("member")["score"].mean()
    assert means.to_dict() == {True: 0.6, False: 0.0}
