import pandas as pd
import pytest

from samples.anonymized import anonymized, locally_anonymized, people
from samples.releases_judged import cut_of, is_no_risk
from samples.releases_judged import judged as judged_beside
from synthrisk.tasks.workspace.references import Sample

N = 160
MEMBERS, CONTROL, INVENTED = people(N, 1), people(N, 2), people(N, 3)
MEASURES = ["zero_cap", "common_rows_proportion", "membership", "coverage"]
LIMITS = {f"memorization/{name}": 0.2 for name in MEASURES[:3]}


@pytest.fixture(scope="module")
def one(tmp_path_factory) -> Sample:
    roles = {"quasi_identifiers": ["age", "zip", "born", "job", "height"], "sensitive": ["smokes"]}
    return cut_of(MEMBERS, CONTROL, tmp_path_factory.mktemp("anonymized"), **roles)


def judged(cut: Sample, table: pd.DataFrame):
    return judged_beside(cut, table, MEASURES, LIMITS)


def test_an_anonymized_copy_of_the_members_is_a_risk_each_column_is_told_and_a_lost_one_costs_utility(one: Sample):
    result = judged(one, anonymized(MEMBERS))
    useful = next(f for f in result.utility if f.synthesizer == "vendor" and f.measure.metric == "coverage")
    assert [useful.details[f"coverage_{name}"][0] for name in ("height", "job", "voted")] == [0, 0, 1]
    assert (result.releases["vendor"].invalid, result.verdict("vendor")) == ("", "RISK")
    found = {f.measure.metric: f.memorization.value for f in result.findings if f.synthesizer == "vendor"}
    assert found["zero_cap"] > 0.9
    assert found["common_rows_proportion"] > 0.9, "rows are equal beside real values as coarse"
    notes = " ".join(result.releases["vendor"].notes)
    told = "'age' (8 bands of numbers)", "beginnings of texts), 'born' (", f"years), 'job' ({N} of {N} cells withheld"
    assert [part for part in (*told, "'height' is absent") if part not in notes] == []


@pytest.mark.parametrize("coarser", [anonymized, locally_anonymized])
def test_other_people_anonymized_are_judged_and_no_risk(one: Sample, coarser):
    assert is_no_risk(judged(one, coarser(INVENTED)))


def test_a_copy_in_cells_as_coarse_as_each_person_needs_or_in_bands_alone_is_seen(one: Sample):
    copied = judged(one, locally_anonymized(MEMBERS))
    assert (copied.releases["vendor"].invalid, copied.verdict("vendor")) == ("", "RISK")
    result = judged(one, MEMBERS.assign(age=anonymized(MEMBERS)["age"]))
    found = {f.measure.metric: f.memorization.value for f in result.findings if f.synthesizer == "vendor"}
    assert found["common_rows_proportion"] > 0.9


def test_a_column_of_withheld_cells_for_the_most_part_breaks_no_release(one: Sample):
    withheld = INVENTED.assign(voted=INVENTED["voted"].where(INVENTED.index % 4 == 0, "*"))
    broken = INVENTED.assign(voted=INVENTED["voted"].where(INVENTED.index % 4 == 0))
    assert judged(one, withheld).releases["vendor"].invalid == ""
    assert "'voted' has 75% missing cells" in judged(one, broken).releases["vendor"].invalid
