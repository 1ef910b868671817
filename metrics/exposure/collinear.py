"""Which quasi-identifiers cannot be told apart: columns that others determine, levels that are collinear."""

from collections.abc import Sequence

import numpy as np
import scipy

from synthrisk.metrics.exposure.gram import ALIASED, null_directions
from synthrisk.metrics.exposure.risk_terms import LeftOut, Term, design_matrix, placed


def independent(terms: Sequence[Term]) -> tuple[list[Term], list[LeftOut]]:
    """Return the terms in their places, without those that the others determine: narrow ones and late names first."""
    left, left_out = placed(terms), []
    while left:
        design = design_matrix(left)
        null = null_directions(design.T.tocsr(), design)
        inside = [term for term in left if (scipy.linalg.svdvals(null[term.own]) > ALIASED).sum() == term.width]
        if not inside:
            break
        gone = min(reversed(inside), key=lambda term: term.width)
        left_out.append(LeftOut(gone.column, "", f"determined by {partners(null, left, gone, gone.own)}"))
        left = placed([term for term in left if term is not gone])
    return left, left_out


def partners(null: np.ndarray, terms: Sequence[Term], term: Term, own: np.ndarray) -> str:
    """Return the names of the other columns that share a ``null`` direction with the columns ``own`` of a term."""
    shared = np.linalg.norm(null @ null[own].T, axis=1) > ALIASED
    return ", ".join(str(each.column) for each in terms if each is not term and shared[each.own].any())


def collinear_notes(null: np.ndarray, terms: Sequence[Term], term: Term) -> list[str]:
    """Return, for each level (a numeric's first: its value), what it cannot be told apart from."""
    columns = [term.own[row != 0] for row in term.rows]
    if term.spread > 0:
        columns[0] = term.own[:1]
    found = [partners(null, terms, term, own) for own in columns]
    return [f"collinear with {names}" if names else "" for names in found]
