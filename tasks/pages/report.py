"""The report of a study: one HTML page that says what may be read from it, and what may not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from markupsafe import Markup
from matplotlib.figure import Figure

from synthrisk.metrics.claims.selective_curve import detail_of
from synthrisk.metrics.release.k_anonymity import SIZES
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.study.gda import GdaScore
from synthrisk.metrics.study.gda_view import AttackView
from synthrisk.metrics.study.league import COLUMNS, is_reference, league, ordered_measures, ordered_names
from synthrisk.metrics.study.ledger import Measure
from synthrisk.metrics.study.quantities import limited, quantity_of
from synthrisk.metrics.study.result_tables import (
    BESIDE,
    copy_share,
    details_table,
    gda_views,
    k_anonymity_table,
    limits_table,
)
from synthrisk.metrics.study.results import StudyResult
from synthrisk.metrics.study.verdicts import Verdict
from synthrisk.tasks.pages.figures import (
    Row,
    curves_figure,
    memorization_figure,
    risk_figure,
    selective_figure,
    spread_figure,
    svg,
)
from synthrisk.tasks.pages.gda_figure import gda_figure
from synthrisk.tasks.pages.risk_utility_figure import MapPoint, risk_utility_figure
from synthrisk.tasks.pages.templates import either, number, render

UNSET = "NO THRESHOLD SET"
_MEANING = {
    "RISK": "crosses a threshold",
    "NO EVIDENCE": "stays below each threshold set",
    "INCONCLUSIVE": "cannot be decided: its interval holds the threshold, or a copy might look the same",
    "INVALID RELEASE": "cannot be measured: its releases are broken",
    "INVALID": "cannot be judged: a reference generator misbehaved",
    "FAILED": "was not measured: it could not be run to the end",
    UNSET: "is measured but not judged: nobody has said how much would be too much",
}
_YARDSTICK = {"guess": "best constant guess", "control": "same attack on control records", "population": "population"}
_GUESS_OF_CLAIMS = "statistical guess S"
_FEW = 24  # rows that a table of pairs shows without being asked


@dataclass(frozen=True)
class Headline:
    """What the head of the page says of one synthesizer."""

    name: str
    word: str
    meaning: str
    reasons: Sequence[Verdict]
    options: str
    failure: str = ""


@dataclass(frozen=True)
class Panel:
    """One figure of one measure, or of one attack with its ``views``."""

    title: str
    text: str
    drawing: Markup
    views: Sequence[AttackView] = ()


class Notes:
    """Reasons and limits, numbered in the order in which the table refers to them."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def number(self, text: str) -> int:
        """Return the number of a note; 0 for an empty one."""
        if text and text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1 if text else 0


def page(result: StudyResult, settings: str) -> str:
    """Return the page: one file, nothing fetched, nothing executed, every text escaped."""
    notes = Notes()
    names, measures = ordered_names(result), ordered_measures(result)
    limits = limits_table(result).to_dict("records")
    return render(
        "report.html",
        isnan=isnan,
        note=notes.number,
        columns=COLUMNS,
        beside=beside,
        copy_share=lambda f: copy_share(result, f),
        result=result,
        empty=result.empty,
        looked_at={n: result.releases[n] for n in names if n in result.releases},
        settings=settings,
        answers=[_answer(result, name) for name in names if not is_reference(result, name)],
        broken=[c for c in result.checks if not c.passed],
        figures=_figures(result, names, measures),
        league=league(result) if measures else {},
        notes=notes,
        details=details_table(result).to_dict("records"),
        limits=[(name, own) for name in result.limits if (own := [r for r in limits if r["name"] == name])],
        variants=_variants(result),
        gda=_gda(result, names),
        together=_together,
        ranked=[f for f in result.findings if f.tpr],
        apart=[f for f in result.findings if f.groups and f.role == "synthesizer"],
        utility=[(m, [f for f in result.utility if f.measure == m]) for m in _utilities(result)],
        yardsticks=_yardsticks(result, names, measures),
        keys=k_anonymity_table(result).to_dict("records"),
        sizes=SIZES,
        yardstick_words=_YARDSTICK,
        guess_of_claims=_GUESS_OF_CLAIMS,
        claims=any(f.is_of_claims and not isnan(f.guess) for f in result.findings),
        pairs=sorted(result.comparisons, key=lambda c: (not c.lower, isnan(c.p_holm))),  # those that differ first
        few_pairs=_FEW,
        power_shares=sorted({share for power in result.powers.values() for share, _ in power.seen}),
        population=any("population" in f.yardsticks for f in result.findings),
        isolated=any(y.attack for f in result.findings for y in f.yardsticks.values()),
    )


