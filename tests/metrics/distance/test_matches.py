"""Common rows, unique exact matches and apparent matches, against plain loops over records."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples.distances import rows_of
from samples.releases import releases
from synthrisk.conf import load
from synthrisk.conf.plan import plan
from synthrisk.metrics import METRICS, InputError, Tables
from synthrisk.metrics.exposure.what_if import Change, what_if

UNIQUE, RATE, CRP = (METRICS[n] for n in ("unique_exact_matches", "apparent_match_rate", "common_rows_proportion"))
KEYS, OTHERS = ["age", "city"], ["born", "sex", "car"]


def rows(table, columns=None):
    own = table[list(columns or table)].itertuples(index=False)
    return [tuple("missing" if pd.isna(v) else v for v in row) for row in own]


def holders(own, entities):
    """Return for each row how many persons have it."""
    owner = list(range(len(own))) if entities is None else list(entities)
    return [len({e for e, other in zip(owner, own, strict=True) if other == row}) for row in own]


NUMBERS = releases(kinds=("float64", "float", "int64", "Int64", "datetime64[ns]"))
WORDS = releases(kinds=("object", "bool", "category"))


@given(st.one_of(releases(), NUMBERS, WORDS))
def test_common_rows_are_those_of_a_loop(release):
    ours, theirs = map(rows_of, release)
    score = CRP(*release)
    assert score.records["score"].tolist() == [float(r in theirs) for r in ours]
    distinct = [r for i, r in enumerate(ours) if r not in ours[:i]]
    common = sum(r in theirs for r in distinct)
    assert score.published == common / (len(ours) + 1e-8)
    assert score.details["distinct_over_distinct"] == common / len(distinct)


def drawn(seed, n):
    rng = np.random.default_rng(seed)
    age, city = rng.choice([20.0, 30.0, 40.0, np.nan], n), rng.choice(["a", "b", "c", None], n)
    table = pd.DataFrame({"age": age, "city": city})
    return table.assign(born=pd.to_datetime(rng.choice(["1960-01-01", "1970-02-02", "NaT"], n)))


def unique_rows(real, release, entities=None):
    own, held = rows(real), rows(release)
    unique = [many == 1 for many in holders(own, entities)]
    return np.array(unique), np.array([u and row in held for u, row in zip(unique, own, strict=True)], dtype=float)


@pytest.mark.parametrize("seed", range(5))
def test_unique_exact_matches_are_those_of_a_loop_of_records_and_of_entities(seed):
    real, release = drawn(seed, 60), drawn(seed + 100, 40)
    unique, matched = unique_rows(real, release)
    assert 0 < matched.sum() < unique.sum() < 60
    score = UNIQUE(real, release)
    assert score.records["score"].tolist() == matched.tolist()
    assert (score.records["unique"].tolist(), score.value) == (unique.tolist(), matched.mean())
    assert score.published == pytest.approx(100 * matched.sum() / unique.sum())
    assert (score.details["unique_share"], score.details["matched"]) == (unique.mean(), matched.sum())
    entities = np.random.default_rng(seed).integers(2, size=60)
    _, of_entities = unique_rows(real, release, entities)
    assert of_entities.sum() > matched.sum()
    score = UNIQUE(real.assign(who=entities), release, identifier="who")
    assert score.records["score"].tolist() == of_entities.tolist()


def test_a_twin_among_the_control_records_takes_uniqueness_away():
    real = pd.DataFrame({"x": [1, 2, 3]})
    score = UNIQUE(real, real, control=pd.DataFrame({"x": [3, 4]}))
    assert (score.records["score"].tolist(), score.details["control"]) == ([1, 1, 0], 0)


def test_without_unique_records_there_is_nothing_to_match():
    real = pd.DataFrame({"x": [1, 1, 2, 2]})
    score = UNIQUE(real, real)
    assert score.value == 0
    assert np.isnan([score.published, score.details["matched_share"]]).all()
    more = pd.DataFrame({"x": [1, 2]})
    assert UNIQUE(more, pd.DataFrame({"x": [1, 1, 1]})).value == 0.5  # more copies of a record are one match


def attributes(seed, n):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"car": rng.choice(["x", "y", None], n), "age": rng.integers(0, 30, n).astype(float)})
    table["city"] = rng.choice(["a", "b", None], n)
    table["born"] = pd.to_datetime(rng.choice(["1960-01-01", "1970-02-02", "NaT"], n))
    return table.assign(sex=pd.Categorical(rng.choice(["f", "m"], n)))


@pytest.mark.parametrize("metric", [UNIQUE, RATE], ids=lambda metric: metric.name)
def test_a_copy_beats_a_fresh_sample_and_a_fresh_sample_tells_nobody_apart(metric):
    make, options = (drawn, {}) if metric is UNIQUE else (attributes, {"quasi_identifiers": KEYS})
    differences, copies = [], []
    for seed in range(40):
        people, release = make(seed, 80), make(seed + 1000, 50)
        groups = np.repeat([1, 0], [50, 30])
        for made, kept in ((release, differences), (people[:50], copies)):
            scores = metric.score(Tables(people, made, groups=groups), **options).records["score"].to_numpy()
            kept.append(scores[:50].mean() - scores[50:].mean())
    assert abs(np.mean(differences)) < 3 * np.std(differences) / np.sqrt(40)
    assert np.mean(copies) > 0.1 > np.mean(differences) + 0.05


def apparent(real, release, entities=None):
    own, held = rows(real, KEYS), rows(release, KEYS)
    mine, others = rows(real, OTHERS), rows(release, OTHERS)
    scores, matches = [], []
    for i, many in enumerate(holders(own, entities)):
        found = [j for j, other in enumerate(held) if other == own[i]]
        matches.append(many == 1 and len(found) == 1)
        equal = sum(a == b for a, b in zip(mine[i], others[found[0]], strict=True)) if matches[-1] else 0
        scores.append(equal / len(OTHERS))
    return np.array(scores), np.array(matches)


@pytest.mark.parametrize("seed", [0, 1, 3, 4, 5])
def test_apparent_matches_are_those_of_a_loop_of_records_and_of_entities(seed):
    real, release = attributes(seed, 60), attributes(seed + 100, 50)
    scores, matches = apparent(real, release)
    assert 3 < matches.sum() < 40
    score = RATE(real, release, quasi_identifiers=KEYS)
    assert score.records["score"].to_numpy() == pytest.approx(scores, abs=1e-12)
    assert score.records["match"].tolist() == matches.tolist()
    assert score.value == pytest.approx(scores.mean())
    assert score.published == pytest.approx(100 * scores[matches].mean())
    assert score.details["match_share"] == matches.mean()
    entities = np.random.default_rng(seed).integers(2, size=60)
    scores, of_entities = apparent(real, release, entities)
    assert of_entities.sum() > matches.sum()
    found = RATE(real.assign(who=entities), release, identifier="who", quasi_identifiers=KEYS)
    assert found.records["score"].to_numpy() == pytest.approx(scores, abs=1e-12)


def test_without_a_match_nothing_is_given_away():
    score = RATE(attributes(1, 20), attributes(2, 20).assign(age=99.0), quasi_identifiers=KEYS)
    assert score.value == 0
    assert np.isnan(score.published)


def test_coarser_keys_match_fewer():
    real = attributes(4, 60)
    tried = what_if(RATE, real, real, [Change(drop=["age"]), Change(bins={"age": 3})], quasi_identifiers=KEYS)
    first, dropped, coarser = tried["value"]
    assert first > coarser >= dropped
    by_hand = real.assign(age=pd.qcut(real["age"], 3, labels=False))
    assert coarser == RATE(by_hand, by_hand, quasi_identifiers=KEYS).value


def test_keys_that_leave_no_column_are_refused_before_anything_is_computed():
    real = attributes(5, 10)
    with pytest.raises(InputError, match="quasi_identifiers must leave a column to compare, got all 5"):
        RATE(real, real, quasi_identifiers=list(real.columns))
    with pytest.raises(InputError, match="quasi_identifiers must leave a column"):
        RATE.check_options_on(real, {"quasi_identifiers": list(real.columns)})


@pytest.mark.parametrize(
    ("known", "expected"), [("*", ["age", "city", "born"]), (["age", "sex"], ["age", "sex"]), (["city"], ["city"])]
)
def test_a_study_gives_it_the_keys_though_it_guesses_nothing(known, expected):
    measured = {"name": RATE.name, "what_if": [{"bins": {"age": 2}}] if "age" in known else []}
    data = {"source": "t.csv", "quasi_identifiers": known, "sensitive": ["sex", "car"]}
    study = load({"name": "s", "data": data, "synthesizers": ["cart"], "metrics": [measured]})
    columns = ["age", "city", "born", "sex", "car"]
    planned = plan(study.metrics, columns, study.data.quasi_identifiers, study.data.sensitive)
    assert planned[0].options["quasi_identifiers"] == expected
    assert planned[0].measure.sensitive is None
    assert len(planned) == 1 + ("age" in known)
