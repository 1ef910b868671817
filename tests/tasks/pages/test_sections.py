import re
from dataclasses import replace
from functools import cache
from html import unescape
from importlib.metadata import EntryPoint, EntryPoints
from io import StringIO
from itertools import combinations
from math import isnan

import pytest
from rich.console import Console

from samples.estimates import around
from samples.reported import DISTANCE, LIMITS, PICTURE, RAPID, REFERENCES, claiming, finding, study, usual
from samples.studies import report_of
from synthrisk.flows.terminal.tables import full_tables
from synthrisk.metrics.atlas import dose_in_words, shipped
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE
from synthrisk.metrics.study.comparison import Comparison
from synthrisk.metrics.study.findings import Cost, Usefulness
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.verdicts.results import Limit
from synthrisk.tasks.pages import report
from synthrisk.tasks.pages.section import Section
from synthrisk.tasks.pages.sections.answer import DEFINITIONS
from synthrisk.tasks.pages.templates import quoted
from synthrisk.tasks.tracking.names import params_of
from synthrisk.tasks.tracking.tables import judged_league

ZERO_CAP = Measure("zero_cap", "zero_cap", "income")
MEMBERSHIP = Measure("membership", "membership", attacker="density_ratio")


@cache
def page():
    return report_of(usual())


def words(html):
    """Return what is read on a page, in one line."""
    inline = re.sub(r"</?(?:wbr|bdi|b|span|sup|a)\b[^>]*>", "", html)
    return unescape(" ".join(re.sub(r"<(style|svg).*?</\1>|<[^>]*>", " ", inline, flags=re.DOTALL).split()))


def test_the_answer_stands_open_all_chapters_after_it_are_closed_and_each_line_of_the_contents_leads_to_its_own():
    html = page()
    places = [html.index(f'id="{name}"') for name in ("answer", "league", "measures", "leaks", "numbers", "provenance")]
    assert places == sorted(places)
    unfolded = re.sub(r"<details class=\"section\">.*?\n</details>", "", html, flags=re.DOTALL)
    closed = ("league", "measures", "leaks", "numbers", "thresholds", "references", "provenance")
    assert [name for name in ("answer", *closed) if f'id="{name}"' in unfolded] == ["answer"]
    targets = re.findall(r'href="#([^"]+)"', html[html.index("<nav") : html.index("</nav>")])
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(targets) == len(set(targets)) > 8
    assert all(ids.count(name) == 1 for name in re.findall(r'href="#([^"]+)"', html))


def test_the_names_of_several_attacker_models_together_are_explained_where_they_stand():
    largest = Measure("rapid_max", "rapid", "income", "cart, lasso")
    own = [replace(finding(name, largest), details={"rapid_max": (0.4, 0.3)}) for name in PICTURE]
    told = "the value of the model that puts most records at risk"
    assert told in words(report_of(study(own)))
    assert told not in words(page())


def test_the_league_has_a_column_of_epsilons_where_a_generator_promises_one():
    made = usual()
    name = next(n for n, own in made.settings.items() if own["role"] == "synthesizer")
    private = replace(made, settings={**made.settings, name: {**made.settings[name], "epsilon": "3"}})
    assert "Epsilon is what a generator promises" in words(report_of(private))
    assert re.findall(r'data-label="epsilon">([^<]*)<', report_of(private)).count("3") == 1
    assert "epsilon" not in re.findall(r"<th[^>]*>([^<]*)</th>", report_of(made))
    table = judged_league(private)
    assert set(zip(table.synthesizer == name, table.epsilon, strict=True)) == {(True, "3"), (False, "")}
    assert "epsilon" not in judged_league(made)
    assert params_of(private, name)["epsilon"] == "3"
    console = Console(width=80, record=True, file=StringIO())
    for line in full_tables(private):
        console.print(line)
    assert "epsilon" in console.export_text()


def test_the_league_table_has_a_line_a_generator_the_worst_first():
    values = (around(each, 0.0) for each in (0.9, 0.9, 0.95))
    useful = [Usefulness("cart", "synthesizer", Measure("accuracy", "accuracy"), *values)]
    html = report_of(usual(utility=useful))
    table = html[html.index('id="league"') : html.index('id="measures"')].partition("</table>")[0]
    lines = [words(row) for row in table.split("<tr")[2:]]
    assert [line.partition(">")[2].split()[0] for line in lines] == list(PICTURE)
    text = " ".join(lines)
    assert "RISK +0.125 [+0.119, +0.131] 0.050 memorization/rapid.income 0.450 (0.325) 0.900 [0.900, 0.900]" in text
    assert "reference: the training rows themselves +0.550" in text
    assert "a release takes" not in table
    told = words(report_of(usual(utility=useful, costs={"cart": Cost(2.0, 311.6), "coarse": Cost(90.4)})))
    assert "Utility is accuracy. Simple questions" in told
    assert "0.900 [0.900, 0.900] 2 s, 312 MB" in told
    assert "90 s" in told


