import pytest

from synthrisk.conf import load
from synthrisk.metrics import InputError
from synthrisk.tasks.synthesize.task import generators, reference

STUDY = {
    "name": "x",
    "data": {"source": "a.csv", "quasi_identifiers": ["a"], "sensitive": ["b"]},
    "synthesizers": ["cart"],
    "metrics": ["zero_cap"],
}


def found(**parts):
    return generators(load(STUDY | parts))


def test_synthesizers_are_judged_and_references_declare_their_answer():
    (cart, *references) = found()
    assert (cart.name, cart.role, cart.answer, cart.leaked) == ("cart", "synthesizer", None, None)
    assert {g.role for g in references} == {"reference"}
    assert [(g.name, g.answer, g.leaked) for g in references] == [
        *((name, name, None) for name in ("copy", "near_copy", "repelled")),
        *(("leaky", "leak", 0.1), ("fresh", "ideal", 0.0), ("marginals", "independent", None)),
    ]
    (_, mine) = found(synthesizers=["copy"], references=["fresh"])
    assert (mine.name, mine.answer) == ("fresh", "ideal")
    assert found(synthesizers=["copy"], references=[])[0].answer is None  # it is judged: its answer is not told


def test_power_adds_a_leaky_for_each_share_that_the_references_lack_under_a_name_of_its_own():
    names = [g.name for g in found(power={})]
    assert names[7:] == ["leaky-1pct", "leaky-2pct", "leaky-5pct"]  # leaky has 10 %
    added = found(power={"shares": [0.5, 0.005]}, references=["fresh"])[2:]
    assert [(g.name, g.kind, g.options, g.leaked) for g in added] == [
        ("leaky-0_5pct", "leaky", {"share": 0.005}, 0.005),
        ("leaky-50pct", "leaky", {"share": 0.5}, 0.5),
    ]


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [("cart", {}, "references must be generators that declare an answer, got 'cart'")]
    + [("leaky", options, "share") for options in ({"share": "much"}, {"share": 2}, {"shares": 0.1})],
)
def test_references_must_declare_an_answer_and_have_right_options(kind, options, says):
    with pytest.raises(InputError, match=says):
        reference("mine", kind, options)
