"""What a user can get wrong, as cases: what is given, the exit code, and the telling part of the sentence."""

from dataclasses import replace

from bad_inputs.case import Case
from bad_inputs.command import COMMANDS
from bad_inputs.place import PLACES
from bad_inputs.release import RELEASES
from bad_inputs.study import STUDIES
from bad_inputs.table import TABLES

_PARTS = {"study": STUDIES, "table": TABLES, "release": RELEASES, "place": PLACES, "command": COMMANDS}
CASES = tuple(replace(case, name=f"{part}: {case.name}") for part, cases in _PARTS.items() for case in cases)

__all__ = ["CASES", "Case"]
