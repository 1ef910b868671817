"""Which generators a study attacks, and with what."""

from collections.abc import Sequence

from synthrisk.conf import Study
from synthrisk.conf.study import NON_MEMBERS
from synthrisk.metrics import METRICS
from synthrisk.metrics.study.limits_kept import quantity_to_limit
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.verdicts import holds_for
from synthrisk.tasks.workspace.references import Generator, Sample

Attacks = Sequence[tuple[Generator, Sequence[Planned]]]
"""All generators of a study, each with what it is attacked with."""


def attacks_of(study: Study, sample: Sample, planned: Sequence[Planned], every: Sequence[Generator]) -> Attacks:
    """Return all generators with what they are attacked with, the population yardstick last.

    ``limited`` reference generators are attacked with what has a limit; where nothing has, with what could have one. A
    reference generator that no measure would look at is left out.
    """
    beside = planned
    if study.reference_measures == "limited" and study.thresholds:
        beside = [p for p in planned if any(holds_for(name, p.measure) for name in study.thresholds)]
    elif study.reference_measures == "limited":
        beside = [p for p in planned if quantity_to_limit(METRICS[p.measure.metric]) and not p.measure.variant_of]
    own = [(each, planned if each.role == "synthesizer" else beside) for each in every]
    population = [p for p in planned if METRICS[p.measure.metric].has_population]
    if study.population_yardstick and sample.holds_out():
        own.append((Generator(NON_MEMBERS, NON_MEMBERS, role="yardstick"), population))
    return [(each, measured) for each, measured in own if measured]
