import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from samples.drawn import beyond, boxes_below
from samples.estimates import around
from synthrisk.metrics.intervals.estimates import Estimate
from synthrisk.metrics.intervals.yardsticks import CURVE
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.gda import AttackView
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.metrics.verdicts.tables import gda_views
from synthrisk.tasks.pages import figures
from synthrisk.tasks.pages.figures import BEYOND, CAP, DOT, Row, memorization_figure, shortened, svg, words_of
from synthrisk.tasks.pages.sections.gda import gda_figure
from synthrisk.tasks.pages.sections.utility import MapPoint, risk_utility_figure

NARROWEST, LEAST = 330, 9  # px: the narrowest column of a page, the smallest type
MEASURE = Measure("rapid", "rapid", "income", "random_forest")
NAMES = ["cart", "x" * 300, "<script>alert(1)</script>", "מחולל נתונים ארוך מאוד", "مولد بيانات", "合成" * 40, "copy"]
NOTHING = Estimate(float("nan"), float("nan"), float("nan"))


def finding(name, risk=0.45, extra=0.1, **others):
    risks = around(risk, 0.01), around(risk - extra, 0.012), around(extra, 0.006)
    curve = tuple(Estimate(r, r - 0.02, r + 0.02) for r in risk * (1 - CURVE))
    shares = {f"selective_{s}": (risk * (1 - 0.5 * i / 4), 0.0) for i, s in enumerate(("0.01", "0.1", "0.5", "1"))}
    spread = (-0.3, -0.2, 0.0, 0.01, 0.1, 0.3, 0.9)
    made = Finding(name, "reference" if name == "copy" else "synthesizer", MEASURE, *risks, 0.25, NOTHING, 0.1)
    return replace(made, curve=curve, spread=spread, details=shares, **others)


def rows_of(names):
    return [Row(n, n == "copy", finding(n, 0.2 + 0.7 * i / len(names))) for i, n in enumerate(names)]


def points_of(names):
    return [
        MapPoint(r.name, r.reference, around(0.4 + 0.5 * (i % 7) / 7, 0.02), r.finding.memorization)
        for i, r in enumerate(rows_of(names))
    ]


def views_of(names) -> list[AttackView]:
    told = {"attempts": 500, "statistical_confidence": 0.5, "susceptibility": 1, "prior_knowledge": 5}
    found = []
    for i, name in enumerate(names):
        for column in ("income", "race"):
            claims = 10 ** (i % 4 + 1)
            own = told | {"claims": claims, "correct": 0.8 * claims, "work": 10.0 ** (i % 9), "attempts": 10**5}
            details = {k: (float(v), 0.0) for k, v in own.items()}
            found.append(replace(finding(name), measure=Measure("inference", "inference", column), details=details))
    return gda_views(StudyResult("s-1", "adult", found, [], [], {}, {}, {"columns": "10"}, {}, {}))


DRAWN = {
    "memorization": lambda names: memorization_figure(rows_of(names), 0.05),
    "risk": lambda names: figures.risk_figure(rows_of(names), 0.3),
    "spread": lambda names: figures.spread_figure(rows_of(names)),
    "curves": lambda names: figures.curves_figure(rows_of(names)),
    "selective": lambda names: figures.selective_figure(rows_of(names)),
    "gda": lambda names: gda_figure(views_of(names)),
    "map": lambda names: risk_utility_figure(points_of(names), "accuracy", "memorization", 0.95, 0.05),
    "map with long names": lambda names: risk_utility_figure(points_of(names), "u" * 90, "memorization " * 20, 0.95),
}
MANY = [f"synthesizer number {i}" for i in range(40)]
EACH = [(kind, names) for kind in DRAWN for names in (NAMES, MANY[:16])]


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize(("kind", "names"), EACH)
def test_no_type_is_below_nine_pixels_in_the_narrowest_column_and_no_word_goes_beyond_the_drawing(kind, names):
    figure = DRAWN[kind](names)
    assert not [t for t in beyond(figure) if t.isascii()]  # widths of other scripts are those of the reader's fonts
    made = svg(figure, "x")
    width = float(ElementTree.fromstring(made).get("viewBox").split()[2])
    sizes = [float(s) for s in re.findall(r"font(?:-size)?:[^;\"]*?([\d.]+)px", made)]
    assert sizes
    assert min(sizes) * NARROWEST / width >= LEAST


