import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from samples.cells import cell
from synthrisk.metrics import testing
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.synthesize import Job, check_options, find_synthesizer, run
from synthrisk.tasks.synthesize.leaks import group_of, nearest_public
from synthrisk.tasks.synthesize.reference_generators import FRESH

N, M = 200, 80
OPTIONS = {name: {} for name in ("leaky", "leaky_near", "leaky_rarest", "leaky_tree", "repelled", "known_epsilon")}
OPTIONS |= {name: {"column": "job"} for name in ("leaky_permuted", "leaky_group")}
OPTIONS |= {"leaky_columns": {"columns": ["own", "job"]}, "leaky_duplicates": {"times": 4}}
SHARED = [name for name in OPTIONS if name != "known_epsilon"]


@cache
def people(first: int, n: int) -> pd.DataFrame:
    """``own`` and ``tag`` name the person; below 1,000 a member."""
    rng = np.random.default_rng(first)
    own = np.arange(first, first + n)
    return pd.DataFrame({
        "own": own, "tag": [f"t{i}" for i in own],
        "job": pd.Categorical(rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]), ["a", "b", "c", "unused"]),
        "score": rng.normal(0, 1, n),
    })  # fmt: skip


def job(rows: int = N, seed: int = 5) -> Job:
    return Job(people(0, N), people(1000, M), rows, seed)


def made(name: str, rows: int = N, **options: object) -> pd.DataFrame:
    return run(job(rows), find_synthesizer(name), OPTIONS[name] | options).synthetic


def public() -> pd.DataFrame:
    return job().held_out.iloc[run(job(), FRESH, {}).used]


def exact(row: tuple, train: pd.DataFrame) -> bool:
    return tuple(row) in set(train.itertuples(index=False, name=None))


@pytest.mark.parametrize("name", OPTIONS)
def test_each_declares_its_dose_and_says_what_leaks(name):
    own = find_synthesizer(name)
    option = "epsilon" if name == "known_epsilon" else "share"
    assert own.dose is not None
    assert own.dose(**OPTIONS[name], **{option: 0.25}) == 0.25
    assert own.dose(**OPTIONS[name]) == own.function.__kwdefaults__[option]
    assert own.function.__doc__.startswith(("Leak", "Release"))
    assert own.answer in ("leak", "part", "repelled")


@pytest.mark.parametrize("name", SHARED)
def test_dose_0_is_fresh(name):
    made_, ideal = run(job(), find_synthesizer(name), OPTIONS[name] | {"share": 0}), run(job(), FRESH, {})
    assert sorted(made_.synthetic["own"]) == sorted(ideal.synthetic["own"])
    assert np.array_equal(made_.used, ideal.used)


@pytest.mark.parametrize("name", ["leaky_near", "leaky_permuted", "leaky_rarest", "leaky_columns", "leaky_duplicates"])
@pytest.mark.parametrize("share", [0.05, 1])
def test_the_dose_is_the_share_of_rows_that_come_from_members(name, share):
    release = made(name, share=share)
    planted = [row for row in release.itertuples(index=False) if int(row.own) < 1000 - 40]
    assert len(planted) == round(share * N)
    new = set(public().itertuples(index=False, name=None))
    assert all(tuple(row) in new for row in release.itertuples(index=False) if row not in planted)


def test_near_copies_are_near_but_never_exact_and_of_permuted_ones_one_column_alone_is_not():
    train = job().train
    for row in made("leaky_near", share=1.0).itertuples(index=False):
        assert not exact(row, train)
        assert any(
            abs(row.own - other.own) <= 0.02 * N and abs(row.score - other.score) <= 0.02 * np.ptp(train["score"])
            for other in train.itertuples(index=False)
        )
    train, release = job().train, made("leaky_permuted", share=1.0, column="tag")
    assert sorted(release["tag"]) == sorted(train["tag"])
    for row in release.itertuples(index=False):
        own = train.iloc[row.own]
        assert (row.job, row.score) == (own["job"], own["score"])
        assert row.tag != own["tag"]


