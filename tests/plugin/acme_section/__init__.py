"""A section of the report: how many generators there are of each role."""

from collections import Counter

from synthrisk.tasks.pages.section import Section, Shown


def _context(shown: Shown):
    """Return what the template needs; None leaves the section out."""
    roles = Counter(headline.role for headline in shown.overview.headlines)
    return {"roles": roles} if roles else None


ROLES = Section("acme-roles", "How many generators", "acme_section:roles.html", _context)
