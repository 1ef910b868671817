"""The report of a study: one HTML page, its sections in their order, and the decision record."""

from typing import NamedTuple

from markupsafe import Markup

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.plugins import SECTION_GROUP, points
from synthrisk.tasks.pages.record import STYLE, body
from synthrisk.tasks.pages.section import Section, Shown
from synthrisk.tasks.pages.sections.answer import ANSWER, DEFINITIONS, LEAGUE, NOTES, NUMBERS, PAIRS, PROVENANCE
from synthrisk.tasks.pages.sections.gda import GDA
from synthrisk.tasks.pages.sections.limits import LEAKS, REFERENCES, THRESHOLDS
from synthrisk.tasks.pages.sections.measures import CURVES, MEASURES, MEMBERS_FOUND, RECORDS, WHAT_IF, YARDSTICKS
from synthrisk.tasks.pages.sections.next_steps import NEXT_STEPS
from synthrisk.tasks.pages.sections.releases import DATA_PICTURES, K_ANONYMITY, RELEASES
from synthrisk.tasks.pages.sections.utility import UTILITY
from synthrisk.tasks.pages.templates import render
from synthrisk.tasks.workspace.references import Judged

FIRST = (ANSWER, LEAGUE, NEXT_STEPS, MEASURES, LEAKS, UTILITY, DATA_PICTURES)
"""What every reader is to see."""

DETAILS = (
    NUMBERS,
    RELEASES,
    THRESHOLDS,
    REFERENCES,
    MEMBERS_FOUND,
    RECORDS,
    CURVES,
    GDA,
    YARDSTICKS,
    PAIRS,
    WHAT_IF,
    K_ANONYMITY,
)
"""What stands behind it."""

LAST = (NOTES, DEFINITIONS, PROVENANCE)
"""What all of them refer to: notes come after every section that may number one."""


def sections() -> list[Section]:
    """Return all sections in order: ours, with those of installed plugins before the last ones.

    Raises:
        InputError: An entry point gives no section of its name, or one whose name is taken.
    """
    return [*FIRST, *DETAILS, *_of_plugins(), *LAST]


def _of_plugins() -> list[Section]:
    taken = {each.name for each in (*FIRST, *DETAILS, *LAST)}
    found = []
    for entry in points(SECTION_GROUP):
        each = entry.load()
        if not isinstance(each, Section) or each.name != entry.name or each.name in taken:
            raise InputError(
                f"entry point {SECTION_GROUP}:{entry.name} must give an object Section of that name, which no other "
                f"section has, got {type(each).__name__} {getattr(each, 'name', '')}".rstrip()
            )
        taken.add(each.name)
        found.append(each)
    return found


class _Part(NamedTuple):
    section: Section
    body: Markup


def page(judged: Judged, settings: str) -> str:
    """Return the page: one file, nothing fetched, nothing executed, every text escaped.

    ``settings``: what was asked, as YAML.
    """
    shown = Shown(judged, settings)
    parts = []
    for each in sections():
        context = each.context(shown)
        if context is not None:
            text = render(each.template, shown=shown, result=shown.result, **context)
            parts.append(_Part(each, Markup(text)))  # noqa: S704 - templates escape what they are given
    record = body(shown.result, settings)
    return render("report.html", shown=shown, result=shown.result, parts=parts, record=record, record_style=STYLE)
