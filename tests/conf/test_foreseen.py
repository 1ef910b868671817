"""A study that is only proposed, on a table that is only read: what it could not say."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.conf import load
from synthrisk.conf.plan import foreseen_of
from synthrisk.metrics import InputError
from synthrisk.metrics.study.feasibility import Foreseen

N = 120
PEOPLE = np.arange(N)
TABLE = pd.DataFrame({"id": [f"p{i}" for i in PEOPLE], "visit": [f"p{i // 2}" for i in PEOPLE], "age": PEOPLE % 40})
TABLE = TABLE.assign(post=PEOPLE, ill=["yes", "no"] * (N // 2))


def proposed(quasi_identifiers, sensitive, identifier=None, folds=3, metrics=("zero_cap", "rapid")):
    roles = {"quasi_identifiers": quasi_identifiers, "sensitive": [sensitive], "identifier": identifier}
    parts = {"data": {"source": "nowhere.csv"} | roles, "split": {"folds": folds, "repetitions": 1}}
    metrics = [*metrics, "distance_to_closest_record"]
    return load({"name": "p", "synthesizers": ["cart"], "metrics": metrics, **parts})


def test_a_proposed_identifier_as_secret_and_a_unique_key():
    found = foreseen_of(proposed(["age", "post"], "id"), TABLE)
    assert "'id' must hold values that records share" in found.refusals[0]
    assert "leave out 'post'" in foreseen_of(proposed(["age", "post"], "ill"), TABLE).warnings[0]


def test_of_a_sound_proposal_nothing_is_said_and_small_parts_are_those_of_the_split():
    assert foreseen_of(proposed(["age"], "ill"), TABLE) == Foreseen()
    assert foreseen_of(proposed(["age"], "ill", folds=6), TABLE) == Foreseen()
    assert "got 17" in foreseen_of(proposed(["age"], "ill", folds=7), TABLE).warnings[0]


def test_more_folds_than_records_are_refused_with_all_else_and_the_people_of_an_identifier_are_counted():
    folds, _ = foreseen_of(proposed(["age"], "id", folds=200), TABLE).refusals
    assert "split.folds" in folds
    alone = foreseen_of(proposed(["age"], "id", identifier="visit"), TABLE.assign(id=TABLE["visit"]))
    assert "got 100%" in alone.refusals[0]


def test_a_metric_with_a_column_that_is_not_there():
    study = proposed(["age"], "ill", metrics=[{"name": "rapid", "sensitive": ["colour"]}])
    with pytest.raises(InputError, match="sensitive of metric rapid must be columns of the table, got 'colour'"):
        foreseen_of(study, TABLE)
