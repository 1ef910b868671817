"""What each metric does, in a line and in a sentence or two, before any metric is loaded: the list is there at once.

Ours say here in a few words what they see. Those of other packages are loaded and asked.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

from synthrisk.metrics.plugins import METRIC_GROUP, points

FAMILIES = {
    "cap": "guess a sensitive value from records with the same key, or the nearest",
    "rapid": "guess it with a model trained on the release",
    "claims": "attacks that speak or abstain, judged by how often they are right",
    "distance": "how near the release comes to real records",
    "utility": "no risk: how useful the release is",
}
"""What the metrics of a family have in common; in the order of the list, families of others last."""


class Line(NamedTuple):
    """What the list says of a metric; all but ``sees`` are the metric's own facts."""

    name: str
    family: str
    needs: tuple[str, ...]
    kind: str  # ``signal``, ``difference`` (a signal as member/control difference alone), ``sanity`` or ``utility``
    sees: str


_KEYS = ("quasi_identifiers", "sensitive")
_HALVES = ("columns_a", "columns_b")
_LINES = (
    Line("categorical_cap", "cap", _KEYS, "signal", "right guesses, seen keys only"),
    Line("zero_cap", "cap", _KEYS, "signal", "right guesses, unseen keys 0"),
    Line("generalized_cap", "cap", _KEYS, "signal", "right guesses, nearest keys"),
    Line("disclosure_protection", "cap", _KEYS, "signal", "the same, SDMetrics' number"),
    Line("targeted_cap", "cap", _KEYS, "signal", "share of unanimous keys right"),
    Line("attribute_disclosure", "cap", _KEYS, "signal", "people told by unanimous keys"),
    Line("rapid", "rapid", _KEYS, "signal", "values that a model predicts"),
    Line("inference", "claims", _KEYS, "signal", "right claims about one person"),
    Line("group_inference", "claims", _KEYS, "signal", "right claims about a whole key"),
    Line("linkability", "claims", _HALVES, "signal", "which halves of records fit"),
    Line("singling_out", "claims", (), "signal", "values of one person alone"),
    Line("membership", "claims", ("control",), "difference", "who was in the training data"),
    Line("common_rows_proportion", "distance", (), "signal", "exact copies"),
    Line("unique_exact_matches", "distance", (), "signal", "exact copies of unique records"),
    Line("one_person_values", "claims", (), "difference", "levels of one person alone"),
    Line("apparent_match_rate", "distance", _KEYS[:1], "signal", "what unique keys give away"),
    Line("hitting_rate", "distance", (), "signal", "near copies in every column"),
    Line("attribute_inference_risk", "distance", _KEYS, "signal", "values guessed by near records"),
    Line("distance_to_closest_record", "distance", (), "difference", "near copies, by mean distance"),
    Line("median_distance_to_closest_record", "distance", (), "difference", "near copies, by the median"),
    Line("nearest_neighbour_distance_ratio", "distance", (), "difference", "rows near one person alone"),
    Line("nearest_neighbour_adversarial_accuracy", "distance", (), "difference", "rows hard to tell from people"),
    Line("authenticity", "distance", (), "difference", "rows nearer than other people"),
    Line("identifiability_score", "distance", (), "difference", "the same, columns by 1/entropy"),
    Line("membership_inference_risk", "distance", ("control",), "difference", "who was in the training data"),
    Line("close_value_probability", "distance", (), "sanity", "people with a close row"),
    Line("distant_value_probability", "distance", (), "sanity", "people with no distant row"),
    Line("nearest_synthetic_neighbour_distance", "distance", (), "sanity", "mean distance, normalised"),
    Line("hidden_rate", "distance", (), "sanity", "rows nearest to their source"),
    Line("detection_mlp", "distance", (), "sanity", "rows that look real"),
    Line("accuracy", "utility", (), "utility", "answers to simple queries"),
    Line("coverage", "utility", (), "utility", "values that are still there"),
    Line("quality", "utility", (), "utility", "distributions and pairs kept"),
    Line("train_synthetic_test_real", "utility", _KEYS[1:], "utility", "what models learn from it"),
)


def names() -> list[str]:
    """Return the names of all metrics, ours and those of other packages; none is loaded."""
    return [entry.name for entry in points(METRIC_GROUP)]


def overview() -> Iterator[Line]:
    """Return a line for each metric of the register, by family."""
    known = {line.name: line for line in _LINES}
    order = list(FAMILIES)
    lines = [known.get(name) or _line_of(name) for name in dict.fromkeys(names())]
    places = {line.name: at for at, line in enumerate(_LINES)}

    def place(line: Line) -> tuple[int, str, int, str]:
        family = order.index(line.family) if line.family in order else len(order)
        return family, line.family, places.get(line.name, len(places)), line.name

    return iter(sorted(lines, key=place))


def _line_of(name: str) -> Line:
    """Return the line of another package's metric: it says what it sees in the first sentence of its docstring."""
    from synthrisk.metrics.register import METRICS

    metric = METRICS[name]
    kind = "difference" if metric.study.difference_only else metric.label
    return Line(name, metric.group, metric.needs, kind, metric.said)


class Named(Protocol):
    """A metric, as far as it is told here."""

    @property
    def name(self) -> str:
        """Its name in the register."""

    @property
    def function(self) -> Callable[..., object]:
        """What computes it."""