def beside(finding: Finding) -> str:
    """Return in words what must stand beside a value: unseen keys, ceiling, null, accuracy; on control in brackets.

    Of several releases the worst is told too, with its simultaneous interval.
    """
    texts = []
    for name, words in BESIDE.items():
        members, controls = finding.details.get(name, (float("nan"), float("nan")))
        if not isnan(members):
            apart = not isnan(controls) and number(controls) != number(members)
            texts.append(f"{words} {number(members)}" + (f" (control {number(controls)})" if apart else ""))
    if len(finding.release_risk) > 1 and not isnan(finding.worst.value):
        limits = f" [{number(finding.worst.lower)}, {number(finding.worst.upper)}]"
        known = not isnan(finding.worst.upper)
        texts.append(f"worst of {len(finding.release_risk)} releases {number(finding.worst.value)}{limits * known}")
    return ", ".join(texts)


def _variants(result: StudyResult) -> list[tuple[Finding, Finding]]:
    """Return the findings of what-ifs, each after the finding that it varies."""
    own = {(f.synthesizer, f.measure.label, f.measure.sensitive): f for f in result.findings}
    varied = [f for f in result.findings if f.measure.variant_of]
    return [(own[f.synthesizer, str(f.measure.variant_of), f.measure.sensitive], f) for f in varied]


def _yardsticks(
    result: StudyResult, names: Sequence[str], measures: Sequence[Measure]
) -> list[tuple[Measure, list[Finding]]]:
    """Return the findings of synthesizers that stand beside a yardstick, by measure.

    Those of reference generators are in the artifact.
    """
    own = [n for n in names if not is_reference(result, n)]
    found = [(m, [r.finding for r in _rows(result, own, m) if r.finding and r.finding.yardsticks]) for m in measures]
    return [(m, rows) for m, rows in found if rows]


def _rows(result: StudyResult, names: Sequence[str], measure: Measure) -> list[Row]:
    found = {f.synthesizer: f for f in result.findings if f.measure == measure}
    absent = {n: "failed" if n in result.failures else "not estimable" for n in names}
    return [Row(n, is_reference(result, n), found.get(n), absent[n]) for n in names]


def _answer(result: StudyResult, name: str) -> Headline:
    word = result.verdict(name) or ("INVALID" if not result.valid else UNSET)
    own = [v for v in result.verdicts if v.synthesizer == name]
    options = ", ".join(f"{k} {v}" for k, v in result.settings.get(name, {}).items() if k != "role" and v != name)
    reasons = sorted(own, key=lambda v: v.word != word)
    return Headline(name, word, _MEANING[word], reasons, options, result.failures.get(name, ""))


