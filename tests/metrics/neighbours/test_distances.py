"""Two FAMD coordinates of records, and cells that stand for sets of values, against PrivEval's reference and loops."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from samples.coarse import BANDS, may_be, tables
from samples.mixed import drawn
from samples.priveval import priveval
from synthrisk.metrics import METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.neighbours.distances import chances, farthest, nearest_projected, of_pairs, projected, tie_counts
from synthrisk.metrics.neighbours.nearest import real_to_synthetic, synthetic_to_real
from synthrisk.metrics.tables.tables import Tables, ValueSets

DCR = METRICS["distance_to_closest_record"]
NNDR = METRICS["nearest_neighbour_distance_ratio"]
TEXTS, NUMBERS = ("zip", "job"), ("age", "pay")
in_spaces = pytest.mark.parametrize("space", ["gower", "euclid"])


def away(real, synthetic):
    """All distances between real and synthetic points, pair by pair."""
    return np.array([[math.dist(a, b) for b in synthetic] for a in real])


@pytest.fixture(params=["mixed_120", "ugly_80x50"])
def case(request):
    return priveval(request.param)


def test_distances_and_axes_are_those_of_the_reference(case):
    real, synthetic, expected = case
    expected, (points, others) = expected["projections"]["famd_2"], projected(Tables(real, synthetic))
    matrix = away(points, others)
    np.testing.assert_allclose(matrix.min(axis=1), expected["real_to_syn"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(matrix.min(axis=0), expected["syn_to_real"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(points.var(axis=0), expected["eigenvalues"][:2], rtol=1e-9)
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-12)
    assert np.mean(points[:, 0] * points[:, 1]) == pytest.approx(0, abs=1e-12)


def test_priveval_values_on_two_axes(case):
    real, synthetic, expected = case
    metrics, reference = expected["metrics"], np.array(expected["projections"]["famd_2"]["real_to_syn"])
    near = DCR(real, synthetic, projection="famd")
    assert near.value == pytest.approx(metrics["DCR"]["variants"]["famd_2_real_to_syn"], abs=1e-9)
    assert near.settings["projection"] == "famd"
    found = near.records["distance"].to_numpy()
    np.testing.assert_allclose(found, reference, rtol=1e-9, atol=0)
    np.testing.assert_array_equal(found == 0, reference == 0)
    ratio = NNDR(real, synthetic, projection="famd")
    assert ratio.value == pytest.approx(metrics["NNDR"]["variants"]["famd_2"], abs=1e-9)
    # what member/control differences are taken on stays in gower space
    np.testing.assert_array_equal(near.records["score"], DCR(real, synthetic).records["score"])


def test_priveval_hidden_rate_on_two_axes():
    real, synthetic, expected = priveval("mixed_120")
    matrix = away(*projected(Tables(real, synthetic)))
    tied = matrix <= nearest_projected(Tables(real, synthetic), "real_to_synthetic", 1) + 1e-12
    score = METRICS["hidden_rate"](real, synthetic, links=list(range(len(real))), projection="famd")
    np.testing.assert_allclose(score.records["score"], np.diag(tied) / tied.sum(axis=1), rtol=1e-12)
    assert score.value == pytest.approx(expected["metrics"]["HidR"]["variants"]["famd_2"], abs=1e-9)


def plain_projection(real, synthetic):
    """The definition, column by column, by singular values of the whole matrix."""
    parts = []
    for name in real:
        a, b = real[name], synthetic[name]
        if pd.api.types.is_datetime64_any_dtype(a):
            a, b = (v.astype("datetime64[ns]").astype("int64").where(v.notna()).astype(float) for v in (a, b))
        if pd.api.types.is_numeric_dtype(a) and not pd.api.types.is_bool_dtype(a):
            spread = a.std(ddof=0) if a.nunique() > 1 else 1.0
            parts.append([((v - a.mean()) / spread).fillna(0).to_numpy(float) for v in (a, b)])
        else:
            a, b = (np.array(["missing" if x is None else str(x) for x in v.tolist()]) for v in (a, b))
            for level in np.unique(a):
                share, flags = (a == level).mean(), [v == level for v in (a, b)]
                parts.append([(f - share) / math.sqrt(share) for f in flags])
    x, y = (np.column_stack(side) for side in zip(*parts, strict=True))
    axes = np.linalg.svd(x, full_matrices=True)[2][:2]
    return x @ axes.T, y @ axes.T


@pytest.mark.parametrize("seed", range(6))
def test_random_tables_against_singular_values(seed):
    real, synthetic = (table.assign(one=7) for table in drawn(seed, 60, 40))
    synthetic.loc[:4] = real.loc[:4]
    synthetic.loc[7, "c"] = "unseen"
    found, expected = away(*projected(Tables(real, synthetic))), away(*plain_projection(real, synthetic))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_array_equal(np.diag(found)[:5], 0)


@pytest.mark.parametrize("columns", [["x"], ["c"], ["x", "y"], ["c", "d"]])
def test_tables_of_one_kind_and_one_column(columns):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=30), "y": rng.random(30)})
    table = table.assign(c=rng.choice([*"abc"], 30), d=rng.choice([*"uv"], 30))
    real, synthetic = projected(Tables(table[columns][:20], table[columns][10:]))
    assert real.shape == synthetic.shape == (20, 2)
    np.testing.assert_array_equal(real[10:], synthetic[:10])
    if columns == ["x"]:
        np.testing.assert_array_equal(real[:, 1], 0)


def test_one_row_and_constant_tables_have_one_point():
    for table in (pd.DataFrame({"x": [3.0], "c": ["a"]}), pd.DataFrame({"x": [3.0] * 4, "c": ["a"] * 4})):
        real, synthetic = projected(Tables(table, table))
        np.testing.assert_array_equal(real, 0)
        np.testing.assert_array_equal(synthetic, 0)


@pytest.mark.parametrize("metric", [DCR, NNDR])
def test_bad_projection(metric):
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="projection must be famd or none, got 'pca'"):
        metric(table, table, projection="pca")
    with pytest.raises(InputError, match=r"projection .* gower"):
        metric(table, table, projection="famd", space="gower")
    with pytest.raises(InputError, match="projection"):
        metric.check_choices({"projection": "pca"})


def by_loops(real: pd.DataFrame, release: pd.DataFrame, space: str) -> np.ndarray:
    """Return the distances of all pairs, (n, m)."""
    both = pd.concat([real, release])
    units = {c: both[c].max() - both[c].min() if space == "gower" else real[c].std(ddof=0) for c in NUMBERS}
    shares = {c: real[c].fillna("missing").value_counts(normalize=True) for c in TEXTS}
    found = np.zeros((len(real), len(release)))
    for i, person in enumerate(real.to_dict("records")):
        for j, row in enumerate(release.to_dict("records")):
            low, high = BANDS.get(row["age"], (row["age"], row["age"]))
            gaps = [max(low - person["age"], person["age"] - high, 0) / units["age"]]
            gaps += [abs(person["pay"] - row["pay"]) / units["pay"]]
            for c in TEXTS:
                apart = 0.0 if may_be(c, row[c], person[c]) else 1.0
                if space == "euclid":
                    each = [shares[c].get("missing" if pd.isna(v) else v, 0.0) for v in (person[c], row[c])]
                    apart *= np.sqrt(sum(1 / (p * (1 - p)) if p else 1.0 for p in each))
                gaps.append(apart)
            found[i, j] = np.mean(gaps) if space == "gower" else np.sqrt(np.square(gaps).sum())
    return found


@in_spaces
@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_value_of_a_set_counts_in_both_directions(seed, space):
    real, release = tables(seed)
    due, both = by_loops(real, release, space), Tables(real, release)
    found = real_to_synthetic(both, space, k=3).distances
    np.testing.assert_allclose(found, np.sort(due, axis=1)[:, :3], atol=1e-9)
    np.testing.assert_allclose(synthetic_to_real(both, space).distances[:, 0], due.min(axis=0), atol=1e-9)
    near = due <= due.min(axis=1, keepdims=True) * (1 + 1e-9) + 1e-12
    assert tie_counts(both, "real_to_synthetic", space).tolist() == near.sum(axis=1).tolist()
    pairs = np.arange(min(len(real), len(release)))
    np.testing.assert_allclose(of_pairs(both, space, pairs, pairs), due[pairs, pairs], atol=1e-9)
    assert farthest(both, space) == pytest.approx(due.max(), abs=1e-9)


def test_records_with_coarse_cells_are_as_near_as_their_nearest_value():
    real, release = tables(1)
    due = by_loops(real, release, "gower")
    score = METRICS["distance_to_closest_record"](real, release)
    np.testing.assert_allclose(score.records["score"], 1 - due.min(axis=1), atol=1e-12)
    assert score.published == pytest.approx(by_loops(real, release, "euclid").min(axis=1).mean(), abs=1e-9)


@in_spaces
def test_a_number_that_is_suppressed_is_at_no_distance_and_a_missing_one_is(space):
    real = pd.DataFrame({"age": [20.0, 40.0, None], "pay": [1.0, 2.0, 3.0]})
    release = pd.DataFrame({"age": [None, 40.0], "pay": [1.0, 3.0]})
    hidden = Tables(real, ValueSets({}, frozenset(["age"])).beside(release))
    found, plain = (real_to_synthetic(each, space).distances[0, 0] for each in (hidden, Tables(real, release)))
    assert found == 0.0
    assert plain > 0.1


def test_without_coarse_cells_they_are_the_distances_of_the_search():
    real, release = tables(2)
    release = release.assign(age=real["age"].iloc[0], zip="10001", job="cook")
    near = real_to_synthetic(Tables(real, ValueSets().beside(release)), "gower").distances[:, 0]
    np.testing.assert_allclose(real_to_synthetic(Tables(real, release), "gower").distances[:, 0], near, atol=1e-12)


@pytest.mark.parametrize("way", ["real_to_synthetic", "synthetic_to_real", "real_to_real", "synthetic_to_synthetic"])
def test_chances_of_a_subsample_are_the_shares_of_all_that_can_be_drawn(way):
    rng = np.random.default_rng(3)
    sides = {name: pd.DataFrame({"x": rng.integers(0, 6, n)}) for name, n in (("real", 5), ("synthetic", 7))}
    ours, theirs = (sides[name]["x"].tolist() for name in way.split("_to_"))
    every = pd.concat(sides.values())["x"]
    most = every.max() - every.min()
    given = np.array([1 / most] * len(ours))
    found = chances(Tables(sides["real"], sides["synthetic"]), way, "gower", given, 3)
    for i, own in enumerate(ours):
        others = [each for j, each in enumerate(theirs) if i != j or way.split("_to_")[0] != way.split("_to_")[1]]
        least = [min(abs(own - each) for each in drawn) for drawn in combinations(others, 3)]
        assert found.nearer[i] == pytest.approx(np.mean([each < 1 for each in least]))
        assert found.tied[i] == pytest.approx(np.mean([each == 1 for each in least]))