def test_measures_are_told_in_words_with_their_source_what_is_not_judged_is_said_and_passed_checks_are_a_line():
    text = words(page())
    for told in (
        "An attacker trains a model on the release that predicts the sensitive value",
        "Source: Templ, Thees and Mueller, RAPID",
        "Limit: memorization 0.05. Highest memorization of a synthesizer: +0.125",
        "No limit: not judged.",
        "1 measure has no limit, so that nothing is judged by it: distance_to_closest_record.",
        "The surest memorization there: +0.125",
        f"All {len(usual().checks)} checks passed: they behave as they must.",
    ):
        assert told in text
    assert "passed</td>" not in page()


def test_a_leak_that_was_not_seen_stands_beside_those_that_were():
    found = [finding(n, m, *v) for n, v in PICTURE.items() for m in (RAPID, ZERO_CAP) if (n, m) != ("leaky", RAPID)]
    limits = LIMITS | {"memorization/zero_cap.income": Limit(0.05, "the ethics board")}  # which has seen the leak
    text = words(report_of(study([*found, finding("leaky", RAPID, 0.3, 0.001)], limits, leaked={"leaky": 0.1})))
    leaks = text.split("Which leak would this study have seen?")[-1].split("All numbers")[0]
    for told in (
        *("copy (copy) near copy (near_copy) leak of 10.0% (leaky)", "seen +0.550", "not seen +0.001"),
        "What the verdicts of NO EVIDENCE rest on",
        "would have been seen, though the planted leak of 10.0% was not seen",
    ):
        assert told in leaks


def test_what_the_measures_were_blind_to_elsewhere_stands_beside_the_planted_leaks():
    found = [finding(n, ZERO_CAP, *v) for n, v in PICTURE.items()]
    text = words(report_of(study(found, leaked={"leaky": 0.1})))
    digest = shipped()
    assert digest is not None
    told = text.split("What these measures would not have seen")[-1].split("All numbers")[0]
    assert "no verdict rests on the atlas" in told
    for leak, dose in digest.smallest({"zero_cap"}).items():
        name = digest.leaks[leak]["words"]
        assert (name if isnan(dose) else f"{name} {dose_in_words(leak, dose)}") in told


def test_a_gain_below_the_guess_stands_beside_its_cause():
    lost = replace(finding("cart", ZERO_CAP, 0.2, 0.1, guess=0.7), reach=0.25)
    why = "below the guess since the attack has no answer for 75.0% of the members, which counts as wrong"
    assert why in words(report_of(study([lost], {})))
    silent = replace(claiming("cart", "income", 10), reach=0.25, risk_gain=around(-0.5, 0.0))  # it made no claim there
    for each in (replace(lost, reach=1.0), replace(lost, measure=RAPID), silent):
        text = words(report_of(study([each], {})))
        assert [told for told in ("no answer for", "which counts as wrong") if told in text] == []


def test_why_membership_has_no_guess_is_said_where_s_stands_below():
    told = {"statistical_confidence": (0.667, float("nan"))}
    found = replace(finding("cart", MEMBERSHIP), details=told, risk_gain=NOT_ESTIMABLE)
    text = words(report_of(study([found], {})))
    assert "statistical guess S 0.667" in text
    assert "the statistical guess S, which is a share of claims, is no yardstick of it" in text
    assert "nothing is guessed here" not in text


def test_pairs_are_told_in_a_line_a_measure():
    names = ["a", "b", "c"]
    pairs = [Comparison(RAPID, "risk", x, y, around(-0.1, 0.0), 1e-5, 1e-5, 1e-5, x) for x, y in combinations(names, 2)]
    undecided = Comparison(DISTANCE, "risk", "a", "b", around(0.0, 0.0), 0.5, 0.5, 0.5)
    text = words(report_of(usual(comparisons=[*pairs, undecided])))
    assert "risk in rapid.income: a is lower than b, c (p (Holm) < 0.001)" in text
    assert "; b is lower than c (p (Holm) < 0.001)." in text
    assert "risk in distance_to_closest_record: no pair differs." in text


