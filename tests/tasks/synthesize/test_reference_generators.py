from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize import run
from synthrisk.tasks.synthesize.reference_generators import COPY, FRESH, LEAKY, MARGINALS
from synthrisk.tasks.synthesize.synthesizer import Job


def table(first: int, n: int) -> pd.DataFrame:
    numbers = np.arange(first, first + n)
    return pd.DataFrame(
        {
            "id": numbers,
            "twice": pd.array(np.where(numbers % 5 == 0, None, numbers * 2), dtype="Int64"),
            "level": pd.Categorical(np.where(numbers % 2, "odd", "even"), ["unused", "odd", "even"]),
        }
    )


def job(members: int = 100, held_out: int = 41, rows: int | None = None, seed: int = 1) -> Job:
    return Job(table(0, members), table(1000, held_out), members if rows is None else rows, seed)


def test_copy_releases_the_training_table():
    pd.testing.assert_frame_equal(run(job(), COPY, {}).synthetic, job().train)
    assert len(run(job(), COPY, {}).used) == 0


def test_copy_of_another_size_repeats_no_record_more_than_needed():
    for rows in (1, 99, 101, 350):
        counts = run(job(rows=rows), COPY, {}).synthetic["id"].value_counts()
        assert counts.max() - counts.reindex(range(100), fill_value=0).min() <= 1


def test_fresh_resamples_one_half_of_the_held_out_records():
    release = run(job(rows=2000), FRESH, {})
    half = job().held_out.iloc[release.used]
    assert len(set(release.used)) == len(release.used) == 20
    assert set(release.synthetic["id"]) == set(half["id"])
    assert release.synthetic["id"].value_counts().min() > 50  # evenly: 100 each
    due = half.set_index("id").loc[release.synthetic["id"]].reset_index()
    pd.testing.assert_frame_equal(release.synthetic, due, check_index_type=False)


def test_fresh_draws_another_half_with_another_seed():
    halves = [run(job(seed=s), FRESH, {}).used for s in (1, 1, 2)]
    assert np.array_equal(halves[0], halves[1])
    assert not np.array_equal(halves[0], halves[2])


@pytest.mark.parametrize("generator", [FRESH, LEAKY])
@pytest.mark.parametrize("seed", range(10))
def test_half_of_the_held_out_entities_is_released_with_all_their_records(generator, seed):
    entities = np.random.default_rng(seed).permutation(np.repeat([3, 5, 8, 9, 40], [10, 9, 9, 9, 4]))
    used = run(replace(job(seed=seed), held_out_entities=entities), generator, {}).used
    assert not set(entities[used]) & set(np.delete(entities, used))
    assert 20 - 10 < len(used) <= 20
    alone = replace(job(seed=seed), held_out_entities=np.random.default_rng(seed).permutation(41).argsort().argsort())
    assert len(run(alone, generator, {}).used) == 20


def test_one_large_entity_is_released_whole_and_one_alone_is_refused():
    large = np.repeat([0, 1], [40, 1])
    sizes = {len(run(replace(job(seed=s), held_out_entities=large), FRESH, {}).used) for s in range(10)}
    assert sizes == {1, 40}
    with pytest.raises(InputError, match="fresh needs held-out records of at least 2 entities, got 1"):
        run(replace(job(), held_out_entities=np.zeros(41, dtype=int)), FRESH, {})


@pytest.mark.parametrize(("share", "leaked"), [(0, 0), (0.1, 10), (0.126, 13), (1, 100)])
def test_leaky_replaces_a_share_of_fresh_by_distinct_members(share, leaked):
    release = run(job(), LEAKY, {"share": share})
    members = release.synthetic.query("id < 1000")
    assert len(members) == members["id"].nunique() == leaked
    assert set(release.synthetic["id"]) - set(members["id"]) <= set(job().held_out["id"].iloc[release.used])
    assert np.array_equal(release.used, run(job(), FRESH, {}).used)


def test_leaky_is_shuffled_and_takes_a_tenth_unless_told():
    places = np.flatnonzero(run(job(), LEAKY, {}).synthetic["id"] < 1000)
    assert len(places) == 10
    assert places.max() > 50


def test_leaky_draws_members_twice_only_where_it_must():
    assert run(job(rows=250), LEAKY, {"share": 1.0}).synthetic["id"].nunique() < 100
    assert run(job(rows=250), LEAKY, {"share": 0.4}).synthetic.query("id < 1000")["id"].nunique() == 100


@pytest.mark.parametrize("generator", [FRESH, LEAKY])
@pytest.mark.parametrize("held_out", [0, 1])
def test_too_few_held_out_records(generator, held_out):
    with pytest.raises(InputError, match=f"{generator.name} needs at least 2 held-out records, got {held_out}"):
        run(job(held_out=held_out), generator, {})


@pytest.mark.parametrize("share", [-0.1, 1.1, "0.1", True, float("nan")])
def test_share_is_checked(share):
    with pytest.raises(InputError, match=r"share must be a share in \[0, 1\]"):
        run(job(), LEAKY, {"share": share})


def test_marginals_keeps_each_column_and_no_link():
    train = pd.DataFrame({"x": np.arange(5000), "y": np.arange(5000)})
    release = run(Job(train, train.head(0), 5000, 1), MARGINALS, {}).synthetic
    assert abs(np.corrcoef(release["x"], release["y"])[0, 1]) < 0.05
    for name in train:
        assert release[name].isin(train[name]).all()
        assert 0.6 < release[name].nunique() / 5000 < 0.66  # with replacement: 1 - 1/e


@pytest.mark.parametrize("generator", [COPY, FRESH, LEAKY, MARGINALS])
def test_dtypes_and_seeds(generator):
    first, again = (run(job(), generator, {}) for _ in range(2))
    pd.testing.assert_frame_equal(first.synthetic, again.synthetic)
    assert first.synthetic.dtypes.tolist() == job().train.dtypes.tolist()
    assert run(job(rows=1), generator, {}).synthetic.index.equals(pd.RangeIndex(1))


@pytest.mark.parametrize("generator", [COPY, MARGINALS])
def test_no_members(generator):
    with pytest.raises(InputError, match="needs a training record, got none"):
        run(job(members=0, rows=5), generator, {})
