"""How long a study will take is tried out, and so many records are taken as fit."""

import math
from concurrent.futures import BrokenExecutor

import numpy as np
import pandas as pd
import pytest

from synthrisk.conf import load
from synthrisk.flows.cli import init
from synthrisk.flows.cli.init import Effort, Pilot, pilot, sized
from synthrisk.tasks.workspace.store import sweep

STUDY = {
    "name": "tried", "data": {"source": "people.csv", "quasi_identifiers": ["age"], "sensitive": ["ill"]},
    "split": {"folds": 2, "repetitions": 3}, "synthesizers": ["marginals"], "references": ["copy", "near_copy"],
    "metrics": ["zero_cap"],
}  # fmt: skip


def study(**more):
    return load(STUDY | more)


def table(rows):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"age": rng.integers(0, 9, rows), "ill": rng.choice(["a", "b"], rows)})


@pytest.mark.proof
def test_a_pilot_runs_the_study_on_two_sizes(tmp_path):
    tried = pilot(study(workspace=str(tmp_path)), table(600))
    assert (list(tried.sizes), len(tried.seconds)) == ([400], 1)
    assert tried.seconds[0] > 0
    assert not list(tmp_path.glob(".draft-*")), "the samples are gone"


@pytest.mark.proof
def test_samples_of_a_pilot_that_was_killed_are_swept(tmp_path):
    (tmp_path / "kills.py").write_text("import os\n\ndef kills(train, rows, seed):\n    os.kill(os.getpid(), 9)\n")
    kills = {"name": "kills", "kind": "callable", "path": f"{tmp_path / 'kills.py'}:kills"}
    with pytest.raises(BrokenExecutor):
        pilot(study(workspace=str(tmp_path / "work"), synthesizers=[kills]), table(600))
    assert len(list((tmp_path / "work").rglob("*.parquet"))) > 0
    sweep(tmp_path / "work")
    assert not list((tmp_path / "work").rglob("*.parquet"))


def test_more_records_cells_and_fewer_workers_take_longer():
    tried, one = Pilot([400, 1600], [1.0, 3.0]), study(runner={"workers": 1})
    two, folds = study(runner={"workers": 2}), study(runner={"workers": 1}, split={"folds": 4, "repetitions": 3})
    assert tried.expected(two, 1600) < tried.expected(one, 1600) < tried.expected(one, 3200)
    assert tried.expected(folds, 1600) > tried.expected(one, 1600)
    assert tried.expected(one, 1600) - tried.expected(one, 400) == pytest.approx(6 * 2.0 + 0.0006 * 1200 * 3)


def test_no_sample_is_taken_where_all_records_fit_in_the_time_and_of_few_none_is_tried(monkeypatch):
    monkeypatch.setattr(init, "pilot", lambda *_: Pilot([400, 1600], [0.1, 0.2]))
    found, time = sized(study(), table(2000), Effort(2, 3, 300))
    assert found.data.rows is None
    assert time.startswith("about ")
    assert sized(study(), table(200), Effort(2, 3, 1)) == (study(), "about a minute")


def test_a_sample_is_taken_where_all_records_take_too_long_unless_all_were_asked_for(monkeypatch):
    slow = Pilot([400, 1600], [10.0, 40.0])
    monkeypatch.setattr(init, "pilot", lambda *_: slow)
    found, time = sized(study(), table(9000), Effort(2, 3, 300))
    assert 1000 <= found.data.rows < 9000
    assert slow.expected(found, found.data.rows) <= 300
    assert "(all 9000: about" in time
    found, time = sized(study(), table(9000), Effort(5, 5, math.inf))
    assert (found.data.rows, "minutes" in time) == (None, True)
