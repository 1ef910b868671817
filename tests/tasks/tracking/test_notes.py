import re
from dataclasses import replace

import pytest

from samples.judged import judged_study
from synthrisk.metrics.verdicts.results import overview
from synthrisk.tasks.tracking.notes import TAG, Place, experiment_note, fitting, literal, run_note, study_note

PLACE = Place("3", {"cart": "aa", "coarse": "bb"}, "cc")
NASTY = ["<script>alert(1)</script>", "a|b", "*x*", "[a](javascript:alert(1))", "`x`", "# h", "a\nb", '"q"', "![](x)"]


def plain(note: str) -> str:
    """Return a note with its entities and marks as a reader sees it."""
    return re.sub(r"&#(\d+);", lambda m: chr(int(m[1])), note.replace("**", ""))


def test_a_run_has_the_sentence_the_numbers_and_the_links_of_its_study(kept):
    note = kept.run("cart").data.tags[TAG]
    headline = next(h for h in overview(kept.studies[0]).headlines if h.synthesizer == "cart")
    assert plain(note).startswith(f"RISK {headline.sentence}")
    assert f"\nAs if {headline.as_if} people had been copied, at most {headline.at_most}.\n" in plain(note)
    assert "+0.300 [+0.280, +0.320]" in note
    assert f"viewStateShareKey={kept.studies[0].study_id}" in note
    for called, name in (("decision record", "1_record.html"), ("report", "report.html")):
        assert f"[{called}](" in note
        assert f"/runs/{kept.run('study').info.run_id}/artifacts/{name}" in note


def test_the_experiment_has_the_latest_studys_answer(kept):
    note = plain(kept.tags()[TAG])
    assert note.startswith(f"Latest study, people {kept.studies[1].study_id}: coarse RISK, ctgan NO EVIDENCE")
    assert kept.studies[0].study_id not in note
    for h in overview(kept.studies[1]).headlines:
        assert h.sentence in note


def test_a_failed_generator_says_why_and_only_no_evidence_is_a_word_of_safety(kept):
    notes = {name: kept.run(name).data.tags[TAG] for name in ("cart", "broken", "copy", "coarse")}
    assert "KeyError in x.py" in plain(notes["broken"])
    assert {name for name, note in notes.items() if "may go out" in note} == {"coarse"}
    assert "may go out under your limits" in notes["coarse"]


@pytest.mark.parametrize("text", NASTY)
def test_no_value_and_no_column_name_becomes_markup(text):
    shown = literal(text)
    assert not set(shown) & set("<>|*[]`\n!_")
    assert not re.search(r"#(?!\d+;)", shown)
    assert plain(shown) == text.replace("\n", " ")
    nasty, own = judged_study(guessed=text, limits={f"memorization/zero_cap.{text}": 0.1}), judged_study()
    for made in (experiment_note, lambda result, told, place: run_note(result, told, "cart", place)):
        note, bare = (made(each, overview(each), PLACE) for each in (nasty, own))
        assert [note.count(mark) for mark in "<>|`"] == [bare.count(mark) for mark in "<>|`"]
        assert "](javascript" not in note


def test_a_word_stands_beside_the_quantity_that_it_was_given_for():
    study = judged_study()
    others = [replace(v, quantity=v.quantity.replace("memorization/", "tpr/")) for v in study.verdicts]
    on_another = replace(study, verdicts=others)
    for each, said in ((study, True), (on_another, False)):
        table = plain(experiment_note(each, overview(each), PLACE)).partition("League table")[2]
        assert ("] RISK" in table) == said
    note = plain(run_note(on_another, overview(on_another), "cart", PLACE))
    assert "| RISK on tpr |" in note


def test_a_run_says_which_columns_carry_its_risk_and_what_would_decide():
    told = overview(judged_study())
    more = {"carried": "occupation carries it", "would_decide": "9,600 records"}
    told = replace(told, headlines=[replace(h, **more) for h in told.headlines])
    note = run_note(judged_study(), told, "cart", PLACE)
    assert "\nOccupation carries it.\n\nWhat would decide: 9,600 records.\n" in note
    assert "occupation carries it. What would decide: 9,600 records" in plain(study_note(judged_study(), told, PLACE))


def test_text_from_right_to_left_keeps_its_direction_to_itself():
    assert literal("شمال") == "\N{FIRST STRONG ISOLATE}شمال\N{POP DIRECTIONAL ISOLATE}"
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in literal("a\N{RIGHT-TO-LEFT OVERRIDE}b")


def test_what_does_not_fit_is_cut_at_a_line_and_says_so():
    cut = fitting(["a" * 40] * 10, 200, "more elsewhere")
    assert len(cut) <= 200
    assert cut.endswith("more elsewhere")
    assert set(cut.split("\n")) == {"a" * 40, "", "more elsewhere"}