_SENTENCES = {
    # guesses of a sensitive value by key
    "categorical_cap": "An attacker looks people up in the release by their key (the columns that he knows) and "
    "guesses the sensitive value that the rows found there have. People whose key is not in the release are left out.",
    "zero_cap": "An attacker looks people up in the release by their key (the columns that he knows) and guesses the "
    "sensitive value that the rows found there have. Where a key is not in the release he has no answer, and that "
    "counts as a wrong one.",
    "generalized_cap": "An attacker looks in the release for the rows whose key (the columns that he knows) is most "
    "like a person’s, and guesses the sensitive value that these rows have.",
    "disclosure_protection": "An attacker looks people up in the release by their key (the columns that he knows) and "
    "guesses the sensitive value that the rows found there have: as SDMetrics computes it, with numbers in bins.",
    "targeted_cap": "An attacker speaks only of people whose key leads to rows of the release that all have one "
    "sensitive value. The number says how often he is right then.",
    "attribute_disclosure": "An attacker looks people up in the release by their key. The number is the share of the "
    "people for whom all rows found there have one sensitive value, and it is theirs.",
    "rapid": "An attacker trains a model on the release that predicts the sensitive value from what he knows. The "
    "number is the share of the people whose value it gives away: predicted clearly better than by a guess.",
    # attacks that speak or abstain
    "inference": "An attacker claims single people’s sensitive values where the release makes him sure enough. The "
    "number is the share of his claims that are right.",
    "group_inference": "An attacker claims that all people with some key have one sensitive value. The number is the "
    "share of the people spoken of of whom the claim is true.",
    "linkability": "An attacker holds two tables with different columns, and says by means of the release which rows "
    "of the two are of one person. The number is the share of his claims that are right.",
    "singling_out": "An attacker reads values off the release and claims that exactly one real person has them. The "
    "number is the share of his claims that are right.",
    "membership": "An attacker holds people’s records and claims of those that fit the release best that they were in "
    "the training data. The number is the share of the members that he finds at a fixed share of claims.",
    # distances
    "common_rows_proportion": "The number is the share of the people whose record stands in the release as it is, "
    "equal in every column.",
    "unique_exact_matches": "The number is the share of the people who are alone with their record in the real table, "
    "and whose record stands in the release as it is.",
    "one_person_values": "The number is the share of the people of whom the release holds a value, such as a rare "
    "occupation, that nobody else in the real table has.",
    "apparent_match_rate": "An attacker finds a person whose key is unique in the release and takes the row for "
    "theirs. The number is the share of the other columns that are then true; people without such a key count as 0.",
    "hitting_rate": "The number is the share of the people whom some row of the release resembles closely: equal in "
    "every category, and within a thirtieth of the range in every number.",
    "attribute_inference_risk": "An attacker takes the rows of the release nearest to a person in the columns that he "
    "knows, and guesses the sensitive value from them; people of rare kinds count more.",
    "distance_to_closest_record": "How near people have a row of the release. The number alone says little: members "
    "who have one nearer than other people do point to copies.",
    "median_distance_to_closest_record": "How far the middle person is from the nearest row of the release, beside the "
    "distance to the nearest other person. Only the difference between members and others points to copies.",
    "nearest_neighbour_distance_ratio": "How much nearer rows of the release lie to one real person than to the next. "
    "Only the difference between members and others points to copies.",
    "nearest_neighbour_adversarial_accuracy": "How often the nearest neighbours tell people and rows of the release "
    "apart. Where they do so less for members than for others, the release follows its members too closely.",
    "authenticity": "The number is the share of the people who have a row of the release at least as near as any other "
    "person. Only the difference between members and others points to copies.",
    "identifiability_score": "The number is the share of the people who have a row of the release nearer than any "
    "other person, where columns of little variety weigh more. Only the difference between members and others points "
    "to copies.",
    "membership_inference_risk": "A model learns to tell rows of the release from people who were not in the training "
    "data, and is then asked who was in.",
    "close_value_probability": "The number is the share of the people who have a row of the release close by. It says "
    "how alike the two tables are, not what an attacker learns.",
    "distant_value_probability": "The number is the share of the people whose nearest row of the release is not far "
    "away. It says how alike the two tables are, not what an attacker learns.",
    "nearest_synthetic_neighbour_distance": "How near people have a row of the release, on average. It says how alike "
    "the two tables are, not what an attacker learns.",
    "hidden_rate": "The number is the share of the people whose nearest row of the release is the one that was made "
    "from them. It needs a generator that makes each row from one person.",
    "detection_mlp": "A model tries to tell rows of the release from people; the number is high where it cannot. It "
    "says how alike the two tables are, not what an attacker learns.",
    # utility
    "accuracy": "Simple questions, such as how many people have a value, are asked of the release; the number says how "
    "near its answers are to those of the real table.",
    "coverage": "The number says how many of the real values still occur in the release, column by column.",
    "quality": "The number says how much alike single columns and pairs of columns are distributed in the release and "
    "in the real table.",
    "train_synthetic_test_real": "A model is trained on the release and has to predict a column of real people.",
}


def in_words(metric: Named) -> str:
    """Return what a metric does; of another package's metric the first line of its function's docstring."""
    if metric.name in _SENTENCES:
        return _SENTENCES[metric.name]
    return ((metric.function.__doc__ or "").strip().splitlines() or [""])[0]
