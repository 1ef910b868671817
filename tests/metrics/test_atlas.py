"""The digest of the atlas that ships: whole, of measures and leaks that there are, and the one that the page shows."""

from itertools import combinations
from math import isnan, nan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from synthrisk.conf.grid import FULL, LEFT_OUT, WORDS
from synthrisk.metrics import METRICS
from synthrisk.metrics.atlas import Answer, Digest, covering, most_alike, read, shape_of, shipped, text_of, typical
from synthrisk.metrics.release.identifiers import RELEASED
from synthrisk.tasks.atlas import draw_heat_map, overview, tables
from synthrisk.tasks.synthesize import find_synthesizer

ROOT, SHIPPED = Path(__file__).parents[2], shipped()


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


def test_a_digest_is_read_as_it_was_written_and_the_smallest_dose_is_that_of_the_best_measure(small):
    again = read(text_of(small))
    assert again.grid == small.grid
    assert [str(each) for each in again.answers] == [str(each) for each in small.answers]
    assert small.smallest({"zero_cap", "loud"}) == {"leaky": 0.1, "leaky_near": 0.1}
    assert all(isnan(dose) for dose in small.smallest({"loud"}).values())
    assert small.smallest({"accuracy"}) == {}


def test_tables_say_dose_blindness_alarms_and_what_sees_more(small, tmp_path):
    text = tables(small)
    assert "| `zero_cap` | 10 % | blind |" in overview(small)
    for row in (
        *("| `zero_cap` | 10 % | blind |", "| `loud` | alarms | - |"),
        "| `tpr` of `zero_cap` | near | 10 % | blind | 0.00 [0.00, 0.31] of 10 |",
        "| `loud` | 0.50 [0.19, 0.81] of 10 |",
    ):
        assert row in text
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


def test_the_shipped_digest_is_of_measures_and_leaks_that_there_are_and_the_one_that_the_pages_show():
    digest, grid = SHIPPED, SHIPPED.grid
    asked = {name for name, metric in METRICS.items() if not (metric.is_utility or name in LEFT_OUT)}
    measures = {each.measure for each in digest.answers}
    assert asked - measures <= {"hidden_rate", "disclosure_protection"}  # which are newer than the digest
    assert measures <= asked | {RELEASED}
    assert {each.leak for each in digest.answers} == set(grid["leaks"]) == set(WORDS)
    assert all(find_synthesizer(leak).dose for leak in grid["leaks"])
    assert set(grid["tables"]) == set(grid["shapes"]) == {table.name for table in FULL.tables}
    assert (grid["rows"], grid["studies"]) == (FULL.rows, FULL.studies)
    assert FULL.studies >= 3
    for each in digest.answers:
        assert isnan(each.smallest) or (each.smallest in grid["leaks"][each.leak]["doses"] and not each.too_loud)
        assert isnan(each.alarms) or each.alarms_lower <= each.alarms <= each.alarms_upper
    own = {e.leak: e for e in digest.of("common_rows_proportion") if e.quantity == "memorization"}
    assert (own["leaky"].seen_full, isnan(own["leaky_near"].smallest)) == (1, True)  # who looks for exact copies
    assert overview(digest).strip() in (ROOT / "docs" / "atlas.md").read_text("utf-8")
    assert tables(digest).strip() in (ROOT / "docs" / "atlas_tables.md").read_text("utf-8")


def digest_of(seen: dict[str, dict[str, float]], quantity: str = "memorization", **grid: object) -> Digest:
    leaks = sorted({leak for own in seen.values() for leak in own})
    answers = [
        answer(leak, dose, measure=name, quantity=quantity) for name, own in seen.items() for leak, dose in own.items()
    ]
    return Digest({"tables": {"t": "Table"}, "leaks": {leak: {} for leak in leaks}} | grid, answers)


def chosen(seen: dict[str, dict[str, float]], quantity: str = "memorization", **given: object) -> list[str]:
    return covering(digest_of(seen, quantity), dict.fromkeys(seen, "memorization"), "t", **given)


