"""The last words on the terminal, of hand-made results."""

import io
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from rich.text import Text

from samples.studies import report_of
from synthrisk.conf.study import Bootstrap
from synthrisk.flows.cli.evaluate import as_json
from synthrisk.flows.outcome import Outcome
from synthrisk.flows.terminal.answer import close
from synthrisk.flows.terminal.columns import HEADS, Column, Generators, Line, in_columns
from synthrisk.metrics.intervals.epsilon import EpsilonBound
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.release.validity import check_release, summarise
from synthrisk.metrics.study.comparison import Compared
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.yardsticks import ISOLATED_GAIN, beside_exchangeability
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.tasks.judge import judge
from synthrisk.tasks.tracking.addresses import Logged, Pages
from synthrisk.tasks.workspace.references import Cut, Estimated, Generator, Sample, store

LOGGED = Logged("sqlite:///x", "1", "s", {}, Pages("report.html"), workspace=".synthrisk")


def result_of(*found, facts=None, **more):
    settings = {f.synthesizer: {"role": "synthesizer"} for f in found}
    own = {"records": "9", "releases": "2"} | (facts or {})
    return StudyResult("s", "s", [*found], [], [], **{"settings": settings, "facts": own} | more)


@pytest.fixture
def said_of(capsys):
    def said(*found, **more):
        close(Outcome(result_of(*found, **more), LOGGED), verbose=True)
        return capsys.readouterr().out

    return said


@pytest.mark.parametrize("beside", [True, False])
def test_the_share_of_isolated_records_that_are_members_is_told_apart_from_the_risk(beside, said_of):
    risk, gain = Estimate(0.9, 0.8, 1.0), Estimate(0.25, 0.1, 0.4)
    details = {"control": (0.8, float("nan"))} if beside else {}
    measure = Measure("singling_out", "singling_out")
    each = Estimate(0.02, 0.01, 0.03)  # a claim: the gain of those isolated is a detail
    intervals = {ISOLATED_GAIN: {gain.method: gain}}
    found = Finding("cart", "synthesizer", measure, risk, NOT_ESTIMABLE, each, details=details, intervals=intervals)
    own = beside_exchangeability(found)
    assert (own is not None) == beside
    found = replace(found, yardsticks={"control": own} if own else {})
    said = said_of(found)
    assert ".900 [.800, 1.000]" in said
    assert ("share of members among isolated records, and by chance: cart .850 and .800" in said) == beside


@pytest.mark.parametrize("identifier", ["who", None])
def test_a_study_says_whether_entities_have_several_records(identifier, tmp_path):
    table = store(pd.DataFrame({"who": ["ann", "ann", "bob"], "a": [1, 2, 3], "b": list("xyx")}), tmp_path)
    sample = Sample(table, Cut("unused", "cut", 1, 2, 0.0), str(tmp_path), identifier=identifier)
    marginals = Generator("marginals", "marginals", role="reference", answer="independent")
    risk, none = Estimate(0.6, 0.58, 0.62), Estimate(0.0, -0.02, 0.02)
    found = Finding("marginals", "reference", Measure("inference", "inference", "b"), risk, risk, none, 0.5)
    result = judge.fn(Estimated(sample, (marginals,), (), Bootstrap(), Compared([found]))).result
    assert bool(result.invalid) == (identifier is None)


@pytest.mark.parametrize("claims", [True, False])
def test_the_guess_of_claims_is_not_called_constant(claims, said_of):
    details = {"statistical_confidence": (0.6, 0.6)} if claims else {}
    risk, measure = Estimate(0.9, 0.8, 1.0), Measure("inference", "inference" if claims else "zero_cap", "vote")
    found = Finding("release", "synthesizer", measure, risk, risk, risk, 0.6, details=details)
    said = said_of(found, facts={"releases": "1"})
    assert ("constant guess: .600" in said) != claims
    assert ("statistical guess S: release .600" in said) == claims


