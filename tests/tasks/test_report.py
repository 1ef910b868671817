import re
import stat
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from samples.estimates import around
from samples.html import Page
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
from synthrisk.tasks.pages import figures
from synthrisk.tasks.pages.figures import Row
from synthrisk.tasks.pages.record import record
from synthrisk.tasks.pages.templates import number
from synthrisk.tasks.report import report

NAN = float("nan")
ALONE = finding("cart")
BOARD = Limit(0.05, "the board")
SINGLE, DISTANT = "memorization/rapid.income", "memorization/distance_to_closest_record"


class Report(Page):
    """What a page says, and the rows of its tables."""

    def __init__(self, text):
        self.rows = []
        self.measure = None  # of a table in groups: what the rows are about, their second cell here
        super().__init__(text)
        self.text = " ".join("".join(self.texts).split())
        self.head = self.text.partition("The generators side by side")[0]

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        if tag in ("table", "thead"):
            self.measure = None
        if tag == "tr":
            self.heads = ("class", "measure") in attrs
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        super().handle_endtag(tag)
        if tag == "tr" and self.heads:
            self.measure = self.rows.pop()[0]
        elif tag == "tr" and self.measure is not None:
            self.rows[-1].insert(1, self.measure)

    def handle_data(self, data):
        super().handle_data(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    def row(self, *start):
        cells = [[" ".join(c.split()) for c in row] for row in self.rows]
        return next(c for c in cells if tuple(c[: len(start)]) == start)

    def lacks(self, *parts):
        return [part for part in parts if part not in self.text]


def read(result, settings="name: adult\n"):
    return Report(report_of(result, settings))


def recorded(result, settings=""):
    return Report(record(result, settings))


@cache
def page():
    return report_of(usual(), "name: adult\n")


@cache
def plain():
    return Report(page())


def test_numbers_of_the_table_are_those_of_the_result_in_the_order_of_their_generators():
    row = plain().row("cart", "rapid.income")
    assert row[2:] == ["0.450 [0.440, 0.460]", "0.250", "+0.267", "0.325", "+0.185", "+0.125 [+0.119, +0.131]", "RISK"]
    words = [plain().row(n, "rapid.income")[-1] for n in ("coarse", "copy")]
    assert [*words, plain().row("cart", DISTANCE.key)[-1]] == ["NO EVIDENCE", "reference", "no limit"]
    names = ["fresh", "cart", "marginals", "copy", "zeta", "leaky", "alpha"]
    found = study([finding(n, RAPID, 0.3, 0.0) for n in names], checks=[])
    assert ordered_names(found) == ["cart", "zeta", "alpha", "copy", "leaky", "fresh", "marginals"]
    cells = [row[0] for row in read(found).rows if row[1:2] == ["rapid.income"] and len(row) == 9]
    assert cells == ordered_names(found)


def test_what_a_usual_study_does_not_have_is_nowhere_on_its_page():
    found = ("k-anonymity", "GDA", "Single records", "thin line", "Each yardstick", "Which synthesizer is lower?")
    assert len(plain().lacks(*found, "seen in four of five", "found at 1 %", "INVALID: no verdict")) == 9
    told = as_json(usual())
    assert told["k_anonymity"] == told["tpr"] == told["epsilon"] == []


def test_the_worst_of_several_releases_stands_beside_the_mean():
    several = replace(ALONE, release_risk=(0.4, 0.5), worst=Estimate(0.5, 0.44, 0.57, "bonferroni"))
    assert "worst of 2 releases 0.500 [0.440, 0.570]" in read(study([several])).text
    assert "worst of 2 releases 0.500 [" not in read(study([replace(several, worst=worst_value(np.array([0.5])))])).text
    assert "worst of" not in read(study([replace(several, release_risk=(0.5,))])).text
    row = as_json(study([several]))["findings"][0]
    assert (row["worst_release"], row["worst_release_upper"]) == (0.5, 0.57)


def test_keys_are_described_without_a_verdict_and_by_what_is_guessed():
    held, seen = KeySizes((10, 20, 30, 40, 0, 1100), 1, 0), KeySizes((12.5, 0, 0, 0, 0, 37.5), 1, 50)
    keys = usual(keys=KAnonymity(("age", "<b>"), held, {"cart": ReleaseKeys(held, seen, None)}))
    shown = read(keys)
    assert "values of age, <b> together" in shown.text
    assert "l = 1" not in shown.text
    counts = ["10 (1%)", "20 (2%)", "30 (2%)", "40 (3%)", "0 (0%)", "1,100 (92%)"]
    assert shown.row("real table", "real")[2:] == ["1,200", "1", "–", *counts]
    assert shown.row("cart", "members in the release")[2:6] == ["100", "1", "50 (50%)", "12 (12%)"]
    rows = as_json(keys)["k_anonymity"]
    assert [(r["synthesizer"], r["of"]) for r in rows] == [("", "real"), ("cart", "release"), ("cart", "members")]
    assert (rows[2]["absent"], rows[2]["k_20+"]) == (50, 37.5)
    name = "income and <b>"
    sizes, values = KeySizes((0, 0, 30, 70, 0, 0), 3, 0), KeySizes((25, 75, 0, 0, 0, 0), 1, 0)
    released = ReleaseKeys(sizes, sizes, None, {name: ReleaseKeys(values, KeySizes((5, 85, 0, 0, 0, 0), 1, 10), None)})
    result = usual(keys=KAnonymity(("age",), sizes, {"cart": released}, {name: values}))
    shown = read(result)
    assert shown.row("real table", "real", name)[3:6] == ["1", "25 (25%)", "75 (75%)"]
    assert shown.row("cart", "members in the release", name)[3:6] == ["1", "5 (5%)", "85 (85%)"]
    real, release, members = as_json(result)["k_anonymity"]
    assert (real["smallest_k"], real[f"smallest_l.{name}"], real[f"l_1.{name}"]) == (3, 1, 25)
    assert (release[f"l_2.{name}"], members[f"l_1.{name}"]) == (75, 5)


def test_what_is_not_estimable_says_why_and_is_never_nan():
    absent = replace(NOT_ESTIMABLE, note="no row link")
    found = replace(ALONE, risk=absent, risk_gain=absent, control_gain=NAN, memorization=absent)
    shown = read(study([found]))
    assert [shown.row("cart", "rapid.income")[i] for i in (2, 4, 6, 7)] == ["not estimable1"] * 4
    assert "no row link" in shown.text
    unheld = replace(found, risk=around(0.5, 0.1), risk_control=replace(NOT_ESTIMABLE, note="no control records"))
    assert "no control records" in read(study([unheld])).text
    certain = replace(found, risk=around(1.0, 0.0), risk_control=replace(around(1.0, 0.0), note=ONE_REPETITION))
    assert "control succeeds always: no gain is possible" in read(study([certain])).text
    lost = Estimate(NAN, NAN, NAN, note="too few claims")
    bare = Estimate(0.4, NAN, NAN, note=ONE_REPETITION)
    found = replace(ALONE, risk=lost, memorization=bare, risk_gain=replace(lost), risk_control=lost)
    shown = read(study([found, finding("cart", DISTANCE)]))
    assert "nan" not in re.findall(r"[a-z]+", shown.text.lower())
    row = shown.row("cart", "rapid.income")
    assert [row[i] for i in (2, 5, 7)] == ["not estimable1", "not estimable1", "+0.400 [no interval]2"]
    assert "CANNOT TELL" in row
    assert shown.row("cart", DISTANCE.key)[3] == "not estimable3"
    notes = shown.text.split("Notes")[-1].split("How to read this")[0]
    assert notes.index("too few claims") < notes.index(ONE_REPETITION) < notes.index("nothing is guessed")


def test_head_tells_verdict_and_reason_of_each_synthesizer_and_no_reference():
    for part in (
        "RISK cart – may not go out: Whoever has the release predicts income",
        "of 12 more people in 100 clearly better than by a plain guess because their records were used",
        f"Decided by +0.125 [+0.119, +0.131] in {SINGLE}",
        f"{SINGLE}: memorization +0.125 [+0.119, +0.131] lies above 0.05.",
        "NO EVIDENCE coarse – may go out under your limits.",
    ):
        assert part in plain().head
    assert [each for each in ("marginals", "no verdict") if each in plain().head] == []


def test_a_failed_control_makes_a_banner_and_no_verdict():
    assert "INVALID: no verdict" not in read(usual(measures=(RAPID,))).text
    broken = [finding(n, RAPID, *((0.3, 0.2) if n == "fresh" else v)) for n, v in PICTURE.items()]
    shown = read(study(broken))
    assert not shown.lacks(
        "INVALID: no verdict of this study may be read.",
        "Reference generator fresh on rapid.income: expected “memorization around 0”, seen: +0.200",
    )
    assert "RISK" not in shown.head
    assert "INVALID cart – this study is invalid: reference fresh on rapid.income" in shown.head
    assert "INVALID cart –" in read(study(broken, limits={})).text


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "\"><img src=x onerror='y'>", "合成 $x^2$ ñ & é", "$\\bad{"]
)
def test_names_are_harmless_and_whole(name):
    limits = {f"memorization/{name}.income": Limit(0.05, name)}
    found = [finding(name, replace(RAPID, label=name))]
    shown = read(study(found, limits, {name + "2": name}, name=name, facts={name: name}), name)
    in_record = recorded(study(found, limits, name=name))
    for each in (shown, in_record):
        assert not {"script", "img"} & set(each.tags)
        assert "onerror" not in dict(each.attributes)
    assert shown.row(name, f"{name}.income")[:1] == [name]
    assert shown.texts.count(name) >= 6
    assert name in in_record.text