def test_the_rarest_are_released_and_no_others():
    train, release = job().train, made("leaky_rarest", share=0.1)
    ranges = {c: np.ptp(train[c]) for c in ("own", "score")}
    rows, far = list(train.itertuples(index=False)), []
    for i, a in enumerate(rows):
        others = [
            sum(abs(getattr(a, c) - getattr(b, c)) / ranges[c] for c in ranges) + (a.tag != b.tag) + (a.job != b.job)
            for j, b in enumerate(rows)
            if i != j
        ]
        far.append(sum(sorted(others)[:5]) / 20)
    leaked = release.loc[release["own"] < 1000, "own"].tolist()
    assert sorted(leaked) == sorted(np.argsort(far)[::-1][:20].tolist())


@pytest.mark.parametrize(("column", "share"), [("job", 0.5), ("job", 1.0), ("score", 0.5), ("score", 1.0)])
def test_a_group_leaks_by_its_own_share(column, share):
    train, release = job().train, made("leaky_group", column=column, share=share)
    if column == "job":
        group = [i for i in range(N) if train["job"].iloc[i] == "c"]
    else:
        group = sorted(range(N), key=lambda i: -train["score"].iloc[i])[:20]
    leaked = release.loc[release["own"] < 1000, "own"].tolist()
    assert len(leaked) == len(set(leaked)) == round(share * len(group))
    assert set(leaked) <= set(group)


def test_a_group_is_no_handful():
    column = pd.Series(["a"] * 150 + ["b"] * 49 + ["c"])
    assert (len(group_of(column)), len(group_of(pd.Series([f"x{i}" for i in range(300)])))) == (49, 1)
    assert len(group_of(pd.Series([None] * 20 + ["a"] * 60))) == 20


def test_named_columns_leak_together_and_duplicates_are_few_records_many_times():
    train, release = job().train, made("leaky_columns", share=0.5, columns=["own", "job"])
    leaked = release[release["own"] < 1000]
    assert leaked["own"].nunique() == len(leaked) == N // 2
    for row in leaked.itertuples(index=False):
        assert row.job == train["job"].iloc[row.own]
        assert int(row.tag[1:]) >= 1000
        assert row.score in set(job().held_out["score"])
    counts = made("leaky_duplicates", share=0.15, times=4)["own"].value_counts()
    assert sorted(counts[counts.index < 1000]) == [2, 4, 4, 4, 4, 4, 4, 4]


def test_an_overfitted_tree_plants_its_share_of_members_values():
    release, blurred = made("leaky_tree", share=0.4), made("leaky_tree", share=0.4, min_samples_leaf=50)
    assert (release["own"] < 1000).sum() == 80
    copied = [sum(exact(row, job().train) for row in each.itertuples(index=False)) for each in (release, blurred)]
    assert copied[0] > 30
    assert copied[1] < 5


