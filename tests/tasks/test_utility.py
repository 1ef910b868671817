import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from mlflow import MlflowClient

from samples.checks import keep_ledger
from samples.estimates import around
from samples.studies import ledger_in, report_of, sampled
from synthrisk.conf.plan import plan
from synthrisk.conf.study import Bootstrap
from synthrisk.metrics import METRICS
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.comparison import Compared
from synthrisk.metrics.study.findings import Finding, Usefulness
from synthrisk.metrics.study.ledger import Cell, Measure, Planned
from synthrisk.metrics.study.scoring import attack_release
from synthrisk.metrics.verdicts.results import Limit, StudyResult
from synthrisk.metrics.verdicts.tables import details_table
from synthrisk.tasks.bootstrap import bootstrap
from synthrisk.tasks.log import log
from synthrisk.tasks.pages.sections.utility import MapPoint, risk_utility_figure
from synthrisk.tasks.workspace.references import Estimated, Judged

COVERAGE, ACCURACY = (Measure(name, name) for name in ("coverage", "accuracy"))
CAP = Measure("zero_cap", "zero_cap", "job")
SETTINGS = {"cart": {"role": "synthesizer", "kind": "cart"}}
SPLIT = pd.array([True] * 24 + [False] * 16, dtype="boolean")
PLANNED = [
    Planned(CAP, {"quasi_identifiers": ["age"], "sensitive": "job"}),
    Planned(COVERAGE),
    Planned(ACCURACY, {"queries": [{"count": "*", "by": ["job"]}]}),
]


def people(seed, n):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(20, 60, n), "job": rng.choice([*"abcdefgh"], n)})


def attacked(member, synthesizer="cart", planned=PLANNED):
    return attack_release(people(0, 40), people(1, 25), member, planned, 1, Cell(synthesizer, 0, 1))


def test_a_release_is_valued_on_its_members_beside_half_of_the_held_out():
    real, (ledger, values) = people(0, 40), attacked(SPLIT)
    assert set(ledger["metric"]) == {"zero_cap"}
    chosen = np.sort(np.random.default_rng(seed_of(1, 0, 1, "ceiling")).choice(np.arange(24, 40), 8, replace=False))
    for each in PLANNED[1:]:
        seed = seed_of(1, 0, 1, "cart", *each.words)
        told = {"control": real.iloc[chosen], "seed": seed, **each.options}
        by_hand = METRICS[each.measure.metric](real.iloc[:24], people(1, 25), **told)
        found = values[each.measure.key]
        assert (found.value, found.details | found.ceiling.named) == (by_hand.value, by_hand.details)
        assert (found.reason, by_hand.details["ceiling_rows"]) == ("", 8)


def test_the_ceiling_has_one_size_and_one_draw_for_all_and_needs_held_out_records():
    ceilings = [attacked(SPLIT, name)[1]["coverage"].ceiling.value for name in ("cart", "copy")]
    assert ceilings[0] == ceilings[1]
    drawn_from = pd.array([True] * 24 + [False] * 8 + [pd.NA] * 8, dtype="boolean")  # fresh leaves one half
    assert attacked(drawn_from)[1]["coverage"].ceiling.rows == 8
    values = attacked(pd.array([True] * 40, dtype="boolean"))[1]["coverage"]
    assert values.value == METRICS["coverage"](people(0, 40), people(1, 25)).value
    assert values.ceiling is None


def test_what_is_predicted_takes_no_quasi_identifiers():
    metrics = ["zero_cap", {"name": "train_synthetic_test_real", "model": "cart"}]
    planned = plan(metrics, ["age", "job", "pay"], ["age"], ["job"])
    assert [p.measure.key for p in planned] == ["zero_cap.job", "train_synthetic_test_real.job"]
    assert planned[1].options == {"model": "cart", "sensitive": "job"}


