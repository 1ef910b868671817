"""A release that was anonymized by coarser cells and lost columns is judged: a copy is seen, other people are none."""

import pandas as pd
import pytest

from samples.anonymized import anonymized, locally_anonymized, people
from synthrisk.conf.study import Data
from synthrisk.tasks.attack import attack
from synthrisk.tasks.data.task import given
from synthrisk.tasks.estimate import estimate
from synthrisk.tasks.judge import judge
from synthrisk.tasks.synthesize.task import release, synthesize
from synthrisk.tasks.workspace.references import Sample

N = 160
MEMBERS, CONTROL, INVENTED = people(N, 1), people(N, 2), people(N, 3)
MEASURES = ["zero_cap", "common_rows_proportion", "membership", "coverage"]
LIMITS = {f"memorization/{name}": 0.2 for name in MEASURES[:3]}


@pytest.fixture(scope="module")
def one(tmp_path_factory) -> Sample:
    folder = tmp_path_factory.mktemp("anonymized")
    for name, table in (("real", MEMBERS), ("control", CONTROL)):
        table.to_parquet(folder / f"{name}.parquet")
    known = ["age", "zip", "born", "job", "height"]
    data = Data(source=str(folder / "real.parquet"), quasi_identifiers=known, sensitive=["smokes"])
    table, cut = given.fn(data, str(folder / "control.parquet"), 1, str(folder))
    return Sample.of(data, table, cut, str(folder), 1)


def judged(cut: Sample, table: pd.DataFrame):
    made = [release.fn(cut, table, name="vendor")]
    made += [synthesize.fn(cut, kind, role="reference") for kind in ("copy", "near_copy")]
    return judge.fn(estimate.fn([attack.fn(each, MEASURES) for each in made]), LIMITS).result


def test_an_anonymized_copy_of_the_members_is_a_risk_each_column_is_told_and_a_lost_one_costs_utility(one: Sample):
    result = judged(one, anonymized(MEMBERS))
    useful = next(f for f in result.utility if f.synthesizer == "vendor" and f.measure.metric == "coverage")
    assert [useful.details[f"coverage_{name}"][0] for name in ("height", "job", "voted")] == [0, 0, 1]
    assert result.releases["vendor"].invalid == ""
    assert result.verdict("vendor") == "RISK"
    found = {f.measure.metric: f.memorization.value for f in result.findings if f.synthesizer == "vendor"}
    assert found["zero_cap"] > 0.9
    assert found["common_rows_proportion"] > 0.9, "rows are equal beside real values as coarse"
    notes = " ".join(result.releases["vendor"].notes)
    for told in (
        "'age' (8 bands of numbers)",
        "beginnings of texts), 'born' (",
        f"years), 'job' ({N} of {N} cells withheld",
        "'height' is absent",
    ):
        assert told in notes


def test_other_people_anonymized_are_judged_and_no_risk(one: Sample):
    result = judged(one, anonymized(INVENTED))
    assert result.releases["vendor"].invalid == ""
    assert result.verdict("vendor") not in ("RISK", "INVALID RELEASE", "FAILED")


def test_a_copy_of_cells_as_coarse_as_each_person_needs_is_seen_and_other_people_are_no_risk(one: Sample):
    copied, invented = (judged(one, locally_anonymized(table)) for table in (MEMBERS, INVENTED))
    assert copied.releases["vendor"].invalid == invented.releases["vendor"].invalid == ""
    assert copied.verdict("vendor") == "RISK"
    assert invented.verdict("vendor") not in ("RISK", "INVALID RELEASE", "FAILED")


def test_a_copy_in_bands_alone_is_equal_beside_real_values_in_bands(one: Sample):
    bands = MEMBERS.assign(age=anonymized(MEMBERS)["age"])
    result = judged(one, bands)
    found = {f.measure.metric: f.memorization.value for f in result.findings if f.synthesizer == "vendor"}
    assert found["common_rows_proportion"] > 0.9


def test_a_column_of_withheld_cells_for_the_most_part_breaks_no_release(one: Sample):
    withheld = INVENTED.assign(voted=INVENTED["voted"].where(INVENTED.index % 4 == 0, "*"))
    broken = INVENTED.assign(voted=INVENTED["voted"].where(INVENTED.index % 4 == 0))
    assert judged(one, withheld).releases["vendor"].invalid == ""
    assert "'voted' has 75% missing cells" in judged(one, broken).releases["vendor"].invalid
