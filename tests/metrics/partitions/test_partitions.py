"""Each measure in parts is what one machine finds on the same rows, to the last bit."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synthrisk.metrics import METRICS, InputError, Tables
from synthrisk.metrics.partitions.findings import IN_PARTS, score_in_parts
from synthrisk.metrics.partitions.keys import keys_of_real, keys_of_release, values_of_real
from synthrisk.metrics.partitions.parts import Here, agree
from synthrisk.metrics.release import k_anonymity

ROLES = {"quasi_identifiers": ["town", "age", "born"], "sensitive": "illness"}
OPTIONS = dict.fromkeys(
    ("categorical_cap", "zero_cap", "generalized_cap", "targeted_cap", "attribute_disclosure"), ROLES
)
SETTINGS = [
    *((name, OPTIONS.get(name, {})) for name in IN_PARTS),
    *(("attribute_disclosure", {**ROLES, "measure": measure}) for measure in ("di_sdi_o", "rep_u")),
    ("distance_to_closest_record", {"space": "gower"}),
    ("zero_cap", {"quasi_identifiers": ["weight"], "sensitive": ["town", "smokes"]}),
    ("generalized_cap", {"quasi_identifiers": ["weight", "age", "town", "seen"], "sensitive": ["illness", "smokes"]}),
]


CATEGORIES = ("town", "illness", "code")


def people(rows: int, seed: int, unseen: bool = False) -> pd.DataFrame:
    """A table of all kinds of columns, with missing cells; ``unseen``: with values that others do not have."""
    rng = np.random.default_rng(seed)

    def one_of(*texts: object) -> pd.Series:
        return pd.Series(np.array(texts, dtype=object)[rng.integers(len(texts), size=rows)])

    def some(values: pd.Series) -> pd.Series:
        return values.where(rng.random(rows) > 0.12)

    born = pd.Timestamp("1950-01-01") + pd.Series(pd.to_timedelta(rng.integers(0, 9, rows) * 400, "D"))
    table = pd.DataFrame({"town": some(one_of("Łódź", "東京", "São Paulo", "Ωmega", *["नया", "zz"] * unseen))})
    table["age"] = rng.integers(20, 32 + 5 * unseen, rows)
    table["weight"] = some(pd.Series(np.round(rng.normal(70, 12, rows), 2)))
    table = table.assign(born=some(born), smokes=rng.random(rows) < 0.3, illness=some(one_of("flu", "asthma", "none")))
    table["seen"] = some(pd.Series(rng.integers(2**53, 2**53 + 4, rows)).astype("Int64"))
    return table.assign(code=rng.integers(1, 4 + unseen, rows), note=some(one_of("a", "a\0b", "ÿ", "")))


def with_categories(*tables: pd.DataFrame) -> list[pd.DataFrame]:
    """The tables with the sorted values of all of them as categories."""
    found = [each.copy() for each in tables]
    for name in CATEGORIES:
        dtype = pd.CategoricalDtype(sorted(pd.concat([each[name] for each in tables]).dropna().unique()))
        for each in found:
            each[name] = each[name].astype(dtype)
    return found


def in_parts(frame: pd.DataFrame, cuts: list[int]) -> Here:
    """The rows in parts, some of them empty, each with the categories that it holds alone."""
    ends = [0, *sorted(cut % (len(frame) + 1) for cut in cuts), len(frame)]
    parts = [frame[a:b].copy() for a, b in pairwise(ends)]
    for part in parts:
        for name in part.select_dtypes("category"):
            part[name] = part[name].cat.remove_unused_categories()
    return Here(parts)


def both(sizes: tuple[int, int, int], seed: int, cuts: list[int]):
    """The same tables on one machine and in parts."""
    members, controls, release = (people(n, seed + i, unseen=i == 2) for i, n in enumerate(sizes))
    release = pd.concat([members.head(len(members) // 3 + 1), release], ignore_index=True)
    members, controls = with_categories(members, controls)
    (release,) = with_categories(release)
    real = pd.concat([members, controls], ignore_index=True) if len(controls) else members
    groups = np.repeat([1, 0], sizes[:2])
    one = Tables(real, release, groups=groups)
    others = in_parts(controls, cuts) if sizes[1] else None
    return one, agree(list(real.columns), in_parts(members, cuts), others, in_parts(release, cuts))


def assert_same(name: str, one, parts) -> None:
    for part in ("metric", "settings", "reason", "warning"):
        assert getattr(parts, part) == getattr(one, part)
    mine, due = ((each.value, each.published, *each.details.values()) for each in (parts, one))
    np.testing.assert_array_equal(mine, due, err_msg=name)
    assert list(parts.details) == list(one.details)
    if one.records is None:
        assert parts.records is None
        return
    mine, due = parts.records.copy(), one.records.copy()
    if "row" in mine:  # numbers of distinct rows: equal where these are, whatever the numbers
        for each in (mine, due):
            each["row"] = pd.factorize(each["row"])[0]
    pd.testing.assert_frame_equal(mine, due, check_exact=True)


@pytest.fixture(scope="module")
def usual():
    return both((211, 90, 173), 1, [0, 30, 30, 77, 150, 200])


def score_both(one, parts, name, options):
    scored = one.of(np.flatnonzero(one.groups == 1)) if METRICS[name].is_utility else one
    assert_same(name, METRICS[name].score(scored, **options), score_in_parts(name, parts, **options))


@pytest.mark.parametrize(("name", "options"), SETTINGS, ids=lambda v: v if isinstance(v, str) else "")
def test_a_measure_in_parts_is_that_of_one_machine(usual, name, options):
    score_both(*usual, name, options)


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.tuples(st.integers(2, 60), st.sampled_from([0, 1, 30]), st.integers(2, 60)),
    st.integers(0, 10**6),
    st.lists(st.integers(0, 60), max_size=6),
)
def test_all_measures_in_any_parts(sizes, seed, cuts):
    one, parts = both(sizes, seed, cuts)
    for name, options in SETTINGS:
        score_both(one, parts, name, options)


def test_keys_of_many_columns_are_ranked_on_the_way(usual, monkeypatch):
    monkeypatch.setattr("synthrisk.metrics.partitions.keys._MOST", 1000)
    one, parts = usual
    again = replace(parts)  # nothing counted yet
    for name in ("common_rows_proportion", "unique_exact_matches", "zero_cap", "generalized_cap"):
        score_both(one, again, name, OPTIONS.get(name, {}))


def test_k_anonymity_in_parts_is_that_of_one_machine(usual):
    one, parts = usual
    known, targets = ["town", "age"], ["illness", ["illness", "smokes"], "age"]
    assert keys_of_real(parts, known) == k_anonymity.keys_of_real(one.real, known)
    assert keys_of_release(parts, known, targets) == k_anonymity.keys_of_release(one, known, targets)
    assert values_of_real(parts, known, targets) == k_anonymity.values_of_real(one.real, known, targets)


def test_numbers_past_the_floats_stay_apart():
    real = pd.DataFrame({"id": [2**53, 2**53 + 1, 5], "s": ["a", "b", "a"]})
    release = pd.DataFrame({"id": [2**53 + 1, 7, 7], "s": ["b", "a", "a"]})
    parts = agree(["id", "s"], Here([real[:1], real[1:]]), None, Here([release]))
    assert score_in_parts("common_rows_proportion", parts).records["score"].tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("rapid", {}, "rapid is not computed in parts; categorical_cap, .* accuracy are"),
        ("zero_cap", {**ROLES, "bins": {"age": 5}}, "zero_cap is computed in parts without bins"),
        ("accuracy", {"queries": [{"count": "*", "by": ["age"]}]}, "accuracy is computed in parts for the generic"),
        ("distance_to_closest_record", {"baseline": True}, "in parts with baseline False alone, got True"),
        ("zero_cap", {**ROLES, "sensitive": "ilness"}, "sensitive must name columns of the table, got 'ilness'"),
    ],
)
def test_what_is_not_computed_in_parts_is_refused_in_one_sentence(usual, name, options, words):
    with pytest.raises(InputError, match=words):
        score_in_parts(name, usual[1], **options)


def test_tables_without_rows_and_types_apart_are_refused():
    rows = pd.DataFrame({"x": ["a", "b"]})
    with pytest.raises(InputError, match="synthetic must have rows"):
        agree(["x"], Here([rows]), None, Here([rows[:0]]))
    with pytest.raises(InputError, match="column 'x' must hold values of one type"):
        agree(["x"], Here([rows]), None, Here([pd.DataFrame({"x": [1, 2]})]))


def test_a_release_in_single_precision_is_compared_at_it():
    real = people(40, 1)[["weight", "town"]]
    release = real.astype({"weight": "float32"})
    tables = agree(list(real), Here([real[:25], real[25:]]), None, Here([release[:9], release[9:]]))
    column = tables.columns["weight"]
    np.testing.assert_array_equal(column.counts[0], column.counts[2])


IMPORTS = """
import sys
sys.modules |= {"dask": None, "distributed": None}
import synthrisk.metrics.partitions.findings, synthrisk.flows.cli.evaluate
from synthrisk.tasks.partitions import cluster
try:
    cluster(None, 1).__enter__()
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.proof
def test_without_dask_all_is_imported_and_the_engine_says_what_to_install():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    told = "InputError engine dask needs Dask, which is not installed: pip install 'synthrisk[dask]'"
    assert done.stdout.strip() == told
