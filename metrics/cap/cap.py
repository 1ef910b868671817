"""Correct attribution probability: how often synthetic records with the same keys give the secret away.

For a real record with key K and sensitive values T, let S be the synthetic records with key K. The credit of
the record is the share of S whose sensitive values all equal T. The three metrics differ in what an attacker
does where S is empty. ``disclosure_protection`` is each of them as SDMetrics prints it.

Targeted CAP: an attacker who only speaks where the release leaves no doubt, and abstains elsewhere.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from synthrisk.metrics.cap.nearest_keys import nearest_keys, pools
from synthrisk.metrics.errors import InputError, check_whole, check_word, nearest
from synthrisk.metrics.metric import InStudy, Metric, Records, Yardsticks
from synthrisk.metrics.score import Reduction, Score, mean_score
from synthrisk.metrics.tables.coarsen import MOST_BINS
from synthrisk.metrics.tables.codes import Codes, frequencies, matches, pack, values_in_class
from synthrisk.metrics.tables.tables import Tables, shown

NEARLY_ALL = 0.9  # share of unseen keys from which a value says little
FEW = 20  # distinct values that make no column continuous
_WITHHELD = "the release shows nothing of what is guessed"
Method = Literal["cap", "zero_cap", "generalized_cap"]
_HITTMEIR = "Hittmeir, Mayer and Ekelhart 2020, doi:10.1145/3374664.3375722; SDMetrics 0.32"


def categorical_cap(tables: Tables, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str) -> Score:
    """CAP: mean credit over the records whose key occurs in the release; the others are not scored.

    ``value = mean(credit)``, in [0, 1], high = the release gives the secret away; ``published = 1 - value``.
    An exact copy has 1 only where every key class holds a single sensitive value, so read it beside control records.

    A missing cell is a value of its own, as a key and as what is guessed: it equals another missing cell and nothing
    else. SDMetrics takes no missing cells.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows.
        sensitive: Column or columns guessed; several are matched jointly.

    Returns:
        A ``Score``; ``records``: ``score`` (credit, NaN where the key is unseen), ``baseline`` (share of the
        record's sensitive values among the real records), ``seen`` (its key occurs in the release), ``ceiling``
        (its credit if the real table were the release). Details: ``unseen_keys`` (share), ``guess`` (share of the
        most frequent sensitive values), ``ceiling`` (mean). Not defined where no key occurs in the release, or where
        it shows nothing of a sensitive column: every cell there is suppressed, or the column is absent.

    Raises:
        InputError: A column is absent, or both a quasi-identifier and sensitive.

    Coarse cells of a release (bands, beginnings of codes, ``*``) match each value that they stand for; a coarse
    sensitive cell says each of its values as often as it is among the real records (``nearest_keys.pools``).

    Example:
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "a", "b"]})
        >>> release = pd.DataFrame({"age": [30, 30, 40, 40], "vote": ["a", "a", "b", "a"]})
        >>> CATEGORICAL_CAP(real, release, quasi_identifiers=["age"], sensitive="vote").value
        0.5
    """
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    total, hit = counts(tables, known, hidden)
    credit = np.divide(hit, total, out=np.full(len(total), np.nan), where=total > 0)
    return _score("categorical_cap", tables, credit, known, hidden)


def zero_cap(tables: Tables, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str) -> Score:
    """CAP in which an unseen key earns nothing: mean credit over all records (PrivEval's ZCAP).

    As ``categorical_cap``, with credit 0 where no synthetic record has the record's key.

    A missing cell is a value of its own, as a key and as what is guessed: it equals another missing cell and nothing
    else. SDMetrics takes no missing cells.

    The source: PrivEval's program compares texts, so that 1 and 1.0 differ, and takes the mean over several sensitive
    columns, each guessed alone. Here values are compared, and several columns are guessed jointly. ``published`` is
    SDMetrics' number, 1 - value; PrivEval prints the value. More: docs/priveval.md.

    Example:
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "a", "b"]})
        >>> release = pd.DataFrame({"age": [30, 30, 40, 40], "vote": ["a", "a", "b", "a"]})
        >>> ZERO_CAP(real, release, quasi_identifiers=["age"], sensitive="vote").value
        0.375
    """
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    total, hit = counts(tables, known, hidden)
    return _score("zero_cap", tables, hit / np.maximum(total, 1), known, hidden)


def generalized_cap(tables: Tables, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str) -> Score:
    """CAP in which the nearest keys answer: S is all synthetic records at the smallest Hamming distance.

    The distance counts the quasi-identifiers that differ; all records tied at the smallest distance are
    pooled. An exact match is distance 0. ``records`` carries that ``distance`` too. PrivEval's GCAP.

    A missing cell is a value of its own, as a key and as what is guessed: it equals another missing cell and nothing
    else. SDMetrics takes no missing cells.

    The source: PrivEval's program takes one of the nearest records, whichever its search meets first, and of several
    sensitive columns returns the last. Here all nearest records answer, and several columns are guessed jointly.
    ``published`` is SDMetrics' number, 1 - value; PrivEval prints the value. More: docs/priveval.md.

    Example:
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "a", "b"]})
        >>> release = pd.DataFrame({"age": [30, 30, 40, 40], "vote": ["a", "a", "b", "a"]})
        >>> GENERALIZED_CAP(real, release, quasi_identifiers=["age"], sensitive="vote").value
        0.4375
    """
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    total, hit = (each.astype(float) for each in counts(tables, known, hidden))
    distance = np.zeros(len(total))
    unseen = np.flatnonzero(total == 0)
    if has_sets(tables, known, hidden):
        total, hit, distance, _ = pools(tables, known, hidden)
    elif len(unseen):
        found = nearest_keys([tables.codes([c]) for c in known], tables.codes(hidden), unseen)
        total[unseen], hit[unseen], distance[unseen] = found.total, found.hit, found.distance
    return _score("generalized_cap", tables, hit / total, known, hidden, distance)


def disclosure_protection(
    tables: Tables,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] | str,
    method: Method = "cap",
    continuous: Sequence[str] = (),
    num_bins: int = 10,
) -> Score:
    """CAP as SDMetrics 0.32 normalises it: mean credit by one of the three rules, with numbers cut into bins.

    ``value = mean(credit)`` of ``categorical_cap``, ``zero_cap`` or ``generalized_cap``, in [0, 1], high = the release
    gives the secret away. ``published`` is what SDMetrics' ``DisclosureProtection`` prints, high = safe:
    min((1 - value)/b, 1) with b = 1 - 1/L, L = product of the numbers of levels of the sensitive columns: what an
    attacker leaves safe who draws a level by lot, each as likely. It is NaN where b is 0.

    A missing cell is a value of its own, as a key and as what is guessed: it equals another missing cell and nothing
    else. Among the levels it counts as one.

    Mind: b is not what a guess leaves safe who knows which value is common. With 24 of 100 people in the rarer of two
    classes, a release that says the commoner of everybody has value .76 and ``published`` .48, and gives nobody away:
    read ``value`` beside ``guess`` and control records.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows.
        sensitive: Column or columns guessed; several are matched jointly.
        method: Whose credit a record with an unseen key has: ``cap`` (it is not scored), ``zero_cap`` (none), or
            ``generalized_cap`` (that of the nearest keys). SDMetrics' ``computation_method``.
        continuous: Numeric columns among these, which are cut into bins; numbers in others are levels. SDMetrics'
            ``continuous_column_names``.
        num_bins: Bins of each of them, of equal width over the range of the real values, the outer ones open.
            SDMetrics' ``num_discrete_bins``.

    Returns:
        A ``Score``; ``records`` are those of the rule, with ``baseline_protection`` (b). Details: ``cap_protection``
        (1 - value), ``baseline_protection``, and those of the rule.

    Raises:
        InputError: A column is absent, both a quasi-identifier and sensitive, or not numeric and yet continuous; or an
            option breaks its rule.

    Example:
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "a", "b"]})
        >>> release = pd.DataFrame({"age": [30, 30, 40, 40], "vote": ["a", "a", "b", "a"]})
        >>> score = DISCLOSURE_PROTECTION(real, release, quasi_identifiers=["age"], sensitive="vote", method="zero_cap")
        >>> score.value, score.published
        (0.375, 1.0)
    """
    check_protection(method, continuous, num_bins)
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    cut = _in_bins(tables, [*known, *hidden], list(continuous), num_bins)
    score = _RULES[method](cut, quasi_identifiers=known, sensitive=hidden)
    levels = [np.count_nonzero(np.bincount(cut.codes([column]).tables[0])) for column in hidden]
    records = pd.DataFrame(score.records).assign(baseline_protection=1 - float(1 / np.prod(levels)))
    settings = score.settings | {"method": method, "continuous": list(continuous), "num_bins": num_bins}
    guess = {"guess": score.details["guess"]}
    return Score.of("disclosure_protection", records, reduce_protection(records), guess, settings, score.warning)


def check_protection(method: str = "cap", continuous: Sequence[str] = (), num_bins: int = 10) -> None:
    """Refuse a rule that there is not, columns that are no list, and a number of bins below 1."""
    check_word("method", method, *_RULES)
    if isinstance(continuous, str) or not all(isinstance(column, str) for column in continuous):
        raise InputError(f"continuous must be a list of columns, got {continuous!r}")
    check_whole("num_bins", num_bins, 1, MOST_BINS, f"a whole number from 1 to {MOST_BINS}")


def _in_bins(tables: Tables, columns: Sequence[str], continuous: Sequence[str], number: int) -> Tables:
    """Return the tables with some numeric columns in bins of equal width, as ``pandas.cut`` cuts the real values."""
    real, synthetic = tables.real.copy(deep=False), tables.synthetic.copy(deep=False)
    names = [f"{place + 1} of {number}" for place in range(number)]
    for column in continuous:
        if column not in columns:
            hint = nearest(column, columns)
            raise InputError(f"continuous must name quasi-identifiers or sensitive columns, got {column!r}{hint}")
        if tables.kind(column) != "numeric":
            raise InputError(f"continuous must name numeric columns, got {column!r}, which is categorical")
        ours, theirs = tables.floats(column)
        if not np.isfinite(ours).any():
            rule = "name columns with values in the real table"
            raise InputError(f"continuous must {rule}, got only missing in {column!r}")
        own, edges = pd.cut(ours, number, labels=names, retbins=True)
        edges[0], edges[-1] = -np.inf, np.inf
        real[column] = pd.Series(own.astype(object), index=real.index)
        other = pd.cut(theirs, edges.tolist(), labels=names)
        synthetic[column] = pd.Series(other.astype(object), index=synthetic.index)
    if not continuous:
        return tables
    synthetic = tables.sets.without(continuous).beside(synthetic)
    return Tables(real, synthetic, groups=tables.groups, entities=tables.entities)


def encoded(tables: Tables, known: list[str], hidden: list[str]) -> tuple[Codes, Codes]:
    """Return the codes of the key classes and those of key and sensitive values together."""
    key, target = tables.codes(known), tables.codes(hidden)
    return key, tables.shared(("pair", tuple(known), tuple(hidden)), lambda: pack([key, target]))


def has_sets(tables: Tables, known: Sequence[str], hidden: Sequence[str]) -> bool:
    """Tell whether cells of some columns of the release stand for sets of values."""
    return bool(tables.sets.among([*known, *hidden]))


def counts(tables: Tables, known: list[str], hidden: list[str], table: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return how many records of a table have each real record's key, and how many its sensitive values too.

    Released cells that stand for sets have the key of each value that they hold (``pools``).
    """
    if table == 1 and has_sets(tables, known, hidden):
        found = pools(tables, known, hidden)
        return np.where(found.distance == 0, found.total, 0), np.where(found.distance == 0, found.hit, 0)
    key, pair = encoded(tables, known, hidden)
    name = ("counts", tuple(known), tuple(hidden), table)
    return tables.shared(name, lambda: (matches(key, table), matches(pair, table)))


