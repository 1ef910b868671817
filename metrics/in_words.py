"""What each metric does, in a sentence or two for readers who decide, not for those who compute."""

from collections.abc import Callable
from typing import Protocol


class Named(Protocol):
    """A metric, as far as it is told here."""

    @property
    def name(self) -> str:
        """Its name in the register."""

    @property
    def function(self) -> Callable[..., object]:
        """What computes it."""


_OURS = {
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
    if metric.name in _OURS:
        return _OURS[metric.name]
    return ((metric.function.__doc__ or "").strip().splitlines() or [""])[0]
