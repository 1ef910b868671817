from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.dates import date2num

from samples.drawn import beyond, boxes_below
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.exposure.attribution import attribution
from synthrisk.tasks.pages.attribution_figures import (
    effects_figure,
    interaction_figure,
    interaction_figures,
    triple_figures,
)
from synthrisk.tasks.pages.figures import shortened, svg

LONG = "a level with a very long name that does not end where a panel does"
SCHOOLS = ["none", "$x$ and $\\frac$", '<b onclick="x()">&amp;', LONG]


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    n = 1500
    table = pd.DataFrame({
        "school": rng.choice(SCHOOLS, n, p=[0.4, 0.3, 0.2, 0.1]), "sex": rng.choice(["f", "m"], n),
        "town": rng.choice([f"t{i:02}" for i in range(15)], n), "age": rng.integers(18, 90, n),
        "income": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(10, 1, n)),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
        "stay": pd.to_timedelta(rng.exponential(3, n), unit="D"), "<i>$q$</i> " + LONG: rng.choice(["u", "v"], n),
    })  # fmt: skip
    gone = rng.random(n) < 0.05
    table["work"] = np.where(gone, None, rng.choice(["w", "x"], n))
    table["trade"] = np.where(gone, None, rng.choice(["y", "z"], n))
    side = np.where(table["school"] == "none", -1.0, 1.0)
    eta = side * 0.04 * (table["age"] - 50) + 0.7 * (table["sex"] == "m") * (table["school"] == LONG)
    y = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    return attribution(y, table, list(table.columns))


def rows_of(frame, **own):
    return frame[(frame[list(own)] == list(own.values())).all(axis=1)]


def texts(figure):
    """Return the texts of the SVG, which must be well-formed, in drawing order."""
    root = ElementTree.fromstring(svg(figure, "x"))
    assert all("onclick" not in name for tag in root.iter() for name in tag.attrib)
    return ["".join(tag.itertext()) for tag in root.iter() if tag.tag.endswith("text")]


def dots(axes):
    lines = [zip(line.get_xdata(), line.get_ydata(), strict=True) for line in axes.lines if line.get_marker() == "o"]
    return {(float(x), float(y)) for line in lines for x, y in line}


def spans(axes):
    """Return the two-point lines of a panel that are not of the whole height."""
    lines = (tuple(map(float, line.get_xdata())) for line in axes.lines if len(line.get_xdata()) == 2)
    return {ends for ends in lines if ends[0] != ends[1]}


def test_effects_are_drawn_at_their_values_and_grouped_by_column(found):
    figure = effects_figure(found)
    axes = figure.axes[0]
    told = found.effects[(found.effects["kind"] != "per_unit") & ~found.effects["note"].str.contains("collinear")]
    drawn = told[told["column"] != "town"]
    assert set(drawn["effect"]) <= {x for x, _ in dots(axes)}
    assert set(zip(drawn["lower"], drawn["upper"], strict=True)) <= spans(axes)
    labels = texts(figure)
    levels = map(shortened, SCHOOLS[1:3])
    assert {*levels, *(shortened(column, 28) for column in found.columns["column"])} <= set(labels)
    assert labels.count("collinear with trade") == labels.count("collinear with work") == 1
    assert "change of the probability of being at risk" in labels
    assert "per unit" not in labels


def test_effects_show_the_largest_levels_and_say_how_many_are_left(found):
    town = rows_of(found.effects, column="town")
    figure = effects_figure(found, levels=3)
    assert f"{len(town) - 3} more with smaller effects" in texts(figure)
    drawn = {x for x, _ in dots(figure.axes[0])} & set(town["effect"])
    assert drawn == set(town["effect"].iloc[np.argsort(-town["effect"].abs())[:3]])


def test_groups_go_from_the_strongest_and_levels_from_the_largest(found):
    axes = effects_figure(found).axes[0]
    order = sorted(dots(axes), key=lambda dot: dot[1])
    group, groups = [order[0]], []
    for before, after in pairwise(order):
        if after[1] - before[1] > 1:
            groups.append(group)
            group = []
        group.append(after)
    assert all([x for x, _ in g] == sorted((x for x, _ in g), reverse=True) for g in groups)
    largest = [max(abs(x) for x, _ in g) for g in groups]
    assert largest[:4] == sorted(largest[:4], reverse=True)


def test_dates_are_dates_and_durations_days(found):
    other = dict(zip(found.interactions["first"], found.interactions["second"], strict=True))
    axes = interaction_figure(found, "day", other["day"]).axes[0]
    ends = date2num(np.array(["2020-01-01", "2022-06-19"], dtype="datetime64[D]"))
    assert ends[0] <= axes.dataLim.x0 < axes.dataLim.x1 <= ends[1]
    figure = interaction_figure(found, "stay", other["stay"])
    assert "stay, days" in texts(figure)
    assert 5 < figure.axes[0].dataLim.x1 < 20