def unanimous(tables: Tables, known: list[str], hidden: list[str], table: int = 1) -> np.ndarray:
    """Return whether all records of a table with the key of each real record have one value; a set of values is none.

    Where cells of the release stand for sets, the class is all released records that may have the key.
    """
    if table == 1 and has_sets(tables, known, hidden):
        found = pools(tables, known, hidden)
        return (found.distance == 0) & found.unanimous
    key, pair = encoded(tables, known, hidden)
    return np.asarray(values_in_class(key, pair, table)[key.tables[0]] == 1)


def continuity(tables: Tables, known: Sequence[str], unseen: float) -> str | None:
    """Return a warning where nearly all keys are unseen because a column is continuous."""
    if unseen < NEARLY_ALL:
        return None
    exact = [c for c in known if not tables.sets.among([c])]
    apart = [c for c in exact if np.mean(matches(tables.codes([c])) == 0) >= 0.5]
    return too_fine(unseen, [c for c in apart if tables.kind(c) == "numeric" and tables.real[c].nunique() > FEW])


def too_fine(unseen: float, columns: Sequence[str]) -> str | None:
    """Return the warning that names the columns for which so many keys are unseen; None where there is no such."""
    causes = [repr(c) for c in columns]
    if not causes:
        return None
    return (
        f"{unseen:.0%} of the keys are unseen, for most values of {' and '.join(causes)} occur in one table only: "
        "a continuous quasi-identifier makes every key its own; coarsen it with bins="
    )


