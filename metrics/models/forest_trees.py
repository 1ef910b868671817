"""The trees of a random forest, compiled: splits are searched in counts of codes, not in sorted records.

Trees are scikit-learn's to the last bit: its random numbers, its order of nodes and features, its ties. Counts are
whole, so that sums of them are exact in any order. Places are unsigned throughout: signed ones would be checked for
being negative at each access, which doubles the time.
"""

from typing import Any, TypeAlias

import numpy as np

from synthrisk.metrics.compiled import inlined, threaded

Places: TypeAlias = np.ndarray
Place: TypeAlias = Any  # np.uintp, in compiled code

EPSILON = float(np.finfo(float).eps)  # impurity up to which scikit-learn calls a node pure
CLOSE = np.float32(1e-7)  # values this close are one value to scikit-learn
Z, ONE, TWO, FEW = np.uintp(0), np.uintp(1), np.uintp(2), np.uintp(4)
EVERY = np.uintp(2**32)  # above all codes
ROW, CLASS, COUNT = np.uintp(32), np.uintp(16), np.uintp(0xFFFF)  # a record is row, class and count in one number
WORD, HEAD, LAST = np.uintp(6), np.uintp(12), np.uintp(63)  # a word has a bit a code, a head a bit a word
_BRUIJN = 0x03F79D71B4CB0A89  # the place of a single bit by one product
BRUIJN, TOP = np.uint64(_BRUIJN), np.uint64(58)
PLACES = np.zeros(64, dtype=np.uintp)
for _each in range(64):
    PLACES[((_BRUIJN << _each) % 2**64) >> 58] = _each


@inlined
def _draw(state: np.ndarray, below: int) -> Any:
    """Return a random number from 0 to ``below`` - 1: Marsaglia's xorshift."""
    state[0] = state[0] if state[0] != 0 else 1
    state[0] ^= (state[0] << 13) & 0xFFFFFFFF
    state[0] ^= state[0] >> 17
    state[0] ^= (state[0] << 5) & 0xFFFFFFFF
    return (state[0] & 0x7FFFFFFF) % below


@inlined
def _gini(squares: Any, weight: float) -> float:
    return 1.0 - float(squares) / (weight * weight)


@inlined
def _place(bits: Place) -> Place:
    return PLACES[((bits & (~bits + ONE)) * BRUIJN) >> TOP]


@inlined
def _listed(words: Places, heads: Places, size: Place, seen: Places) -> Place:
    """List the codes whose bits are set, in order, and clear the bits; return how many."""
    found = Z
    for head in range((size >> HEAD) + ONE):
        above = heads[head]
        heads[head] = Z
        while above != Z:
            word = (head << WORD) + _place(above)
            above &= above - ONE
            bits = words[word]
            words[word] = Z
            while bits != Z:
                seen[found] = (word << WORD) + _place(bits)
                bits &= bits - ONE
                found += ONE
    return found


@inlined
def _marked(
    codes: Places,
    base: Place,
    rows: Places,
    start: Place,
    end: Place,
    size: Place,
    classes: Place,
    table: Places,
    words: Places,
    heads: Places,
) -> None:
    """Count a node's records by code and class, and set the bits of the codes that there are."""
    if size < LAST:  # the codes fit in one word
        bits = Z
        for i in range(start, end):
            row = rows[i]
            code = np.uintp(codes[base + (row >> ROW)])
            table[code * classes + ((row >> CLASS) & COUNT)] += np.uint32(row & COUNT)
            bits |= ONE << code
        words[Z], heads[Z] = bits, ONE
        return
    for i in range(start, end):
        row = rows[i]
        code = np.uintp(codes[base + (row >> ROW)])
        table[code * classes + ((row >> CLASS) & COUNT)] += np.uint32(row & COUNT)
        words[code >> WORD] |= ONE << (code & LAST)
        heads[code >> HEAD] |= ONE << ((code >> WORD) & LAST)


