import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from synthrisk.metrics.study.ledger import Cell, Measure, Planned
from synthrisk.tasks.expose import expose
from synthrisk.tasks.pages.exposure import reading
from synthrisk.tasks.workspace.records import keep_exposed
from synthrisk.tasks.workspace.references import Cut, Found, Generator, LedgerFolder, ReleaseFolder, Sample, store

RAPID = Planned(Measure("rapid", "rapid", "vote", "cart"), {"quasi_identifiers": ["job", "age"], "sensitive": "vote"})
CAP = Planned(Measure("cap", "zero_cap", "vote"), {"quasi_identifiers": ["job"], "sensitive": "vote"})
EVIL = "<script>alert('Müller')</script>"


@pytest.fixture
def sample(tmp_path) -> Sample:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"job": rng.choice(["nurse", EVIL, "cook $x$"], 200), "age": rng.integers(20, 60, 200)})
    frame["vote"] = rng.choice(["yes", "no"], 200)
    frame.loc[:4, "job"] = None
    return of(frame, tmp_path)


def of(frame, folder):
    return Sample(store(frame, folder), Cut("unused", "cut", 1, 2, 0.0), str(folder))


def page_of(sample, folder, scores, planned, control=None, kind="cart", **evidence):
    exposed = {}
    for p, s in zip(planned, scores, strict=True):
        away = np.full(len(s), np.nan) if control is None else control
        rows = {"as_member": s, "as_control": away, "memorization": s - away, "lower": s - away - 0.1, "upper": np.nan}
        rows |= evidence
        exposed[p.measure.key] = pd.DataFrame(rows)
    keep_exposed(folder / "exposed.parquet", exposed)
    path = expose.fn(found_in(sample, folder, planned, kind), "s-1", 0.95)
    assert path == str(folder / "reports" / "s-1" / "exposure-cart.html")
    return (folder / "reports" / "s-1" / "exposure-cart.html").read_text("utf-8")


def plans_of(frame, target="vote"):
    options = {"quasi_identifiers": [c for c in frame if c != target], "sensitive": target}
    measures = Measure("rapid", "rapid", target, "cart"), Measure("cap", "zero_cap", target)
    return [Planned(each, options) for each in measures]


def found_in(sample, folder, planned, kind="cart"):
    release = ReleaseFolder(sample, Generator("cart", kind), Cell("cart", 0, 0), "unused", "unused")
    ledger = LedgerFolder(release, tuple(planned), "unused")
    return Found((ledger,), (), (), str(folder / "exposed.parquet"), "")


def words(html, between=""):
    text = re.sub(r"<(style|svg)\b.*?</\1>", "", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", between, text)).split())


def how_many_words(html):
    return len(words(html, " ").split())


def rows_of(html, title):
    part = html.partition(f"{title}</")[2].partition("</table>")[0].partition("<tbody>")[2]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL) for row in part.split("</tr>")]
    return [[words(cell) for cell in row] for row in cells if row]


def test_what_is_advised_and_printed_fits_the_study(sample, tmp_path):
    html = page_of(sample, tmp_path, [np.full(200, 0.5)], [CAP])
    assert "synthrisk try STUDY --drop COLUMN --coarsen COLUMN=5, where STUDY is the file or the name" in words(html)
    assert "Printed is what stands open." in words(html)
    assert "details:not([open]) { display: none; }" in html
    one = replace(sample, cut=Cut("unused", "cut", 1, 1, 0.0))
    told = words(page_of(one, tmp_path, [np.full(200, 0.5)], [CAP], kind="files"))
    assert "With --without COLUMN or --coarsen COLUMN=5 added, the command synthrisk evaluate tries on" in told
    assert "study.yaml" not in told


def test_a_page_is_found_again_under_the_id_of_the_study_that_asks(sample, tmp_path, monkeypatch):
    page_of(sample, tmp_path, [np.full(200, 0.5)], [CAP])
    drawn = []
    monkeypatch.setattr("synthrisk.tasks.pages.exposure.exposure_page", lambda *given: drawn.append(given) or "anew")
    found = found_in(sample, tmp_path, [CAP])
    first, second = (Path(expose.fn(found, study, 0.95)) for study in ("study-one", "study-two"))
    assert drawn == []
    assert "study-one" in first.read_text("utf-8")
    assert second.read_text("utf-8") == first.read_text("utf-8").replace("study-one", "study-two")
    assert Path(expose.fn(found, "study-two", 0.9)).read_text("utf-8") == "anew"


