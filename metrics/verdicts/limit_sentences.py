"""What a limited quantity says of people, in a sentence that needs no word of statistics."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil, floor, isnan
from typing import NamedTuple

import numpy as np

from synthrisk.metrics.register import METRICS
from synthrisk.metrics.release.identifiers import RELEASED
from synthrisk.metrics.verdicts.quantities import limited
from synthrisk.metrics.verdicts.verdicts import LOOK, Verdict

_COLUMNS = 8  # columns that a sentence names
_GUESS = "{who} guesses {guessed} of {people} right"
_MEMBER = "{People} {are} taken for people in the data"
_FOUND = {
    "rapid": "{who} predicts {guessed} of {people} clearly better than by a plain guess",
    "attribute_disclosure": "All rows that fit {people} in {known} have one value of {guessed}, and it is theirs",
    "inference": "{who} claims {guessed} of {people}, and is right",
    "group_inference": "{who} claims {guessed} of {people}, and is right",
    "linkability": "The two parts of the record of {people} are put together by means of the release",
    "membership": _MEMBER,
    "membership_inference_risk": _MEMBER,
    "common_rows_proportion": "The whole record of {people} stands in the release",
    "unique_exact_matches": "The whole record of {people}, which nobody else has, stands in the release",
    "one_person_values": "A value that nobody else has is released of {people}",
    "hitting_rate": "Nearly the whole record of {people} stands in the release",
    "authenticity": "{People} {have} a row of the release as near as any other person",
    "identifiability_score": "{People} {have} a row of the release nearer than any other person",
    "close_value_probability": "{People} {have} a row of the release close by",
    "distant_value_probability": "{People} {have} a row of the release not far away",
}
"""What a success on a record is: ``{people}`` says of how many, ``{are}`` and ``{have}`` agree with them."""
_SCALES = (
    "apparent_match_rate",
    "distance_to_closest_record",
    "median_distance_to_closest_record",
    "nearest_neighbour_distance_ratio",
    "nearest_neighbour_adversarial_accuracy",
    "nearest_synthetic_neighbour_distance",
    "hidden_rate",
    "detection_mlp",
)
"""Measures whose value counts no people."""
_GAINS = {
    "risk_gain": "Of 100 people whom a plain guess gets wrong, the release gives {n} away",
    "population_gain": "Of 100 people of whom other real people give nothing away, the release gives {n} away",
}
"""Gains over what is no attacker with the release: ``{n}`` says how many, or none."""
_TAILS = {"memorization": " because their records were used", "risk_control": ", although their records were not used"}
_COUNTED = dict.fromkeys(("memorization", "control_gain"), ("fewer", "more"))
"""Quantities that are told as so many people fewer, or more."""
_GROUPS = {
    "outliers": "Of the people who are most unlike all others",
    "rare_keys": "Of the people who have {known} in common with the fewest",
    "classes": "In the class of {guessed} that is worst off",
}


_MEANINGS = {
    "RISK": "more people are given away than a limit allows",
    "NO EVIDENCE": "no limit is crossed, and a copy would have been seen; it is not said that nobody is given away",
    "INCONCLUSIVE": "it is not shown that all limits are kept, nor that one is crossed",
    "CANNOT TELL": "this limit can tell nothing here, and has no part in the answer",
    "INVALID RELEASE": "nothing can be read in the release",
}
"""What each word means, for whoever has read nothing else."""


class Knowledge(NamedTuple):
    """What the attacker of a study knows and guesses."""

    known: Sequence[str] = ()
    guessed: Sequence[str] = ()
    everything: bool = False  # whether the columns known and guessed are all that there are

    @property
    def words(self) -> str:
        """The columns that are known; of many the first, and how many more there are."""
        return "all other columns" if self.everything else columns_named(self.known)

    @property
    def who(self) -> str:
        """The attacker."""
        return f"Who knows {self.words}" if self.words else "Whoever has the release"


def columns_named(columns: Sequence[str]) -> str:
    """Return the names of columns; of many the first, and how many more there are."""
    more = len(columns) - _COLUMNS
    if more >= 2:
        return f"{', '.join(columns[:_COLUMNS])} and {more} more"
    return " and ".join(filter(None, (", ".join(columns[:-1]), *columns[-1:])))


def table_in_words(facts: Mapping[str, str]) -> str:
    """Return how many records, columns and releases a study has, by the facts of its result."""
    records = f"{int(facts['records']):,} records" if "records" in facts else "records"
    controls = int(facts["records"]) - int(facts["members"]) if "members" in facts else 0
    records = f"{int(facts['members']):,} members and {controls:,} control records" if controls else records
    records += " drawn at random" if "drawn" in facts else ""
    entities = f" of {int(facts['entities']):,} entities" if "entities" in facts else ""
    columns = f", {counted(int(facts['columns']), 'column')}" if "columns" in facts else ""
    many = int(facts.get("releases", "1"))
    releases = f"; {many:,} releases of each generator" if many > 1 else ""
    return (f"{facts['data']}: " if "data" in facts else "") + records + entities + columns + releases


def known_elsewhere(known: Mapping[str, str]) -> str:
    """Return what attackers of single measures know in place of what the study says, by the keys of the measures.

    Example:
        >>> known_elsewhere({"rapid.income": "all other columns", "rapid.job": "all other columns"})
        '; in rapid.income and rapid.job knows all other columns'
    """
    keys: dict[str, list[str]] = {}
    for key, words in known.items():
        keys.setdefault(words, []).append(key)
    return "".join(f"; in {columns_named(own)} knows {words}" for words, own in keys.items())


def listed(texts: Iterable[str], most: int) -> str:
    """Return the first texts, each once, and how many more there are."""
    each = list(dict.fromkeys(texts))
    more = f" (and {len(each) - most} more)" if len(each) > most else ""
    return ", ".join(each[:most]) + more


def counted(count: int, thing: str) -> str:
    """Return a number of things, in the plural but for one."""
    return f"{count:,} {thing}{'s' * (count != 1)}"


def sentence(verdict: Verdict, knowledge: Knowledge) -> str:
    """Return what was found of a limited quantity, with the end of its interval that decides, and the limit.

    Example:
        >>> found = Verdict("cart", "memorization/zero_cap.job", 0.05, "RISK", "", 0.071, 0.06, 0.082)
        >>> sentence(found, Knowledge(["age"], ["job"]))
        'Who knows age guesses job of 7 more people in 100 right because their records were used (at least 6, limit 5)'
    """
    if verdict.quantity == RELEASED:
        return verdict.reason  # it begins with the name of a column
    if verdict.quantity == LOOK:
        people, lie = _capital(_people("memorization", verdict)), "lies" if _is_one(verdict) else "lie"
        ends = _ends(verdict, 100, _COUNTED["memorization"])
        return f"{people} {lie} nearer to a row of the release than chance explains ({ends})"
    what = limited(verdict.quantity)
    label, _, attribute = (verdict.measure or what.key).partition(".")
    metric = verdict.metric or label
    scale = scale_of(verdict.quantity, metric)
    guessed = attribute or columns_named(knowledge.guessed) or "the value"
    names = {"who": knowledge.who, "known": knowledge.words, "guessed": guessed}
    if isnan(verdict.value):
        return f"{_capital(_named(verdict.quantity))} has no value"
    if scale == 1:
        sides = ("farther", "nearer") if what.quantity == "memorization" else ()
        return f"{_capital(_on_a_scale(what.quantity, verdict))} ({_ends(verdict, 1, sides)})"
    if what.quantity.startswith("tpr"):
        told = _recognised(scale, verdict)
    elif metric == "singling_out":
        told = _singled_out(what.quantity, verdict)
    elif what.quantity in _GAINS:
        told = _GAINS[what.quantity].format(n=_or(_number(verdict, 100), "none") if verdict.value > 0 else "none")
    else:
        told = _on_people(what.quantity, verdict, metric, names)
    among = _GROUPS.get(what.group, "").format(**names)
    told = f"{among}: {_small(told)}" if among else _capital(told)
    return f"{told} ({_ends(verdict, scale, _COUNTED.get(what.quantity, ()))})"


def legend(words: Sequence[str], sentences: Sequence[str], confidence: float) -> str:
    """Return what the words mean that are said, and how sure the ends of intervals are in sentences.

    Example:
        >>> legend(["RISK"], ["7 more people in 100 (at least 6, limit 5)"], 0.9)
        'RISK: more people are given away than a limit allows. “At least” and “at most” are ends of 90% intervals, \
rounded outwards, each right 95 times in 100.'
    """
    told = [f"{word}: {meaning}." for word, meaning in _MEANINGS.items() if word in words]
    if told and confidence and any("at least" in each or "at most" in each for each in sentences):
        sure = f"{confidence:.0%} intervals, rounded outwards, each right {50 + 50 * confidence:g} times in 100"
        told.append(f"“At least” and “at most” are ends of {sure}.")
    return " ".join(told)


def scale_of(quantity: str, metric: str) -> int:
    """Return of how many people a limited quantity is told, by its name and its metric: 1 where it counts none.

    Example:
        >>> scale_of("tpr/membership", "membership"), scale_of("tpr_at_0.001/membership", "membership")
        (100, 1000)
        >>> scale_of("memorization/distance_to_closest_record", "distance_to_closest_record")
        1
    """
    what = limited(quantity).quantity
    if what.startswith("tpr"):
        return 100 if what == "tpr" else 1000
    if quantity == LOOK or metric == "singling_out" or what in _GAINS:
        return 100
    return 100 if metric not in _SCALES and _counts_people(metric) else 1


def in_people(limit: float, scale: int) -> str:
    """Return a limit in people of so many; empty where people are not counted.

    Example:
        >>> in_people(0.06, 100), in_people(0.002, 1000), in_people(0.06, 1)
        ('6 in 100', '2 in 1,000', '')
    """
    return f"{scale * limit:.6g} in {scale:,}" if scale > 1 else ""


_TOLD_LIMIT = re.compile(r"(a limit of|no limit below) ([\d.]+)$")


def advice_in_people(verdict: Verdict) -> str:
    """Return what a study lacks for another word, with the limit in people where its sentence tells them.

    Example:
        >>> found = Verdict("cart", LOOK, 0.05, "INCONCLUSIVE", "", advice="4 repetitions, or no limit below 0.06")
        >>> advice_in_people(found)
        '4 repetitions, or no limit below 6 in 100 (0.06)'
    """
    told, scale = _TOLD_LIMIT.search(verdict.advice), scale_of(verdict.quantity, _metric(verdict))
    if told is None or scale == 1:
        return verdict.advice
    return f"{verdict.advice[: told.start()]}{told[1]} {in_people(float(told[2]), scale)} ({told[2]})"


def _metric(verdict: Verdict) -> str:
    return verdict.metric or limited(verdict.quantity).key.partition(".")[0]


_LIMIT_OF = {
    "memorization": "more {what} than if their records had not been used",
    "risk": "{what}",
    "risk_control": "{what}, of those whose records were not used",
    "control_gain": "{what}, of those who would be safe without their records",
    "risk_gain": "{what}, of those whom a plain guess gets wrong",
    "population_gain": "{what}, of those of whom other real people give nothing away",
    "tpr": "people recognised as being in the data, where 1 of 100 others is taken for one",
    "tpr_at_0.001": "people recognised as being in the data, where 1 of 1,000 others is taken for one",
}
_LIMIT_ON = {
    "rapid": "people whose {guessed} is predicted clearly better than by a plain guess",
    "attribute_disclosure": "people whose {guessed} all rows that fit them tell",
    "inference": "people of whom {guessed} is claimed, and right",
    "group_inference": "people of whom {guessed} is claimed, and right",
    "linkability": "people the two parts of whose records are put together",
    "membership": "people taken for people in the data",
    "membership_inference_risk": "people taken for people in the data",
    "common_rows_proportion": "people whose whole record stands in the release",
    "unique_exact_matches": "people whose whole record, which nobody else has, stands in the release",
    "one_person_values": "people of whom a value is released that nobody else has",
    "hitting_rate": "people nearly all of whose record stands in the release",
    "authenticity": "people with a row as near as any other person",
    "identifiability_score": "people with a row nearer than any other person",
    "singling_out": "descriptions that fit one person alone",
}
_LIMIT_AMONG = {
    "outliers": "of those most unlike all others",
    "rare_keys": "of those whose known values the fewest have",
    "classes": "in the class that is worst off",
}


def limit_in_words(quantity: str, metric: str) -> str:
    """Return what a limit is set on, in words, by the name of the limited quantity and its metric.

    Example:
        >>> limit_in_words("memorization/zero_cap.income", "zero_cap")
        'more people whose income is guessed right than if their records had not been used'
        >>> limit_in_words("tpr/membership@outliers", "membership").partition(", of")[2]
        ' those most unlike all others'
    """
    if quantity == LOOK:
        return "more people near to a row of the release than chance explains"
    what = limited(quantity)
    if scale_of(quantity, metric) == 1:
        near = "how much nearer the release lies to the people in the data than without their records"
        told = near if what.quantity == "memorization" else _named(quantity)
    else:
        people = _LIMIT_ON.get(metric, "people whose {guessed} is guessed right")
        people = people.format(guessed=what.key.partition(".")[2] or "value")
        by_chance = metric == "singling_out" and what.quantity == "memorization"
        told = f"more {people} than by chance" if by_chance else _LIMIT_OF[what.quantity].format(what=people)
    return ", ".join(filter(None, (told, _LIMIT_AMONG.get(what.group))))


def _counts_people(metric: str) -> bool:
    """Tell whether a success of a measure is one on a person: of others' measures, where a value is guessed."""
    return metric in _FOUND or metric not in METRICS or "sensitive" in METRICS[metric].needs


