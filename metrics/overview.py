"""One line a metric, before any metric is loaded: so that the list is there at once.

Ours say here in a few words what they see. Those of other packages are loaded and asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from synthrisk.metrics.plugins import METRIC_GROUP, points

FAMILIES = {
    "cap": "guess a sensitive value from records with the same key, or the nearest",
    "rapid": "guess it with a model trained on the release",
    "claims": "attacks that speak or abstain, judged by how often they are right",
    "distance": "how near the release comes to real records",
    "utility": "no risk: how useful the release is",
}
"""What the metrics of a family have in common; in the order of the list, families of others last."""


@dataclass(frozen=True)
class Line:
    """What the list says of a metric; all but ``sees`` are the metric's own facts."""

    name: str
    family: str
    needs: tuple[str, ...]
    kind: str  # ``signal``, ``difference`` (a signal as member/control difference alone), ``sanity`` or ``utility``
    sees: str


_KEYS = ("quasi_identifiers", "sensitive")
_HALVES = ("columns_a", "columns_b")
_OURS = (
    Line("categorical_cap", "cap", _KEYS, "signal", "right guesses, seen keys only"),
    Line("zero_cap", "cap", _KEYS, "signal", "right guesses, unseen keys 0"),
    Line("generalized_cap", "cap", _KEYS, "signal", "right guesses, nearest keys"),
    Line("disclosure_protection", "cap", _KEYS, "signal", "the same, as SDMetrics prints it"),
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
    known = {line.name: line for line in _OURS}
    order = list(FAMILIES)
    lines = [known.get(name) or _line_of(name) for name in dict.fromkeys(names())]
    place = {line.name: at for at, line in enumerate(_OURS)}
    return iter(
        sorted(
            lines,
            key=lambda line: (
                order.index(line.family) if line.family in order else len(order),
                line.family,
                place.get(line.name, len(place)),
                line.name,
            ),
        )
    )


def _line_of(name: str) -> Line:
    """Return the line of another package's metric: it says what it sees in the first sentence of its docstring."""
    from synthrisk.metrics.register import METRICS

    metric = METRICS[name]
    kind = "difference" if metric.difference_only else metric.label
    return Line(name, metric.group, metric.needs, kind, metric.said)