def test_the_page_is_the_same_each_time_fetches_and_runs_nothing_and_has_unique_ids_and_a_panel_a_measure():
    links = [v for k, v in plain().attributes if k in ("href", "src", "xlink:href", "action", "data")]
    assert links
    assert all(v.startswith("#") or v in ("record.html", "report.html") for v in links)
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(plain().tags)
    assert not [k for k, _ in plain().attributes if k.startswith("on")]
    assert "http" not in re.sub(r'xmlns(:xlink)?="[^"]*"|http-equiv', "", page())
    assert report_of(usual(), "name: adult\n") == page()
    ids = [v for k, v in plain().attributes if k == "id"]
    assert len(ids) == len(set(ids))
    drawings = re.findall(r"<svg .*?</svg>", page(), flags=re.DOTALL)
    panels = [ElementTree.fromstring(d) for d in drawings if "xmlns" in d]
    assert len(panels) == 2 + 2 + 1  # memorization, risk, and the curve of one measure
    labels = ["".join(t.itertext()) for t in panels[0].iter() if t.tag.endswith("text")]
    assert [n for n in labels if n in PICTURE] == list(PICTURE)
    assert "limit 0.05" in labels


def test_panels_draw_the_estimates_at_their_values_with_labels_apart():
    rows = [Row("cart", False, ALONE), Row("copy", True, finding("copy", RAPID, 0.91, 0.55)), Row("x", False)]
    drawn = {tuple(map(float, line.get_xdata())) for line in figures.memorization_figure(rows, 0.05).axes[0].lines}
    assert {(0.125,), (0.125 - 0.006, 0.125 + 0.006), (0.55,), (0.05, 0.05), (0.0, 0.0)} <= drawn
    axes = figures.risk_figure(rows).axes[0]
    assert {(0.45,), (0.325,), (0.91,)} <= {tuple(map(float, line.get_xdata())) for line in axes.lines}
    assert [c.get_segments()[0][0][0] for c in axes.collections] == [0.25, 0.25]  # the guess
    line = figures.curves_figure(rows[:1]).axes[0].lines[0]
    assert (list(line.get_xdata()), list(line.get_ydata())) == (list(CURVE), [e.value for e in ALONE.curve])
    figure = figures.curves_figure([Row(f"s{i}", False, finding(f"s{i}", RAPID, 0.9)) for i in range(16)])
    places = sorted(t.get_position()[1] for t in figure.axes[0].texts)
    height = figure.get_figheight() * figure.axes[0].get_position().height
    assert min(b - a for a, b in pairwise(places)) * height >= 0.16
    assert 0 <= places[0] < places[-1] <= 1