def _on_people(quantity: str, verdict: Verdict, metric: str, names: Mapping[str, str]) -> str:
    """Return on how many people a measure succeeds."""
    is_one = _is_one(verdict)
    people = _people(quantity, verdict)
    tail = _TAILS.get(quantity, "")
    if quantity == "control_gain":
        people, tail = _given_away(verdict, "safe" if metric in _FOUND else "guessed wrong")
    verbs = {"are": "is" if is_one else "are", "have": "has" if is_one else "have"}
    return _FOUND.get(metric, _GUESS).format(people=people, People=_capital(people), **verbs, **names) + tail


def _given_away(verdict: Verdict, safe: str) -> tuple[str, str]:
    """Return how many people are given away because their records were used, and of whom: of those else ``safe``.

    Of whom an attacker gets right without their records none can be given away by them. Where it gets fewer right with
    them, there is no share of the others to tell: how many fewer stands beside how many would be safe.
    """
    number = _number(verdict, 100)
    if not float(number):
        return "no more people", f" than without their records, of 100 who would be {safe}"
    if verdict.value < 0:
        return "fewer people", f" than without their records: {number} fewer for every 100 who would be {safe}"
    return f"{number} more of 100 people", f", of those who would be {safe} without their records"


def _is_one(verdict: Verdict) -> bool:
    """Tell whether a sentence is on one person, so that its verb is singular."""
    return _number(verdict, 100) == "1" and (verdict.value > 0 or not verdict.quantity.startswith("control_gain"))