@pytest.mark.parametrize("epsilon", [0.0, 2.0, 4.0, 700.0])
def test_epsilon_is_what_the_counts_say(epsilon):
    keep = 1 / (1 + (M // 2 - 1) * math.exp(-epsilon))
    other = (1 - keep) / (M // 2 - 1)
    assert epsilon == 700 or math.isclose(keep / other, math.exp(epsilon), rel_tol=1e-9)
    found, expected = np.zeros(3), np.zeros(3)  # of the public record that is nearest to most, to fewest, of all
    for seed in range(12):
        given = job(seed=seed)
        made_ = run(given, find_synthesizer("known_epsilon"), {"epsilon": epsilon})
        public = given.held_out.iloc[made_.used].reset_index(drop=True)
        assert set(made_.synthetic["own"]) <= set(public["own"])
        held = np.bincount(_nearest(given.train, public), minlength=len(public))
        released = np.array([(made_.synthetic["own"] == own).sum() for own in public["own"]])
        for at, place in enumerate((np.argmax(held), np.argmin(held))):
            found[at] += released[place]
            expected[at] += held[place] * keep + (N - held[place]) * other
        found[2] += released.sum()
        expected[2] += N
    assert found[2] == expected[2]
    assert (np.abs(found - expected) <= 4 * np.sqrt(expected) + 1e-6).all(), (found, expected)


def _nearest(members: pd.DataFrame, public: pd.DataFrame) -> np.ndarray:
    far = np.asarray(members["job"].astype(object))[:, None] != np.asarray(public["job"].astype(object))[None]
    for c in ("own", "score"):
        apart = np.abs(members[c].to_numpy()[:, None] - public[c].to_numpy()[None]) / np.ptp(public[c])
        far = far + np.minimum(apart, 1)
    return far.argmin(axis=1)


def test_the_nearest_public_record_is_not_decided_by_other_members():
    public, train = job().held_out, job().train
    alone = [nearest_public(public, train.iloc[[i]].reset_index(drop=True))[0] for i in range(0, N, 10)]
    assert alone == nearest_public(public, train)[::10].tolist()


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize(("dose", "rows"), [(0.3, 30), (1, 1)])
def test_ugly_tables_and_other_sizes(name, dose, rows):
    options = {"leaky_permuted": {"column": "day"}, "leaky_group": {"column": "empty"}}
    options = (options | {"leaky_columns": {"columns": ["text", "day", "empty"]}}).get(name, {})
    option = "epsilon" if name == "known_epsilon" else "share"
    given = Job(testing.targets(), testing.control(), rows, 3)
    first, again = (run(given, find_synthesizer(name), {**options, option: dose}).synthetic for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    if name != "leaky_near":
        for c in ("text", "level", "flag", "day"):
            known = {repr(cell(v)) for t in (given.train, given.held_out) for v in t[c]}
            assert {repr(cell(v)) for v in first[c]} <= known


@pytest.mark.parametrize("name", OPTIONS)
def test_one_member_is_enough_but_nobody_and_wrong_options_are_refused(name):
    given = Job(people(0, 1), people(1000, 4), 3, 1)
    assert len(run(given, find_synthesizer(name), OPTIONS[name]).synthetic) == 3
    for members, others, rule in ((0, M, "a training record, got none"), (N, 1, "at least 2 held-out records, got 1")):
        with pytest.raises(InputError, match=f"{name} needs {rule}"):
            run(Job(people(0, members), people(1000, others), 5, 1), find_synthesizer(name), OPTIONS[name])
    wrong = {"epsilon": -1} if name == "known_epsilon" else {"share": 1.5}
    with pytest.raises(InputError, match=r"must be a (share|number)"):
        check_options(find_synthesizer(name), OPTIONS[name] | wrong)


@pytest.mark.parametrize(("name", "options", "sentence"), [
    ("leaky_permuted", {"column": "jbo"}, r"column must be of the table, got 'jbo' \(did you mean 'job'\?\)"),
    ("leaky_columns", {"columns": ["job", "job"]}, "columns must be a list of distinct columns"),
    ("leaky_columns", {"columns": "job"}, "columns must be a list of distinct columns, got 'job'"),
    ("leaky_duplicates", {"times": 0}, "times must be a whole number of at least 1"),
    ("leaky_tree", {"min_samples_leaf": 0}, "min_samples_leaf must be a whole number of at least 1"),
    ("leaky_near", {"jitter": 2}, "jitter must be a share"),
])  # fmt: skip
def test_options_are_checked(name, options, sentence):
    with pytest.raises(InputError, match=sentence):
        run(job(), find_synthesizer(name), OPTIONS[name] | options)


def test_repelled_leaves_out_the_held_out_records_that_are_nearest_to_members():
    ideal, train = public(), job().train
    ranges = {c: np.ptp(np.concatenate([ideal[c], train[c]])) for c in ("own", "score")}
    nearest = [
        min(
            abs(a.own - b.own) / ranges["own"] + (a.job != b.job) + abs(a.score - b.score) / ranges["score"]
            for b in train.itertuples(index=False)
        )
        for a in ideal.itertuples(index=False)
    ]
    left = set(made("repelled", rows=2000)["own"])
    assert left == set(ideal["own"].to_numpy()[np.array(nearest) > np.quantile(nearest, 0.35)])
    assert np.array_equal(run(job(), find_synthesizer("repelled"), {}).used, run(job(), FRESH, {}).used)