ONE, OTHER = {"x": 0.1, "y": 1.0}, {"x": 1.0, "y": 0.1}
GREEDY = dict.fromkeys(("x1", "x2", "y1", "y2"), 0.1)
LEFT, RIGHT = (dict.fromkeys(f"x{i} y{i} z{i}".split(), 0.1) for i in (1, 2))


@pytest.mark.parametrize(
    ("seen", "given", "due"),
    [
        ({"a": {"x": 0.1, "y": nan}, "b": {"x": 0.1, "y": 0.1}}, {}, ["b"]),  # one that sees all is enough
        ({"a": ONE, "b": OTHER}, {}, ["a", "b"]),  # each leak is seen at the smallest dose that any sees
        ({"a": ONE, "b": OTHER}, {"always": ["a"]}, ["b"]),
        ({"greedy": GREEDY, "left": LEFT, "right": RIGHT}, {}, ["left", "right"]),  # not the greedy choice
        ({"b": {"x": 0.1}, "a": {"x": 0.1}}, {}, ["b"]),  # of equally good ones the first
        ({"a": {"x": nan}, "b": {"x": nan}}, {}, []),  # what nobody sees asks for nothing
        ({}, {}, []),
        ({"a": {"x": 0.1}}, {"quantity": "tpr"}, []),  # another quantity than the limited one does not count
    ],
)
def test_the_fewest_measures_that_see_each_leak(seen, given, due):
    assert chosen(seen, **given) == due


def test_no_smaller_set_of_the_shipped_digest_does():
    table = next(iter(SHIPPED.grid["tables"]))
    names = sorted({each.measure for each in SHIPPED.answers})
    found = covering(SHIPPED, dict.fromkeys(names, "memorization"), table)

    leaks = list(SHIPPED.grid["leaks"])
    doses = np.full((len(names), len(leaks)), np.inf)
    for e in SHIPPED.answers:
        if (e.table, e.quantity) == (table, "memorization") and not isnan(e.smallest):
            own = names.index(e.measure), leaks.index(e.leak)
            doses[own] = min(doses[own], e.smallest)

    def sees_all(measures: tuple[int, ...]) -> bool:
        return (doses[list(measures)].min(axis=0) == doses.min(axis=0)).all()

    assert sees_all(tuple(names.index(name) for name in found))
    assert not any(map(sees_all, combinations(range(len(names)), len(found) - 1)))


def test_the_shape_of_a_table_counts_people_and_no_identifier():
    table = pd.DataFrame({"person": [1, 1, 2, 2], "age": [3, 3, 4, 4], "sex": list("mmww"), "ok": [True] * 4})
    shapes = [tuple(each.values()) for each in (shape_of(table, "person"), shape_of(table), shape_of(table.head(0)))]
    assert shapes == [(3, 0.3333, 2), (4, 0.5, 1), (4, 0.5, 0)]
    assert list(shape_of(table)) == ["columns", "numeric", "records_each"]


@pytest.mark.parametrize(
    ("columns", "numeric", "each", "name"), [(14, 0.4, 1, "mixed"), (9, 1.0, 1, "numbers"), (8, 0.5, 3, "several")]
)
def test_the_table_most_alike_is_that_of_the_same_shape_or_the_first(columns, numeric, each, name):
    names = "columns", "numeric", "records_each"
    shapes = {"mixed": (15, 0.4, 1.0), "numbers": (9, 1.0, 1.0), "several": (9, 0.5, 3.0)}
    shapes = {own: dict(zip(names, shape, strict=True)) for own, shape in shapes.items()}
    known = digest_of({}, tables=dict.fromkeys(shapes, ""), shapes=shapes)
    assert most_alike(known, dict(zip(names, (columns, numeric, each), strict=True))) == name
    assert most_alike(digest_of({}), shape_of(pd.DataFrame())) == "t"