def _people(quantity: str, verdict: Verdict) -> str:
    number = _number(verdict, 100)
    word = "person" if number == "1" else "people"
    if quantity != "memorization":
        return f"{_or(number, 'no')} {word} in 100"
    return f"{_more(verdict)} {word} in 100"


def _more(verdict: Verdict) -> str:
    """Return how many more there are, or fewer; neither where the number is rounded to 0."""
    number = _number(verdict, 100)
    return f"{_or(number, 'no')} {'fewer' if verdict.value < 0 and float(number) else 'more'}"


def _or(number: str, none: str) -> str:
    return number if float(number) else none


def _recognised(of: int, verdict: Verdict) -> str:
    number = _number(verdict, of)
    return (
        f"of {of:,} people in the data, {_or(number, 'none')} {'is' if number == '1' else 'are'} "
        f"recognised as being in it, where 1 of {of:,} others is taken for one"
    )


def _singled_out(quantity: str, verdict: Verdict) -> str:
    number = _number(verdict, 100)
    fit, are = ("fits", "is") if number == "1" else ("fit", "are")
    read = "of 100 descriptions read off the release"
    if quantity == "memorization":
        return f"{read}, {_more(verdict)} {fit} one person in the data alone than by chance"
    if quantity == "control_gain":
        return f"of 100 people who are singled out, {_more(verdict)} {are} in the data than by chance"
    return f"{read}, {_or(number, 'none')} {fit} one person alone"


