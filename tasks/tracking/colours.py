"""The colour of each generator's runs: the same in every study of an experiment; reference generators are grey."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from synthrisk.metrics.plugins import Answer
from synthrisk.tasks.tracking.runs import Written

TAG = "synthrisk.colours"
"""The tag of an experiment that remembers which synthesizer has which colour of the palette."""

PALETTE = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#117733"),
    *("#6A3D9A", "#999933", "#AA4499", "#B15928", "#44AA99", "#332288", "#E31A1C", "#661100"),
)
"""Colours that people with the common kinds of colour blindness tell apart, as far as there are as many."""

# the darker, the more the releases of a reference generator hold of the training rows
_GREYS: dict[Answer | None, str] = {
    "copy": "#333333",
    "near_copy": "#5C5C5C",
    "leak": "#808080",
    "part": "#949494",
    "repelled": "#9C9C9C",
    "ideal": "#A3A3A3",
    "identifiers": "#8C7B75",
    "independent": "#C2C2C2",
}
_GREY = "#8C8C8C"
_LONGEST = 5_000  # characters of the tag; where there are more synthesizers, digests alone decide


def places_of(names: Sequence[str], known: Mapping[str, int]) -> dict[str, int]:
    """Return the place in ``PALETTE`` of each synthesizer, by its name.

    One that is ``known`` keeps its place. Another has the place that its name's digest says, or the next one that is
    free; where none is free, the one that the digest says.

    Example:
        >>> places_of(["ctgan", "cart"], {"cart": 3})["cart"]
        3
    """
    places = {name: place % len(PALETTE) for name, place in known.items()}
    for name in names:
        if name not in places:
            first = int(hashlib.sha256(name.encode()).hexdigest(), 16) % len(PALETTE)
            turns = [(first + i) % len(PALETTE) for i in range(len(PALETTE))]
            places[name] = next((place for place in turns if place not in places.values()), first)
    return places


def remembered(tag: str) -> dict[str, int]:
    """Return the places that the tag of an experiment holds; none where it holds nothing readable."""
    try:
        kept = json.loads(tag)
    except ValueError:
        return {}
    return {str(name): place for name, place in kept.items() if isinstance(place, int)} if type(kept) is dict else {}


def colours_of(to: Written) -> dict[str, str]:
    """Return the colour of each generator's run, by its name; remember those of synthesizers in the experiment."""
    result = to.result
    judged = [name for name in result.synthesizers if result.settings[name]["role"] == "synthesizer"]
    known = remembered(to.client.get_experiment(to.experiment_id).tags.get(TAG, ""))
    places = places_of(judged, known)
    kept = json.dumps(places, separators=(",", ":"))
    if places != known and len(kept) <= _LONGEST:
        to.client.set_experiment_tag(to.experiment_id, TAG, kept)
    others = [name for name in result.synthesizers if name not in judged]
    greys = {name: _GREYS.get(result.answers.get(name), _GREY) for name in others}
    return {name: PALETTE[places[name]] for name in judged} | greys
