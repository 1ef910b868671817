import re
import stat
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from samples.estimates import around
from samples.reported import DISTANCE, LIMITS, PICTURE, RAPID, beside, claiming, finding, study, usual
from samples.studies import judged, report_of
from synthrisk.conf.study import NOT_SAID
from synthrisk.flows.cli.evaluate import as_json
from synthrisk.metrics.intervals.epsilon import EpsilonBound
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, ONE_REPETITION, Estimate
from synthrisk.metrics.intervals.proportions import worst_value
from synthrisk.metrics.intervals.yardsticks import CURVE, Yardstick
from synthrisk.metrics.release.identifiers import RELEASED
from synthrisk.metrics.release.k_anonymity import KAnonymity, KeySizes, ReleaseKeys
from synthrisk.metrics.study.comparison import Comparison
from synthrisk.metrics.study.power import Power
from synthrisk.metrics.verdicts.results import Limit, ordered_names
from synthrisk.metrics.verdicts.tables import gda_table
from synthrisk.metrics.verdicts.verdicts import LOOK, Verdict
from synthrisk.tasks.pages.figures import (
    Row,
    curves_figure,
    memorization_figure,
    risk_figure,
    selective_figure,
    shortened,
    words_of,
)
from synthrisk.tasks.pages.report import record
from synthrisk.tasks.pages.templates import number
from synthrisk.tasks.report import report

VOID = {"br", "input", "meta", "wbr", "path", "circle", "use"}