@inlined
def _added(
    place: Place,
    classes: Place,
    table: Places,
    total: np.ndarray,
    left: np.ndarray,
    weight_left: int,
    squares_left: int,
    squares_right: int,
    done: bool,
) -> Any:
    """Move a code's records to the left, out of the table if ``done``; return weight and squares of the sides."""
    if classes == TWO:
        left[0] += np.int64(table[place])
        left[1] += np.int64(table[place + ONE])
        if done:
            table[place], table[place + ONE] = 0, 0
        on_zero, on_one = total[0] - left[0], total[1] - left[1]
        return left[0] + left[1], left[0] * left[0] + left[1] * left[1], on_zero * on_zero + on_one * on_one
    for c in range(classes):
        more: Any = np.int64(table[place + c])
        if done:
            table[place + c] = 0
        squares_left += more * (2 * left[c] + more)
        squares_right += more * (more - 2 * (total[c] - left[c]))
        weight_left += more
        left[c] += more
    return weight_left, squares_left, squares_right


@inlined
def _worth(weight: int, weight_left: int, squares_left: int, squares_right: int) -> float:
    """Return minus the impurity of both sides times their weights, in scikit-learn's order of operations."""
    on_left, on_right = float(weight_left), float(weight - weight_left)
    return -on_right * _gini(squares_right, on_right) - on_left * _gini(squares_left, on_left)


@inlined
def _searched(
    codes: Places,
    base: Place,
    rows: Places,
    start: Place,
    end: Place,
    size: Place,
    classes: Place,
    table: Places,
    words: Places,
    heads: Places,
    values: np.ndarray,
    f: int,
    close: bool,
    total: np.ndarray,
    weight: int,
    squares: int,
    left: np.ndarray,
    best: float,
) -> Any:
    """Search the cuts of a feature without missing cells.

    Returns:
        The best worth of a cut if above ``best``, the codes on its sides, and whether all records have one value.
    """
    before, after, weight_left, squares_left, squares_right = Z, Z, 0, 0, squares
    first, previous, many = Z, Z, Z
    for c in range(classes):
        left[c] = 0
    records = end - start
    if (records > size and size >= LAST) or records > FEW * size * classes:  # each code is looked at: no bits needed
        half = np.uintp(len(table)) >> ONE  # two tables in turn: a count need not wait for the one before
        for pair in range(records >> ONE):
            i = start + (pair << ONE)
            row, other = rows[i], rows[i + ONE]
            table[np.uintp(codes[base + (row >> ROW)]) * classes + ((row >> CLASS) & COUNT)] += np.uint32(row & COUNT)
            place = half + np.uintp(codes[base + (other >> ROW)]) * classes
            table[place + ((other >> CLASS) & COUNT)] += np.uint32(other & COUNT)
        for i in range(start + (records & ~ONE), end):
            row = rows[i]
            table[np.uintp(codes[base + (row >> ROW)]) * classes + ((row >> CLASS) & COUNT)] += np.uint32(row & COUNT)
        for i in range(size * classes):
            table[i] += table[half + i]
            table[half + i] = 0
        for each in range(size):
            code = np.uintp(each)
            place = code * classes
            held: Any = table[place]
            for c in range(1, classes):
                held |= table[place + np.uintp(c)]
            if held == 0:
                continue
            if many == Z:
                first = code
            elif not (close and values[f, code] <= values[f, previous] + CLOSE):
                worth = _worth(weight, weight_left, squares_left, squares_right)
                if worth > best:
                    best, before, after = worth, previous, code
            weight_left, squares_left, squares_right = _added(
                place, classes, table, total, left, weight_left, squares_left, squares_right, True
            )
            previous = code
            many += ONE
    else:
        _marked(codes, base, rows, start, end, size, classes, table, words, heads)
        for head in range((size >> HEAD) + ONE):
            above = heads[head]
            heads[head] = Z
            while above != Z:
                word = (head << WORD) + _place(above)
                above &= above - ONE
                bits = words[word]
                words[word] = Z
                while bits != Z:
                    code = (word << WORD) + _place(bits)
                    bits &= bits - ONE
                    place = code * classes
                    if many == Z:
                        first = code
                    elif not (close and values[f, code] <= values[f, previous] + CLOSE):
                        worth = _worth(weight, weight_left, squares_left, squares_right)
                        if worth > best:
                            best, before, after = worth, previous, code
                    weight_left, squares_left, squares_right = _added(
                        place, classes, table, total, left, weight_left, squares_left, squares_right, True
                    )
                    previous = code
                    many += ONE
    return best, before, after, many == ONE or (close and values[f, previous] <= values[f, first] + CLOSE)