def test_findings_of_utility_stand_beside_those_of_risk(tmp_path):
    real = people(0, 40)
    sample = sampled(real, np.zeros((2, 40)), tmp_path, 1)
    ledgers, own = [], []
    for r in range(2):
        member = pd.array(np.random.default_rng(r).permutation(40) < 24, dtype="boolean")
        ledger, values = attack_release(real, people(r + 5, 25), member, PLANNED, 1, Cell("cart", r, 0))
        place = keep_ledger(tmp_path / str(r), values, ledger)
        ledgers.append(ledger_in(place, sample, Cell("cart", r, 0), PLANNED))
        own.append(values["accuracy"])
    made = bootstrap.fn(ledgers, Bootstrap())
    assert [type(f) for f in (*made.findings, *made.utility)] == [Finding, Usefulness, Usefulness]
    accuracy = made.utility[1]
    told = accuracy.value.value, accuracy.ceiling.value, accuracy.thinned.value
    by_hand = np.mean([(v.value, v.ceiling.value, v.ceiling.thinned) for v in own], axis=0)
    assert told == pytest.approx(by_hand)
    assert accuracy.value.lower < accuracy.value.value < accuracy.value.upper
    assert set(pd.read_parquet(made.exposed)["measure"]) == {"zero_cap.job"}


def test_a_study_of_utility_alone_has_findings_which_mlflow_holds_beside_their_ceiling_and_no_risk_of_them(tmp_path):
    real = people(0, 40)
    sample = sampled(real, np.zeros((1, 40)), tmp_path, 1)
    ledger, values = attack_release(real, people(5, 25), SPLIT, [PLANNED[1]], 1, Cell("cart", 0, 0))
    keep_ledger(tmp_path, values, ledger)
    made = bootstrap.fn([ledger_in(tmp_path, sample, Cell("cart", 0, 0), [COVERAGE])], Bootstrap())
    (found,) = made.utility
    assert found.measure == COVERAGE
    alone = result(findings=False, utility=[found], settings=SETTINGS)
    estimated = Estimated(sample, (made.generator,), (made,), Bootstrap(), Compared([]))
    logged = log.fn(Judged(alone, estimated))
    client = MlflowClient(logged.uri)
    metrics = client.get_run(logged.runs["cart"]).data.metrics
    assert {k: v for k, v in metrics.items() if k.endswith("/coverage")} == {"utility/coverage": found.value.value}
    study = client.search_runs([logged.experiment_id], "tags.role = 'study'")[0]
    written = json.loads(Path(client.download_artifacts(study.info.run_id, "utility.json")).read_text())
    (row,) = pd.DataFrame(**written).to_dict("records")
    assert (row["utility"], row["utility_ceiling"]) == (found.value.value, pytest.approx(found.ceiling.value))


PICTURE = {"cart": (0.9, 0.05), "$x$ ctgan": (0.75, 0.01), "copy": (1.0, 0.9), "fresh": (0.8, 0.0)}


def useful(name, value, measure=ACCURACY):
    role = "reference" if name in ("copy", "fresh") else "synthesizer"
    details = {"count_by_1": (value, 0.8), "ceiling_only": (float("nan"), float("nan"))}
    estimates = around(value, 0.02), around(value - 0.05, 0.02), around(0.78, 0.01)
    return Usefulness(name, role, measure, *estimates, (), details)


def risky(name, memorization):
    role = "reference" if name in ("copy", "fresh") else "synthesizer"
    return Finding(name, role, CAP, around(0.5, 0.1), around(0.4, 0.1), around(memorization, 0.02))


def result(limits=None, findings=True, **others):
    names = {n: {"role": "reference" if n in ("copy", "fresh") else "synthesizer", "kind": n} for n in PICTURE}
    found = [risky(n, m) for n, (_, m) in PICTURE.items()] if findings else []
    made = StudyResult("s-1", "demo", found, [], [], limits=limits or {}, facts={}, settings=names)
    return replace(made, **{"utility": [useful(n, u) for n, (u, _) in PICTURE.items()]} | others)


def drawn_maps(html):
    maps = r'<figure><figcaption>[^<]*.*?aria-label="(accuracy and [^"]*)".*?(<svg .*?</svg>)'
    return [(told, ElementTree.fromstring(svg)) for told, svg in re.findall(maps, html, re.S)]


def texts(drawing):
    return ["".join(t.itertext()) for t in drawing.iter() if t.tag.endswith("text")]


