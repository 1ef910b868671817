"""Who is at risk, and why: a page for one synthesizer, with values of the real table, for its stewards alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from markupsafe import Markup

from synthrisk.metrics.exposure.attribution import Attribution, attribution
from synthrisk.metrics.exposure.subgroups import risk_by, risk_in
from synthrisk.metrics.study.planned import Planned
from synthrisk.tasks.pages.effects_figure import effects_figure
from synthrisk.tasks.pages.figures import svg
from synthrisk.tasks.pages.predicted_risk_figures import interaction_figures, triple_figures
from synthrisk.tasks.pages.templates import render
from synthrisk.tasks.workspace.handed import Found

WORST, FEWEST = 12, 10  # rows of the table of combinations, and records of a combination in it


@dataclass(frozen=True)
class Exposed:
    """What the page says of one measure."""

    measure: str  # its key
    classes: pd.DataFrame  # risk of the records of each sensitive value
    levels: pd.DataFrame  # risk of the records of each level of each quasi-identifier
    combinations: pd.DataFrame  # the worst joint subgroups of two quasi-identifiers
    memorized: pd.DataFrame  # those that carry most memorization; empty where no record was ever kept away
    records: pd.DataFrame  # those that are most surely memorized, by their position in the real table
    attribution: Attribution | None  # effects of the quasi-identifiers; None where the attack trains no model
    drawings: Sequence[Markup]  # figures of the attribution
    three: Sequence[str] = ()  # columns of the three-way interaction that is drawn last; empty where none is


def exposure_page(found: Found, study_id: str, confidence: float) -> str:
    """Return the page of one generator, with all intervals at a confidence level."""
    scores = pd.read_parquet(found.exposed)
    records, entities = found.sample.records(), found.sample.entities()
    measures = []
    for each in found.planned:
        own = scores[scores["measure"] == each.measure.key]
        if each.measure.sensitive and not each.measure.variant_of and own["as_member"].notna().any():
            measures.append(_exposed(own, records, each, confidence, entities))
    return render("expose.html", synthesizer=found.name, study_id=study_id, found=measures)


def _exposed(
    exposed: pd.DataFrame, records: pd.DataFrame, planned: Planned, confidence: float, entities: np.ndarray | None
) -> Exposed:
    scores = exposed["as_member"].to_numpy(dtype=float)
    known = list(planned.options["quasi_identifiers"])
    why = None
    if planned.measure.attacker is not None:
        why = attribution(scores, records, known, confidence=confidence, entities=entities)
    key = planned.measure.key
    three, drawn = [], []
    if why is not None and not why.reason:
        three = triple_figures(why)
        drawn = [effects_figure(why), *interaction_figures(why, 4), *three]
    return Exposed(
        key,
        risk_by(scores, records, [str(planned.measure.sensitive)], confidence=confidence),
        risk_by(scores, records, known, confidence=confidence),
        _worst(scores, records, known, confidence),
        _memorized(exposed["memorization"].to_numpy(dtype=float), records, known, confidence),
        exposed.sort_values(["memorization", "lower", "record"], ascending=[False, False, True])
        .query("memorization > 0")
        .head(WORST),
        why,
        [svg(figure, f"{key}/{i}") for i, figure in enumerate(drawn)],
        [] if why is None or not three else [str(c) for c in why.triples[["first", "second", "third"]].iloc[0]],
    )


def _worst(scores: np.ndarray, records: pd.DataFrame, known: Sequence[str], confidence: float) -> pd.DataFrame:
    """Return the joint subgroups of two quasi-identifiers whose risk is surely high: by the interval's lower end."""
    parts = []
    for pair in combinations(known, 2):
        found = risk_in(scores, records, list(pair), confidence=confidence, minimum=FEWEST).nlargest(WORST, "lower")
        names = [" and ".join(f"{c} {v}" for c, v in zip(found.index.names, i, strict=True)) for i in found.index]
        parts.append(found.assign(combination=names).reset_index(drop=True))
    columns = ["combination", "records", "risk", "lower", "upper"]
    every = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)
    return every.sort_values(["lower", "combination"], ascending=[False, True], kind="stable").head(WORST)[columns]


def _memorized(
    memorization: np.ndarray, records: pd.DataFrame, known: Sequence[str], confidence: float
) -> pd.DataFrame:
    """Return the joint subgroups whose memorization is most surely high, and above 0."""
    if np.isnan(memorization).all():
        return pd.DataFrame()
    found = _worst((memorization + 1) / 2, records, known, confidence)  # means of scores in [0, 1], and back
    scaled = found.assign(**{c: 2 * found[c] - 1 for c in ("risk", "lower", "upper")})
    return scaled[scaled["lower"] > 0]
