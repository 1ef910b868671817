from importlib.metadata import entry_points

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.plugins import SYNTHESIZER_GROUP
from synthrisk.tasks.synthesize import Job, Release, Synthesizer, check_options, find_synthesizer, run

NAMES = sorted(n for n in entry_points(group=SYNTHESIZER_GROUP).names)
TRAIN = pd.DataFrame({"age": [30, 40], "vote": pd.Categorical(["a", "b"])})


def release(table: object, rows: int = 2, inputs: object = None) -> Release:
    def function(job: Job) -> object:
        return table if not isinstance(table, pd.DataFrame) else Release(table)

    return run(Job(TRAIN, TRAIN.head(0), rows, 1), Synthesizer("mine", function, inputs=inputs), {})


@pytest.mark.parametrize("name", NAMES)
def test_every_registered_synthesizer_has_its_name_and_documents_its_options(name):
    found = find_synthesizer(name)
    assert found.name == name
    assert found.function.__doc__
    for option in found.function.__kwdefaults__ or {}:
        assert option in found.function.__doc__ or "Options as" in found.function.__doc__


LACKING = Synthesizer("mine", lambda job: Release(job.train), extra="surely_not_installed")


@pytest.mark.parametrize(("own", "options", "sentence"), [
    ("cart", {"min_sample_leaf": 20}, r"cart takes no option 'min_sample_leaf' \(did you mean 'min_samples_leaf'"),
    ("tvae", {"pac": 1}, r"tvae takes no option 'pac'.*; it takes epochs, batch_size, loss_factor"),
    ("copy", {"share": 1}, "copy takes no option 'share'; it takes none"),
    (LACKING, {}, r"pip install 'synthrisk\[surely_not_installed\]'"),
])  # fmt: skip
def test_options_are_checked_without_a_run(own, options, sentence):
    with pytest.raises(InputError, match=sentence):
        check_options(find_synthesizer(own) if isinstance(own, str) else own, options)


def test_right_options_and_releases_are_taken_and_a_plugin_may_take_any_option():
    check_options(find_synthesizer("cart"), {"min_samples_leaf": 20})
    check_options(find_synthesizer("files"), {"path": "a.csv"})
    check_options(Synthesizer("mine", lambda job, **options: Release(job.train)), {"anything": 1})
    assert release(TRAIN).synthetic is TRAIN
    assert len(release(TRAIN, rows=9, inputs=lambda options, repetition, fold: []).synthetic) == 2
    release(TRAIN.assign(vote=pd.Categorical(["a", "c"], ["a", "b", "c"])))
    release(TRAIN.assign(age=pd.array([1, None], dtype="Int64")))
    release(TRAIN.assign(age=[0.5, 1.25]))


@pytest.mark.parametrize(("table", "sentence"), [
    (None, "mine must return a Release with a DataFrame, got NoneType"),
    (Release(np.zeros(2)), "mine must return a Release with a DataFrame"),
    (TRAIN[["vote", "age"]], r"must release the columns \['age', 'vote'\], got \['vote', 'age'\]"),
    (TRAIN.head(1), "must release 2 rows, got 1"),
    (TRAIN.astype({"age": object}), "must release column 'age' as int64, got object"),
    (TRAIN.astype({"vote": object}), "must release column 'vote' as category, got object"),
    (TRAIN.assign(vote=pd.Categorical(["a", "b"], ["b", "a"])), "must release column 'vote' as category"),
    (TRAIN.set_axis([5, 6]), "must release rows numbered from 0"),
])  # fmt: skip
def test_a_wrong_release_is_named(table, sentence):
    with pytest.raises(InputError, match=sentence):
        release(table)