def _on_a_scale(quantity: str, verdict: Verdict) -> str:
    number = _number(verdict, 1)
    if quantity != "memorization":
        return f"{_named(verdict.quantity)} is {_minus(verdict.value, number)}{number}"
    if not float(number):
        return "the release lies no nearer to the people in the data than it would without their records"
    nearer = "farther from" if verdict.value < 0 else "nearer to"
    return f"the release lies {nearer} the people in the data than it would without their records, by {number}"


def _named(quantity: str) -> str:
    what = limited(quantity)
    return f"{what.words} of {what.key}"


def _number(verdict: Verdict, scale: int) -> str:
    return _rounded(verdict, scale)[0]


def _ends(verdict: Verdict, scale: int, sides: Sequence[str] = ()) -> str:
    """Return the ends of the interval that decide, and the limit.

    ``sides`` are the words for below and above 0 of what is counted as so much less, or more; a minus sign stands
    where there are none.
    """
    _, lower, upper, limit = _rounded(verdict, scale)
    if isnan(verdict.lower) or isnan(verdict.upper):
        return f"limit {limit}"
    if verdict.word == "RISK" and verdict.lower > 0:
        return f"at least {lower}, limit {limit}"
    if verdict.word == "NO EVIDENCE" and verdict.upper > 0:
        return f"at most {upper}, limit {limit}"
    first, last = _minus(verdict.lower, lower), _minus(verdict.upper, upper)
    if not first or not sides:
        between = f"{first}{lower} and {last}{upper}"
    elif last or not float(upper):
        between = f"{upper} and {lower} {sides[0]}"
    else:
        between = f"{lower} {sides[0]} and {upper} {sides[1]}"
    return f"between {between}, limit {limit}"