def _figures(result: StudyResult, names: Sequence[str], measures: Sequence[Measure]) -> Mapping[str, list[Panel]]:
    """Return the panels of each figure."""
    panels: dict[str, list[Panel]] = {"memorization": [], "risk": [], "spread": [], "curves": [], "selective": []}
    panels["map"] = _maps(result, names)

    def add(kind: str, measure: Measure, told: str, drawn: Figure) -> None:
        drawing = svg(drawn, f"{kind}/{measure.key}")
        panels[kind].append(Panel(measure.key, f"{kind} by {measure.key}: {told}", drawing))

    for measure in measures:
        rows = _rows(result, names, measure)
        for kind, draw in (("memorization", memorization_figure), ("risk", risk_figure)):
            limit = result.limits.get(f"{kind}/{measure.key}")
            add(kind, measure, _told(rows, kind), draw(rows, limit.value if limit else None))
        spreads = [f"{r.name} median {number(r.finding.spread[3])}" for r in rows if r.finding and r.finding.spread]
        if spreads:
            add("spread", measure, "; ".join(spreads), spread_figure(rows))
        surest = [r.name for r in rows if r.finding and detail_of(1.0) in r.finding.details]
        if surest:
            add("selective", measure, ", ".join(surest), selective_figure(rows))
        lines = [r.name for r in rows if r.finding and r.finding.curve]
        if lines:
            add("curves", measure, ", ".join(lines), curves_figure(rows))
    return panels


def _utilities(result: StudyResult) -> list[Measure]:
    return list(dict.fromkeys(f.measure for f in result.utility))


def _maps(result: StudyResult, names: Sequence[str]) -> list[Panel]:
    """Return a risk-utility map for each risk with a threshold, or for the first measure where none is set.

    The utility is the study's first, at the size of its ceiling. Without a utility metric there is no map.
    """
    if not result.utility or not result.findings:
        return []
    across = {f.synthesizer: f for f in result.utility if f.measure == _utilities(result)[0]}
    first = result.findings[0].measure.key
    known = any(not isnan(f.memorization.value) for f in result.findings if f.measure.key == first)
    wanted: dict[str, float | None] = {n: limit.value for n, limit in result.limits.items()}
    panels = []
    for name, limit in (wanted or {f"{'memorization' if known else 'risk'}/{first}": None}).items():
        what = limited(name, [f.measure.key for f in result.findings])
        own = [f for f in result.findings if f.measure.key == what.key]
        up = {f.synthesizer: quantity_of(f, what.quantity, what.group) for f in own}
        points = [
            MapPoint(n, is_reference(result, n), across[n].at_one_size, up[n]) for n in names if n in across and n in up
        ]
        points = [p for p in points if not isnan(p.utility.value) and not isnan(p.risk.value)]
        if points:
            measure = across[points[0].name].measure
            ceilings = [across[p.name].ceiling.value for p in points if not p.reference] or [float("nan")]
            drawn = risk_utility_figure(points, measure.key, what.words, ceilings[0], limit)
            told = "; ".join(f"{p.name} {number(p.utility.value)} and {number(p.risk.value)}" for p in points)
            text = f"{measure.key} and {what.words} by {what.key}: {told}"
            panels.append(Panel(f"{what.words} by {what.key}", text, svg(drawn, f"map/{name}")))
    return panels


def _gda(result: StudyResult, names: Sequence[str]) -> list[Panel]:
    """Return the GDA view of each attack that makes claims, synthesizers in the order of every table."""
    views = gda_views(result)
    panels = []
    for attack in dict.fromkeys(v.attack for v in views):
        own = sorted((v for v in views if v.attack == attack), key=lambda v: names.index(v.synthesizer))
        told = "; ".join(f"{v.synthesizer} {either(v.overall.confidence_improvement, sign=True)}" for v in own)
        drawing = svg(gda_figure(own), f"gda/{attack}")
        panels.append(Panel(attack, f"confidence improvement by {attack}: {told}", drawing, own))
    return panels


def _together(view: AttackView) -> dict[str, GdaScore]:
    """Return the scores over several columns, each once, by what the columns are; nothing where there is one alone."""
    every = len(view.columns)
    counts = {len(score.columns): score for score in view.weakest.values()} if every > 1 else {}
    names = {every: "all columns", 1: "the worst"}
    return {names.get(count, f"the {count} worst"): score for count, score in counts.items()}


def _told(rows: Sequence[Row], quantity: str) -> str:
    """Return a panel in words, for those who do not see it."""
    found = [(r.name, getattr(r.finding, quantity) if r.finding else None) for r in rows]
    return "; ".join(f"{n} {'not estimable' if e is None or isnan(e.value) else number(e.value)}" for n, e in found)