class Page(HTMLParser):
    """Tags, attributes, table rows and texts of a page; refuses tags that are not closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.rows, self.open, self.texts = [], [], [], [], []
        self.measure = None  # of a table in groups: what the rows are about, their second cell here
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("table", "thead"):
            self.measure = None
        if tag == "tr":
            self.heads = ("class", "measure") in attrs
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag
        if tag == "tr" and self.heads:
            self.measure = self.rows.pop()[0]
        elif tag == "tr" and self.measure is not None:
            self.rows[-1].insert(1, self.measure)

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    @property
    def text(self):
        return " ".join("".join(self.texts).split())

    def row(self, *start):
        cells = [[" ".join(c.split()) for c in row] for row in self.rows]
        return next(c for c in cells if tuple(c[: len(start)]) == start)


def read(result, settings="name: adult\n"):
    return Page(report_of(result, settings))


@cache
def page():
    """Return the text of the page of the usual study, which many tests look at."""
    return report_of(usual(), "name: adult\n")


@cache
def plain():
    return Page(page())


def test_numbers_of_the_table_are_those_of_the_result():
    row = plain().row("cart", "rapid.income")
    assert row[2:] == ["0.450 [0.440, 0.460]", "0.250", "+0.267", "0.325", "+0.185", "+0.125 [+0.119, +0.131]", "RISK"]
    assert plain().row("coarse", "rapid.income")[-1] == "NO EVIDENCE"
    assert plain().row("copy", "rapid.income")[-1] == "reference"
    assert plain().row("cart", "distance_to_closest_record")[-1] == "no limit"


def test_the_worst_of_several_releases_stands_beside_the_mean():
    several = replace(finding("cart"), release_risk=(0.4, 0.5), worst=Estimate(0.5, 0.44, 0.57, "bonferroni"))
    assert "worst of 2 releases 0.500 [0.440, 0.570]" in read(study([several])).text
    assert "worst of 2 releases 0.500 [" not in read(study([replace(several, worst=worst_value(np.array([0.5])))])).text
    assert "worst of" not in read(study([replace(several, release_risk=(0.5,))])).text
    row = as_json(study([several]))["findings"][0]
    assert (row["worst_release"], row["worst_release_upper"]) == (0.5, 0.57)


def test_keys_are_described_without_a_verdict():
    held, seen = KeySizes((10, 20, 30, 40, 0, 1100), 1, 0), KeySizes((12.5, 0, 0, 0, 0, 37.5), 1, 50)
    keys = KAnonymity(("age", "<b>"), held, {"cart": ReleaseKeys(held, seen, None)})
    shown = read(usual(keys=keys))
    assert "values of age, <b> together" in shown.text
    assert shown.row("real table", "real")[2:5] == ["1,200", "1", "–"]
    assert shown.row("real table", "real")[5:] == ["10 (1%)", "20 (2%)", "30 (2%)", "40 (3%)", "0 (0%)", "1,100 (92%)"]
    members = shown.row("cart", "members in the release")
    assert members[2:6] == ["100", "1", "50 (50%)", "12 (12%)"]
    rows = as_json(usual(keys=keys))["k_anonymity"]
    assert [(r["synthesizer"], r["of"]) for r in rows] == [("", "real"), ("cart", "release"), ("cart", "members")]
    assert rows[2]["absent"] == 50
    assert rows[2]["k_20+"] == 37.5
    assert "l = 1" not in shown.text
    assert "k-anonymity" not in plain().text
    assert as_json(usual())["k_anonymity"] == []


def test_how_many_values_share_a_key_is_told_by_what_is_guessed():
    sizes, values = KeySizes((0, 0, 30, 70, 0, 0), 3, 0), KeySizes((25, 75, 0, 0, 0, 0), 1, 0)
    looked = KeySizes((5, 85, 0, 0, 0, 0), 1, 10)
    released = ReleaseKeys(sizes, sizes, None, {"income and <b>": ReleaseKeys(values, looked, None)})
    result = usual(keys=KAnonymity(("age",), sizes, {"cart": released}, {"income and <b>": values}))
    shown = read(result)
    name = "income and <b>"
    assert shown.row("real table", "real", name)[3:6] == ["1", "25 (25%)", "75 (75%)"]
    assert shown.row("cart", "members in the release", name)[3:6] == ["1", "5 (5%)", "85 (85%)"]
    real, release, members = as_json(result)["k_anonymity"]
    assert (real["smallest_k"], real["smallest_l.income and <b>"], real["l_1.income and <b>"]) == (3, 1, 25)
    assert release["l_2.income and <b>"] == 75
    assert members["l_1.income and <b>"] == 5


def test_a_measure_without_value_says_why():
    """The reason is the note of what is absent, and of the gains that would need it; never a bare dash."""
    absent = replace(NOT_ESTIMABLE, note="no row link")
    found = replace(finding("cart"), risk=absent, risk_gain=absent, control_gain=float("nan"), memorization=absent)
    shown = read(study([found]))
    assert [shown.row("cart", "rapid.income")[i] for i in (2, 4, 6, 7)] == ["not estimable1"] * 4
    assert "no row link" in shown.text
    unheld = replace(found, risk=around(0.5, 0.1), risk_control=replace(NOT_ESTIMABLE, note="no control records"))
    assert "no control records" in read(study([unheld])).text
    certain = replace(found, risk=around(1.0, 0.0), risk_control=replace(around(1.0, 0.0), note=ONE_REPETITION))
    assert "control succeeds always: no gain is possible" in read(study([certain])).text


def test_head_tells_verdict_and_reason_of_each_synthesizer_and_no_reference():
    head = plain().text.split("The generators side by side")[0]
    told = "of 12 more people in 100 clearly better than by a plain guess because their records were used"
    assert "RISK cart – may not go out: Whoever has the release predicts income" in head
    assert told in head
    assert "Decided by +0.125 [+0.119, +0.131] in memorization/rapid.income" in head
    assert "memorization/rapid.income: memorization +0.125 [+0.119, +0.131] lies above 0.05." in head
    assert "NO EVIDENCE coarse – may go out under your limits." in head
    assert "marginals" not in head
    assert "no verdict" not in head


def test_order_is_synthesizers_then_copy_leaky_fresh_marginals():
    names = ["fresh", "cart", "marginals", "copy", "zeta", "leaky", "alpha"]
    found = study([finding(n, RAPID, 0.3, 0.0) for n in names], checks=[])
    assert ordered_names(found) == ["cart", "zeta", "alpha", "copy", "leaky", "fresh", "marginals"]
    cells = [row[0] for row in read(found).rows if row[1:2] == ["rapid.income"] and len(row) == 9]
    assert cells == ordered_names(found)


def test_a_failed_control_makes_a_banner_and_no_verdict():
    found = read(usual(measures=(RAPID,)))
    assert "INVALID: no verdict" not in found.text
    broken = {n: (0.3, 0.2) if n == "fresh" else v for n, v in PICTURE.items()}
    text = read(study([finding(n, RAPID, *v) for n, v in broken.items()])).text
    assert "INVALID: no verdict of this study may be read." in text
    assert "Reference generator fresh on rapid.income: expected “memorization around 0”, seen: +0.200" in text
    head = text.split("The generators side by side")[0]
    assert "RISK" not in head
    assert "INVALID cart – this study is invalid: reference fresh on rapid.income" in head
    assert "INVALID cart –" in read(study([finding(n, RAPID, *v) for n, v in broken.items()], limits={})).text


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "\"><img src=x onerror='y'>", "合成 $x^2$ ñ & é", "$\\bad{"]
)
def test_names_are_harmless_and_whole(name):
    measure = replace(RAPID, label=name)
    limits = {f"memorization/{name}.income": Limit(0.05, name)}
    text = report_of(study([finding(name, measure)], limits, {name + "2": name}, name=name, facts={name: name}), name)
    found = Page(text)
    assert not {"script", "img"} & set(found.tags)
    assert "onerror" not in dict(found.attributes)
    assert " ".join(found.row(name, f"{name}.income")[:1]) == name
    assert found.texts.count(name) >= 6


def test_the_page_fetches_nothing_and_runs_nothing():
    found = plain()
    links = [v for k, v in found.attributes if k in ("href", "src", "xlink:href", "action", "data")]
    assert links
    assert all(v.startswith("#") or v in ("record.html", "report.html") for v in links)
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(found.tags)
    assert not [k for k, _ in found.attributes if k.startswith("on")]
    assert "http" not in re.sub(r'xmlns(:xlink)?="[^"]*"|http-equiv', "", page())


def test_same_input_gives_the_same_bytes_and_ids_are_unique():
    assert report_of(usual(), "name: adult\n") == page()
    ids = [v for k, v in plain().attributes if k == "id"]
    assert len(ids) == len(set(ids))


def test_figures_are_well_formed_svg_with_a_panel_a_measure():
    drawings = re.findall(r"<svg .*?</svg>", page(), flags=re.DOTALL)
    panels = [ElementTree.fromstring(d) for d in drawings if "xmlns" in d]
    assert len(panels) == 2 + 2 + 1  # memorization, risk, and the curve of one measure
    labels = ["".join(t.itertext()) for t in panels[0].iter() if t.tag.endswith("text")]
    assert [n for n in labels if n in PICTURE] == list(PICTURE)
    assert "limit 0.05" in labels


def test_yardsticks_stand_beside_the_value():
    details = {"unseen_keys": (0.125, 0.25), "ceiling": (0.75, 0.75), "mean_gain": (0.5, 0.4)}
    html = report_of(study([replace(finding("cart"), details=details, warning="<mind> this")]), "name: adult\n")
    found = Page(html)
    assert "unseen keys 0.125 (control 0.250), ceiling 0.750" in found.text
    assert "&lt;mind&gt; this" in html
    assert found.row("cart", "rapid.income", "mean gain")[3:] == ["0.500", "0.400"]


def test_panels_draw_the_estimates_at_their_values():
    rows = [Row("cart", False, finding("cart")), Row("copy", True, finding("copy", RAPID, 0.91, 0.55)), Row("x", False)]
    drawn = {tuple(map(float, line.get_xdata())) for line in memorization_figure(rows, 0.05).axes[0].lines}
    assert {(0.125,), (0.125 - 0.006, 0.125 + 0.006), (0.55,), (0.05, 0.05), (0.0, 0.0)} <= drawn
    axes = risk_figure(rows).axes[0]
    assert {(0.45,), (0.325,), (0.91,)} <= {tuple(map(float, line.get_xdata())) for line in axes.lines}
    assert [c.get_segments()[0][0][0] for c in axes.collections] == [0.25, 0.25]  # the guess
    line = curves_figure(rows[:1]).axes[0].lines[0]
    assert list(line.get_xdata()) == list(CURVE)
    assert list(line.get_ydata()) == [e.value for e in finding("cart").curve]


def test_curve_labels_do_not_overlap_and_stay_inside():
    rows = [Row(f"s{i}", False, finding(f"s{i}", RAPID, 0.9)) for i in range(16)]
    figure = curves_figure(rows)
    places = sorted(t.get_position()[1] for t in figure.axes[0].texts)
    height = figure.get_figheight() * figure.axes[0].get_position().height
    assert min(b - a for a, b in pairwise(places)) * height >= 0.16
    assert places[0] >= 0
    assert places[-1] <= 1


def test_not_estimable_is_said_with_its_reason_and_never_nan():
    lost = Estimate(float("nan"), float("nan"), float("nan"), note="too few claims")
    bare = Estimate(0.4, float("nan"), float("nan"), note=ONE_REPETITION)
    found = replace(finding("cart"), risk=lost, memorization=bare, risk_gain=replace(lost), risk_control=lost)
    shown = read(study([found, finding("cart", DISTANCE)]))
    assert "nan" not in re.findall(r"[a-z]+", shown.text.lower())
    row = shown.row("cart", "rapid.income")
    assert row[2] == row[5] == "not estimable1"
    assert row[7] == "+0.400 [no interval]2"
    assert shown.row("cart", "distance_to_closest_record")[3] == "not estimable3"
    notes = shown.text.split("Notes")[-1].split("How to read this")[0]
    assert notes.index("too few claims") < notes.index(ONE_REPETITION) < notes.index("nothing is guessed")
    assert "CANNOT TELL" in row


def test_one_synthesizer_without_threshold_or_reference():
    text = read(study([finding("cart")], limits={})).text
    assert "NOT JUDGED cart – not judged: no limit is set." in text
    assert "No reference generator was checked" in text
    assert "None is set, and there is no built-in safe number" in text
    assert "limit, where one is set" not in text


def test_failed_synthesizers_are_told_everywhere():
    shown = read(usual(failures={"ctgan": "ctgan-r0-f1: ValueError in ctgan.py"}))
    assert "FAILED ctgan – cannot say: it was not run to the end: ctgan-r0-f1: ValueError in ctgan.py." in shown.text
    assert shown.row("ctgan", "all")[-1] == "FAILED"
    assert shown.texts.count("failed") == 4  # a line in each panel of two measures
    assert shown.text.count("ctgan-r0-f1: ValueError in ctgan.py") == 5  # record, head, next steps, note, provenance


def test_all_failed():
    text = read(study([], failures={"a": "MemoryError", "b": "KeyError"})).text
    assert "FAILED a – cannot say: it was not run to the end: MemoryError." in text
    assert "Nothing was measured." in text
    assert "All numbers" not in text


def test_thresholds_name_who_chose_them():
    limits = LIMITS | {"risk/distance_to_closest_record": Limit(0.00001, "")}
    shown = read(usual(limits=limits))
    row = shown.row("memorization", "rapid.income")
    assert row[2:4] == ["0.05", "the ethics board"]
    assert row[4:] == ["+0.550 [+0.544, +0.556] above", "+0.400 [+0.394, +0.406] above"]
    assert shown.row("risk", "distance_to_closest_record")[2:4] == ["1e-05", "not stated"]


def test_the_limit_of_the_look_at_the_releases_stands_with_the_others_where_it_decides():
    looked = Verdict("cart", LOOK, 0.04, "RISK", "the release lies on members", 0.2, 0.15, 0.25)
    result = usual()
    assert LOOK not in Page(record(result)).text
    result = replace(result, verdicts=[*result.verdicts, looked])
    words = f"More people near to a row of the release than chance explains {LOOK}"
    assert Page(record(result)).row(words) == [words, "4 in 100 (0.04)", "equal to the smallest limit"]
    chapter = read(result)
    assert chapter.row("look", "nearness")[2:4] == ["0.04", "equal to the smallest limit"]
    assert "+0.200 [+0.150, +0.250]" in chapter.text.partition("look/nearness, limit 0.04")[2]


def test_many_measures_and_synthesizers():
    measures = [replace(RAPID, label=f"rapid_{i}") for i in range(3)]
    names = [f"a very long name of synthesizer number {i}, which does not end" for i in range(12)]
    shown = read(study([finding(n, m) for n in names for m in measures], limits={}))
    assert len([r for r in shown.rows if len(r) == 9]) == 36
    assert shown.tags.count("figure") == 9


def test_names_are_shortened_in_the_middle():
    assert shortened("cart") == "cart"
    assert shortened("vendor-a-2024-release-number-2") == "vendor-a-20…se-number-2"
    assert len(shortened("合成" * 20)) == 11
    assert shortened("two\nlines\x00") == "two lines"


@pytest.mark.parametrize(
    ("value", "text"), [(-0.0004, "0.000"), (0.0004, "0.000"), (-0.0006, "−0.001"), (1.0, "1.000")]
)
def test_number(value, text):
    assert number(value) == text
    assert number(value, sign=True).lstrip("+") == text


def test_the_decision_record_says_what_may_go_out_under_whose_limits_and_has_room_for_a_decision():
    shown = Page(record(usual()))
    for part in (
        "RISK cart may not go out.",
        "of 12 more people in 100 clearly better than by a plain guess because their records were used",
        "NO EVIDENCE coarse may go out under these limits.",
        "the ethics board",
        "copy: seen by 1 of 1 limit",
        "distance_to_closest_record",
        'It holds under the limits below, and no others. They were set by "the ethics board".',
        "cart RISKmay go outmay not go outis to be studied again",
        "coarse NO EVIDENCEmay go out",
        "Date, signature",
        "RISK: more people are given away than a limit allows. NO EVIDENCE: no limit is crossed, and",
        "without a limit, so not counted: distance_to_closest_record. The surest memorization there: +0.",
    ):
        assert part in shown.text
    assert "INCONCLUSIVE" not in shown.text
    assert not {"script", "link", "img"} & set(shown.tags)
    assert [v for k, v in shown.attributes if k in ("href", "src")] == ["report.html"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"limits": {}}, "NOT JUDGED cart not judged: no limit is set."),
        ({"failures": {"ctgan": "MemoryError"}}, "FAILED ctgan cannot say: it was not run to the end: MemoryError."),
    ],
)
def test_the_record_says_what_was_not_judged_or_not_run(more, words):
    assert words in Page(record(study([finding("cart")], **more))).text


@pytest.mark.parametrize("source", ["", NOT_SAID])
def test_the_record_says_that_nobody_is_named_who_set_a_limit(source):
    limits = {name: replace(limit, source=source) for name, limit in usual().limits.items()}
    assert "and no others. They were set by nobody who is named." in Page(record(replace(usual(), limits=limits))).text


def test_the_record_says_whose_records_are_whose_and_what_is_left_out():
    facts = {"who_is_who": "patient", "left_out": "mail and note"}
    shown = Page(record(study([finding("cart")], facts=facts))).text
    assert "Who is whopatient" in shown
    assert "Left outmail and note" in shown


def test_the_record_of_one_release_names_the_files_that_were_judged():
    facts = {"records": "20", "members": "12"}
    files = {f"{which}_file": f"{which}.csv, SHA-256 begins with 0a1b" for which in ("release", "real", "held_out")}
    shown = Page(record(study([finding("release")], facts=facts | files))).text
    assert "the file release.csv, SHA-256 begins with 0a1b; a synthetic table that was made elsewhere" in shown
    assert "Made fromreal.csv, SHA-256 begins with 0a1b; that the release was made from it was said" in shown
    assert "Held outheld_out.csv, SHA-256 begins with 0a1b; the control records" in shown
    assert "12 members and 8 control records" in shown
    assert "made of the table" not in shown
    alone = Page(record(study([finding("release")], facts=facts | files | {"held_out_file": ""}))).text
    assert "Held out" not in alone
    assert "what cart made of the table" in Page(record(study([finding("cart")], facts=facts))).text


def test_the_record_says_in_words_how_a_study_is_repeated():
    facts = {"repetitions": "3", "releases": "15", "interval": "moderated, 0.9", "methods": "2", "data_digest": "1f9c"}
    result, settings = study([finding("cart")], facts=facts), "name: demo\n"
    shown = Page(record(result, settings)).text
    digest = sha256(settings.encode()).hexdigest()[:16]
    for part in (
        "Repetitions5 folds in 3 repetitions: 15 releases of each generator",
        "Intervalsof 90 %: 90 of 100 such intervals hold the true value, 95 of 100 of their ends are right (method: ",
        "Methodsversion 2 of what the numbers mean",
        "Digest of the tablefirst 16 digits of the SHA-256 of its columns and cells, as they were read: 1f9c",
        f"Commandsynthrisk benchmark demo, with the settings at the end of the report; first 16 digits of the SHA-256 "
        f"of these settings: {digest}",
    ):
        assert part in shown
    assert "Commandsynthrisk evaluate, with" in Page(record(result, "synthetic: r.csv\n")).text
    assert "Repetitionsone release" in Page(record(replace(result, facts={"repetitions": "1", "releases": "1"}))).text


def test_the_legend_says_how_sure_the_ends_of_intervals_are():
    sure = "“At least” and “at most” are ends of 90% intervals, rounded outwards, each right 95 times in 100."
    shown = replace(usual(), facts=usual().facts | {"interval": "moderated, 0.9"})
    assert sure in Page(record(shown)).text
    assert sure in read(shown).text
    assert "“At least”" not in Page(record(replace(shown, facts={}))).text


def test_limits_that_the_record_has_no_room_for_are_counted_by_their_word():
    kept = [Verdict("cart", f"memorization/m{n}.job", 0.05, "NO EVIDENCE", "", 0.01, 0.0, 0.02) for n in range(5)]
    silent = Verdict("cart", "memorization/m5.job", 0.05, "CANNOT TELL", "", 0.01, -0.1, 0.1)
    result = study([finding("cart")], {"memorization/rapid.income": Limit(0.05, "")})
    shown = Page(record(replace(result, verdicts=[*kept, silent]))).text
    assert "Others, in the report: 1 NO EVIDENCE, 1 CANNOT TELL." in shown


def test_the_record_says_which_leak_a_limit_that_is_kept_would_have_shown():
    reason = "memorization lies inside ±0.05; a leak of about 1.8% of the training rows would have been seen"
    kept = Verdict("cart", "memorization/rapid.income", 0.05, "NO EVIDENCE", reason, 0.01, 0.0, 0.02)
    shown = Page(record(replace(study([finding("cart")]), verdicts=[kept]))).text
    assert "NO EVIDENCE: Whoever has the release predicts income" in shown
    assert "memorization/rapid.income; a leak of about 1.8% of the training rows would" in shown


def test_a_risk_that_no_limit_shows_names_what_shows_it_and_no_other_number():
    names = Verdict("cart", RELEASED, 0.001, "RISK", "mail: values of 9 of 10 people in the data are in the release")
    open_one = Verdict("cart", "memorization/rapid.income", 0.05, "INCONCLUSIVE", "", 0.04, 0.03, 0.06)
    result = replace(study([finding("cart")]), verdicts=[open_one, names])
    head = read(result).text.split("The generators side by side")[0]
    assert "Decided by released/identifiers" in head
    assert "+0.040" not in head.partition("Why, limit by limit")[0]
    shown = Page(record(result)).text
    assert "values that name people may not be released of people in the data more often than of others" in shown


def test_what_an_open_word_hinges_on_is_not_said_to_decide_it():
    head = read(study([finding("cart")], {"memorization/rapid.income": Limit(0.12, "")})).text
    assert "INCONCLUSIVE cart" in head
    assert "Hinges on" in head
    assert "Decided by" not in head


def test_limits_of_one_value_by_one_author_share_a_row_of_the_record():
    board, steward = Limit(0.05, "the board"), Limit(0.05, "the steward")
    limits = {"memorization/rapid.income": board, "control_gain/rapid.income": board, "risk/rapid.income": steward}
    rows = Page(record(study([finding("cart")], limits))).text.split("limitset by")[1]
    predicted = "eople whose income is predicted clearly better than by a plain guess"
    assert f"More p{predicted} than if their records had not been used memorization/rapid.income" in rows
    assert f"P{predicted}, of those who would be safe without their records control_gain/rapid.income5 in 100" in rows
    assert "5 in 100 (0.05)the board" in rows
    assert f"P{predicted} risk/rapid.income5 in 100 (0.05)the steward" in rows


def test_the_record_tells_limits_in_the_unit_of_its_sentences():
    """What would decide names a limit, which stands beside that of a sentence: both in people, or both on the scale."""
    limits = {
        "memorization/distance_to_closest_record": Limit(0.05, "the board"),
        "tpr/membership": Limit(0.05, "the board"),
    }
    found = [
        finding("cart", replace(RAPID, label=name, metric=name, sensitive=None))
        for name in ("distance_to_closest_record", "membership")
    ]
    judged = [
        Verdict(
            "cart", "tpr/membership", 0.05, "INCONCLUSIVE", "", 0.05, 0.04, 0.06, advice="4 folds, or a limit of 0.07"
        ),
        Verdict("cart", "memorization/distance_to_closest_record", 0.05, "NO EVIDENCE", "", 0.01, 0.0, 0.02),
    ]
    shown = Page(record(replace(study(found, limits), verdicts=judged))).text
    assert "What would decide: 4 folds, or a limit of 7 in 100 (0.07)." in shown
    rows = shown.split("limitset by")[1]
    assert "one of 100" not in rows
    assert "where 1 of 100 others is taken for one tpr/membership5 in 100 (0.05)the board" in rows
    assert "than without their records memorization/distance_to_closest_record0.05the board" in rows


def test_names_in_the_record_are_harmless():
    name = "<script>alert(1)</script>"
    measure = replace(RAPID, label=name)
    shown = Page(record(study([finding(name, measure)], {f"memorization/{name}.income": Limit(0.05, name)}, name=name)))
    assert "script" not in shown.tags
    assert name in shown.text


def test_of_many_generators_the_record_counts_the_rest():
    shown = Page(record(study([finding(f"vine-{i}") for i in range(9)], limits={}))).text
    assert "Besides: 5 not judged; the report has each of them." in shown


def test_task_writes_a_private_file(tmp_path):
    path = Path(report.fn(judged(usual(), tmp_path), "seed: 1 # <b>"))
    assert path == tmp_path / "reports" / "s-1" / "report.html"
    for each in (path, path.with_name("record.html")):
        assert stat.S_IMODE(each.stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0
    assert path.read_text("utf-8") == report_of(usual(), "seed: 1 # <b>")
    assert path.with_name("record.html").read_text("utf-8") == record(usual(), "seed: 1 # <b>")
    assert "seed: 1 # <b>" in Page(path.read_text("utf-8")).text


def test_the_gda_view_puts_the_columns_of_an_attack_together():
    found = [claiming("cart", "income", 150), claiming("cart", "race", 180), claiming("copy", "income", 0, claims=0)]
    shown = study(found, limits={}, facts={"columns": "10"})
    made = read(shown)
    assert made.row("cart", "income")[2:] == [
        "500",
        "200",
        "0.750",
        "0.500",
        "+0.500",
        "0.400",
        "0.100",
        "5.00",
        "12.00",
        "0.950",
    ]
    assert made.row("", "all columns")[2:] == ["", "400", "", "", "+0.650", "0.400", "0.200", "5.00", "12.00", "0.782"]
    assert made.row("", "the worst")[3] == "200"
    assert made.row("copy", "income")[2:] == ["500", "0", "–", "0.500", "–", "0.000", "0.100", "–", "–", "1.000"]
    labels = [v for k, v in made.attributes if k == "aria-label" and "confidence improvement" in v]
    assert labels[0].startswith("GDA view of inference: cart confidence improvement 0.65, claim probability 0.40, ")
    assert labels[0].endswith("; copy claim probability 0.00, susceptibility 0.10")


def test_picture_and_table_of_one_column_tell_the_same():
    """One column of fifteen that can be attacked whole: .07 of the cells of the table, wherever it is told."""
    result = study([claiming("cart", "income", 150)], limits={}, facts={"columns": "15"})
    made = read(result)
    row = made.row("cart", "income")
    (label,) = [v for k, v in made.attributes if k == "aria-label" and "confidence improvement" in v]
    said = dict(re.findall(r"(susceptibility|prior knowledge|work)(?: \(cells a claim\))? ([\d.]+)", label))
    assert said == {"susceptibility": "0.07", "prior knowledge": "5.00", "work": "12.00"}
    assert row[8:11] == ["0.067", "5.00", "12.00"]
    (told,) = gda_table(result).query("weakest == 'all'").to_dict("records")
    assert (told["susceptibility"], told["prior_knowledge"], told["work"]) == (pytest.approx(1 / 15), 5, 12)


def test_claims_about_people_with_several_records_are_said_to_be_above_the_guess():
    facts, words = {"columns": "10", "records": "600"}, "The 600 records are of 150 people"
    every = [study([claiming("cart", "income", 150)], {}, facts=facts | own) for own in ({}, {"entities": "150"})]
    assert [words in report_of(each) for each in every] == [False, True]


def test_as_many_of_the_worst_columns_are_put_together_as_the_study_says():
    found = [claiming("cart", c, n) for c, n in (("a", 150), ("b", 180), ("c", 100))]
    result = study(found, limits={}, facts={"columns": "10"}, weakest=(2, None, 7, 1))
    made = read(result)
    names = [r[1] for r in made.rows if len(r) == 12 and not r[0]]
    assert names == ["b", "c", "the 2 worst", "all columns", "the worst"]  # of three columns 7 are all
    assert made.row("", "the 2 worst")[3] == "400"
    table = gda_table(result)
    assert table["weakest"].tolist() == [2, "all", 7, 1]
    assert table["columns"].tolist() == ["b, a", "b, a, c", "b, a, c", "b"]
    assert table["confidence_improvement"].tolist() == pytest.approx([0.65, 1.3 / 3, 1.3 / 3, 0.8])
    assert table["claims"].tolist() == [400, 600, 600, 200]
    assert as_json(result)["gda"] == table.to_dict("records")
    alone = read(study([claiming("cart", "income", 150)], limits={}, facts={"columns": "10"}))
    assert not [r for r in alone.rows if len(r) == 12 and not r[0]]


def surest(name, **precision):
    """A finding with a selective curve: precision by share, as q0_1=0.9."""
    told = {f"selective_{share[1:].replace('_', '.')}": (value, 0.0) for share, value in precision.items()}
    return Row(name, False, replace(finding(name), details=told))


def test_selective_curves_begin_at_the_smallest_share_that_is_estimable():
    rows = [surest("a", q0_001=float("nan"), q0_01=0.9, q0_1=0.5, q1=0.25), surest("b", q0_02=0.4)]
    axes = selective_figure(rows).axes[0]
    lines = {tuple(line.get_ydata()): line for line in axes.lines}
    assert list(lines[0.9, 0.5, 0.25].get_xdata()) == pytest.approx([0, 0.5, 1])
    assert lines[(0.4,)].get_marker() == "o"  # a line of one point would not be seen
    assert [t.get_text() for t in axes.get_xticklabels()] == ["all", "10 %", "1 %"]
    whole = selective_figure([surest("a", q0_5=0.5, q1=0.25)]).axes[0]
    assert [t.get_text() for t in whole.get_xticklabels()] == ["all", "10 %"]
    deep = selective_figure([surest("a", q0_002=0.5, q1=0.25)]).axes[0]
    assert [t.get_text() for t in deep.get_xticklabels()] == ["all", "10 %", "1 %", "0.1 %"]
    nothing = selective_figure([surest("a", q0_5=float("nan")), Row("c", False)]).axes[0]
    assert [t.get_text() for t in nothing.texts] == ["too few claims"]


def test_each_selective_curve_has_its_base_rate_as_a_dashed_line_of_its_colour():
    row = surest("a", q0_1=0.9, q1=0.5)
    bases = {f"selective_{share}_baseline": (0.4, 0.0) for share in ("0.1", "0.5", "1")}
    with_base = replace(row, finding=replace(row.finding, details=row.finding.details | bases))
    figure = selective_figure([with_base, surest("b", q0_1=0.7)])
    (curve, *_), (base,) = (
        [line for line in figure.axes[0].lines if list(line.get_ydata()) == ends] for ends in ([0.9, 0.5], [0.4, 0.4])
    )
    assert base.get_color() == curve.get_color()
    assert base.get_linestyle() == "--"
    assert words_of(figure).count("(base rate 0.400)") == 1


def test_no_gda_view_without_claims():
    assert "GDA" not in plain().text


def test_vulnerable_records_stand_beside_all():
    whole = finding("cart")
    outliers = replace(finding("cart", risk=0.7, extra=0.3), details={"records": (300.0, 300.0)})
    own = replace(whole, groups={"outliers": outliers}, spread=(-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0))
    made = read(study([own, finding("copy")]))
    assert made.row("", "", "outliers")[3:] == ["300", "0.700 [0.690, 0.710]", "0.400", "+0.300 [+0.294, +0.306]"]
    words = "spread by rapid.income: cart median 0.250, middle half 0.000 to 0.500, middle 98 % −1.000 to 1.000"
    assert any(name == "aria-label" and value.startswith(words) for name, value in made.attributes)
    assert "Single records" not in plain().text


# Yardsticks, pairs, power


def test_yardsticks_of_synthesizers_have_a_table_and_a_line_in_the_figure():
    shown = read(study([beside(finding("cart")), beside(finding("copy", RAPID, 0.91, 0.55))]))
    assert shown.row("cart", "rapid.income", "0.450")[3:] == [
        "population",
        "0.400 [0.390, 0.410]",
        "+0.083 [+0.053, +0.113]",
        "+0.050 [+0.030, +0.070]",
    ]
    assert len([r for r in shown.rows if "population" in r]) == 1
    axes = risk_figure([Row("cart", False, beside(finding("cart")))]).axes[0]
    assert [c.get_segments()[0][0][0] for c in axes.collections] == [0.25, 0.4]
    assert "thin line" in shown.text
    assert "thin line" not in plain().text
    assert "Each yardstick" not in plain().text


def test_the_guess_of_claims_is_called_statistical():
    own = {"guess": Yardstick(around(0.25, 0.0), around(0.3, 0.02), around(0.2, 0.02))}
    guess, claims = (read(study([replace(f, yardsticks=own)])) for f in (finding("cart"), claiming("cart", "vote", 90)))
    assert guess.row("cart", "rapid.income", "0.450")[3] == "best constant guess"
    assert claims.row("cart", "inference.vote", "0.450")[3] == "statistical guess S"
    assert "of claims the statistical guess S" in claims.text
    assert "of claims the statistical guess S" not in guess.text


def test_a_yardstick_at_another_size_stands_beside_its_own_success():
    own = Yardstick(around(0.1, 0.02), around(1 / 9, 0.03), around(0.1, 0.02), around(0.2, 0.01))
    shown = read(study([replace(finding("cart", DISTANCE, risk=0.9), yardsticks={"control": own})], limits={}))
    assert shown.row("cart", DISTANCE.key, "0.200")[3:5] == [
        "control records, of those isolated",
        "0.100 [0.080, 0.120]",
    ]
    assert "Singling out: its claims name no target" in shown.text
    assert "Singling out: its claims" not in read(study([beside(finding("cart"))])).text


def pair(value, p, lower="", measure=RAPID):
    return Comparison(measure, "memorization", "cart", "coarse", around(value, 0.01), p / 2, p, p, lower)


def test_pairs_that_differ_come_first():
    far = replace(RAPID, label="far")
    shown = read(usual(comparisons=[pair(0.001, 0.8), pair(0.113, 0.0002, "coarse", far)]))
    rows = [r for r in shown.rows if r and r[0].startswith("cart − coarse")]
    assert [" ".join("".join(r[-1:]).split()) for r in rows] == ["coarse", "undecided"]
    assert [c.strip() for c in rows[0][3:7]] == ["+0.113 [+0.103, +0.123]", "< 0.001", "< 0.001", "< 0.001"]
    assert "2 comparisons, 1 with a difference" in shown.text
    assert "No pair differs" not in shown.text


def test_no_pair_differs_is_said_and_one_synthesizer_has_no_pairs():
    nan = float("nan")
    lost = Comparison(RAPID, "risk", "cart", "coarse", NOT_ESTIMABLE, nan, nan, nan)
    text = read(usual(comparisons=[pair(0.001, 0.8), lost])).text
    assert "No pair differs by more than chance could make." in text
    assert "nan" not in re.findall(r"[a-z]+", text.lower())
    assert "Which synthesizer is lower?" not in plain().text


def test_power_is_a_table_of_shares():
    powers = {
        "rapid.income": Power(0.023, 0.5, ((0.01, False), (0.05, True))),
        "far": Power(float("nan"), 0.0, ((0.01, False), (0.05, False))),
        "on": Power(0.3, 0.1, ((0.05, False),)),  # at 1 % it has no interval
    }
    shown = read(usual(powers=powers))
    assert shown.row("measure", "1%") == ["measure", "1%", "5%", "seen in four of five"]
    assert shown.row("rapid.income", "missed") == ["rapid.income", "missed", "seen", "2.3%"]
    assert shown.row("far")[-1] == "none"
    assert shown.row("on") == ["on", "–", "missed", "30% (line continued)"]
    assert "seen in four of five" not in plain().text


def test_a_word_stands_beside_the_quantity_that_it_was_given_for():
    crossed = Verdict("cart", "tpr/rapid.income@outliers", 0.06, "RISK", "", 0.2, 0.15, 0.25)
    result = replace(study([finding("cart")], {}), verdicts=[crossed])
    assert read(result).row("cart", "rapid.income")[-1].split() == ["RISK", "on", "tpr", "of", "outliers"]


def test_members_found_stand_beside_their_reason_and_the_bound_of_epsilon():
    few = replace(NOT_ESTIMABLE, note="fewer than 10000 control scores")
    tpr = {0.01: Estimate(0.03, 0.02, 0.04), 0.001: few}
    own = replace(finding("cart", DISTANCE), tpr=tpr, epsilon=EpsilonBound(1.25, 0.001, "flagged", 0.02))
    result = study([own, finding("copy", DISTANCE), finding("cart", RAPID)])
    whole = read(result)
    heads = ("synthesizer", "measure", "found at 1 % [interval]")
    assert whole.row(*heads)[3:] == ["found at 0.1 % [interval]", "epsilon at least"]
    row = ["cart", DISTANCE.key, "0.030 [0.020, 0.040]", f"not estimable: {few.note}", "1.25"]
    assert whole.row(*row[:3]) == row
    assert "(e, delta)-differential privacy, with delta = 0.001 and 95 % confidence" in whole.text
    assert "never a guarantee" in whole.text
    assert "found at 1 %" not in plain().text
    limited = read(study([own, finding("copy", DISTANCE)], {f"tpr/{DISTANCE.key}": Limit(0.06, "the board")}))
    assert f"Limit 0.06 on tpr/{DISTANCE.key}." in limited.text
    rates, (bound,) = as_json(result)["tpr"], as_json(result)["epsilon"]
    assert [(r["measure"], r["false_positive_rate"], r["tpr"], r["note"]) for r in rates] == [
        (DISTANCE.key, 0.01, 0.03, ""),
        (DISTANCE.key, 0.001, None, few.note),
    ]
    assert (bound["synthesizer"], bound["epsilon"], bound["side"], bound["share"]) == ("cart", 1.25, "flagged", 0.02)
    assert as_json(usual())["tpr"] == as_json(usual())["epsilon"] == []
