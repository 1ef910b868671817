"""Yes and no in the languages that tables are written in."""

from collections.abc import Sequence

from synthrisk.conf.reading import Reading
from synthrisk.tasks.workspace.folded import folded

PAIRS = (  # what is true, what is false: folded
    ("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("ja", "nein"), ("j", "n"), ("wahr", "falsch"),
    ("oui", "non"), ("o", "n"), ("vrai", "faux"), ("si", "no"), ("s", "n"), ("verdadero", "falso"), ("vero", "falso"),
    ("sim", "nao"), ("verdadeiro", "falso"), ("ja", "nee"), ("waar", "onwaar"), ("ja", "nej"), ("ja", "nei"),
    ("tak", "nie"), ("prawda", "falsz"), ("ano", "ne"), ("kylla", "ei"), ("igen", "nem"), ("evet", "hayir"),
    ("jah", "ei"), ("taip", "ne"), ("ja", "ne"), ("da", "nu"), ("ya", "tidak"), ("co", "khong"), ("ναι", "οχι"),
    ("да", "нет"), ("так", "ні"), ("да", "не"), ("예", "아니오"), ("예", "아니요"), ("네", "아니요"), ("نعم", "لا"),
    ("כן", "לא"), ("はい", "いいえ"), ("是", "否"), ("有", "无"), ("有", "無"), ("+", "-"), ("1", "0"), ("1.0", "0.0"),
    ("on", "off"), ("x", "-"), ("positive", "negative"), ("positiv", "negativ"), ("positif", "negatif"),
)  # fmt: skip


def truth_words(texts: Sequence[str]) -> Reading | None:
    """Return how a column of two answers, yes and no, is read; None where it is no such column.

    Example:
        >>> found = truth_words(["Ja", "nein", "NEIN"])
        >>> found.true_values, found.false_values
        (['Ja'], ['NEIN', 'nein'])
    """
    said = {text: folded(text) for text in texts}
    for true, false in PAIRS:
        if set(said.values()) == {true, false}:
            yes, no = (sorted(text for text, word in said.items() if word == each) for each in (true, false))
            return Reading(type="boolean", true_values=yes, false_values=no)
    return None