def test_members_found_are_a_line_a_synthesizer(said_of):
    measure, risk = Measure("membership", "membership"), Estimate(0.5, 0.4, 0.6)
    tpr = {0.01: Estimate(0.03, 0.02, 0.04), 0.001: NOT_ESTIMABLE}
    found = [
        Finding("cart", "synthesizer", measure, risk, risk, risk, tpr=tpr, epsilon=EpsilonBound(1.25, 0.001)),
        Finding("copula", "synthesizer", measure, risk, risk, risk, tpr={0.01: NOT_ESTIMABLE}),
    ]
    said = said_of(*found)
    assert "cart: members found .030 at FPR 1.0%, epsilon at least 1.25\n" in said
    assert "copula: members found" not in said


def test_releases_are_told_before_anything_else(said_of):
    rng = np.random.default_rng(0)
    real = pd.DataFrame({"age": rng.integers(18, 90, 200), "pay": rng.normal(size=200), "vote": list("ab") * 100})
    members, control = real[:120], real[120:]
    checks = [check_release(members, control, members), check_release(members, control, control.assign(vote="a"))]
    settings = {"cart": {"role": "synthesizer"}, "copy": {"role": "reference"}, "trees": {"role": "synthesizer"}}
    summaries = {"cart": summarise(checks), "copy": summarise(checks[:1]), "trees": summarise(checks[1:])}
    told = {"settings": settings, "facts": {"records": "200"}}
    result, none = result_of(**told, releases=summaries), result_of(**told)
    said = " ".join(said_of(**told, releases=summaries).split())
    why = "column 'vote' is constant in the release, but not among the members"
    for words in (
        "60 (0.0)", f"Mind cart: left out: 1 of 2 releases: {why}", f"Broken trees: {why}",
        "Copy? cart: 1 of 2 releases: 100.0% of the members occur in the release as they are",
        "more signs are in the report",
    ):  # fmt: skip
        assert words in said
    assert [words for words in ("Broken cart", "Copy? copy") if words in said] == []
    rows = as_json(result)["releases"]
    assert [(row["synthesizer"], row["rows_of_members"]) for row in rows] == [("cart", 60), ("copy", 120), ("trees", 0)]
    assert rows[1]["invalid"] == ""
    text = report_of(result, "")
    assert text.index("The releases before they are judged") < text.index("<h2>Provenance")
    assert "column &#39;vote&#39; is constant in the release" in text
    assert "equal a member" not in said_of(**told)
    assert "The releases before they are judged" not in report_of(none, "")


@pytest.mark.parametrize("repetitions", ["1", "2", "3"])
def test_two_repetitions_are_told(repetitions, said_of):
    said = said_of(facts={"releases": "4", "repetitions": repetitions})
    assert ("two repetitions" in said) == (repetitions == "2")


@pytest.mark.parametrize("epsilon", ["", "1.00"])
def test_names_in_tables_break_between_words_alone(epsilon):
    table = Generators("rapid.income", HEADS)
    table.add_column("verdict")
    if epsilon:
        table.add_column("epsilon", right=True)
    names = ["near_copy", "synthesizer_of_patients"]
    cells = [".123 [.100, .200]", ".100", "+.123 [+.100, +.200]", "INCONCLUSIVE"]
    for name in names:
        table.add_row(name, *map(Text, cells), *([Text(epsilon)] if epsilon else []))
    out = io.StringIO()
    Console(file=out, width=80).print(table)
    assert max(map(len, out.getvalue().splitlines())) <= 80
    assert [word for word in ("near_copy", "synthesizer_", "patients", *cells) if word not in out.getvalue()] == []


def test_a_measure_in_a_column_breaks_behind_its_marks():
    columns = [Column("synthesizer", folds=True), Column("verdict"), Column("what decides", right=True)]
    columns += [Column("in", folds=True), Column("utility", right=True)]
    measures = ["tpr/membership@outliers", "memorization/common_rows_proportion@rare_keys"]
    rows = [Line(["anonymised_patients", Text("INCONCLUSIVE"), Text("." * 20), each, Text(".8")]) for each in measures]
    told = [line.plain for line in in_columns(columns, rows, 80)]
    assert max(map(len, told)) <= 80
    words = re.findall(r"\w+", "\n".join(told[2:]).replace("_", " "))
    assert set(words) <= {*re.findall("[a-z]+", " ".join(measures)), "anonymised", "patients", "INCONCLUSIVE", "8"}