@pytest.mark.parametrize(("evidence", "title"), [("gain", "gain r"), ("error", "error e")])
def test_the_evidence_for_each_record_stands_beside_what_its_presence_adds(sample, tmp_path, evidence, title):
    scores = np.linspace(0, 1, 200)
    away, own = np.zeros(200), {f"{evidence}_as_member": np.linspace(-1, 0.5, 200)}
    html = page_of(sample, tmp_path, [scores], [RAPID], away, **own)
    first = rows_of(html, "Records that are memorized most")[0]
    assert (first[0], first[-1]) == ("199", "+0.500" if evidence == "gain" else "0.500")
    assert title in words(html)
    assert title not in words(page_of(sample, tmp_path, [scores], [RAPID], away))


def test_groups_and_effects_are_told(sample, tmp_path):
    table = sample.records()
    scores = ((table["job"] == "nurse") | (table["age"] > 50)).to_numpy(dtype=float)
    html = page_of(sample, tmp_path, [scores, np.full(200, 0.5)], [RAPID, CAP])
    rows = {row[0]: row[1:] for row in rows_of(html, "By quasi-identifier")}
    classes = {row[0]: row[1:] for row in rows_of(html, "By sensitive value")}
    yes, nurses = ((table[c] == value).to_numpy() for c, value in (("vote", "yes"), ("job", "nurse")))
    for row, own in ((rows["job: nurse"], nurses), (classes["vote: yes"], yes)):
        assert row[0] == str(own.sum())
        assert row[1].startswith(f"{scores[own].mean():.3f} [")
    assert {classes["vote: yes"][2], classes["vote: no"][2]} == {"0.000", "1.000"}  # the guess is the commonest
    assert "change of the probability of being at risk" in html
    assert "What goes with risk" not in html.partition("<h2>cap.")[2].partition("<h2>")[0]  # no model, no attribution
    assert re.findall(r'<section id="measure-\d">', html) == ['<section id="measure-1">', '<section id="measure-2">']


def test_guess_and_control_of_the_same_combination_stand_beside_its_risk(sample, tmp_path):
    table = sample.records()
    nurse, old = (table["job"] == "nurse").to_numpy(), (table["age"] >= 40).to_numpy()
    scores, away = np.where(nurse, 1.0, 0.25), np.where(nurse & old, 0.75, 0.25)
    html = page_of(sample, tmp_path, [scores], [RAPID], away)
    rows = {row[0]: row[1:] for row in rows_of(html, "Combinations that are most surely at risk")}
    name = next(each for each in rows if each.endswith("job: nurse") or "job: nurse;" in each)
    low, high = re.search(r"age: (?:(\d+) )?(?:to under |under |and more)(\d+)?", name).groups()
    own = nurse & (table["age"] >= float(low or 0)).to_numpy() & (table["age"] < float(high or 99)).to_numpy()
    common = (table["vote"] == table["vote"].mode()[0]).to_numpy()
    count, risk, guess, control, adds = rows[name][:5]
    assert (count, risk[:5]) == (str(own.sum()), "1.000")
    assert (guess, control) == (f"{common[own].mean():.3f}", f"{away[own].mean():.3f}")
    assert adds.startswith(f"+{1 - away[own].mean():.3f}")
    count, _, *everybody = rows["all records"]
    assert (count, everybody[:2]) == ("200", [f"{common.mean():.3f}", f"{away.mean():.3f}"])


@pytest.mark.parametrize(("adds", "guess", "control", "said"), [
    (0.01, 0.9, 0.4, "its presence adds to it"), (-0.1, 0.6, 0.4, "not shown to beat what is right without a release"),
    (-0.1, 0.4, 0.4, "not shown to come from its presence"), (np.nan, np.nan, np.nan, "no control to compare with"),
])  # fmt: skip
def test_what_the_numbers_of_a_group_say(adds, guess, control, said):
    assert reading({"adds_lower": adds, "guess": guess, "lower": 0.5, "control": control}) == said


def test_who_is_memorized_is_told_first_and_by_row(sample, tmp_path):
    table = sample.records()
    nurse = (table["job"] == "nurse").to_numpy()
    odd = np.arange(len(table)) % 2
    scores, away = np.where(nurse, 1.0, 0.25 + 0.5 * odd), np.where(nurse, 0.5 * odd, 0.25 + 0.5 * odd)
    html = page_of(sample, tmp_path, [scores], [RAPID], away)
    rows = rows_of(html, "Combinations that carry the memorization")
    assert len(rows) > 2
    assert all("job: nurse" in row[0] for row in rows[:-1])
    text = words(html)
    assert text.index("presence in the data adds to the risk of") < text.index("What was tried") < text.index("How to")
    assert "Nothing was tried, so nothing is advised." in text
    assert "would help" not in text
    first = str(np.flatnonzero(nurse & (odd == 0))[0])
    assert [first, "1.000", "0.000", "+1.000"] in rows_of(html, "Records that are memorized most")
    nobody = words(page_of(sample, tmp_path, [away], [RAPID], away))
    assert "carry the memorization" not in nobody
    assert "This does not show that nobody is." in nobody
    half = np.full(200, 0.5)
    spread = words(page_of(sample, tmp_path, [half + np.where(odd, 0.12, -0.08)], [RAPID], half))
    assert "presence in the data adds to the risk of the records together (+0.020 [+0.006, +0.034])" in spread
    unknown = words(page_of(sample, tmp_path, [scores], [RAPID]))
    assert "no record was ever kept away" in unknown
    assert "Records that are memorized" not in unknown


