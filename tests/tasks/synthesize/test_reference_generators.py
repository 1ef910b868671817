from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize import find_synthesizer, run
from synthrisk.tasks.synthesize.reference_generators import COPY, FRESH, LEAKY, MARGINALS, NEAR_COPY, NON_MEMBERS
from synthrisk.tasks.synthesize.synthesizer import Job


def table(first: int, n: int) -> pd.DataFrame:
    numbers = np.arange(first, first + n)
    return pd.DataFrame({
        "id": numbers, "twice": pd.array(np.where(numbers % 5 == 0, None, numbers * 2), dtype="Int64"),
        "level": pd.Categorical(np.where(numbers % 2, "odd", "even"), ["unused", "odd", "even"]),
    })  # fmt: skip


def job(members: int = 100, held_out: int = 41, rows: int | None = None, seed: int = 1, **others) -> Job:
    return Job(table(0, members), table(1000, held_out), members if rows is None else rows, seed, **others)


def released(generator, options=None, **given) -> pd.DataFrame:
    return run(job(**given), generator, options or {}).synthetic


@pytest.mark.parametrize("generator", [COPY, FRESH, LEAKY, MARGINALS])
def test_dtypes_and_seeds(generator):
    first, again = (released(generator) for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert first.dtypes.tolist() == job().train.dtypes.tolist()
    assert released(generator, rows=1).index.equals(pd.RangeIndex(1))


@pytest.mark.parametrize(
    ("generator", "given", "rule"),
    [(each, {"members": 0, "rows": 5}, "a training record, got none") for each in (COPY, NEAR_COPY, MARGINALS)]
    + [(each, {"held_out": n}, f"at least 2 held-out records, got {n}") for each in (FRESH, LEAKY) for n in (0, 1)],
)
def test_nobody_to_release_is_refused(generator, given, rule):
    with pytest.raises(InputError, match=f"{generator.name} needs {rule}"):
        released(generator, **given)


def test_copy_releases_the_training_table_and_at_another_size_repeats_no_record_more_than_needed():
    pd.testing.assert_frame_equal(released(COPY), job().train)
    assert len(run(job(), COPY, {}).used) == 0
    for rows in (1, 99, 101, 350):
        counts = released(COPY, rows=rows)["id"].value_counts()
        assert counts.max() - counts.reindex(range(100), fill_value=0).min() <= 1


def test_fresh_resamples_one_half_of_the_held_out_records_another_with_another_seed():
    release = run(job(rows=2000), FRESH, {})
    half = job().held_out.iloc[release.used]
    assert len(set(release.used)) == len(release.used) == 20
    assert set(release.synthetic["id"]) == set(half["id"])
    assert release.synthetic["id"].value_counts().min() > 50  # evenly: 100 each
    due = half.set_index("id").loc[release.synthetic["id"]].reset_index()
    pd.testing.assert_frame_equal(release.synthetic, due, check_index_type=False)
    one, again, other = (run(job(seed=s), FRESH, {}).used.tolist() for s in (1, 1, 2))
    assert one == again != other
    assert run(job(), FRESH, {}).links is None


@pytest.mark.parametrize("generator", [FRESH, LEAKY])
@pytest.mark.parametrize("seed", range(10))
def test_half_of_the_held_out_entities_is_released_with_all_their_records(generator, seed):
    entities = np.random.default_rng(seed).permutation(np.repeat([3, 5, 8, 9, 40], [10, 9, 9, 9, 4]))
    used = run(job(seed=seed, held_out_entities=entities), generator, {}).used
    assert not set(entities[used]) & set(np.delete(entities, used))
    assert 20 - 10 < len(used) <= 20
    alone = job(seed=seed, held_out_entities=np.random.default_rng(seed).permutation(41).argsort().argsort())
    assert len(run(alone, generator, {}).used) == 20


def test_one_large_entity_is_released_whole_and_one_alone_is_refused():
    large = np.repeat([0, 1], [40, 1])
    assert {len(run(job(seed=s, held_out_entities=large), FRESH, {}).used) for s in range(10)} == {1, 40}
    with pytest.raises(InputError, match="fresh needs held-out records of at least 2 entities, got 1"):
        run(job(held_out_entities=np.zeros(41, dtype=int)), FRESH, {})


@pytest.mark.parametrize(
    ("options", "leaked"), [({"share": 0}, 0), ({}, 10), ({"share": 0.126}, 13), ({"share": 1}, 100)]
)
def test_leaky_replaces_a_share_of_fresh_by_distinct_members_and_shuffles_them(options, leaked):
    release = run(job(), LEAKY, options)
    members = release.synthetic.query("id < 1000")
    assert len(members) == members["id"].nunique() == leaked
    assert leaked == 0 or members.index.max() > 50
    assert set(release.synthetic["id"]) - set(members["id"]) <= set(job().held_out["id"].iloc[release.used])
    assert np.array_equal(release.used, run(job(), FRESH, {}).used)


def test_leaky_draws_members_twice_only_where_it_must():
    assert released(LEAKY, {"share": 1.0}, rows=250)["id"].nunique() < 100
    assert released(LEAKY, {"share": 0.4}, rows=250).query("id < 1000")["id"].nunique() == 100


@pytest.mark.parametrize(("generator", "options"), [
    *((LEAKY, {"share": share}) for share in (-0.1, 1.1, "0.1", True, float("nan"))),
    *((NEAR_COPY, {"jitter": share}) for share in (-0.1, 2)),
    *((NEAR_COPY, {"redrawn": share}) for share in ("much", True)),
])  # fmt: skip
def test_options_out_of_range_are_refused(generator, options):
    with pytest.raises(InputError, match=rf"{next(iter(options))} must be a share in \[0, 1\]"):
        released(generator, options)


def test_marginals_keeps_each_column_and_no_link():
    train = pd.DataFrame({"x": np.arange(5000), "y": np.arange(5000)})
    release = run(Job(train, train.head(0), 5000, 1), MARGINALS, {}).synthetic
    assert abs(np.corrcoef(release["x"], release["y"])[0, 1]) < 0.05
    for name in train:
        assert release[name].isin(train[name]).all()
        assert 0.6 < release[name].nunique() / 5000 < 0.66  # with replacement: 1 - 1/e


def test_non_members_are_the_held_out_records_all_of_which_are_used():
    release = run(job(), NON_MEMBERS, {})
    pd.testing.assert_frame_equal(release.synthetic, job().held_out)
    assert release.used.tolist() == list(range(41))
    with pytest.raises(InputError, match="needs a held-out record, got none"):
        released(NON_MEMBERS, held_out=0)
    with pytest.raises(InputError, match="must release 100 rows, got"):  # as all others must
        released(replace(NON_MEMBERS, name="short", any_size=False))


@pytest.mark.parametrize("rows", [6, 9])
@pytest.mark.parametrize("name", ["copy", "near_copy"])
def test_copies_know_their_records(name, rows):
    rng = np.random.default_rng(4)
    train = pd.DataFrame({"x": np.arange(6) * 10.0, "y": rng.permutation(6) * 10.0, "c": rng.choice(["u", "v"], 6)})
    made = run(Job(train, train.head(0), rows, 3), find_synthesizer(name), {})
    assert len(made.links) == rows
    for row, link in enumerate(made.links):
        released, source = made.synthetic.iloc[row], train.iloc[link]
        if name == "copy":
            assert released.tolist() == source.tolist()
        else:  # within 2 % of the range of each number, but for the one cell that is changed in their place
            assert abs(released["x"] - source["x"]) <= 10
            assert released.tolist() != source.tolist()


N = 400


def kinds() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    start, levels = pd.Timestamp("2020-01-01"), ["a", "b", "größe <b>"]
    return pd.DataFrame({
        "whole": rng.integers(0, 1000, N),
        "holes": pd.array(np.where(rng.random(N) < 0.2, None, rng.integers(0, 500, N)), dtype="Int64"),
        "broken": np.where(rng.random(N) < 0.1, np.nan, rng.normal(0, 1, N)),
        "counted": np.where(rng.random(N) < 0.1, np.nan, rng.integers(0, 900, N).astype(float)),
        "day": (start + pd.to_timedelta(rng.integers(0, 1000, N), unit="D")).where(rng.random(N) > 0.1),
        "moment": start + pd.to_timedelta(rng.integers(0, 10**14, N), unit="ns"),
        "lasting": pd.to_timedelta(rng.integers(0, 10**13, N), unit="ns"),
        "level": pd.Categorical(rng.choice(levels, N), [*levels, "unused"]), "flag": rng.random(N) < 0.3,
        "same": 7, "huge": rng.integers(2**62, 2**63 - 1, N), "far": rng.choice([-(2**63), 2**63 - 1, 5], N),
    })  # fmt: skip


def near(train: pd.DataFrame, rows: int | None = None, **options) -> pd.DataFrame:
    return run(Job(train, train.head(0), rows or len(train), 1), NEAR_COPY, options).synthetic


@pytest.fixture(scope="module")
def made() -> tuple[pd.DataFrame, pd.DataFrame]:
    return kinds(), near(kinds())


def test_near_copies_keep_types_columns_constants_and_what_is_whole_and_without_change_are_copies(made):
    train, release = made
    assert list(release.columns) == list(train.columns)
    assert (release.dtypes == train.dtypes).all()
    assert (release["level"].cat.categories == train["level"].cat.categories).all()
    assert (release["same"] == 7).all()
    _, release = made
    assert (release["counted"].dropna() % 1 == 0).all()
    assert (release["day"].dropna() == release["day"].dropna().dt.normalize()).all()
    assert not (release["broken"].dropna() % 1 == 0).any()
    pd.testing.assert_frame_equal(near(made[0], jitter=0, redrawn=0.0), made[0])


@pytest.mark.parametrize("column", ["whole", "holes", "broken", "counted", "day", "moment", "lasting", "huge"])
def test_numbers_move_by_at_most_two_percent_of_the_range_and_stay_in_it(made, column):
    train, release = (t[column].dropna() for t in made)
    assert release.index.equals(train.index)  # what was missing is missing
    distance = (release - train).abs().max()
    rounding = {"day": pd.Timedelta(12, "h"), "moment": pd.Timedelta(2, "ns"), "lasting": pd.Timedelta(2, "ns")}
    assert distance <= (train.max() - train.min()) / 50 * (1 + 1e-9) + rounding.get(column, 0.5)
    assert train.min() <= release.min() <= release.max() <= train.max()
    assert (release != train).mean() > 0.8


@pytest.mark.parametrize("column", ["level", "flag", "far"])
def test_one_categorical_cell_in_ten_is_drawn_anew_from_those_there_are(made, column):
    train, release = (t[column] for t in made)
    assert set(release) <= set(train)
    assert 0 < (release != train).mean() <= 0.13


def test_a_near_copy_may_have_another_size_a_column_of_nothing_or_one_value():
    release = near(pd.DataFrame({"a": [1.0, 2.0, 3.0], "nothing": [np.nan] * 3}), 7)
    assert len(release) == 7
    assert release["nothing"].isna().all()
    table = pd.DataFrame({"a": ["x"] * 5})
    assert near(table).equals(table)


RNG = np.random.default_rng(3)
LEVELS = pd.DataFrame({"a": RNG.choice(["x", "y"], 300), "b": RNG.choice(["u", "v", None], 300)})
TABLES = {
    "few whole numbers": pd.DataFrame({"age": RNG.integers(20, 40, 300), "sex": RNG.choice(["f", "m"], 300)}),
    "levels": LEVELS.astype("category"),
    "flags": pd.DataFrame({"a": RNG.random(300) < 0.5, "b": RNG.random(300) < 0.1}),
    "dates": pd.DataFrame({"day": pd.to_datetime("2020-01-01") + pd.to_timedelta(RNG.integers(0, 9, 300), "D")}),
}


@pytest.mark.parametrize("name", TABLES)
def test_no_row_of_a_near_copy_equals_the_record_that_it_was_made_from(name):
    table = TABLES[name]
    made = near(table)
    assert made.dtypes.equals(table.dtypes)
    assert not ((made == table) | (made.isna() & table.isna())).all(axis=1).any()