@inlined
def _searched_with_missing(
    codes: Places,
    base: Place,
    rows: Places,
    start: Place,
    end: Place,
    size: Place,
    classes: Place,
    table: Places,
    words: Places,
    heads: Places,
    values: np.ndarray,
    f: int,
    close: bool,
    total: np.ndarray,
    weight: int,
    squares: int,
    left: np.ndarray,
    best: float,
    seen: Places,
) -> Any:
    """Search the cuts of a feature whose cells may be missing: these on the right, then on the left.

    Returns:
        What ``_searched`` does, whether the missing cells are on the left of that cut, and whether there are any.
    """
    before, after, to_left = Z, Z, False
    _marked(codes, base, rows, start, end, size, classes, table, words, heads)
    many = _listed(words, heads, size, seen)
    missing = seen[many - ONE] == size
    same = many == ONE or (close and not missing and values[f, seen[many - ONE]] <= values[f, seen[Z]] + CLOSE)
    for side in range(0 if same else 1 + missing):
        weight_left, squares_left, squares_right = 0, 0, squares
        for c in range(classes):
            left[c] = 0
        cuts = many - ONE
        if side == 1:
            cuts -= ONE
            weight_left, squares_left, squares_right = _added(
                size * classes, classes, table, total, left, weight_left, squares_left, squares_right, False
            )
        for j in range(cuts):
            weight_left, squares_left, squares_right = _added(
                seen[j] * classes, classes, table, total, left, weight_left, squares_left, squares_right, False
            )
            if close and seen[j + ONE] < size and values[f, seen[j + ONE]] <= values[f, seen[j]] + CLOSE:
                continue
            worth = _worth(weight, weight_left, squares_left, squares_right)
            if worth > best:
                best, before, after, to_left = worth, seen[j], seen[j + ONE], side == 1
    for j in range(many):
        for c in range(classes):
            table[seen[j] * classes + c] = 0
    return best, before, after, same, to_left, missing


@inlined
def _cut(values: np.ndarray, f: int, before: Place, after: Place, size: Place) -> Place:
    """Return the last code on the left: the largest of a value up to the middle of two neighbours."""
    if after == size:
        return size - ONE  # all values against missing
    middle = float(values[f, before]) / 2.0 + float(values[f, after]) / 2.0
    cut, high = before, after
    while high - cut > ONE:
        half = (cut + high) >> ONE
        if values[f, half] <= middle:
            cut = half
        else:
            high = half
    return cut


@inlined
def _parted(
    rows: Places,
    spare: Places,
    start: Place,
    end: Place,
    codes: Places,
    base: Place,
    shift: Place,
    lowest: Place,
    width: Place,
) -> Place:
    """Move rows whose code is not among the ``width`` from ``lowest`` on to the front; return where the others start.

    Both keep their order. Smaller codes are huge numbers once ``lowest`` is taken off: one comparison tells.
    """
    left, right = start, Z
    for i in range(start, end):
        row = rows[i]
        stays = np.uintp(np.uintp(codes[base + (np.uintp(row) >> shift)]) - lowest >= width)
        rows[left] = row
        spare[right] = row
        left += stays
        right += ONE - stays
    for i in range(right):
        rows[left + i] = spare[i]
    return left