def test_the_page_has_the_table_and_a_map_a_threshold():
    limits = {"memorization/zero_cap.job": Limit(0.04, "board"), "risk/zero_cap.job": Limit(0.6, "board")}
    html = report_of(result(limits), "")
    plain = " ".join(re.sub(r"<[^>]*>", " ", html).split())
    assert "cart accuracy 0.900 [0.880, 0.920] 0.850 0.780" in plain
    maps = drawn_maps(html)
    assert len(maps) == 2
    told = "cart utility 0.850 [0.830, 0.870] memorization 0.050 [0.030, 0.070]"
    assert maps[0][0].startswith(f"accuracy and memorization by zero_cap.job: {told}")
    for _, drawing in maps:
        assert set(PICTURE) - {"copy"} <= set(texts(drawing))
        assert "ceiling" in texts(drawing)
    assert {"limit 0.04", "copy (0.900)"} <= set(texts(maps[0][1]))
    assert report_of(result(limits), "") == html


def test_without_thresholds_the_first_measure_is_mapped_and_without_one_of_both_there_is_no_map():
    maps = drawn_maps(report_of(result(), ""))
    assert [told.split(":")[0] for told, _ in maps] == ["accuracy and memorization by zero_cap.job"]
    of_risk, of_use = report_of(result(utility=[]), ""), report_of(result(findings=False), "")
    assert drawn_maps(of_risk) == drawn_maps(of_use) == []
    assert "Utility" not in of_risk
    assert "Utility: what" in of_use


def test_what_is_not_estimable_is_said_and_left_out_of_the_map():
    nothing = replace(useful("cart", 0.9), value=NOT_ESTIMABLE, thinned=NOT_ESTIMABLE, reason="<no> query")
    html = report_of(result(utility=[nothing, useful("copy", 1.0)]), "")
    assert "not estimable: &lt;no&gt; query" in html
    assert "cart" not in texts(drawn_maps(html)[0][1])


@pytest.mark.parametrize("n", [1, 2, 6, 14])
def test_names_on_the_map_do_not_lie_over_each_other(n):
    rng = np.random.default_rng(n)
    places = ((around(0.9 + 0.02 * rng.random(), 0.01), around(0.1 * rng.random(), 0.01)) for _ in range(n))
    points = [MapPoint(f"synthesizer-{i}", i % 3 == 0, *place) for i, place in enumerate(places)]
    figure = risk_utility_figure(points, "accuracy", "memorization", 0.92, 0.05)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    names = [t for t in figure.axes[0].texts if t.get_text().startswith("synthesizer")]
    boxes = [t.get_window_extent(canvas.get_renderer()) for t in names]
    told = " ".join(t.get_text() for t in figure.findobj(Text))
    unnamed = int(found[1]) if (found := re.search(r"(\d+) names do not fit", told)) else 0
    assert len(boxes) + unnamed == n
    assert unnamed <= n // 6
    width, height = figure.bbox.width, figure.bbox.height
    for i, box in enumerate(boxes):
        assert 0 <= box.x0 <= box.x1 <= width
        assert 0 <= box.y0 <= box.y1 <= height
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_a_control_far_above_the_synthesizers_stands_at_the_edge_with_its_value():
    told = {"cart": (0.8, 0.05), "leaky": (0.8, 0.09), "copy": (0.95, 0.9)}
    points = [MapPoint(name, name != "cart", *(around(x, 0.01) for x in place)) for name, place in told.items()]
    axes = risk_utility_figure(points, "accuracy", "memorization", 0.8, 0.04).axes[0]
    assert {t.get_text() for t in axes.texts} >= {"cart", "leaky", "copy (0.900)"}
    assert 0.1 < axes.get_ylim()[1] < 0.2
    near = [replace(p, risk=around(0.1, 0.01)) if p.name == "copy" else p for p in points]
    assert "copy" in {t.get_text() for t in risk_utility_figure(near, "accuracy", "memorization").axes[0].texts}


def test_details_hold_those_of_utility():
    table = details_table(result())
    row = table[(table["synthesizer"] == "cart") & (table["detail"] == "count_by_1")].iloc[0]
    assert (row["measure"], row["members"], row["control"]) == ("accuracy", 0.9, 0.8)
