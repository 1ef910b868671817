"""What a notebook shows of scores, registers and results: numbers and words, never a record."""

import inspect
import pydoc
import re
from html import escape, unescape

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from samples.judged import judged_study
from synthrisk.metrics import ATTACKS, METRICS
from synthrisk.metrics.score import Score

CELL = "Zebrafink-Qx7"


def people(rng, n: int) -> pd.DataFrame:
    made = pd.DataFrame({"age": rng.integers(18, 60, n), "city": rng.choice(["Graz", CELL], n)})
    return made.assign(income=np.where(made["age"] > 40, "<b>high", "low"))


@pytest.fixture
def score() -> Score:
    """A score with records, some of which hold the true values, with a cell that must not be shown."""
    rng = np.random.default_rng(3)
    real, release, control = (people(rng, 30) for _ in range(3))
    return METRICS["zero_cap"](real, release, quasi_identifiers=["age", "city"], sensitive="income", control=control)


def cells(html: str) -> list[str]:
    return [unescape(text) for text in re.split(r"<[^>]*>", html) if text]


def test_a_score_shows_its_numbers_in_a_line_and_no_record(score):
    text, html = repr(score), score._repr_html_()
    assert text.startswith(f"<Score zero_cap value={score.value:.3f} control={score.details['control']:.3f}")
    assert ("30 records" in text, "\n" in text) == (True, False)
    assert not [shown for shown in (text, html) if CELL in shown or "high" in shown]
    assert f"{score.published:.3f}" in cells(html)
    assert f"<p>{escape(METRICS['zero_cap'].said)}.</p>" in html.split("<details>")[0]  # what the number means


def test_a_notebook_has_five_numbers_and_the_worst_records_all_else_folded():
    records = pd.DataFrame({"score": [0.1, 0.9, np.nan, 0.5, 0.7, 0.2, 0.3]}, index=[CELL + str(i) for i in range(7)])
    details = {"control": 0.2, "guess": 0.3, "memorization": 0.1, "accuracy": 0.444}
    html = Score("own", 0.45, 0.55, records, details)._repr_html_()
    first, folded = html.split("<details>")
    numbers = "own|value|0.450 [0.127, 0.773]|control|0.200|guess|0.300|memorization|0.100|records|7"
    worst = "row of records (from 0)|score|1|0.900|4|0.700|3|0.500|6|0.300|5|0.200"
    assert "|".join(cells(first)) == f"{numbers}|{worst}"
    assert {"published", "0.550", "accuracy", "0.444"} <= set(cells(folded))
    assert CELL not in html
    told = cells(Score("own", 0.7, 0.7, pd.DataFrame({"score": [0.1, 0.9]}))._repr_html_())
    assert told[told.index("value") + 1] == "0.700"  # a value that is no mean of its records has no interval of them


def test_a_score_without_a_value_says_why():
    empty = Score("rapid", float("nan"), float("nan"), reason="one class <only>")
    assert repr(empty) == "<Score rapid value=none (one class <only>)>"
    assert "one class <only>" in cells(empty._repr_html_())
    assert "<only>" not in empty._repr_html_()


def test_help_on_a_metric_is_its_own():
    told = pydoc.render_doc(METRICS["zero_cap"])
    assert METRICS["zero_cap"].said in told
    assert ("quasi_identifiers" in told, "same_difference_as" in told) == (True, False)  # an attribute of the class
    assert told != pydoc.render_doc(METRICS["rapid"])


@pytest.mark.parametrize("name", list(METRICS))
def test_the_signature_names_what_a_metric_takes(name):
    metric = METRICS[name]
    signature = inspect.signature(metric)
    assert list(signature.parameters) == ["real", "synthetic", *metric.options]
    due = {p.name for p in signature.parameters.values() if p.default is p.empty}
    assert set(metric.needs) - ({"control"} if metric.yardsticks.without_control else set()) <= due
    assert repr(metric).startswith(f"<Metric {name} ({metric.group}): ")


@pytest.mark.parametrize(("register", "what"), [(METRICS, "metrics"), (ATTACKS, "attacks")])
def test_a_register_lists_names_and_what_they_say(register, what):
    assert repr(register).startswith(f"<{len(register)} {what} by name: ")
    assert next(iter(register)) in repr(register)
    assert set(register) <= set(cells(register._repr_html_()))
    assert what == "attacks" or METRICS["rapid"].said in cells(METRICS._repr_html_())


def test_a_study_shows_its_answer():
    result = judged_study()
    text, shown = repr(result), cells(result._repr_html_())
    assert (result.study_id in text, "\n" in text) == (True, False)
    for name in {v.synthesizer for v in result.verdicts}:
        assert f"{name}: {result.verdict(name)}" in text
        assert {name, result.verdict(name)} <= set(shown)


def test_scores_that_are_all_0_or_1_are_drawn_as_shares():
    records = pd.DataFrame({"score": [1.0] * 30 + [0.0] * 70 + [np.nan]})
    details = {"control": 0.2, "guess": 0.7, "null_real_mean": 0.25, "ceiling": np.nan}
    with mpl.rc_context({"backend": "agg"}):
        axes = Score("inference", 0.3, 0.3, records, details).plot()
        labels = [each.get_text() for each in axes.get_yticklabels()]
        widths = dict(zip(labels, [bar.get_width() for bar in axes.patches], strict=True))
        assert widths == {"value": 0.3, "control": 0.2, "guess": 0.7, "null": 0.25}
        label = "share (value: of 100 records, with its 95 % interval)"
        assert (axes.get_xlim(), axes.get_xlabel()) == ((0, 1), label)
        assert next(each.get_text() for each in axes.texts).startswith("0.300 [0.2")
        (ends,) = axes.collections[0].get_segments()
        assert ends[0][0] < 0.3 < ends[1][0]
        other = Score("authenticity", 0.7, 0.3, records).plot()
        assert other.get_xlabel() == "share (value: of 100 records)"


def test_a_score_is_drawn_with_its_value_and_yardsticks(score):
    score.records.loc[score.records.index[0], "score"] = 0.5  # not all of them are 0 or 1
    with mpl.rc_context({"backend": "agg"}):
        axes = score.plot()
        legend = [text.get_text() for text in axes.get_legend().get_texts()]
        assert f"value {score.value:.3f}" in legend
        assert f"control {score.details['control']:.3f}" in legend
        curve = axes.get_lines()[0]
        at_one = np.mean(score.records["score"] >= 1)
        assert curve.get_ydata()[np.argmax(curve.get_xdata() >= 1)] == pytest.approx(at_one)
        assert score.plot(axes) is axes
        alone = Score("dcr", 0.25, 0.25)
        assert alone.plot().get_xlabel() == "value"