@inlined
def _halved(
    rows: Places,
    start: Place,
    end: Place,
    classes: Place,
    total: np.ndarray,
    weight: int,
    impurity: float,
    everyone: float,
    left: np.ndarray,
) -> tuple[float, float, float]:
    """Count the classes on the left; return the impurity of both sides, and the tree's gain by the split."""
    for c in range(classes):
        left[c] = 0
    for i in range(start, end):
        left[(rows[i] >> CLASS) & COUNT] += np.int64(rows[i] & COUNT)
    weight_left, squares_left, squares_right = 0, 0, 0
    for c in range(classes):
        weight_left += left[c]
        squares_left += left[c] * left[c]
        squares_right += (total[c] - left[c]) * (total[c] - left[c])
    here, on_left, on_right = float(weight), float(weight_left), float(weight - weight_left)
    of_left, of_right = _gini(squares_left, on_left), _gini(squares_right, on_right)
    gained = (here / everyone) * (impurity - (on_right / here * of_right) - (on_left / here * of_left))
    return of_left, of_right, gained


@inlined
def _grow(
    codes: Places,
    queries: Places,
    values: np.ndarray,
    sizes: Places,
    close: np.ndarray,
    gaps: np.ndarray,
    targets: np.ndarray,
    counts: np.ndarray,
    state: np.ndarray,
    classes: Place,
    least: Place,
    drawn: int,
    stops: bool,
    out: np.ndarray,
) -> None:
    """Grow one tree; its queries fall through it meanwhile, so that it need not be kept."""
    p, n, q = len(sizes), np.uintp(len(targets)), np.uintp(len(out))
    rows, held = np.empty(n, dtype=np.uintp), Z
    for i in range(n):
        if counts[i] > 0:
            rows[held] = (i << ROW) | (np.uintp(targets[i]) << CLASS) | np.uintp(counts[i])
            held += ONE
    asked = np.empty(q, dtype=np.uint32)
    for i in range(q):
        asked[i] = i
    spare, spare_asked = np.empty(held, dtype=np.uintp), np.empty(q, dtype=np.uint32)
    widest = np.uintp(values.shape[1]) + ONE
    table, seen = np.zeros(widest * classes * TWO, dtype=np.uint32), np.empty(widest, dtype=np.uintp)
    words, heads = np.zeros((widest >> WORD) + ONE, dtype=np.uintp), np.zeros((widest >> HEAD) + ONE, dtype=np.uintp)
    total, left = np.zeros(classes, dtype=np.int64), np.zeros(classes, dtype=np.int64)
    features, constant = np.arange(p), np.empty(p, dtype=np.int64)
    # nodes to come: their records, their queries, their class counts, impurities, and how many features are constant
    stack, impurities = np.empty((held + ONE, 4), dtype=np.uintp), np.empty(held + ONE)
    totals, knowns = np.zeros((held + ONE, np.int64(classes)), dtype=np.int64), np.empty(held + ONE, dtype=np.int64)
    stack[Z, 0], stack[Z, 1], stack[Z, 2], stack[Z, 3], knowns[Z] = Z, held, Z, q, 0
    everyone, squares = 0.0, 0
    for i in range(held):
        totals[Z, (rows[i] >> CLASS) & COUNT] += np.int64(rows[i] & COUNT)
    for c in range(classes):
        everyone += totals[Z, c]
        squares += totals[Z, c] * totals[Z, c]
    impurities[Z], top = _gini(squares, everyone), ONE
    while top > Z:
        top -= ONE
        start, end, first, last, known = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3], knowns[top]
        impurity, splits = impurities[top], False
        is_small = impurity <= EPSILON or (end - start < least and not stops)
        if is_small and first == last:
            continue
        weight, squares = 0, 0
        for c in range(classes):
            total[c] = totals[top, c]
            weight += total[c]
            squares += total[c] * total[c]
        is_small = is_small or (stops and weight < least)
        if not is_small:
            best, feature, before, after, missing_left, has_missing = -np.inf, 0, Z, Z, False, False
            # features[:known] are constant above this node; those found constant here follow; those tried are last
            visited, found, drawn_constant, constants, untried = 0, 0, 0, known, p
            while untried > constants and (visited < drawn or (not stops and visited <= found + drawn_constant)):
                visited += 1
                chosen = drawn_constant + _draw(state, untried - found - drawn_constant)
                if chosen < known:
                    features[drawn_constant], features[chosen] = features[chosen], features[drawn_constant]
                    drawn_constant += 1
                    continue
                chosen += found
                f = features[chosen]
                size, base = sizes[f], np.uintp(f) * n
                given = codes, base, rows, start, end, size, classes, table, words, heads, values, f, close[f]
                counted = total, weight, squares, left, best
                if gaps[f]:
                    worth, low, high, same, to_left, missing = _searched_with_missing(*given, *counted, seen)
                else:
                    worth, low, high, same = _searched(*given, *counted)
                    to_left, missing = False, False
                if worth > best:
                    best, feature, before, after, splits = worth, f, low, high, True
                    missing_left, has_missing = to_left, missing
                if same:
                    features[chosen], features[constants] = features[constants], features[chosen]
                    found += 1
                    constants += 1
                else:
                    untried -= 1
                    features[untried], features[chosen] = features[chosen], features[untried]
            for j in range(known):
                features[j] = constant[j]
            for j in range(known, known + found):
                constant[j] = features[j]
        if splits:
            size = sizes[feature]
            cut = _cut(values, feature, before, after, size)
            lowest = cut + ONE
            width = size - lowest if missing_left else EVERY
            middle = _parted(rows, spare, start, end, codes, np.uintp(feature) * n, ROW, lowest, width)
            of_left, of_right, gained = _halved(rows, start, middle, classes, total, weight, impurity, everyone, left)
            splits = gained + EPSILON >= 0.0
        if not splits:
            for c in range(classes):
                share = total[c] / weight
                for i in range(first, last):
                    out[asked[i], c] = share
            continue
        if not has_missing and middle - start > end - middle:
            width = size - lowest  # no record here lacks the value: a query that does goes where more records go
        fallen = _parted(asked, spare_asked, first, last, queries, np.uintp(feature) * q, Z, lowest, width)
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = middle, end, fallen, last
        impurities[top], knowns[top] = of_right, constants
        for c in range(classes):
            totals[top, c] = total[c] - left[c]
        top += ONE
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = start, middle, first, fallen
        impurities[top], knowns[top] = of_left, constants
        for c in range(classes):
            totals[top, c] = left[c]
        top += ONE