def reduce_credits(records: pd.DataFrame) -> Reduction:
    """Return mean credit, its complement as SDMetrics prints it, share of unseen keys and ceiling."""
    value = mean_score(records)
    details = {"unseen_keys": float(1 - records["seen"].mean()), "ceiling": float(records["ceiling"].mean())}
    reason = _WITHHELD if records["seen"].any() else "no real record has a key that occurs in the release"
    return Reduction(value, 1 - value, details, reason if np.isnan(value) else None)


def reduce_protection(records: pd.DataFrame) -> Reduction:
    """Return mean credit and SDMetrics' protection, summed record by record as it does, so that all digits are its."""
    found, credit = reduce_credits(records), records["score"].dropna().to_numpy()
    safe = 1.0 - float(np.cumsum(credit)[-1]) / len(credit) if len(credit) else float("nan")
    random = float(records["baseline_protection"].iloc[0])
    details = found.details | {"cap_protection": safe, "baseline_protection": random}
    published = min(safe / random, 1.0) if random > 0 and not np.isnan(safe) else float("nan")
    return Reduction(found.value, published, details, found.reason)


def _score(
    name: str,
    tables: Tables,
    credit: np.ndarray,
    known: list[str],
    hidden: list[str],
    distance: np.ndarray | None = None,
) -> Score:
    if len(shown(tables, hidden)) < len(hidden):
        credit = np.full(len(credit), np.nan)
    target, (all_alike, hits) = tables.codes(hidden), counts(tables, known, hidden, 0)
    frequency, seen = frequencies(target), counts(tables, known, hidden)[0] > 0
    columns = {"score": credit, "baseline": frequency[target.tables[0]], "seen": seen, "ceiling": hits / all_alike}
    columns |= {} if distance is None else {"distance": distance}
    records = pd.DataFrame(columns, index=tables.real.index, copy=False)
    guess, settings = {"guess": float(frequency.max())}, {"quasi_identifiers": known, "sensitive": hidden}
    warning = continuity(tables, known, 1 - seen.mean())
    return Score.of(name, records, reduce_credits(records), guess, settings, warning)