def test_what_was_not_judged_or_not_run_to_the_end_is_told_everywhere():
    alone = study([ALONE], limits={})
    assert not read(alone).lacks(
        "NOT JUDGED cart – not judged: no limit is set.",
        "No reference generator was checked",
        "None is set, and there is no built-in safe number",
    )
    assert "limit, where one is set" not in read(alone).text
    assert "NOT JUDGED cart not judged: no limit is set." in recorded(alone).text
    shown = read(usual(failures={"ctgan": "ctgan-r0-f1: ValueError in ctgan.py"}))
    assert "FAILED ctgan – cannot say: it was not run to the end: ctgan-r0-f1: ValueError in ctgan.py." in shown.text
    assert shown.row("ctgan", "all")[-1] == "FAILED"
    assert shown.texts.count("failed") == 4  # a line in each panel of two measures
    assert shown.text.count("ctgan-r0-f1: ValueError in ctgan.py") == 5  # record, head, next steps, note, provenance
    words = "FAILED ctgan cannot say: it was not run to the end: MemoryError."
    assert words in recorded(study([ALONE], failures={"ctgan": "MemoryError"})).text
    none = read(study([], failures={"a": "MemoryError", "b": "KeyError"}))
    assert not none.lacks("FAILED a – cannot say: it was not run to the end: MemoryError.", "Nothing was measured.")
    assert "All numbers" not in none.text


