"""The report of a study: one HTML page, which says in its sections what may be read from the study, and what not."""

from dataclasses import dataclass

from markupsafe import Markup

from synthrisk.tasks.pages.record import STYLE, body
from synthrisk.tasks.pages.register import sections
from synthrisk.tasks.pages.section import Section, Shown
from synthrisk.tasks.pages.templates import render
from synthrisk.tasks.workspace.handed import Judged


@dataclass(frozen=True)
class _Part:
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
    return render(
        "report.html",
        shown=shown,
        result=shown.result,
        parts=parts,
        record=body(shown.result),
        record_style=STYLE,
    )