@pytest.mark.parametrize(("name", "css"), [
    ('"; } body { display: none', '"\\22 \\3b  \\7d  body \\7b  display\\3a  none"'), ("é", '"\\e9 "'),
])  # fmt: skip
def test_names_in_the_style_are_quoted(name, css):
    assert quoted(name) == css
    assert "</style><b>" not in report_of(usual(name="</style><b>"))


def many(names, measures, pairs=False):
    found = [
        replace(finding(n, m, *PICTURE.get(n, (0.4, 0.1 + i / 1000))), details={f"d{j}": (0.5, 0.4) for j in range(12)})
        for m in measures
        for i, n in enumerate([*names, *REFERENCES])
    ]
    limits = {f"memorization/{m.key}": Limit(0.05, "the board") for m in measures}
    tested = [(m, q) for m in measures for q in ("memorization", "risk")] if pairs else []
    every = [Comparison(m, q, a, b, around(0.1, 0.0), 0, 0, 0, a) for m, q in tested for a, b in combinations(names, 2)]
    return study(found, limits, comparisons=every)


def test_figures_draw_the_highest_of_many_and_tables_hold_all():
    html = report_of(many([f"s{i:02}" for i in range(30)], [RAPID]))
    drawn = re.search(r'aria-label="memorization by rapid.income: ([^"]*)"', html)[1]
    own = re.findall(r"\bs\d\d\b", drawn)
    assert own == [f"s{i}" for i in range(18, 30)]
    assert all(name in drawn for name in REFERENCES)
    assert "Each figure shows the 12 highest of 30 synthesizers" in words(html)
    league = html[html.index('id="league"') : html.index('id="measures"')].partition("</table>")[0]
    assert len(set(re.findall(r"\bs\d\d\b", league))) == 30


@pytest.mark.slow
def test_sixty_synthesizers_and_eight_measures_are_under_three_megabytes():
    measures = [replace(RAPID, label=f"rapid_{i}") for i in range(8)]
    assert len(report_of(many([f"vendor-generator-{i}" for i in range(60)], measures, True)).encode()) < 3e6


def test_names_that_are_awkward_do_no_harm():
    names = ["<script>alert('x')</script>" + "y" * 270, "שלום עולם", "a" * 300, '"quoted" & <b>']
    columns = [f"column_{i}" for i in range(200)]
    shown = study([finding(n) for n in names], LIMITS, quasi_identifiers=columns, sensitive=["income"])
    html = report_of(shown)
    assert "<script" not in html
    assert "<bdi>שלום עולם</bdi>" in html
    for name in names[1:3]:
        assert html.count(name) >= 2  # whole in the answer and in the league table
    assert "a" * 100 not in html[html.index('id="measures"') : html.index('id="provenance"')].replace("\u200b", "")


def test_fewer_trees_of_long_tables_are_told_where_a_measure_grows_forests():
    measures = {ZERO_CAP: False, MEMBERSHIP: True, Measure("rapid", "rapid", "income"): True}
    pages = {measure: report_of(study([finding("cart", measure=measure)])) for measure in measures}
    assert {measure: "<dt>Forests of long tables</dt>" in page for measure, page in pages.items()} == measures


def section(name="mine", **others):
    return replace(DEFINITIONS, name=name, title="Mine", **others)


def with_plugins(monkeypatch, found):
    points = EntryPoints(EntryPoint(name, "x:y", "synthrisk.sections") for name in found)
    load = EntryPoint.load
    monkeypatch.setattr(EntryPoint, "load", lambda own: found[own.name] if own.value == "x:y" else load(own))
    monkeypatch.setattr(report, "points", lambda group: points)


def test_a_plugin_adds_a_section_before_the_last_ones(monkeypatch):
    with_plugins(monkeypatch, {"mine": section(), "silent": section("silent", context=lambda shown: None)})
    html = report_of(usual())
    assert html.index('id="thresholds"') < html.index('id="mine"') < html.index('id="notes"')
    assert '<a href="#mine">Mine</a>' in html
    assert 'id="silent"' not in html


@pytest.mark.parametrize("found", [{"mine": section("other")}, {"mine": "text"}, {"league": section("league")}])
def test_a_section_that_is_none_or_whose_name_is_taken_is_refused(monkeypatch, found):
    with_plugins(monkeypatch, found)
    with pytest.raises(InputError, match=f"synthrisk.sections:{next(iter(found))} must give an object Section"):
        report_of(usual())


def test_every_section_has_its_own_name_and_title():
    every = report.sections()
    assert all(isinstance(each, Section) for each in every)
    assert len({each.name for each in every}) == len({each.title for each in every}) == len(every)