def test_thresholds_name_who_chose_them_and_the_look_at_the_releases_where_it_decides():
    shown = read(usual(limits=LIMITS | {f"risk/{DISTANCE.key}": Limit(0.00001, "")}))
    above = ["+0.550 [+0.544, +0.556] above", "+0.400 [+0.394, +0.406] above"]
    assert shown.row("memorization", "rapid.income")[2:] == ["0.05", "the ethics board", *above]
    assert shown.row("risk", DISTANCE.key)[2:4] == ["1e-05", "not stated"]
    looked = Verdict("cart", LOOK, 0.04, "RISK", "the release lies on members", 0.2, 0.15, 0.25)
    assert LOOK not in recorded(usual()).text
    result = replace(usual(), verdicts=[*usual().verdicts, looked])
    words = f"More people near to a row of the release than chance explains {LOOK}"
    assert recorded(result).row(words) == [words, "4 in 100 (0.04)", "equal to the smallest limit"]
    chapter = read(result)
    assert chapter.row("look", "nearness")[2:4] == ["0.04", "equal to the smallest limit"]
    assert "+0.200 [+0.150, +0.250]" in chapter.text.partition("look/nearness, limit 0.04")[2]


def test_long_names_and_numbers_are_shortened():
    told = [figures.shortened(n) for n in ("cart", "vendor-a-2024-release-number-2", "two\nlines\x00")]
    assert (told, len(figures.shortened("合成" * 20))) == (["cart", "vendor-a-20…se-number-2", "two lines"], 11)
    for value, text in ((-0.0004, "0.000"), (0.0004, "0.000"), (-0.0006, "−0.001"), (1.0, "1.000")):
        assert number(value) == number(value, sign=True).lstrip("+") == text


def test_the_decision_record_says_what_may_go_out_under_whose_limits_and_has_room_for_a_decision():
    shown = recorded(usual())
    assert not shown.lacks(
        "RISK cart may not go out.",
        "of 12 more people in 100 clearly better than by a plain guess because their records were used",
        "NO EVIDENCE coarse may go out under these limits.",
        "copy: seen by 1 of 1 limit",
        'It holds under the limits below, and no others. They were set by "the ethics board".',
        "cart RISKmay go outmay not go outis to be studied again",
        "coarse NO EVIDENCEmay go out",
        "Date, signature",
        "RISK: more people are given away than a limit allows. NO EVIDENCE: no limit is crossed, and",
        f"without a limit, so not counted: {DISTANCE.key}. The surest memorization there: +0.",
    )
    assert "INCONCLUSIVE" not in shown.text
    assert not {"script", "link", "img"} & set(shown.tags)
    assert [v for k, v in shown.attributes if k in ("href", "src")] == ["report.html"]
    for source in ("", NOT_SAID):
        limits = {name: replace(limit, source=source) for name, limit in usual().limits.items()}
        nobody = recorded(replace(usual(), limits=limits)).text
        assert "and no others. They were set by nobody who is named." in nobody


def test_the_record_of_one_release_names_the_files_that_were_judged():
    facts = {"records": "20", "members": "12"}
    files = {f"{which}_file": f"{which}.csv, SHA-256 begins with 0a1b" for which in ("release", "real", "held_out")}
    shown = recorded(study([finding("release")], facts=facts | files))
    assert not shown.lacks(
        "the file release.csv, SHA-256 begins with 0a1b; a synthetic table that was made elsewhere",
        "Made fromreal.csv, SHA-256 begins with 0a1b; that the release was made from it was said",
        "Held outheld_out.csv, SHA-256 begins with 0a1b; the control records",
        "12 members and 8 control records",
    )
    assert "made of the table" not in shown.text
    alone = recorded(study([finding("release")], facts=facts | files | {"held_out_file": ""}))
    assert "Held out" not in alone.text
    assert "what cart made of the table" in recorded(study([ALONE], facts=facts)).text