def test_numbers_of_the_gda_view_end_before_the_next_axis():
    figure = gda_figure(views_of(["a", "b", "copy"] * 3))
    FigureCanvasAgg(figure).draw()
    boxes = [axes.get_window_extent() for axes in figure.axes]
    for axes, own in zip(figure.axes, boxes, strict=True):
        after = [b.x0 for b in boxes if b.x0 > own.x1 and abs(b.y0 - own.y0) < 1]
        words = [*axes.texts, *axes.get_xticklabels()]
        assert all(word.get_window_extent().x1 < min([*after, 1e9]) - 2 for word in words)


def test_axis_labels_do_not_touch():
    assert len(boxes_below(memorization_figure(rows_of(MANY), 0.05), gap=3)) > 1


def drawn_of(estimate):
    return memorization_figure([Row("a", False, replace(finding("a"), memorization=estimate))])


def test_an_interval_that_goes_past_the_axis_is_marked_there():
    for estimate, marks in ((around(0.05, 0.25), 0), (Estimate(0.1, -2.0, 0.3), 1), (Estimate(0.1, -2.0, 1.7), 2)):
        assert svg(drawn_of(estimate), "x").count(f'class="{BEYOND}"') == marks
    wide = [MapPoint("a", False, Estimate(0.5, 0.1, 0.9), around(0.1, 0.01)), *points_of(["b", "c"])]
    axes = risk_utility_figure(wide, "accuracy", "memorization").axes[0]
    arrows = [line for line in axes.lines if line.get_gid() == BEYOND]
    low, high = axes.get_xlim()
    assert low > 0.1 or high < 0.9
    assert {float(line.get_xdata()[0]) for line in arrows} <= {low, high}
    assert len(arrows) == int(low > 0.1) + int(high < 0.9)


def test_a_narrow_interval_is_seen_beside_its_dot():
    axes = drawn_of(Estimate(0.5, 0.4999, 0.5001)).axes[0]
    dot = next(line for line in axes.lines if line.get_marker() == "o")
    caps = next(line for line in axes.lines if line.get_marker() == "|")
    assert list(caps.get_xdata()) == [0.4999, 0.5001]
    assert caps.get_markersize() == CAP >= dot.get_markersize() * 1.8 == DOT * 1.8
    bare = drawn_of(Estimate(0.5, np.nan, np.nan))
    assert not [line for line in bare.axes[0].lines if line.get_marker() == "|"]


def test_colours_are_those_of_the_page():
    made = svg(figures.risk_figure(rows_of(NAMES), 0.3), "x") + svg(figures.curves_figure(rows_of(NAMES)), "y")
    for name in ("ink", "muted", "accent", "alarm", "line", "series-1"):
        assert f"var(--{name}, #" in made
    assert not re.search(r"(fill|stroke): #(1f2933|6b7280|1d4f91|b3261e|d5dae1)", made)


CART = rows_of(["cart"])


def test_words_hold_values_with_intervals():
    assert words_of(memorization_figure(CART, 0.05)) == "cart 0.100 [0.094, 0.106]; limit 0.05"
    risk = words_of(figures.risk_figure([*CART, Row("lost", False, None, "failed")]))
    assert risk == "cart 0.200 [0.190, 0.210] (control 0.100, guess 0.250); lost failed"
    assert "0.200 [0.180, 0.220] at threshold 0" in words_of(figures.curves_figure(CART))
    assert "1 % of targets claimed: 0.200" in words_of(figures.selective_figure(CART))
    assert "median 0.010, middle half 0.000 to 0.100" in words_of(figures.spread_figure(CART))
    told = words_of(risk_utility_figure(points_of(["cart"]), "accuracy", "memorization", 0.95, 0.05))
    assert told == "cart utility 0.400 [0.380, 0.420] memorization 0.100 [0.094, 0.106]; ceiling 0.950; limit 0.05"
    assert "confidence improvement 0.60" in words_of(gda_figure(views_of(["cart"])))


def test_of_many_points_names_that_do_not_fit_are_counted():
    axes = risk_utility_figure(points_of(MANY), "accuracy", "memorization").axes[0]
    texts = [t.get_text() for t in axes.texts]
    named = [t for t in texts if "synth" in t]
    assert 0 < len(named) < 40
    assert f"↑ memorization ({40 - len(named)} names do not fit)" in texts
    few = risk_utility_figure(points_of(MANY[:8]), "accuracy", "memorization").axes[0]
    assert len([t for t in few.texts if "synth" in t.get_text()]) == 8


@pytest.mark.parametrize(("name", "told"), [("cart", "cart"), ("זכר", "\u2068זכר\u2069"), ("\u202eevil", "evil")])
def test_names_from_right_to_left_leave_the_rest_in_order(name, told):
    assert shortened(name) == told
