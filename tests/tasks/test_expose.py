"""The page that says who is at risk: right groups, nothing executed, and kept out of tracking."""

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.study.ledger import Cell, Measure
from synthrisk.metrics.study.planned import Planned
from synthrisk.tasks.expose import expose
from synthrisk.tasks.workspace.handed import Found
from synthrisk.tasks.workspace.references import Cut, Generator, LedgerFolder, ReleaseFolder, Sample
from synthrisk.tasks.workspace.table import store

RAPID = Planned(Measure("rapid", "rapid", "vote", "cart"), {"quasi_identifiers": ["job", "age"], "sensitive": "vote"})
CAP = Planned(Measure("cap", "zero_cap", "vote"), {"quasi_identifiers": ["job"], "sensitive": "vote"})
EVIL = "<script>alert('Müller')</script>"


@pytest.fixture
def sample(tmp_path) -> Sample:
    rng = np.random.default_rng(1)
    n = 200
    frame = pd.DataFrame(
        {
            "job": rng.choice(["nurse", EVIL, "cook $x$"], n),
            "age": rng.integers(20, 60, n),
            "vote": rng.choice(["yes", "no"], n),
        }
    )
    frame.loc[:4, "job"] = None
    return Sample(store(frame, tmp_path), Cut("unused", "cut", 1, 2, 0.0), str(tmp_path))


def page_of(sample, folder, scores, planned, control=None):
    parts = []
    for p, s in zip(planned, scores, strict=True):
        away = np.full(len(s), np.nan) if control is None else control
        rows = {"record": np.arange(len(s)), "measure": p.measure.key, "as_member": s, "as_control": away}
        parts.append(pd.DataFrame(rows | {"memorization": s - away, "lower": s - away - 0.1, "upper": np.nan}))
    pd.concat(parts).to_parquet(folder / "exposed.parquet")
    release = ReleaseFolder(sample, Generator("cart", "cart"), Cell("cart", 0, 0), "unused", "unused")
    ledger = LedgerFolder(release, tuple(planned), "unused")
    path = expose.fn(Found((ledger,), (), (), str(folder / "exposed.parquet"), ""), "s-1", 0.95)
    assert path == str(folder / "reports" / "s-1" / "exposure-cart.html")
    return (folder / "reports" / "s-1" / "exposure-cart.html").read_text("utf-8")


def test_groups_and_effects_are_told(sample, tmp_path):
    table = sample.records()
    scores = ((table["job"] == "nurse") | (table["age"] > 50)).to_numpy(dtype=float)
    html = page_of(sample, tmp_path, [scores, np.full(200, 0.5)], [RAPID, CAP])
    nurses = int((table["job"] == "nurse").sum())
    assert f'<td>job</td><td>nurse</td><td class="n">{nurses}</td><td class="n">1.000' in html
    assert '<td>job</td><td>missing</td><td class="n">5</td>' in html
    share = scores[(table["vote"] == "yes").to_numpy()].mean()
    assert f'<td>yes</td><td class="n">{int((table["vote"] == "yes").sum())}</td><td class="n">{share:.3f}' in html
    assert "change of the probability of being at risk" in html
    assert "What goes with risk" not in html.partition("cap.")[2].partition("<h2>")[0]  # no model, no attribution
    assert html.count("<h2>") == 2


def test_who_is_memorized_is_told_by_combination_and_row(sample, tmp_path):
    table = sample.records()
    nurse = (table["job"] == "nurse").to_numpy()
    odd = np.arange(len(table)) % 2
    scores, away = np.where(nurse, 1.0, 0.25 + 0.5 * odd), np.where(nurse, 0.5 * odd, 0.25 + 0.5 * odd)
    html = page_of(sample, tmp_path, [scores], [RAPID], away)
    memorized = html.partition("carry the memorization")[2].partition("<h3>")[0]
    assert memorized.count("job nurse") == memorized.count('class="interval"') > 2
    first = np.flatnonzero(nurse & (odd == 0))[0]
    row = f'<tr><td class="n">{first}</td><td class="n">1.000</td><td class="n">0.000</td><td class="n">+1.000'
    assert row in html.partition("Records that are memorized most")[2]
    assert "carry the memorization" not in page_of(sample, tmp_path, [away], [RAPID], away)
    assert "Records that are memorized" not in page_of(sample, tmp_path, [scores], [RAPID])


def test_values_of_the_table_are_escaped(sample, tmp_path):
    html = page_of(sample, tmp_path, [np.tile([0.0, 1.0], 100)], [RAPID])
    assert "<script" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize("scores", [np.ones(200), np.zeros(200), np.r_[1.0, np.full(199, np.nan)]])
def test_scores_without_spread_have_a_reason_in_place_of_effects(sample, tmp_path, scores):
    html = page_of(sample, tmp_path, [scores], [RAPID])
    assert "No effects:" in html


def test_nothing_scored_is_said(sample, tmp_path):
    assert "Nothing is guessed in this study" in page_of(sample, tmp_path, [np.full(200, np.nan)], [RAPID])
