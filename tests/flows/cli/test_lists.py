"""The league table of an experiment, read back from MLflow: it says what the terminal and the page have said."""

import re
from dataclasses import replace

import pandas as pd
import pytest

from synthrisk.flows.cli.league_lines import league_cells
from synthrisk.flows.cli.lists import print_comparison
from synthrisk.metrics.intervals.estimates import NOT_ESTIMABLE, Estimate
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.league import league
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import Verdict
from synthrisk.tasks.workspace.table import store

LIMITED, LOST = Measure("zero_cap", "zero_cap", "a@b"), Measure("cap", "zero_cap", "ü")
FREE = Measure("rapid", "rapid", "a")
RISK, NONE = Estimate(0.6, 0.5, 0.7), replace(NOT_ESTIMABLE, note="no class")


def finding(name, role, measure):
    bare = Estimate(-0.125, float("nan"), float("nan"), note="one repetition")
    if measure == LOST:
        return Finding(name, role, measure, NONE, NONE, NONE)
    return Finding(name, role, measure, RISK, Estimate(0.25, 0.2, 0.3), bare)


def verdict(measure, word, quantity="risk"):
    return Verdict("cart", f"{quantity}/{measure.key}", 0.5, word, "because")


SETTINGS = {
    "cart": {"role": "synthesizer", "kind": "cart"},
    "broken": {"role": "synthesizer", "kind": "callable"},
    "fresh": {"role": "reference", "kind": "fresh"},
    "copy": {"role": "reference", "kind": "copy"},
}
FINDINGS = [finding(n, s["role"], m) for n, s in SETTINGS.items() if n != "broken" for m in (LIMITED, FREE, LOST)]
STUDY = StudyResult(
    "s-1",
    "people",
    FINDINGS,
    [],
    [verdict(LIMITED, "NO EVIDENCE"), verdict(LIMITED, "RISK", "memorization"), verdict(LOST, "INCONCLUSIVE")],
    {"broken": "KeyError in x.py"},
    settings=SETTINGS,
    answers={"fresh": "ideal", "copy": "copy"},
)


def rows_of(printed):
    study = measure = ""
    for line in printed.splitlines():
        assert len(line) <= 80, line
        if line.startswith("Experiment people, study "):
            study = line.split()[-1]
        elif line.startswith("FAILED "):
            yield [study, line.split()[1].rstrip(":"), "all", "", "", "", "FAILED"]
        elif line[:1].strip():
            measure = line.strip()
        elif (cells := re.split(r"  +", line.strip())) and len(cells) > 1 and cells[0] != "synthesizer":
            yield [study, cells[0], measure, *cells[1:]]


@pytest.fixture
def compared(tmp_path, monkeypatch, capsys, logged_of):
    """Return the rows that ``compare`` prints of studies at 80 columns: study, synthesizer, measure, cells."""
    monkeypatch.setenv("COLUMNS", "80")
    table = store(pd.DataFrame({"a": [1, 2, 3]}), tmp_path)

    def compare(*studies, measure=None, history=False):
        for each in studies:
            logged_of(each, table, tmp_path)
        print_comparison("people", measure, history, None, str(tmp_path))
        return list(rows_of(capsys.readouterr().out))

    return compare


def test_a_row_bears_the_verdict_on_its_own_measure(compared):
    """The verdict of the whole study would reassure, or alarm, where nobody has set a threshold."""
    words = {(row[1], row[2]): row[-1] for row in compared(replace(STUDY, verdicts=[verdict(LIMITED, "NO EVIDENCE")]))}
    assert words["cart", "rapid.a"] == "-"
    assert {word for (_, measure), word in words.items() if measure.startswith("zero_cap")} == {
        "NO EVIDENCE",
        "reference",
    }
    assert words["broken", "all"] == "FAILED"


def test_it_has_the_rows_and_cells_of_the_study(compared):
    own = [row for rows in league(STUDY).values() for row in rows]
    seen = compared(STUDY)
    told = {(row.synthesizer, row.measure[:3] or "all"): [c.plain for c in league_cells(row)] for row in own}
    assert {(row[1], row[2][:3]): row[3:] for row in seen} == told
    assert [(row[1], row[2][:3]) for row in seen if row[2][:3] == "rap"] == [
        (name, "rap") for name in ("cart", "copy", "fresh")
    ]
    assert told["cart", "zer"] == [".600 [.500, .700]", ".250", "-.125 [no interval]", "RISK"]
    assert told["cart", "cap"] == ["-", "-", "-", "INCONCLUSIVE"]


def test_a_measure_of_another_study_is_no_row(compared):
    later = replace(
        STUDY, study_id="s-2", findings=[f for f in FINDINGS if f.measure == FREE], verdicts=[], failures={}
    )
    later = replace(later, settings={n: s for n, s in SETTINGS.items() if n != "broken"})
    assert {row[2] for row in compared(STUDY, later)} == {"rapid.a"}
    assert {row[0] for row in compared(history=True)} == {"s-1", "s-2"}
    assert {(row[0], row[1]) for row in compared(measure="rapid.a", history=True)} == {
        (s, n) for s in ("s-1", "s-2") for n in ("cart", "fresh", "copy")
    } | {("s-1", "broken")}