def test_the_record_says_in_words_how_a_study_is_repeated_how_sure_it_is_and_what_of_whom_it_holds():
    facts = {"repetitions": "3", "releases": "15", "interval": "moderated, 0.9", "methods": "2", "data_digest": "1f9c"}
    facts |= {"who_is_who": "patient", "left_out": "mail and note"}
    result, settings = study([ALONE], facts=facts), "name: demo\n"
    sure = "“At least” and “at most” are ends of 90% intervals, rounded outwards, each right 95 times in 100."
    digest = sha256(settings.encode()).hexdigest()[:16]
    assert sure in read(result).text
    assert not recorded(result, settings).lacks(
        sure,
        "Who is whopatient",
        "Left outmail and note",
        "Repetitions5 folds in 3 repetitions: 15 releases of each generator",
        "Intervalsof 90 %: 90 of 100 such intervals hold the true value, 95 of 100 of their ends are right (method: ",
        "Methodsversion 2 of what the numbers mean",
        "Digest of the tablefirst 16 digits of the SHA-256 of its columns and cells, as they were read: 1f9c",
        f"Commandsynthrisk benchmark demo, with the settings at the end of the report; first 16 digits of the SHA-256 "
        f"of these settings: {digest}",
    )
    assert "Commandsynthrisk evaluate, with" in recorded(result, "synthetic: r.csv\n").text
    once = recorded(replace(result, facts={"repetitions": "1", "releases": "1"})).text
    assert ["Repetitionsone release" in once, "“At least”" in once] == [True, False]


def test_the_record_counts_what_it_has_no_room_for_and_says_which_leak_a_kept_limit_would_have_shown():
    kept = [Verdict("cart", f"memorization/m{n}.job", 0.05, "NO EVIDENCE", "", 0.01, 0.0, 0.02) for n in range(5)]
    silent = Verdict("cart", "memorization/m5.job", 0.05, "CANNOT TELL", "", 0.01, -0.1, 0.1)
    shown = recorded(replace(study([ALONE], {SINGLE: Limit(0.05, "")}), verdicts=[*kept, silent]))
    assert "Others, in the report: 1 NO EVIDENCE, 1 CANNOT TELL." in shown.text
    nine = recorded(study([finding(f"vine-{i}") for i in range(9)], limits={}))
    assert "Besides: 5 not judged; the report has each of them." in nine.text
    reason = "memorization lies inside ±0.05; a leak of about 1.8% of the training rows would have been seen"
    kept = Verdict("cart", SINGLE, 0.05, "NO EVIDENCE", reason, 0.01, 0.0, 0.02)
    assert not recorded(replace(study([ALONE]), verdicts=[kept])).lacks(
        "NO EVIDENCE: Whoever has the release predicts income",
        f"{SINGLE}; a leak of about 1.8% of the training rows would",
    )


def test_what_shows_a_risk_decides_it_and_an_open_word_hinges_on_a_number():
    names = Verdict("cart", RELEASED, 0.001, "RISK", "mail: values of 9 of 10 people in the data are in the release")
    open_one = Verdict("cart", SINGLE, 0.05, "INCONCLUSIVE", "", 0.04, 0.03, 0.06)
    result = replace(study([ALONE]), verdicts=[open_one, names])
    head = read(result).head
    assert "Decided by released/identifiers" in head
    assert "+0.040" not in head.partition("Why, limit by limit")[0]
    words = "values that name people may not be released of people in the data more often than of others"
    assert words in recorded(result).text
    head = read(study([ALONE], {SINGLE: Limit(0.12, "")})).head
    assert [part in head for part in ("INCONCLUSIVE cart", "Hinges on", "Decided by")] == [True, True, False]


def test_the_record_tells_limits_of_one_author_in_a_row_and_in_the_unit_of_its_sentences():
    limits = {SINGLE: BOARD, "control_gain/rapid.income": BOARD, "risk/rapid.income": Limit(0.05, "the steward")}
    rows = recorded(study([ALONE], limits)).text.split("limitset by")[1]
    predicted = "eople whose income is predicted clearly better than by a plain guess"
    for part in (
        f"More p{predicted} than if their records had not been used {SINGLE}",
        f"P{predicted}, of those who would be safe without their records control_gain/rapid.income5 in 100",
        "5 in 100 (0.05)the board",
        f"P{predicted} risk/rapid.income5 in 100 (0.05)the steward",
    ):
        assert part in rows
    found = [finding("cart", replace(RAPID, label=n, metric=n, sensitive=None)) for n in (DISTANCE.key, "membership")]
    advice = "4 folds, or a limit of 0.07"
    verdicts = [
        Verdict("cart", "tpr/membership", 0.05, "INCONCLUSIVE", "", 0.05, 0.04, 0.06, advice=advice),
        Verdict("cart", DISTANT, 0.05, "NO EVIDENCE", "", 0.01, 0.0, 0.02),
    ]
    shown = recorded(replace(study(found, {DISTANT: BOARD, "tpr/membership": BOARD}), verdicts=verdicts)).text
    assert "What would decide: 4 folds, or a limit of 7 in 100 (0.07)." in shown
    rows = shown.split("limitset by")[1]
    assert "one of 100" not in rows
    assert "where 1 of 100 others is taken for one tpr/membership5 in 100 (0.05)the board" in rows
    assert f"than without their records {DISTANT}0.05the board" in rows


