"""``synthrisk compare``: what the studies of an experiment have said of each synthesizer, read back from their runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from synthrisk.conf.study import Tracking
from synthrisk.flows.reach import check_tracking
from synthrisk.metrics.errors import InputError, nearest
from synthrisk.tasks.tracking.past import PastStudy, studies

FORMS = ("csv", "json", "markdown")
RECENT = 8
"""How many studies the trend on a terminal goes back; the other forms show all."""


@dataclass(frozen=True)
class Asked:
    """What shall be shown."""

    experiment: str
    measure: str | None = None  # this one alone, or those that it names without an attribute
    every: bool = False  # a table of each measure
    history: bool = False  # the trend over all studies
    form: str = ""  # one of ``FORMS``, or empty for the terminal


def compare(asked: Asked, tracking: Tracking, workspace: Path) -> None:
    """Print what the studies of an experiment have said.

    Raises:
        InputError: There is no store, experiment, study or measure of that name.
    """
    check_tracking(tracking)
    every = studies(tracking, workspace, asked.experiment)
    known = [study for study in every if study.is_readable]
    if not known:
        older = f"; {len(every)} of an earlier version cannot be read" if every else ""
        raise InputError(f"the experiment must have a finished study, got none in {asked.experiment!r}{older}")
    most = len(known) if asked.form else RECENT
    shown = known[-most:] if asked.history else known[-1:]
    measures = measures_asked(shown, asked.measure)
    if asked.form:
        from synthrisk.flows.cli.compare_texts import print_text

        print_text(asked, shown, measures)
    else:
        from synthrisk.flows.cli.compare_tables import print_tables

        print_tables(asked, shown, measures, len(known))


def measures_asked(shown: Sequence[PastStudy], measure: str | None) -> list[str]:
    """Return the measures that one name means: the measure of that key, or all of that metric.

    All measures, of risk and of utility, unless one is named.
    """
    tables = [table for study in shown for table in (study.league, study.utility)]
    known = list(dict.fromkeys(str(m) for table in tables if len(table) for m in table["measure"]))
    if measure is None:
        return known
    named = [m for m in known if m == measure] or [m for m in known if m.startswith(f"{measure}.")]
    if not named:
        raise InputError(f"--measure must be one of {', '.join(known)}, got {measure!r}{nearest(measure, known)}")
    return named
