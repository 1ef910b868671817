"""The two spaces of ``reference/priveval/README.md``, pair by pair: independent of the code that is tested."""

import math

from samples.cells import cell, is_numeric


def rows_of(table):
    """Return the rows of a table as tuples of cells."""
    return [tuple(cell(v) for v in row) for row in zip(*(table[c].tolist() for c in table), strict=True)]


def distance_of(real, synthetic, space, weights=None, reference=None):
    """Return the function of two rows of cells, its columns weighted; ``reference`` alone may give the ranges."""
    parts = []
    for name in real:
        weight = 1.0 if weights is None else weights.get(name, 1.0)
        values = [cell(v) for v in [*real[name].tolist(), *synthetic[name].tolist()]]
        own = values[: len(real)]
        known = [v for v in own if v is not None]
        if space == "gower":
            within = values if reference is None else [cell(v) for v in reference[name].tolist()]
            within = [v for v in within if v is not None]
            width = max(within) - min(within) if is_numeric(real[name]) and within else None

            def part(a, b, width=width, weight=weight):
                if a is None or b is None or width is None:
                    return weight * (a != b)
                return weight * (min(abs(a - b) / width, 1) if width else float(a != b))

        elif is_numeric(real[name]):
            mean = math.fsum(known) / len(known) if known else 0.0
            spread = math.sqrt(math.fsum((v - mean) ** 2 for v in known) / len(known)) if len(set(known)) > 1 else 1.0
            step = _cost(own, None)

            def part(a, b, mean=mean, spread=spread, step=step, weight=weight):
                gap = (mean if a is None else a) - (mean if b is None else b)
                return weight**2 * ((gap / spread) ** 2 + ((a is None) != (b is None)) * step)

        else:

            def part(a, b, own=own, weight=weight):
                return weight**2 * (_cost(own, a) + _cost(own, b)) if a != b else 0.0

        parts.append(part)

    def whole(a, b):
        total = math.fsum(p(u, v) for p, u, v in zip(parts, a, b, strict=True))
        return total / len(parts) if space == "gower" else math.sqrt(total)

    return whole


def _cost(own, level):
    share = own.count(level) / len(own)
    return 1 / (share * (1 - share)) if 0 < share < 1 else 1.0


def distances_between(real, synthetic, space, columns=None):
    """Return the distances of each real to each synthetic record, over some columns."""
    real, synthetic = (table[list(columns or table)] for table in (real, synthetic))
    away, theirs = distance_of(real, synthetic, space), rows_of(synthetic)
    return [[away(a, b) for b in theirs] for a in rows_of(real)]
