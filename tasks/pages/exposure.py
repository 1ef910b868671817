"""Who is at risk, and why: a page for one synthesizer, with values of the real table, for its stewards alone."""

from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from math import isnan
from typing import NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from synthrisk.metrics import METRICS
from synthrisk.metrics.exposure.attribution import attribution
from synthrisk.metrics.exposure.groups import Groups, Reached, all_records, constant_guess, groups, strongest_columns
from synthrisk.metrics.exposure.what_if import bands, names_none, rounded
from synthrisk.metrics.intervals.estimates import TESTED
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.ledger import Planned, joint_values
from synthrisk.metrics.tables.kinds import kind
from synthrisk.metrics.verdicts.tables import Preview, largest_fall, previews
from synthrisk.tasks.pages.attribution_figures import effects_figure, interaction_figures, triple_figures
from synthrisk.tasks.pages.figures import shortened, svg, words_of
from synthrisk.tasks.pages.templates import render
from synthrisk.tasks.workspace.records import kept_contributions, kept_exposed
from synthrisk.tasks.workspace.references import Found

WORST, FEWEST = 8, 10  # rows of a table of groups, and records of a group in it
EFFECTS, EXPLAINED, LABEL = 16, 12, 40  # rows of effects; columns of the regression; characters of a label


class Drawing(NamedTuple):
    """A figure, and its numbers in words."""

    svg: Markup
    words: str


class Told(NamedTuple):
    """The head of a table of groups: as many as are shown."""

    rows: Sequence[dict[str, object]]
    found: int  # how many there are to show
    looked_at: int  # among how many


class Explained(NamedTuple):
    """What the regression of the risk says."""

    reason: str  # why there are no effects, or an empty string
    drawings: Sequence[Drawing]
    three: Sequence[str]  # columns of the three-way interaction that is drawn last; empty where none is
    effects: Sequence[dict[str, object]]
    more: int  # effects that are not in the table
    known: int  # quasi-identifiers
    held: int  # those in the regression
    notes: Sequence[str]


class Exposed(NamedTuple):
    """What the page says of one measure."""

    measure: str  # its key
    options: Sequence[str]  # the quasi-identifiers
    everybody: dict[str, object]  # risk of all records, with guess, control and what presence adds
    memorized: Told  # pairs of columns: the groups whose presence surely adds to their risk
    worst: Told  # pairs of columns: the groups that are most surely at risk
    levels: Told  # one column: the same
    classes: Told  # the records of each sensitive value
    records: Sequence[dict[str, object]]  # those that are most memorized, by their position in the real table
    why: Explained | None  # None where the attack trains no model
    tried: Sequence[Preview]  # what-ifs
    before: Finding | None  # what they are compared with


def exposure_page(found: Found, study_id: str, confidence: float) -> str:
    """Return the page of one generator, with all intervals at a confidence level."""
    records, entities = found.sample.records(), found.sample.entities()
    guessed = [each for each in found.planned if each.measure.sensitive and not each.measure.variant_of]
    several = {each.measure.sensitive: each.measure.joint for each in guessed if each.measure.joint}
    records = records.assign(**{str(name): joint_values(records, columns) for name, columns in several.items()})
    scores = {each.measure.key: kept_exposed(found.exposed, each.measure.key) for each in guessed}
    shown = [each for each in guessed if scores[each.measure.key]["as_member"].notna().any()]
    known = dict.fromkeys(c for each in shown for c in (*each.options["quasi_identifiers"], each.measure.sensitive))
    banded = pd.DataFrame({str(c): bands(records[c].reset_index(drop=True), fewest=FEWEST) for c in known})
    people = _People(records, banded, entities)
    measures = [_exposed(found, scores[each.measure.key], people, each, confidence) for each in shown]
    measures.sort(key=lambda m: -np.nan_to_num(float(m.everybody["adds"]), nan=-np.inf))  # type: ignore[arg-type]
    return render(
        "expose.html",
        synthesizer=found.name,
        of_file=found.generator.kind == "files" and found.sample.cut.is_one,
        study_id=study_id,
        found=measures,
        confidence=confidence,
        fewest=FEWEST,
        alone=[c for c in banded if names_none(banded[c])],
        label=lambda text: shortened(str(text), LABEL),
        reading=reading,
        isnan=isnan,
        own_style=Markup(files("synthrisk.tasks.pages").joinpath("expose.css").read_text("utf-8")),  # noqa: S704 - ours
    )