def _minus(number: float, text: str) -> str:
    """Return the sign before the size of a number: a true minus sign, none before a zero."""
    return "−" if number < 0 and float(text) else ""


def _rounded(verdict: Verdict, scale: int) -> tuple[str, str, str, str]:
    """Return the sizes of value, ends and limit, each with as few decimals as leave it on its side of the limit.

    Ends are rounded away from the value, so that "at least" and "at most" are true.
    """
    limit = scale * verdict.limit

    def text(number: float, way: Callable[[float], float] = round) -> str:
        small = way is not round and 0 < abs(scale * number) < 1  # 0.01 people more are not said to be at most one
        first = (1 if small else 0) if scale > 1 else 2
        for decimals in range(first, first + 5):
            size = abs(way(round(scale * number * 10**decimals, 6)) / 10**decimals)
            if np.sign(size - limit) == np.sign(scale * abs(number) - limit):
                break
        return f"{size:.{decimals}f}" if size else "0"

    if isnan(verdict.lower + verdict.upper):
        return text(verdict.value), "?", "?", f"{limit:.6g}"
    return text(verdict.value), text(verdict.lower, floor), text(verdict.upper, ceil), f"{limit:.6g}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _small(text: str) -> str:
    return text if text[:1].isdigit() else text[:1].lower() + text[1:]