def commonest_share(tables: Tables, *, sensitive: Sequence[str] | str, **_: object) -> float:
    """Return the share of the real records that hold the commonest sensitive values."""
    return float(frequencies(tables.codes(tables.check_columns("sensitive", sensitive))).max())


def seen_share(details: Mapping[str, float]) -> float:
    """Return the share of records whose key occurs in the release."""
    return 1 - details["unseen_keys"]


def _metric(
    name: str, function: Callable[..., Score], answered: Callable[[Mapping[str, float]], float] | None = None
) -> Metric:
    return Metric(
        name=name,
        function=function,
        group="cap",
        needs=("quasi_identifiers", "sensitive"),
        reference=_HITTMEIR,
        looks_up=name != "generalized_cap",
        jointly=True,
        records=Records(reduce=reduce_credits),
        yardsticks=Yardsticks(guess="guess", best_answer=commonest_share, ceiling="ceiling"),
        study=InStudy(answered=answered),
    )


_RULES: Mapping[str, Callable[..., Score]] = {
    "cap": categorical_cap,
    "zero_cap": zero_cap,
    "generalized_cap": generalized_cap,
}
CATEGORICAL_CAP = _metric("categorical_cap", categorical_cap)
ZERO_CAP = _metric("zero_cap", zero_cap, seen_share)
GENERALIZED_CAP = _metric("generalized_cap", generalized_cap)
DISCLOSURE_PROTECTION = replace(
    _metric("disclosure_protection", disclosure_protection),
    reference="SDMetrics 0.32, DisclosureProtection (DataCebo); " + _HITTMEIR.partition(";")[0],
    check_values=check_protection,
    looks_up=False,
    records=Records(reduce=reduce_protection),
    study=InStudy(same_difference_as="categorical_cap"),
)


