"""``synthrisk metrics``: one line a metric at 80 columns, and all of one."""

import inspect
from itertools import pairwise
from math import isnan

import pandas as pd
import pytest

from synthrisk.flows.cli import metrics
from synthrisk.flows.cli.metrics import arguments, print_metric, sections
from synthrisk.metrics import METRICS
from synthrisk.metrics.atlas import shipped
from synthrisk.metrics.metric import Metric, Records
from synthrisk.metrics.release.identifiers import RELEASED


def test_the_list_is_one_whole_line_a_metric_at_80_columns(say, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = say("metrics")
    lines = said.out.splitlines()
    assert said.code == 0
    assert all(len(line) <= 80 and "…" not in line for line in lines)
    own = {line.split()[0]: line for line in lines if line.startswith("  ") and line.split()[0] in METRICS}
    assert sorted(own) == sorted(METRICS)
    assert len(lines) < len(METRICS) + 12
    assert (own["membership"].split()[1:3], own["zero_cap"].split()[1:3]) == (["*", "C"], ["QI", "S"])
    assert own["hidden_rate"].split()[1] == "-"


@pytest.mark.parametrize("name", list(METRICS))
def test_all_of_a_metric_names_its_options_defaults_range_and_source(say, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    said, metric = say("metrics", name), METRICS[name]
    lines, options = [line.strip() for line in said.out.splitlines()], metric.options
    assert said.code == 0, said
    assert lines[0] == name
    assert [each for each in (metric.said.replace("``", ""), metric.reference) if each not in said.out] == []
    for option in metric.options:
        if option in metric.needs:
            assert option in lines
        else:
            shown = next(line for line in lines if line.startswith(f"{option} = "))
            if option not in ("bins", "binning", "control", "identifier", "seed"):
                assert shown == f"{option} = {metric.default(option)!r}"
    told = pairwise(said.out.partition("\nFacts\n")[2].partition("\nReturns\n")[0].splitlines())
    described = {line.split()[0]: after for line, after in told if line.partition(" = ")[0].strip() in options}
    assert sorted(described) == sorted(options)
    for option, text in arguments(sections(inspect.getdoc(metric.function)).get("Args", "")).items():
        if option in described:
            own = described[option].strip()
            assert own
            assert text.replace("``", "").startswith(own)


def test_the_leaks_that_each_has_seen_fit_80_columns(say, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said, digest = say("metrics", "--leaks"), shipped()
    assert said.code == 0
    lines = said.out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    own = {cells[0]: cells[1:] for cells in map(str.split, lines) if cells and cells[0] in {*METRICS, RELEASED}}
    assert set(own) == {each.measure for each in digest.answers}
    for name, marks in own.items():
        assert len(marks) == len(digest.grid["leaks"]), (name, marks)
        for mark, leak in zip(marks, digest.grid["leaks"], strict=True):
            answers = [e for e in digest.of(name) if (e.leak, e.quantity) == (leak, "memorization")]
            doses = sorted(e.smallest for e in answers if not isnan(e.smallest))
            seen = doses[(len(answers) - 1) // 2 :][:1]  # by at least half of the tables
            if not answers:
                assert mark == "-"
            elif seen:
                assert float(mark) == pytest.approx(seen[0] * (1 if leak == "known_epsilon" else 100))
            else:
                assert mark == ("!" if sum(e.too_loud for e in answers) > len(answers) / 2 else ".")
    assert say("metrics", "--leaks", "rapid").code == 2


def test_one_metric_says_what_it_sees_and_is_blind_to(say, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    told = say("metrics", "common_rows_proportion").out.partition("\nLeaks seen\n")[2].partition("\nReturns\n")[0]
    lines = {line.partition("(")[0].strip(): line.split() for line in told.splitlines()}
    assert (set(lines["exact copies"][3:]), set(lines["near copies"][3:])) == ({"2"}, {"."})
    assert len(lines["near copies"][3:]) == len(shipped().grid["tables"])
    assert "verdicts rest on your study's own reference generators" in told
    assert "Leaks seen" not in say("metrics", "detection_mlp").out


def test_a_name_that_is_none_or_an_option_of_another_tool_is_refused_with_the_nearest(say):
    said = say("metrics", "zero_kap")
    assert (said.code, said.out) == (2, "")
    assert said.err == "Error: NAME must be that of a metric, got 'zero_kap' (did you mean 'zero_cap'?)\n"
    assert "`synthrisk metrics` lists them" in say("metrics", "qqq").err
    said = say("evaluate", "--ori", "a.csv", "--syn", "b.csv", "--key-fields", "age")
    assert (said.code, said.err) == (2, "Usage error: evaluate takes no option --ori (did you mean '--real'?)\n")
    assert "'--quasi-identifiers'" in say("evaluate", "a.csv", "b.csv", "--key-fields", "age").err
    assert "No such option: --quiet" in say("evaluate", "a.csv", "b.csv", "--quiet").err


def test_the_words_of_another_package_are_no_markup(monkeypatch, capsys):
    def theirs(tables, *, depth="[red]deep[/red]"):
        """Theirs: [bold]share[/bold] of <script>.

        Args:
            tables: Tables.
            depth: How [deep] it looks.
        """

    mine = Metric("theirs", theirs, "their [own]", reference="Us [2026]", records=Records(reduce=lambda records: None))
    monkeypatch.setattr(metrics, "names", lambda: ["theirs"])
    monkeypatch.setitem(METRICS.__dict__, "_entries", {"theirs": type("E", (), {"load": lambda self: mine})()})
    print_metric("theirs")
    said = capsys.readouterr().out
    words = ("[bold]share[/bold] of <script>", "their [own]", "Us [2026]", "'[red]deep[/red]'", "How [deep] it looks")
    assert [text for text in words if text not in said] == []


CAP = [name for name, metric in METRICS.items() if metric.group == "cap"]


@pytest.mark.parametrize("name", CAP)
def test_the_help_of_cap_says_what_a_missing_cell_is(say, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    assert "A missing cell is a value of its own, as a key and as what is guessed" in say("metrics", name).out
    real = pd.DataFrame({"key": ["a", None, None, "b"], "secret": ["x", "y", None, None]})
    release = pd.DataFrame({"key": [None, None, "b"], "secret": [None, "y", None]})
    score = METRICS[name](real, release, quasi_identifiers=["key"], sensitive="secret").records["score"]
    assert score.fillna(-1).tolist()[1:] == SCORES[name]


SCORES = {  # of the records with a missing key, and of the last, whose secret is missing in both tables
    **{name: [0.5, 0.5, 1.0] for name in ("categorical_cap", "zero_cap", "generalized_cap", "disclosure_protection")},
    "targeted_cap": [-1, -1, 1],
    "attribute_disclosure": [0, 0, 1],
}


def test_a_name_of_another_tool_or_of_several_leads_to_the_metric_that_it_is_here(say):
    said, own = say("metrics", "CategoricalZeroCAP"), say("metrics", "zero_cap")
    assert said.code == 0
    assert said.out == f"CategoricalZeroCAP of SDMetrics is here called zero_cap.\n\n{own.out}"
    assert say("metrics", "Zero-CAP").out.startswith("Zero-CAP is here called zero_cap.\n")
    said = say("metrics", "DCR")
    assert said.out.startswith("DCR of SDMetrics and PrivEval and mostlyai-qa is here called")


@pytest.mark.parametrize(("name", "said"), [
    ("key_fields", "key_fields of SDMetrics is here the argument quasi_identifiers. Columns that the attacker knows."),
    ("synthetic_data", "synthetic_data of SDMetrics and RAPID is here the argument synthetic. Taken by all metrics."),
    ("cat_tau", "cat_tau of RAPID is here the argument threshold. Taken by rapid."),
    ("aux_cols", "aux_cols of Anonymeter is here the argument columns_a. Taken by linkability."),
    ("sensitive", "Argument sensitive. Column or columns that the attacker guesses. Taken by"),
])  # fmt: skip
def test_an_argument_of_another_tool_leads_to_ours(say, name, said, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    told = say("metrics", name)
    assert told.code == 0
    assert said in told.out


@pytest.mark.parametrize(("name", "tool"), [("NIST", "SDNist"), ("SDNist", "SDNist"), ("mostlyai", "mostlyai-qa")])
def test_a_tool_is_known_by_its_other_names(say, name, tool):
    said = say("metrics", name)
    assert (said.code, said.out.startswith(f"{tool}: what it measures")) == (0, True)
