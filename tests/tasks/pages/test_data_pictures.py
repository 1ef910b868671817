import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from samples.estimates import around
from samples.html import Page
from synthrisk.conf.study import Bootstrap
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE
from synthrisk.metrics.study.comparison import Compared
from synthrisk.metrics.study.findings import Usefulness
from synthrisk.metrics.study.ledger import Cell, Measure
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.tasks.pages.report import page, sections
from synthrisk.tasks.pages.section import Shown
from synthrisk.tasks.pages.sections.releases import DATA_PICTURES, MOST_SYNTHESIZERS, chosen, heat_map
from synthrisk.tasks.pages.templates import render, without_values
from synthrisk.tasks.workspace import references as made
from synthrisk.tasks.workspace.store import write_typed

COVERAGE = Measure("coverage", "coverage")


def people(n=600, seed=1):
    rng = np.random.default_rng(seed)
    job = rng.choice(["cook", "nurse", "smith"], n, p=[0.5, 0.3, 0.2])
    age, votes = rng.integers(18, 90, n), rng.random(n) < 0.8
    return pd.DataFrame({"job": job, "age": age, "vote": np.where(votes, job == "cook", 0)})


def shown(folder, real=None, releases=None, utility=(), identifier=None, references=()):
    """Return a study of these releases: a fold each, two at least."""
    real = people() if real is None else real
    releases = releases or {"cart": [people(300, 2)] * 2}
    folds = max(2, *map(len, releases.values()))
    np.save(folder / "cut.npy", (np.arange(len(real)) % folds)[None, :])
    cut = made.Cut(str(folder / "cut.npy"), "cut", 1, folds, 0.0)
    sample = made.Sample(made.store(real, folder), cut, str(folder), identifier=identifier)
    found, roles = [], {n: "reference" if n in references else "synthesizer" for n in releases}
    for name, frames in releases.items():
        ledgers = []
        for k, frame in enumerate(frames):
            place = folder / f"{name}-{k}"
            place.mkdir(exist_ok=True)
            write_typed(frame, place / made.RELEASE)
            generator = made.Generator(name, "cart", role=roles[name])
            release = made.ReleaseFolder(sample, generator, Cell(name, 0, k), str(place), "key")
            ledgers.append(made.LedgerFolder(release, (), str(place)))
        found.append(made.Found(tuple(ledgers), (), (), "unused", "unused"))
    settings = {n: {"role": role} for n, role in roles.items()}
    result = StudyResult("s-1", "study", [], [], [], settings=settings, utility=utility)
    estimated = made.Estimated(sample, tuple(f.generator for f in found), tuple(found), Bootstrap(), Compared([]))
    return Shown(made.Judged(result, estimated), "")


def html_of(what):
    context = DATA_PICTURES.context(what)
    return render(DATA_PICTURES.template, shown=what, result=what.result, **context)


def test_the_report_has_both_sections_and_tracking_gets_it_without_values_of_the_real_table(tmp_path):
    names = [section.name for section in sections()]
    assert names.index("answer") < names.index("next_steps") < names.index("measures") < names.index("data_pictures")
    whole = page(shown(tmp_path).judged, "")
    apart = without_values(whole)
    assert '<div id="data_pictures">' in whole
    told = ("nurse", "kept out of tracking")  # a category of many people is a cell all the same
    assert [[each in text for each in told] for text in (whole, apart)] == [[True, False], [False, True]]
    start, end = whole.index('<div id="data_pictures">'), whole.index("<!-- end of values -->")
    assert apart.startswith(whole[:start])
    assert apart.endswith(whole[end:].removeprefix("<!-- end of values -->"))


@pytest.mark.parametrize(("first", "more", "other"), [
    (2, "1 more column<", "The other column<"), (1, "2 more columns<", "The other 2 columns<"),
])  # fmt: skip
def test_columns_that_are_folded_are_counted(tmp_path, monkeypatch, first, more, other):
    for name in ("_OPEN", "_LISTED"):
        monkeypatch.setattr(f"synthrisk.tasks.pages.sections.releases.{name}", first)
    text = html_of(shown(tmp_path))
    assert f"<summary>{more}" in text
    assert f"<summary>{other}" in text


def test_bars_and_alternative_text_hold_the_shares(tmp_path):
    text = html_of(shown(tmp_path))
    share, mine = ((table["job"] == "cook").mean() for table in (people(), people(300, 2)))
    alone = re.search(r'aria-label="job\. ([^"]*)"', text).group(1)
    assert f"cook: real {share:.1%}, cart {mine:.1%}" in alone
    assert f'<span class="n">{share:.1%}</span>' in text
    assert "Where quality is lost" in text
    Page(text)


