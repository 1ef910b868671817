"""What is known beforehand of the releases of a reference generator."""

from typing import Literal

Answer = Literal["copy", "near_copy", "leak", "part", "repelled", "ideal", "identifiers", "independent"]
"""The training rows; these, each a little changed; a share of them among new records of the same population; something
of them that is no whole training row, among such new records; such new records without those near to a training row, so
that members are told by what is missing; such new records alone; these with the members' identifiers beside them;
columns that know nothing of each other."""
