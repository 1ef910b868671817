"""Studies read back from their runs: what they hold, in order, and one clear sentence where there are none."""

import pandas as pd
import pytest

from synthrisk.conf.study import Tracking
from synthrisk.metrics import InputError
from synthrisk.metrics.verdicts.results import overview
from synthrisk.tasks.tracking.history import studies
from synthrisk.tasks.tracking.tables import judged_league


def test_the_oldest_study_comes_first_and_holds_what_was_found(kept):
    found = studies(Tracking(), kept.folder, "people")
    assert [s.study_id for s in found] == [s.study_id for s in kept.studies]
    for past, study in zip(found, kept.studies, strict=True):
        pd.testing.assert_frame_equal(past.league, judged_league(study), check_dtype=False)
        words = {h.synthesizer: (h.word, h.sentence) for h in overview(study).headlines}
        told = past.generators.set_index("synthesizer")
        assert {n: (told.loc[n, "verdict"], told.loc[n, "sentence"]) for n in told.index} == words
        assert past.tags["data_digest"] == "d" * 16


def test_an_unknown_experiment_and_a_workspace_without_results_are_refused(kept, tmp_path):
    with pytest.raises(InputError, match=r"must be one of .*people.*, got 'poeple'"):
        studies(Tracking(), kept.folder, "poeple")
    with pytest.raises(InputError, match="must hold a study's results"):
        studies(Tracking(), tmp_path, "people")