def test_nobody_can_be_picked_out(tmp_path):
    rng = np.random.default_rng(0)
    real = people(600).assign(
        pay=np.round(rng.lognormal(10, 0.6, 600), -1),
        born=pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 15000, 600), unit="D"),
        code=[f"secret-{i}" for i in range(600)],
        number=np.arange(600) * 7 + 100_003,
    )
    real.loc[3, "job"], real.loc[4:11, "job"] = "Only Astronaut", "Rare Falconer"
    real.loc[5, "pay"], real.loc[6, "pay"] = 7_654_321.0, 1.25
    real.loc[7, "born"], real.loc[8, "born"] = pd.Timestamp("1877-07-13"), pd.Timestamp("2019-11-23")
    fold = np.arange(600) % 2
    copies = [real[fold != k].reset_index(drop=True) for k in (0, 1)]  # a leak: every secret is in the releases too
    text = html_of(shown(tmp_path, real, {"cart": copies}))
    found = Page(text).everything
    for secret in ("Astronaut", "Falconer", "7654321", "7,654,321", "1.25", "1877", "2019-11", "secret-"):
        assert secret not in found
    counts = real["pay"].value_counts()
    single = {f"{v:.12g}" for v in counts.index[counts == 1]} | {str(v) for v in real["number"]}
    words = set(re.findall(r"[\d.]+", " ".join(re.findall(r"<bdi>([^<]*)</bdi>", text))))
    assert not words & single
    assert "no value or range is shared by 10 records: <bdi>code</bdi>" in text
    assert "&lt; 10</span>" in text


def test_a_category_of_one_person_is_not_named(tmp_path):
    real = people(400).assign(person=np.arange(400))
    real.loc[:60, "job"], real.loc[:60, "person"] = "Only Astronaut", 0
    text = html_of(shown(tmp_path, real, {"cart": [people(200, 3), people(200, 4)]}, identifier="person"))
    assert "Astronaut" not in text


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "a\"b'c&d", "x" * 300, "שלום עולם", "{{ 7*7 }}", "$\\frac{1}{2}$"]
)
def test_names_are_escaped(tmp_path, name):
    real = people(200).rename(columns={"job": name})
    real[name] = real[name].replace("cook", f"cell {name}")
    text = html_of(shown(tmp_path, real, {"cart": [real[:100], real[100:]]}))
    read = Page(text)
    assert "script" not in read.tags
    assert "49" not in re.findall(r"<bdi>([^<]*)</bdi>", text)
    assert len(max(re.findall(r"<bdi>([^<]*)</bdi>", text), key=len)) < 200


def test_reference_generators_are_not_drawn(tmp_path):
    releases = {"cart": [people(300, 2)] * 2, "copy": [people(300, 3)] * 2}
    text = html_of(shown(tmp_path, people(), releases, references=["copy"]))
    assert "cart" in text
    assert ">copy<" not in text
    alone = shown(tmp_path, people(), {"copy": releases["copy"]}, references=["copy"])
    assert DATA_PICTURES.context(alone) is None


def test_of_sixty_synthesizers_the_most_and_the_least_useful_are_drawn(tmp_path):
    names = [f"g{i}" for i in range(60)]
    values = [0.5 + 0.001 * ((i * 7) % 60) for i in range(60)]
    own = zip(names, values, strict=True)
    utility = [Usefulness(n, "synthesizer", COVERAGE, around(v, 0.01), *[NOT_ESTIMABLE] * 2) for n, v in own]
    result = StudyResult("s", "s", [], [], [], utility=utility)
    kept = chosen(result, names)
    ranked = sorted(names, key=lambda n: values[names.index(n)])
    assert (len(kept), set(kept)) == (MOST_SYNTHESIZERS, {*ranked[:3], *ranked[-3:]})
    assert chosen(replace(result, utility=()), names) == ["g0", "g1", "g2", "g57", "g58", "g59"]
    real = people(200)
    text = html_of(shown(tmp_path, real, {n: [real[:100]] for n in names}, utility))
    assert "Of 60 synthesizers the 3 most and the 3 least useful ones are drawn." in text


@pytest.mark.proof
def test_pages_of_many_columns_stay_small(tmp_path):
    rng = np.random.default_rng(0)
    many = pd.DataFrame({f"column {i}": rng.integers(0, 100, 400) for i in range(200)})
    text = html_of(shown(tmp_path, many, {"cart": [many[:200], many[200:]]}))
    assert len(text) < 800_000
    assert "Pairs of 30 columns were looked at" in text
    assert text.count('class="grid of-1"') == 30
    few = many.iloc[:, :30]
    frames = {f"g{i}": [few[:200], few[200:]] for i in range(6)}
    assert len(html_of(shown(tmp_path, few, frames))) < 800_000


def test_of_many_releases_the_first_are_compared(tmp_path):
    real = people(200)
    for count, told in ((2, "(mean over its releases)"), (9, "(mean over its first 6 releases)")):
        assert told in html_of(shown(tmp_path, real, {"cart": [real[:100]] * count}))


def test_broken_and_absent_releases_are_told_not_raised(tmp_path):
    for broken, told in (({"age": "unknown"}, "of another type than the real ones"), ({"job": None}, "missing")):
        assert told in html_of(shown(tmp_path, people(), {"cart": [people(300, 2).assign(**broken)] * 2}))
    what = shown(tmp_path)
    (tmp_path / "cart-1" / made.RELEASE).unlink()
    text = html_of(what)
    assert "could not be drawn: " in text
    assert str(tmp_path) not in text


def test_a_heat_map_has_real_records_below_the_diagonal_and_the_release_above():
    drawn = heat_map(["a", "<b>", "c"], {("a", "<b>"): 0.9, ("a", "c"): float("nan")}, {("a", "<b>"): 0.2})
    assert '<path d="M0 1h1v1h-1z" fill-opacity="0.9"/>' in drawn
    assert '<path d="M1 0h1v1h-1z" fill-opacity="0.2"/>' in drawn
    assert drawn.count("h1v1h-1z") == 2
    assert "&lt;b&gt;" in drawn
