"""The fewest measures that see each leak: small digests by hand, and every subset of the shipped one."""

from itertools import combinations
from math import inf, isnan, nan

import pandas as pd
import pytest

from synthrisk.metrics.atlas import Answer, Digest, covering, most_alike, shape_of, shipped


def digest(seen: dict[str, dict[str, float]], quantity: str = "memorization", **grid: object) -> Digest:
    leaks = sorted({leak for own in seen.values() for leak in own})
    answers = [
        Answer("t", leak, name, quantity, 9, dose, 1.0, 0.5, 0.0, 0.9, 0.0, 0.0, 0.1, 36)
        for name, own in seen.items()
        for leak, dose in own.items()
    ]
    return Digest({"tables": {"t": "Table"}, "leaks": {leak: {} for leak in leaks}} | grid, answers)


def chosen(seen: dict[str, dict[str, float]], **given: object) -> list[str]:
    return covering(digest(seen), dict.fromkeys(seen, "memorization"), "t", **given)


def test_one_that_sees_all_is_enough():
    assert chosen({"a": {"x": 0.1, "y": nan}, "b": {"x": 0.1, "y": 0.1}}) == ["b"]


def test_each_leak_is_seen_at_the_smallest_dose_that_any_sees():
    assert chosen({"a": {"x": 0.1, "y": 1.0}, "b": {"x": 1.0, "y": 0.1}}) == ["a", "b"]
    assert chosen({"a": {"x": 0.1, "y": 1.0}, "b": {"x": 1.0, "y": 0.1}}, always=["a"]) == ["b"]


def test_the_greedy_choice_is_not_taken_where_two_are_enough():
    greedy = {"x1": 0.1, "x2": 0.1, "y1": 0.1, "y2": 0.1}
    left, right = {"x1": 0.1, "y1": 0.1, "z1": 0.1}, {"x2": 0.1, "y2": 0.1, "z2": 0.1}
    assert chosen({"greedy": greedy, "left": left, "right": right}) == ["left", "right"]


def test_of_equally_good_ones_the_first_is_taken():
    assert chosen({"b": {"x": 0.1}, "a": {"x": 0.1}}) == ["b"]


def test_what_nobody_sees_asks_for_nothing():
    assert chosen({"a": {"x": nan}, "b": {"x": nan}}) == []
    assert covering(digest({}), {}, "t") == []


def test_another_quantity_than_the_limited_one_does_not_count():
    assert covering(digest({"a": {"x": 0.1}}, quantity="tpr"), {"a": "memorization"}, "t") == []


def test_no_smaller_set_of_the_shipped_digest_does():
    known = shipped()
    assert known is not None
    table = next(iter(known.grid["tables"]))
    names = sorted({each.measure for each in known.answers})
    found = covering(known, dict.fromkeys(names, "memorization"), table)

    seen: dict[str, dict[str, float]] = {name: {} for name in names}
    for e in known.answers:
        if (e.table, e.quantity) == (table, "memorization") and not isnan(e.smallest):
            seen[e.measure][e.leak] = min(seen[e.measure].get(e.leak, inf), e.smallest)

    def earliest(measures: tuple[str, ...]) -> dict[str, float]:
        best: dict[str, float] = {}
        for leak, dose in (each for measure in measures for each in seen[measure].items()):
            best[leak] = min(best.get(leak, inf), dose)
        return best

    assert earliest(tuple(found)) == earliest(tuple(names))
    assert found
    assert not any(earliest(fewer) == earliest(tuple(names)) for fewer in combinations(names, len(found) - 1))


def test_the_shape_of_a_table_counts_people_and_no_identifier():
    table = pd.DataFrame({"person": [1, 1, 2, 2], "age": [3, 3, 4, 4], "sex": list("mmww"), "ok": [True] * 4})
    assert shape_of(table, "person") == {"columns": 3, "numeric": 0.3333, "records_each": 2}
    assert shape_of(table) == {"columns": 4, "numeric": 0.5, "records_each": 1}
    assert shape_of(table.head(0)) == {"columns": 4, "numeric": 0.5, "records_each": 0}


@pytest.mark.parametrize(
    ("columns", "numeric", "each", "name"), [(14, 0.4, 1, "mixed"), (9, 1.0, 1, "numbers"), (8, 0.5, 3, "several")]
)
def test_the_table_most_alike_is_that_of_the_same_shape(columns, numeric, each, name):
    shapes = {
        "mixed": {"columns": 15, "numeric": 0.4, "records_each": 1.0},
        "numbers": {"columns": 9, "numeric": 1.0, "records_each": 1.0},
        "several": {"columns": 9, "numeric": 0.5, "records_each": 3.0},
    }
    known = digest({}, tables=dict.fromkeys(shapes, ""), shapes=shapes)
    assert most_alike(known, {"columns": columns, "numeric": numeric, "records_each": each}) == name


def test_without_shapes_the_first_table_stands():
    assert most_alike(digest({}), shape_of(pd.DataFrame())) == "t"