def test_task_writes_a_private_file(tmp_path):
    path = Path(report.fn(judged(usual(), tmp_path), "seed: 1 # <b>"))
    assert path == tmp_path / "reports" / "s-1" / "report.html"
    beside_it = path.with_name("record.html")
    assert [stat.S_IMODE(each.stat().st_mode) & 0o077 for each in (path, beside_it, path.parent)] == [0, 0, 0]
    assert path.read_text("utf-8") == report_of(usual(), "seed: 1 # <b>")
    assert beside_it.read_text("utf-8") == record(usual(), "seed: 1 # <b>")
    assert "seed: 1 # <b>" in Report(path.read_text("utf-8")).text


def claims(*told, columns="10", **others):
    return study([claiming("cart", *each) for each in told], {}, facts={"columns": columns}, **others)


def label_of(made):
    return next(v for k, v in made.attributes if k == "aria-label" and "confidence improvement" in v)


def test_the_gda_view_puts_the_columns_of_an_attack_together():
    result = claims(("income", 150), ("race", 180))
    made = read(replace(result, findings=[*result.findings, claiming("copy", "income", 0, claims=0)]))
    told = "500 200 0.750 0.500 +0.500 0.400 0.100 5.00 12.00 0.950"
    assert made.row("cart", "income")[2:] == told.split()
    assert made.row("", "all columns")[2:] == [
        "", "400", "", "", *["+0.650", "0.400", "0.200", "5.00", "12.00", "0.782"],
    ]  # fmt: skip
    assert made.row("", "the worst")[3] == "200"
    assert made.row("copy", "income")[2:] == ["500", "0", "–", "0.500", "–", "0.000", "0.100", "–", "–", "1.000"]
    label = label_of(made)
    assert label.startswith("GDA view of inference: cart confidence improvement 0.65, claim probability 0.40, ")
    assert label.endswith("; copy claim probability 0.00, susceptibility 0.10")


def test_one_column_attacked_whole_is_told_alike_in_picture_and_table_and_people_with_several_records_are_counted():
    result = claims(("income", 150), columns="15")
    made = read(result)
    said = dict(re.findall(r"(susceptibility|prior knowledge|work)(?: \(cells a claim\))? ([\d.]+)", label_of(made)))
    assert said == {"susceptibility": "0.07", "prior knowledge": "5.00", "work": "12.00"}
    assert made.row("cart", "income")[8:11] == ["0.067", "5.00", "12.00"]
    (told,) = gda_table(result).query("weakest == 'all'").to_dict("records")
    assert (told["susceptibility"], told["prior_knowledge"], told["work"]) == (pytest.approx(1 / 15), 5, 12)
    alone = claims(("income", 150))
    every = [replace(alone, facts=alone.facts | {"records": "600"} | own) for own in ({}, {"entities": "150"})]
    assert ["The 600 records are of 150 people" in report_of(each) for each in every] == [False, True]


def test_as_many_of_the_worst_columns_are_put_together_as_the_study_says():
    result = claims(("a", 150), ("b", 180), ("c", 100), weakest=(2, None, 7, 1))
    made = read(result)
    names = [r[1] for r in made.rows if len(r) == 12 and not r[0]]
    assert names == ["b", "c", "the 2 worst", "all columns", "the worst"]  # of three columns 7 are all
    assert made.row("", "the 2 worst")[3] == "400"
    table = gda_table(result)
    assert table["weakest"].tolist() == [2, "all", 7, 1]
    assert table["columns"].tolist() == ["b, a", "b, a, c", "b, a, c", "b"]
    assert table["confidence_improvement"].tolist() == pytest.approx([0.65, 1.3 / 3, 1.3 / 3, 0.8])
    assert (table["claims"].tolist(), as_json(result)["gda"]) == ([400, 600, 600, 200], table.to_dict("records"))
    assert not [r for r in read(claims(("income", 150))).rows if len(r) == 12 and not r[0]]


def surest(name, **precision):
    """A finding with a selective curve: precision by share, as q0_1=0.9."""
    told = {f"selective_{share[1:].replace('_', '.')}": (value, 0.0) for share, value in precision.items()}
    return Row(name, False, replace(finding(name), details=told))