def targeted_cap(tables: Tables, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] | str) -> Score:
    """TCAP: precision of the claims that unanimous key classes make.

    A synthetic key class whose records all hold one sensitive value claims that value for every real record with
    its key; the attacker abstains where the class is divided or the key does not occur.
    ``value = published = right claims / claims``, in [0, 1], high = what the release says without doubt is true.

    A missing cell is a value of its own, as a key and as what is guessed: it equals another missing cell and nothing
    else.

    Args:
        tables: Real (n records) and synthetic (m records).
        quasi_identifiers: Columns that the attacker knows.
        sensitive: Column or columns guessed; several are matched jointly.

    Returns:
        A ``Score``; ``records``: score (1 right, 0 wrong, NaN abstained), claim, baseline (share of the record's
        sensitive values among the real records), seen (its key occurs in the release). Details:
        ``claim_probability`` (claims/records), ``right_among_seen`` (right claims over the records whose key
        occurs, which Raab et al. print as TCAP), ``unseen_keys``, ``guess``, ``ceiling`` (the real table as
        release: all its claims are right, so 1). Not defined where no class makes a claim.

    Raises:
        InputError: A column is absent, or both a quasi-identifier and sensitive.

    Example:
        >>> real = pd.DataFrame({"age": [30, 30, 40, 50], "vote": ["a", "b", "a", "b"]})
        >>> release = pd.DataFrame({"age": [30, 30, 40, 40], "vote": ["a", "a", "b", "a"]})
        >>> TARGETED_CAP(real, release, quasi_identifiers=["age"], sensitive="vote").value
        0.5
    """
    known, hidden = tables.check_roles(quasi_identifiers, sensitive)
    total, hit = counts(tables, known, hidden)
    claim, target, seen = unanimous(tables, known, hidden), tables.codes(hidden), total > 0
    frequency = frequencies(target)
    columns = {"score": np.where(claim, hit > 0, np.nan), "claim": claim}
    columns |= {"baseline": frequency[target.tables[0]], "seen": seen}
    records = pd.DataFrame(columns, index=tables.real.index)
    details, settings = {"guess": float(frequency.max())}, {"quasi_identifiers": known, "sensitive": hidden}
    details["ceiling"] = 1.0 if unanimous(tables, known, hidden, 0).any() else float("nan")
    warning = continuity(tables, known, 1 - seen.mean())
    return Score.of("targeted_cap", records, reduce_claims(records), details, settings, warning)


def reduce_claims(records: pd.DataFrame) -> Reduction:
    """Return the precision of the claims and how often a claim is made."""
    value, right, seen = mean_score(records), records["score"].sum(), records["seen"].sum()
    details = {
        "claim_probability": float(records["claim"].mean()),
        "right_among_seen": float(right / seen) if seen else float("nan"),
        "unseen_keys": float(1 - records["seen"].mean()),
    }
    reason = "no synthetic key class is unanimous on a real record's key" if np.isnan(value) else None
    return Reduction(value, value, details, reason)


TARGETED_CAP = Metric(
    name="targeted_cap",
    function=targeted_cap,
    group="cap",
    needs=("quasi_identifiers", "sensitive"),
    looks_up=True,
    jointly=True,
    reference="Taub, Elliot, Pampaka and Smith 2018, doi:10.1007/978-3-319-99771-1_9",
    records=Records(reduce=reduce_claims),
    yardsticks=Yardsticks(guess="guess", best_answer=commonest_share, ceiling="ceiling"),
)