@pytest.mark.parametrize("days", [0.001, 3, 40, 900, 60_000])
def test_date_axes_of_any_length(days):
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"day": pd.Timestamp("1950-03-01") + pd.to_timedelta(rng.random(200) * days, unit="D")})
    table["sex"] = rng.choice(["f", "m"], 200)
    figure = interaction_figure(attribution(rng.integers(0, 2, 200), table, ["day", "sex"]), "day", "sex")
    assert not beyond(figure, below=False)
    assert len(boxes_below(figure)) >= 2


@pytest.mark.filterwarnings("ignore:Glyph")
def test_labels_under_the_curves_do_not_touch(found):
    pairs = found.interactions[["first", "second"]].itertuples(index=False)
    curves = [pair for pair in pairs if pair[0] in ("age", "income", "day", "stay")][::3]
    assert {first for first, _ in curves} >= {"age", "day"}
    for pair in curves:
        assert len(boxes_below(interaction_figure(found, *pair))) > 1


def test_an_interaction_has_a_line_a_level_and_the_strongest_comes_first(found):
    assert list(found.interactions.iloc[0][["first", "second"]]) == ["age", "school"]
    figure = interaction_figure(found, "age", "school")
    rows = rows_of(found.grids, first="age", second="school")
    drawn = {line.get_label(): list(line.get_ydata()) for line in figure.axes[0].lines}
    assert drawn == {shortened(level, 18): list(part["risk"]) for level, part in rows.groupby("second_level")}
    assert len({line.get_color() for line in figure.axes[0].lines}) == 4
    assert set(drawn) <= set(texts(figure))
    strongest = interaction_figures(found, 2)
    assert (len(strongest), svg(strongest[0], "x")) == (2, svg(figure, "x"))


def test_two_categorical_columns_are_dodged_and_sparse_combinations_not_drawn(found):
    pair = rows_of(found.grids, first="town", second="trade")
    assert (pair["records"] < 10).any()
    shown = pair[pair["records"] >= 10]
    axes = interaction_figure(found, "town", "trade").axes[0]
    assert len({round(y, 6) for _, y in dots(axes)}) == len(shown)
    levels = list(dict.fromkeys(pair["first_level"]))
    told = [(x, levels[round(y)]) for x, y in sorted(dots(axes))]
    assert told == list(shown.sort_values("risk")[["risk", "first_level"]].itertuples(index=False, name=None))


def test_three_columns_are_a_panel_a_level_of_the_third():
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"school": rng.choice(["none", "long"], 900), "sex": rng.choice(["f", "m"], 900)})
    table["age"] = rng.integers(18, 90, 900)
    side = np.where((table["sex"] == "m") == (table["school"] == "long"), 1, -1)
    flags = rng.random(900) < 1 / (1 + np.exp(-0.06 * side * (table["age"] - 50)))
    found = attribution(flags.astype(float), table, list(table.columns))
    rows, panels = found.triple_grids, triple_figures(found)
    third = rows["third"].iloc[0]
    counts = table[third].value_counts()
    assert [p.axes[0].get_title(loc="left") for p in panels] == [f"{third}: {level}" for level in counts.index]
    for panel, level in zip(panels, counts.index, strict=True):
        own = rows[rows["third_level"] == level]
        drawn = {line.get_label(): list(line.get_ydata()) for line in panel.axes[0].lines}
        assert drawn == {name: list(part["risk"]) for name, part in own.groupby("second_level")}
        assert not beyond(panel, below=False)
    assert len(triple_figures(found, 1)) == 1
    chance = attribution((rng.random(900) < 0.4).astype(float), table, list(table.columns))
    assert chance.triples["p_holm"].iloc[0] > 0.05
    assert triple_figures(chance) == []


@pytest.mark.filterwarnings("ignore:Glyph")
def test_all_words_are_inside_and_nothing_is_mathematics(found):
    assert svg(effects_figure(found), "x") == svg(effects_figure(found), "x")  # the same bytes for the same input
    figures = [effects_figure(found), effects_figure(found, 2), *interaction_figures(found, 6)]
    for figure in figures:
        assert not beyond(figure, below=False)
        axes = figure.axes[0]
        words = [*axes.texts, *axes.get_yticklabels(), axes.xaxis.label, axes.yaxis.label]
        assert not any(word.get_parse_math() for word in words if "$" in word.get_text())


def test_a_small_effect_does_not_fill_the_panel():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.normal(size=8000)} | {c: rng.choice(["a", "b"], 8000) for c in "cd"})
    found = attribution(rng.integers(0, 2, 8000), table, ["x", "c", "d"])
    low, high = interaction_figure(found, "x", "c").axes[0].get_ylim()
    assert high - low >= 0.199
    left, right = interaction_figure(found, "c", "d").axes[0].get_xlim()
    assert right - left >= 0.199


def test_nothing_to_draw_is_said():
    found = attribution([1.0] * 30, pd.DataFrame({"x": list("ab") * 15}), "x")
    assert texts(effects_figure(found)) == ["every scored record has the same score: there is nothing to explain"]
    assert interaction_figures(found) == []
    with pytest.raises(InputError, match="first and second must be a pair with a grid, got 'x' and 'y'"):
        interaction_figure(found, "x", "y")
