"""The sections of the report, in the order in which they stand."""

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.plugins import SECTION_GROUP, points
from synthrisk.tasks.pages.section import Section
from synthrisk.tasks.pages.sections.answer import ANSWER
from synthrisk.tasks.pages.sections.curves import CURVES
from synthrisk.tasks.pages.sections.data_pictures import DATA_PICTURES
from synthrisk.tasks.pages.sections.definitions import DEFINITIONS
from synthrisk.tasks.pages.sections.gda import GDA
from synthrisk.tasks.pages.sections.k_anonymity import K_ANONYMITY
from synthrisk.tasks.pages.sections.league import LEAGUE
from synthrisk.tasks.pages.sections.leaks import LEAKS
from synthrisk.tasks.pages.sections.measures import MEASURES
from synthrisk.tasks.pages.sections.members_found import MEMBERS_FOUND
from synthrisk.tasks.pages.sections.next_steps import NEXT_STEPS
from synthrisk.tasks.pages.sections.notes import NOTES
from synthrisk.tasks.pages.sections.numbers import NUMBERS
from synthrisk.tasks.pages.sections.pairs import PAIRS
from synthrisk.tasks.pages.sections.provenance import PROVENANCE
from synthrisk.tasks.pages.sections.records import RECORDS
from synthrisk.tasks.pages.sections.references import REFERENCES
from synthrisk.tasks.pages.sections.releases import RELEASES
from synthrisk.tasks.pages.sections.thresholds import THRESHOLDS
from synthrisk.tasks.pages.sections.utility import UTILITY
from synthrisk.tasks.pages.sections.what_if import WHAT_IF
from synthrisk.tasks.pages.sections.yardsticks import YARDSTICKS

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