def test_selective_curves_begin_at_the_smallest_estimable_share_each_beside_its_dashed_base_rate():
    def ticks(*rows):
        return [t.get_text() for t in figures.selective_figure(list(rows)).axes[0].get_xticklabels()]

    rows = [surest("a", q0_001=NAN, q0_01=0.9, q0_1=0.5, q1=0.25), surest("b", q0_02=0.4)]
    lines = {tuple(line.get_ydata()): line for line in figures.selective_figure(rows).axes[0].lines}
    assert list(lines[0.9, 0.5, 0.25].get_xdata()) == pytest.approx([0, 0.5, 1])
    assert lines[(0.4,)].get_marker() == "o"  # a line of one point would not be seen
    assert (ticks(*rows), ticks(surest("a", q0_5=0.5, q1=0.25))) == (["all", "10 %", "1 %"], ["all", "10 %"])
    assert ticks(surest("a", q0_002=0.5, q1=0.25)) == ["all", "10 %", "1 %", "0.1 %"]
    nothing = figures.selective_figure([surest("a", q0_5=NAN), Row("c", False)]).axes[0]
    assert [t.get_text() for t in nothing.texts] == ["too few claims"]
    row = surest("a", q0_1=0.9, q1=0.5)
    bases = {f"selective_{share}_baseline": (0.4, 0.0) for share in ("0.1", "0.5", "1")}
    with_base = replace(row, finding=replace(row.finding, details=row.finding.details | bases))
    figure = figures.selective_figure([with_base, surest("b", q0_1=0.7)])
    (curve, *_), (base,) = (
        [line for line in figure.axes[0].lines if list(line.get_ydata()) == ends] for ends in ([0.9, 0.5], [0.4, 0.4])
    )
    assert (base.get_color(), base.get_linestyle()) == (curve.get_color(), "--")
    assert figures.words_of(figure).count("(base rate 0.400)") == 1


def test_vulnerable_records_stand_beside_all():
    outliers = replace(finding("cart", risk=0.7, extra=0.3), details={"records": (300.0, 300.0)})
    own = replace(ALONE, groups={"outliers": outliers}, spread=(-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0))
    made = read(study([own, finding("copy")]))
    assert made.row("", "", "outliers")[3:] == ["300", "0.700 [0.690, 0.710]", "0.400", "+0.300 [+0.294, +0.306]"]
    words = "spread by rapid.income: cart median 0.250, middle half 0.000 to 0.500, middle 98 % −1.000 to 1.000"
    assert any(name == "aria-label" and value.startswith(words) for name, value in made.attributes)


def test_yardsticks_stand_beside_the_value_in_a_table_and_as_a_line_in_the_figure():
    details = {"unseen_keys": (0.125, 0.25), "ceiling": (0.75, 0.75), "mean_gain": (0.5, 0.4)}
    html = report_of(study([replace(ALONE, details=details, warning="<mind> this")]), "name: adult\n")
    assert "unseen keys 0.125 (control 0.250), ceiling 0.750" in Report(html).text
    assert "&lt;mind&gt; this" in html
    assert Report(html).row("cart", "rapid.income", "mean gain")[3:] == ["0.500", "0.400"]
    shown = read(study([beside(ALONE), beside(finding("copy", RAPID, 0.91, 0.55))]))
    told = ["population", "0.400 [0.390, 0.410]", "+0.083 [+0.053, +0.113]", "+0.050 [+0.030, +0.070]"]
    assert shown.row("cart", "rapid.income", "0.450")[3:] == told
    assert len([r for r in shown.rows if "population" in r]) == 1
    axes = figures.risk_figure([Row("cart", False, beside(ALONE))]).axes[0]
    assert [c.get_segments()[0][0][0] for c in axes.collections] == [0.25, 0.4]
    assert "thin line" in shown.text


@pytest.mark.parametrize(
    ("found", "called"), [(ALONE, "best constant guess"), (claiming("cart", "vote", 90), "statistical guess S")]
)
def test_the_guess_of_claims_is_called_statistical(found, called):
    own = {"guess": Yardstick(around(0.25, 0.0), around(0.3, 0.02), around(0.2, 0.02))}
    shown = read(study([replace(found, yardsticks=own)]))
    assert shown.row("cart", found.measure.key, "0.450")[3] == called
    assert ("of claims the statistical guess S" in shown.text) == (called == "statistical guess S")


