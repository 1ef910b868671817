"""Steps that make quasi-identifiers coarser: which go with risk, what what-ifs have shown, and which to try.

Also what each next step is, and the lines of YAML that a reader can take over.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, Literal, NamedTuple

import numpy as np
import yaml

from synthrisk.conf.loader import shipped
from synthrisk.metrics.exposure.attribution import Gap, risk_gaps
from synthrisk.metrics.intervals.estimates import TESTED, Estimate
from synthrisk.metrics.study.findings import Finding
from synthrisk.metrics.tables.kinds import kind
from synthrisk.metrics.tables.tables import columns_of
from synthrisk.metrics.verdicts.quantities import AGAINST_CONTROL, Limited, limited, quantity_of
from synthrisk.metrics.verdicts.tables import Preview, largest_fall, previews
from synthrisk.metrics.verdicts.verdicts import Verdict
from synthrisk.tasks.pages.section import Shown
from synthrisk.tasks.pages.templates import interval, number
from synthrisk.tasks.workspace.records import kept_contributions, kept_exposed
from synthrisk.tasks.workspace.references import FRAME, Found

NAMED = 3
"""Columns, measures or synthesizers that a sentence names."""


class Step(NamedTuple):
    """One thing to do or to know."""

    words: str
    code: str = ""  # lines of a study, or a command
    points: Sequence[str] = ()


def with_interval(found: Estimate, sign: bool = False) -> str:
    """Return an estimate with its interval."""
    return f"{number(found.value, sign)} {interval(found.lower, found.upper, sign)}"


Change = Mapping[str, Any]
"""A change of the quasi-identifiers as in ``what_if``."""


def _flow(value: Any) -> str:
    told = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9)
    return told.removesuffix("\n").removesuffix("\n...")


def try_command(settings: str, changes: Sequence[Change]) -> str:
    """Return the command that tries some changes of the quasi-identifiers beside all that a study has."""
    words = evaluate_words(changes).replace("--without", "--drop")
    return f"synthrisk try {study_file(settings)} {words}"


def set_command(settings: str, changes: Mapping[str, Any]) -> str:
    """Return the command that runs a study with some settings replaced (``a.b``), or added to (``a.b+``).

    Example:
        >>> set_command("name: mine", {"metrics+": "membership", "split.repetitions": 6})
        'synthrisk benchmark study.yaml --set metrics+=membership --set split.repetitions=6'
    """
    words = [f"--set {shlex.quote(f'{name}={_flow(value)}')}" for name, value in changes.items()]
    return " ".join(["synthrisk benchmark", study_file(settings), *words])


def study_file(settings: str) -> str:
    """Return how a command calls a study: by its own name where it was shipped, else as a file."""
    name = setting(settings, "name")
    return str(name) if name in shipped() else "study.yaml"


def setting(settings: str, name: str) -> Any:
    """Return one of the settings of a study; None where it has none of this name, or they are no YAML."""
    try:
        read = yaml.safe_load(settings)
    except yaml.YAMLError:
        return None
    return read.get(name) if isinstance(read, Mapping) else None


def is_of_one_release(settings: str) -> bool:
    """Tell whether a study is of one release that was made elsewhere, by ``synthrisk evaluate``."""
    return setting(settings, "synthetic") is not None


_USUAL = {"references": "limited", "experiment": "evaluate", "workspace": ".synthrisk", "seed": 1}
_LISTED = ("quasi_identifiers", "sensitive", "categorical", "missing", "drop")
_SINGLE = ("study", "identifier", "links", "references", "experiment", "tracking_uri", "workspace", "seed")
_ADDED = ("metrics", "limits", "what_if")
_BESIDE = ("offline", "log_again", "real", "synthetic", "control")


def evaluate_command(settings: str, **more: Any) -> str:
    """Return the whole command that judges the same release again, with ``more``; empty where none says all of it.

    ``metrics``, ``limits`` and ``what_if`` stand beside those that were asked for, any other in place of it.

    Example:
        >>> asked = "{real: r.csv, synthetic: s.csv, control: c.csv, metrics: [rapid], limits: {risk/rapid: 0.1}}"
        >>> evaluate_command(asked, what_if=[{"bins": {"age": 5}}])
        'synthrisk evaluate r.csv s.csv --control c.csv --metric rapid --limit-on risk/rapid=0.1 --coarsen age=5'
    """
    asked = yaml.safe_load(settings)
    unclear = "study" in asked or not asked.get("metrics")  # what is added would stand in place of what is not named
    if unclear and ("metrics" in more or "limits" in more):
        return ""
    told = {**asked, **more}
    for name in (each for each in _ADDED if each in more and asked.get(each)):
        told[name] = {**asked[name], **more[name]} if isinstance(more[name], Mapping) else [*asked[name], *more[name]]
    try:
        words = [*_tables(told), *_options(told), evaluate_words(told.get("what_if", ()))]
    except _NoCommandError:
        return ""
    return " ".join(["synthrisk evaluate", *filter(None, words)])


class _NoCommandError(Exception):
    """Something was asked for that the command line has no words for."""


def _tables(asked: Mapping[str, Any]) -> Iterator[str]:
    tables = {name: asked.get(name) for name in ("real", "synthetic", "control") if asked.get(name)}
    if FRAME in tables.values() or not {"real", "synthetic"} <= set(tables):
        raise _NoCommandError
    yield from (shlex.quote(str(tables[name])) for name in ("real", "synthetic"))
    if "control" in tables:
        yield f"--control {shlex.quote(str(tables['control']))}"


def _options(asked: Mapping[str, Any]) -> Iterator[str]:
    if set(asked) - {*_LISTED, *_SINGLE, *_ADDED, *_BESIDE}:
        raise _NoCommandError
    for name in (each for each in _LISTED if each in asked):
        yield f"--{name.replace('_', '-')} {shlex.quote(','.join(map(_target, asked[name])))}"
    for metric in asked.get("metrics", ()):
        if not isinstance(metric, str):
            raise _NoCommandError
        yield f"--metric {metric}"
    for name, limit in asked.get("limits", {}).items():
        value = limit.get("value") if isinstance(limit, Mapping) else limit
        yield f"--limit-on {shlex.quote(f'{name}={value}')}"
    for name in (each for each in _SINGLE if each in asked and asked[each] != _USUAL.get(each)):
        yield f"--{name.replace('_', '-')} {shlex.quote(str(asked[name]))}"
    if asked.get("offline"):
        yield "--offline"


def _target(columns: Any) -> str:
    """Return columns as the command line names them: those that are guessed together with a plus between."""
    names = columns_of(columns)
    if any(mark in name for name in names for mark in ",+") or any(name != name.strip() for name in names):
        raise _NoCommandError
    return "+".join(names)


def evaluate_words(changes: Sequence[Change]) -> str:
    """Return the options of ``synthrisk evaluate`` that preview some changes.

    Example:
        >>> evaluate_words([{"bins": {"age": 5}}, {"drop": ["home town"]}])
        "--coarsen age=5 --without 'home town'"
    """
    words = []
    for change in changes:
        words += [f"--coarsen {shlex.quote(f'{column}={parts}')}" for column, parts in change.get("bins", {}).items()]
        words += [f"--without {shlex.quote(column)}" for column in change.get("drop", ())]
        words += [f"--noise {shlex.quote(f'{column}={share}')}" for column, share in change.get("noise", {}).items()]
    return " ".join(words)


Quantity = Literal["risk", "memorization"]
PREVIEWED = "columns that are coarser, noisier or left out"
"""What a what-if changes, in words."""

_RECORDS = 20_000  # that the model of risk is fitted on
_PARTS = 5  # of a column in a preview


def of_keys(shown: Shown, verdict: Verdict, finding: Finding, found: Found, *, explain: bool) -> Iterator[Step]:
    """Yield what coarser quasi-identifiers would do to a limited quantity of one synthesizer, and which to try.

    Args:
        shown: The study.
        verdict: The limit that is not shown to be kept.
        finding: Of its measure, which uses quasi-identifiers.
        found: What was found of the synthesizer.
        explain: Whether a model is fitted that tells who is at risk.
    """
    options = {p.measure: p.options for p in found.planned}.get(finding.measure, {})
    known = list(options.get("quasi_identifiers", ()))
    what = limited(verdict.quantity, [finding.measure.key, finding.measure.label])
    of: Quantity = "memorization" if what.quantity in AGAINST_CONTROL else "risk"
    gaps: list[Gap] = []
    for quantity in dict.fromkeys((of, "risk")) if explain and known else ():
        gaps = gaps or _gaps(finding, found, known, quantity)
        if gaps:
            words = f"These quasi-identifiers tell records of much {quantity} from others"
            yield Step(f"{words} (predicted mean, the rest as it is):", "", [_of_gap(gap) for gap in gaps[:NAMED]])
            break
    entities, confidence = found.sample.entities(), shown.judged.estimated.settings.confidence
    kept = kept_contributions(found.contributions)
    told = previews(shown.result.findings, found.planned, kept, finding, confidence, entities)
    tried = largest_fall(told, of)
    if tried:
        yield Step(_of_what_ifs(tried, of), "", [_of_preview(each, verdict, what, of) for each in tried])
        return
    changes = _changes(found, known, [gap.column for gap in gaps])
    if changes and not isinstance(options.get("bins"), int):
        words = (
            "Nothing was tried, so nothing is advised. This tries on the same releases what it would do if others "
            "knew less:"
        )
        if is_of_one_release(shown.settings):
            code = evaluate_command(shown.settings, what_if=changes)
            yield Step(words if code else f"{words} {evaluate_words(changes)}, added to what was asked.", code)
        else:
            yield Step(words, try_command(shown.settings, changes))


def _gaps(finding: Finding, found: Found, known: Sequence[str], of: Quantity) -> list[Gap]:
    """Return which quasi-identifiers go with risk, or with memorization, from the scores of the single records."""
    own = kept_exposed(found.exposed, finding.measure.key)
    scores = own["as_member" if of == "risk" else "memorization"].to_numpy(float)
    if of == "memorization":
        scores = (scores + 1) / 2  # means of scores in [0, 1], and back
    records, entities = found.sample.records(), found.sample.entities()
    rows = np.flatnonzero(~np.isnan(scores)) if len(scores) == len(records) else np.zeros(0, dtype=int)
    if not len(rows) or scores[rows].min() < 0 or scores[rows].max() > 1:
        return []
    if len(rows) > _RECORDS:
        rows = np.sort(np.random.default_rng(found.sample.seed).choice(rows, _RECORDS, replace=False))
    people = None if entities is None else entities[rows]
    try:
        gaps = risk_gaps(scores[rows], records.iloc[rows], list(known), TESTED, people)
    except (ArithmeticError, ValueError):  # a model that cannot be fitted: the other steps stand without it
        return []
    return gaps if of == "risk" else [replace(g, lowest=_back(g.lowest), highest=_back(g.highest)) for g in gaps]


def _back(found: Estimate) -> Estimate:
    return Estimate(2 * found.value - 1, 2 * found.lower - 1, 2 * found.upper - 1)


def _of_gap(gap: Gap) -> str:
    way = {True: ", higher for larger values", False: ", higher for smaller values", None: ""}[gap.rises]
    return f"{gap.column}: from {with_interval(gap.lowest)} to {with_interval(gap.highest)}{way}"


def _of_what_ifs(tried: Sequence[Preview], of: Quantity) -> str:
    words = f"What-ifs, on the same releases: {PREVIEWED}."
    best = next((each for each in tried if each.helps_with(of)), None)
    if best is not None:
        return f"{words} “{best.words}” lowers the {of} most: change the table so before fitting, and measure again."
    if tried[0].change(of).upper < 0:
        other = "memorization" if of == "risk" else "risk"
        return f"{words} Nothing that was tried helps: where the {of} falls, the {other} rises."
    return f"{words} None is shown to lower the {of}: nothing that was tried helps."


def _of_preview(preview: Preview, verdict: Verdict, what: Limited, of: Quantity) -> str:
    """Return what one change would do to the quantity that is limited, and to the risk beside it."""
    words = f"{preview.words}: {_moved(preview.change(of), of)}"
    after = quantity_of(preview.after, what.quantity, what.group)
    if not isnan(after.value):
        words += f"; {what.words} {with_interval(after)} instead of {number(verdict.value)}, limit {verdict.limit:g}"
    return words if of == "risk" else f"{words}; {_moved(preview.risk, 'risk')}"


def _moved(change: Estimate, of: Quantity) -> str:
    if isnan(change.value):
        return f"change of the {of} not estimable"
    if change.upper < 0:
        return f"would lower the {of} by {with_interval(Estimate(-change.value, -change.upper, -change.lower))}"
    if change.lower > 0:
        return f"would raise the {of} by {with_interval(change)}"
    return f"is not shown to change the {of}: {with_interval(change, sign=True)}"


def _changes(found: Found, known: Sequence[str], first: Sequence[str]) -> list[dict[str, Any]]:
    """Return changes worth a preview: of the columns that go with risk, then of those with most values."""
    records = found.sample.records()
    values = {c: records[c].nunique() for c in known if c in records}
    ranked = [c for c in first if c in values]
    ranked += sorted((c for c in values if c not in ranked), key=lambda c: -values[c])
    changes: list[dict[str, Any]] = []
    for column in ranked[:NAMED]:
        if values[column] > (_PARTS if kind(records[column]) == "numeric" else 2 * _PARTS):
            changes.append({"bins": {column: _PARTS}})
        elif len(known) > 1:
            changes.append({"drop": [column]})
    return changes