def _tried(found: Found, planned: Planned, confidence: float) -> tuple[Finding | None, Sequence[Preview]]:
    """Return the finding of a measure, and what its what-ifs do to it, that which lowers most first."""
    before = next((f for f in found.findings if f.measure == planned.measure), None)
    if before is None or not any(f.measure.variant_of == planned.measure.label for f in found.findings):
        return before, []
    kept, entities = kept_contributions(found.contributions), found.sample.entities()
    told = previews(found.findings, found.planned, kept, before, confidence, entities)
    return before, largest_fall(told, "risk" if isnan(before.memorization.value) else "memorization")


def reading(row: dict[str, float]) -> str:
    """Return in words what the numbers of a group say of where its risk comes from."""
    if row["adds_lower"] > 0:
        return "its presence adds to it"
    if row["guess"] >= row["lower"]:
        return "not shown to beat what is right without a release"
    if isnan(row["control"]):
        return "no control to compare with"
    return "not shown to come from its presence"


class _People(NamedTuple):
    """The real records, as they are and in bands, and the entity of each, where one has several."""

    records: pd.DataFrame
    banded: pd.DataFrame
    entities: np.ndarray | None


def _exposed(found: Found, exposed: pd.DataFrame, people: _People, planned: Planned, confidence: float) -> Exposed:
    records, banded, entities = people
    before, tried = _tried(found, planned, confidence)
    measure, known = planned.measure, [str(c) for c in planned.options["quasi_identifiers"]]
    sensitive = str(measure.sensitive)
    guess = constant_guess(records, sensitive, METRICS[measure.metric].group, planned.options)
    if measure.joint and METRICS[measure.metric].group != "cap":  # others count the columns that are right
        guess = np.full(len(records), np.nan)
    reached = Reached(exposed["as_member"].to_numpy(float), exposed["as_control"].to_numpy(float), guess)
    columns = [c for c in known if not names_none(banded[c])]
    by = partial(groups, reached, confidence=confidence, entities=entities)
    single = by(banded[columns], 1, fewest=FEWEST)
    pairs = by(banded[columns], 2, fewest=FEWEST) if len(columns) > 1 else single
    classes = by(banded[[sensitive]], 1, fewest=1, simultaneous=False)
    sure = exposed[exposed["memorization"] > 0]
    sure = sure.sort_values(["memorization", "lower", "record"], ascending=[False, False, True])
    everybody = {str(k): v for k, v in all_records(reached, confidence).items()}
    by_class = Told(_rows(classes.rows), len(classes.rows), classes.looked_at)
    tables = {"memorized": _highest(pairs, "adds_lower", above=0.0), "worst": _highest(pairs, "lower")}
    tables |= {"levels": _highest(single, "lower"), "classes": by_class}
    why = None if measure.attacker is None else _explained(reached, people, planned)
    most = _rows(sure.head(WORST))
    return Exposed(measure.key, known, everybody, **tables, records=most, why=why, tried=tried, before=before)


def _highest(found: Groups, quantity: str, above: float = -np.inf) -> Told:
    rows = found.rows[found.rows[quantity].astype(float) > above]
    ordered = rows.sort_values([quantity, "records"], ascending=False, kind="stable")
    return Told(_rows(ordered.head(WORST)), len(rows), found.looked_at)


def _rows(table: pd.DataFrame) -> list[dict[str, object]]:
    return [{str(k): v for k, v in row.items()} for row in table.to_dict("records")]


def _explained(reached: Reached, people: _People, planned: Planned) -> Explained:
    """Return the regression of the risk on the quasi-identifiers, or on those that tell most where there are many."""
    records, banded, entities = people
    known = [str(c) for c in planned.options["quasi_identifiers"]]
    held = strongest_columns(reached.as_member, banded[known], EXPLAINED)
    if not held:
        reason = f"no quasi-identifier tells {FEWEST} records from the others"
        return Explained(reason, [], [], [], 0, len(known), 0, [])
    shown = {c: banded[c].array if kind(records[c]) == "categorical" else rounded(records[c]).array for c in held}
    why = attribution(reached.as_member, records[held].assign(**shown), held, confidence=TESTED, entities=entities)
    if why.reason:
        return Explained(why.reason, [], [], [], 0, len(known), len(held), why.notes)
    three = triple_figures(why)
    drawn = [effects_figure(why), *interaction_figures(why, 3), *three]
    effects = why.effects[why.effects["kind"] != "per_unit"]
    largest = effects.iloc[np.argsort(-effects["effect"].abs().to_numpy(), kind="stable")].head(EFFECTS)
    drawings = [Drawing(svg(figure, f"{planned.measure.key}/{i}"), words_of(figure)) for i, figure in enumerate(drawn)]
    names = [str(c) for c in why.triples[["first", "second", "third"]].iloc[0]] if three else []
    more = len(effects) - len(largest)
    return Explained("", drawings, names, _rows(largest), more, len(known), len(held), why.notes)