def test_a_yardstick_at_another_size_stands_beside_its_own_success():
    own = Yardstick(around(0.1, 0.02), around(1 / 9, 0.03), around(0.1, 0.02), around(0.2, 0.01))
    shown = read(study([replace(finding("cart", DISTANCE, risk=0.9), yardsticks={"control": own})], limits={}))
    told = ["control records, of those isolated", "0.100 [0.080, 0.120]"]
    assert shown.row("cart", DISTANCE.key, "0.200")[3:5] == told
    assert "Singling out: its claims name no target" in shown.text
    assert "Singling out: its claims" not in read(study([beside(ALONE)])).text


def pair(value, p, lower="", measure=RAPID):
    return Comparison(measure, "memorization", "cart", "coarse", around(value, 0.01), p / 2, p, p, lower)


def test_pairs_that_differ_come_first_and_that_none_differs_is_said():
    far = replace(RAPID, label="far")
    shown = read(usual(comparisons=[pair(0.001, 0.8), pair(0.113, 0.0002, "coarse", far)]))
    rows = [r for r in shown.rows if r and r[0].startswith("cart − coarse")]
    assert [" ".join("".join(r[-1:]).split()) for r in rows] == ["coarse", "undecided"]
    assert [c.strip() for c in rows[0][3:7]] == ["+0.113 [+0.103, +0.123]", "< 0.001", "< 0.001", "< 0.001"]
    assert "2 comparisons, 1 with a difference" in shown.text
    assert "No pair differs" not in shown.text
    lost = Comparison(RAPID, "risk", "cart", "coarse", NOT_ESTIMABLE, NAN, NAN, NAN)
    text = read(usual(comparisons=[pair(0.001, 0.8), lost])).text
    assert "No pair differs by more than chance could make." in text
    assert "nan" not in re.findall(r"[a-z]+", text.lower())


def test_power_is_a_table_of_shares():
    powers = {
        "rapid.income": Power(0.023, 0.5, ((0.01, False), (0.05, True))),
        "far": Power(NAN, 0.0, ((0.01, False), (0.05, False))),
        "on": Power(0.3, 0.1, ((0.05, False),)),  # at 1 % it has no interval
    }
    shown = read(usual(powers=powers))
    assert shown.row("measure", "1%") == ["measure", "1%", "5%", "seen in four of five"]
    assert shown.row("rapid.income", "missed") == ["rapid.income", "missed", "seen", "2.3%"]
    assert (shown.row("far")[-1], shown.row("on")) == ("none", ["on", "–", "missed", "30% (line continued)"])


def test_a_word_stands_beside_the_quantity_that_it_was_given_for():
    crossed = Verdict("cart", "tpr/rapid.income@outliers", 0.06, "RISK", "", 0.2, 0.15, 0.25)
    result = replace(study([ALONE], {}), verdicts=[crossed])
    assert read(result).row("cart", "rapid.income")[-1].split() == ["RISK", "on", "tpr", "of", "outliers"]


def test_members_found_stand_beside_their_reason_and_the_bound_of_epsilon():
    few = replace(NOT_ESTIMABLE, note="fewer than 10000 control scores")
    tpr = {0.01: Estimate(0.03, 0.02, 0.04), 0.001: few}
    own = replace(finding("cart", DISTANCE), tpr=tpr, epsilon=EpsilonBound(1.25, 0.001, "flagged", 0.02))
    result = study([own, finding("copy", DISTANCE), ALONE])
    whole = read(result)
    heads = ("synthesizer", "measure", "found at 1 % [interval]")
    assert whole.row(*heads)[3:] == ["found at 0.1 % [interval]", "epsilon at least"]
    row = ["cart", DISTANCE.key, "0.030 [0.020, 0.040]", f"not estimable: {few.note}", "1.25"]
    assert whole.row(*row[:3]) == row
    assert not whole.lacks(
        "(e, delta)-differential privacy, with delta = 0.001 and 95 % confidence", "never a guarantee"
    )
    limited = read(study([own, finding("copy", DISTANCE)], {f"tpr/{DISTANCE.key}": Limit(0.06, "the board")}))
    assert f"Limit 0.06 on tpr/{DISTANCE.key}." in limited.text
    rates, (bound,) = as_json(result)["tpr"], as_json(result)["epsilon"]
    told = [(r["measure"], r["false_positive_rate"], r["tpr"], r["note"]) for r in rates]
    assert told == [(DISTANCE.key, 0.01, 0.03, ""), (DISTANCE.key, 0.001, None, few.note)]
    assert (bound["synthesizer"], bound["epsilon"], bound["side"], bound["share"]) == ("cart", 1.25, "flagged", 0.02)
