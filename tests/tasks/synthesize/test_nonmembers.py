"""The release behind the population yardstick."""

from dataclasses import replace

import pandas as pd
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize import Job, find_synthesizer, run

TRAIN = pd.DataFrame({"a": [1, 2, 3, 4], "b": pd.Categorical(list("xyxy"))})
HELD = TRAIN.iloc[[0, 3]].reset_index(drop=True)


def test_the_held_out_records_are_released_and_all_of_them_used():
    release = run(Job(TRAIN, HELD, len(TRAIN), 5), find_synthesizer("nonmembers"), {})
    pd.testing.assert_frame_equal(release.synthetic, HELD)
    assert release.used.tolist() == [0, 1]


def test_without_held_out_records_there_is_none():
    with pytest.raises(InputError, match="needs a held-out record, got none"):
        run(Job(TRAIN, HELD.head(0), 4, 5), find_synthesizer("nonmembers"), {})


def test_other_synthesizers_must_release_what_they_are_asked_for():
    job, own = Job(TRAIN, HELD, 9, 5), find_synthesizer("nonmembers")
    assert run(job, own, {}).used.tolist() == [0, 1]
    with pytest.raises(InputError, match="must release 9 rows, got"):
        run(job, replace(own, name="short", any_size=False), {})
