"""What a user can get wrong, as cases: what is given, the exit code, and the telling part of the sentence."""

from bad_inputs.case import Case
from bad_inputs.command import COMMANDS
from bad_inputs.place import PLACES
from bad_inputs.release import RELEASES
from bad_inputs.study import STUDIES
from bad_inputs.table import TABLES

CASES = (*STUDIES, *TABLES, *RELEASES, *PLACES, *COMMANDS)

__all__ = ["CASES", "Case"]
