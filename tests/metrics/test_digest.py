"""The digest of the atlas that ships: whole, of measures and leaks that there are, and the one that the page shows."""

from math import isnan, nan
from pathlib import Path

import pytest

from synthrisk.conf.grid import FULL, LEFT_OUT, WORDS
from synthrisk.metrics import METRICS
from synthrisk.metrics.atlas import Answer, Digest, read, shipped, text_of, typical
from synthrisk.metrics.release.identifiers import RELEASED
from synthrisk.tasks.atlas import draw_heat_map, overview, tables
from synthrisk.tasks.synthesize import find_synthesizer

ROOT = Path(__file__).parents[2]


def answer(leak: str, smallest: float, **others: object) -> Answer:
    given = {"table": "t", "measure": "zero_cap", "quantity": "memorization", "studies": 10, "seen_full": 1.0}
    given |= {"value_full": 0.5, "value_none": 0.0, "rank": 0.9, "alarms": 0.0, "alarms_lower": 0.0}
    return Answer(**given | {"leak": leak, "smallest": smallest, "alarms_upper": 0.31, "quiet": 10} | others)


@pytest.fixture
def small() -> Digest:
    leaks = {"leaky": {"words": "exact copies", "doses": [0.1, 1.0]}, "leaky_near": {"words": "near", "doses": [0.1]}}
    grid = {"tables": {"t": "Table"}, "studies": 10, "rows": 900, "folds": 2, "repetitions": 2, "leaks": leaks}
    answers = [answer("leaky", 0.1), answer("leaky_near", nan), answer("leaky_near", 0.1, quantity="tpr")]
    answers.append(answer("leaky", nan, measure="loud", alarms=0.5, alarms_lower=0.19, alarms_upper=0.81))
    return Digest(grid | {"left_out": []}, answers)


def test_a_digest_is_read_as_it_was_written(small):
    again = read(text_of(small))
    assert again.grid == small.grid
    assert [str(each) for each in again.answers] == [str(each) for each in small.answers]


def test_the_smallest_dose_of_several_measures_is_that_of_the_best(small):
    assert small.smallest({"zero_cap", "loud"}) == {"leaky": 0.1, "leaky_near": 0.1}
    assert all(isnan(dose) for dose in small.smallest({"loud"}).values())
    assert small.smallest({"accuracy"}) == {}


def test_tables_say_dose_blindness_alarms_and_what_sees_more(small, tmp_path):
    text = tables(small)
    assert "| `zero_cap` | 10 % | blind |" in text
    assert "| `zero_cap` | 10 % | blind |" in overview(small)
    assert "| `loud` | alarms | - |" in text
    assert "| `tpr` of `zero_cap` | near | 10 % | blind | 0.00 [0.00, 0.31] of 10 |" in text
    assert "| `loud` | 0.50 [0.19, 0.81] of 10 |" in text
    draw_heat_map(small, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("doses", "dose"),
    [([], nan), ([nan], nan), ([0.1], 0.1), ([0.1, nan], 0.1), ([0.1, nan, nan], nan), ([0.2, nan, 0.1], 0.2)],
)
def test_the_typical_dose_is_seen_in_at_least_half_of_the_tables(doses, dose):
    assert typical([answer("leaky", each) for each in doses]) == pytest.approx(dose, nan_ok=True)


def test_of_several_tables_it_is_said_in_how_many_a_leak_is_seen(small, tmp_path):
    names = {"t": "Table", "u": "Other", "v": "Third"}
    more = [answer("leaky", 1.0, table="u"), answer("leaky", nan, table="v"), answer("leaky_near", 0.1, table="u")]
    several = Digest(small.grid | {"tables": names}, [*small.answers, *more, answer("leaky_near", nan, table="v")])
    assert "| `zero_cap` | 100 % (2 of 3) | blind (1 of 3) |" in overview(several)
    assert "10 studies of 900 records each of 3 tables (Table, Other, Third)" in overview(several)
    assert "## Third" in tables(several)
    loud = [answer("leaky", nan, table=t, measure="noisy", alarms_lower=0.2) for t in "tuv"]
    assert "| `noisy` | alarms | - |" in overview(Digest(several.grid, [*several.answers, *loud]))
    draw_heat_map(several, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000


def test_the_shipped_digest_is_of_measures_and_leaks_that_there_are():
    digest = shipped()
    assert digest is not None
    asked = {name for name, metric in METRICS.items() if not (metric.is_utility or name in LEFT_OUT)}
    newer = {"hidden_rate", "disclosure_protection"}  # than the digest
    assert asked - {each.measure for each in digest.answers} <= newer
    assert {each.measure for each in digest.answers} <= asked | {RELEASED}
    assert set(digest.grid["leaks"]) == set(WORDS)
    assert all(find_synthesizer(leak).dose for leak in digest.grid["leaks"])
    assert set(digest.grid["tables"]) == set(digest.grid["shapes"]) == {table.name for table in FULL.tables}
    assert digest.grid["rows"] == FULL.rows
    assert digest.grid["studies"] == FULL.studies >= 3
    for each in digest.answers:
        doses = digest.grid["leaks"][each.leak]["doses"]
        assert isnan(each.smallest) or each.smallest in doses
        assert not (each.too_loud and not isnan(each.smallest))
        assert isnan(each.alarms) or each.alarms_lower <= each.alarms <= each.alarms_upper


def test_exact_copies_are_seen_by_whoever_looks_for_them_and_near_ones_are_not():
    digest = shipped()
    assert digest is not None
    own = {e.leak: e for e in digest.of("common_rows_proportion") if e.quantity == "memorization"}
    assert own["leaky"].seen_full == 1
    assert isnan(own["leaky_near"].smallest)


def test_the_pages_show_the_tables_of_the_shipped_digest():
    digest = shipped()
    assert digest is not None
    assert overview(digest).strip() in (ROOT / "docs" / "atlas.md").read_text("utf-8")
    assert tables(digest).strip() in (ROOT / "docs" / "atlas_tables.md").read_text("utf-8")