def test_columns_of_many_values_are_bands_and_nobody_is_named(tmp_path):
    rng = np.random.default_rng(2)
    n = 1500
    born = pd.Timestamp("1930-01-01") + pd.to_timedelta(rng.integers(0, 27_000, n), unit="D")
    frame = pd.DataFrame({
        "born": born, "told": pd.Series(born).dt.strftime("%d.%m.%Y"), "id": [f"P{i:05}" for i in range(n)],
        "income": rng.lognormal(10, 1, n).round(2),
        "town": [f"hamlet {i}" if i < 5 else f"town {rng.integers(0, 40)}" for i in range(n)],
        "ill": rng.choice(["no", "asthma", "gout"], n, p=[0.7, 0.299, 0.001]),
    })  # fmt: skip
    scores = (rng.random(n) < 0.3).astype(float)
    html = page_of(of(frame, tmp_path), tmp_path, [scores, scores], plans_of(frame, "ill"), 0.3 * np.ones(n))
    text = words(html)
    assert how_many_words(html) < 3000
    assert not set(frame["id"]) & set(re.findall(r"P\d{5}", html))
    assert not set(frame["told"]) & set(re.findall(r"\d\d\.\d\d\.\d{4}", html))
    assert re.search(r"born: (before|from|\d{4} to before) \d{4}[;\d]", text)
    assert "hamlet" not in html
    assert not {f"{d:%Y-%m-%d}" for d in born if (d.month, d.day) != (1, 1)} & set(re.findall(r"\d{4}-\d\d-\d\d", html))
    assert not {str(v) for v in frame["income"]} & set(re.findall(r"\d+\.\d+", html))
    assert (frame["ill"] == "gout").sum() in range(1, 10)
    assert "gout" not in html
    assert [each for each in ("all others (", "make no group: id.") if each not in text] == []


def test_two_hundred_columns_make_no_long_page(tmp_path):
    rng, n = np.random.default_rng(3), 600
    frame = pd.DataFrame({f"column {i}": rng.integers(0, 100 if i % 2 else 4, n) for i in range(200)})
    frame["vote"] = rng.choice(["yes", "no"], n)
    scores = np.where(frame["column 150"] == 1, 0.9, 0.2) + 0.05 * rng.random(n)
    html = page_of(of(frame, tmp_path), tmp_path, [scores], plans_of(frame)[1:], 0.2 * np.ones(n))
    assert how_many_words(html) < 3000
    assert len(html) < 1_000_000
    assert "column 150: 1" in rows_of(html, "Combinations that are most surely at risk")[0][0]


def test_awkward_names_and_values_are_harmless_and_short(tmp_path):
    rng = np.random.default_rng(4)
    n, long = 300, "x" * 300
    values = {EVIL: [EVIL, '"quo\'ted" & more', "plain"], "מין": ["זכר", "נקבה"], long: [long, "z" * 300]}
    frame = pd.DataFrame({c: rng.choice(each, n) for c, each in (values | {"vote": ["yes", "no"]}).items()})
    scores = (rng.random(n) < 0.5).astype(float)
    html = page_of(of(frame, tmp_path), tmp_path, [scores], plans_of(frame)[:1], np.zeros(n))
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert long not in re.sub(r"<pre>.*?</pre>", "", html, flags=re.DOTALL)
    assert re.search(r"<bdi[^>]*>\u2068?מין", html)


@pytest.mark.parametrize(("scores", "told"), [
    *((scores, "No effects:") for scores in (np.ones(200), np.zeros(200), np.r_[1.0, np.full(199, np.nan)])),
    (np.full(200, np.nan), "Nothing is guessed in this study"),
])  # fmt: skip
def test_scores_without_spread_have_a_reason_in_place_of_effects(sample, tmp_path, scores, told):
    assert told in page_of(sample, tmp_path, [scores], [RAPID])
