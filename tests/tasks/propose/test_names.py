import pytest

from synthrisk.tasks.propose.names import says, topic
from synthrisk.tasks.workspace.files.cell_texts import truth_words


@pytest.mark.parametrize(("name", "list_of", "expected"), [
    ("나이", "known", "age"), ("성별", "known", "sex"), ("월소득", "sensitive", "money"), ("العمر", "known", "age"),
    ("الدخل الشهري", "sensitive", "money"), ("גיל", "known", "age"), ("הכנסה", "sensitive", "money"),
    ("курить", "sensitive", "health"), ("курс", "sensitive", None), ("venit", "sensitive", "money"),
    ("이름", "direct", "name"), ("c7", "known", None), ("Eintrittsdatum", "known", "visit"),
    ("Spitalaustritt", "known", "visit"), ("date d'entrée", "known", "visit"), ("date de sortie", "known", "visit"),
    ("Sterbedatum", "known", "death"), ("Todestag", "known", "death"), ("Todesursache", "sensitive", "health"),
    ("date de décès", "known", "death"), ("né(e) le", "known", "birth"), ("née le", "known", "birth"),
    ("NPA", "known", "place"),
])  # fmt: skip
def test_a_name_speaks_of(name, list_of, expected):
    assert topic(name, list_of) == expected
    assert says("NPA", "codes")


@pytest.mark.parametrize("answers", [("예", "아니오"), ("ναι", "Όχι"), ("так", "ні"), ("نعم", "لا"), ("Da", "nu")])
def test_two_answers_mean_yes_and_no(answers):
    found = truth_words(answers)
    assert (found.true_values, found.false_values) == ([answers[0]], [answers[1]])
    assert truth_words([*answers, "x"]) is None