@threaded
def grow(
    start_tree: int,
    stop_tree: int,
    codes: Places,
    queries: Places,
    values: np.ndarray,
    sizes: Places,
    close: np.ndarray,
    gaps: np.ndarray,
    targets: np.ndarray,
    counts: np.ndarray,
    states: np.ndarray,
    classes: Place,
    least: Place,
    drawn: int,
    stops: bool,
    out: np.ndarray,
) -> None:
    """Grow trees and write the class shares of each query's leaf.

    Args:
        start_tree: The first of them.
        stop_tree: The one after the last.
        codes: (p n,) of the records that are learned, feature by feature; missing cells have the code ``sizes[f]``.
        queries: (p q,) of the records that are guessed, in the same codes.
        values: (p, largest size) float32 value of each code, ascending.
        sizes: (p,) codes of each feature.
        close: (p,) whether a feature has neighbours that are one value to scikit-learn.
        gaps: (p,) whether cells of a feature that are learned are missing.
        targets: (n,) classes.
        counts: (trees, n) how often each record was drawn.
        states: (trees, 1) random numbers from 0 to 2^31 - 1, where each tree starts.
        classes: K.
        least: Distinct records from which on a node is split; with ``stops`` a record counts as often as it was drawn.
        drawn: Features tried at a node.
        stops: Whether a node is a leaf if none of the features drawn splits it (R's ranger); else others are drawn.
        out: (trees, q, K), written.
    """
    for tree in range(start_tree, stop_tree):
        _grow(
            codes,
            queries,
            values,
            sizes,
            close,
            gaps,
            targets,
            counts[tree],
            states[tree],
            classes,
            least,
            drawn,
            stops,
            out[tree],
        )
