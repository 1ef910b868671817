"""From the ledgers of all generators to what a study has found."""

from collections.abc import Iterable, Sequence

from synthrisk.conf.loader import checked
from synthrisk.conf.study import Bootstrap
from synthrisk.metrics.errors import InputError
from synthrisk.tasks.bootstrap import bootstrap
from synthrisk.tasks.compare import compare
from synthrisk.tasks.workspace.references import Estimated, LedgerFolder
from synthrisk.tasks.workspace.verb import check_given, check_listed, verb


@verb("estimate")
def estimate(
    ledgers: Sequence[LedgerFolder],
    *,
    confidence: float = 0.9,
    method: str = "moderated",
    resamples: int = 500,
    vulnerable: float = 0.05,
    power: bool = False,
) -> Estimated:
    """Return what the ledgers say: estimates with intervals, yardsticks, and generators in pairs.

    Args:
        ledgers: Of all places and generators, in any order; generators come in the order of their first.
        confidence: Confidence level.
        method: How intervals are made, as in a study (``bootstrap.method``).
        resamples: Resamples of the methods that resample.
        vulnerable: Share of the records reported apart as vulnerable.
        power: Say which leak the study sees, from reference generators that leak a known share.

    Raises:
        InputError: There is no ledger, two are of one place, or they are of different tables, options or metrics.
    """
    given = {"confidence": confidence, "method": method, "resamples": resamples, "vulnerable": vulnerable}
    settings = checked(Bootstrap, given, "estimate")
    own: dict[str, list[LedgerFolder]] = {}
    check_listed(ledgers=ledgers)
    for each in ledgers:
        check_given("ledgers", each, LedgerFolder, "attack")
        own.setdefault(each.release.generator.name, []).append(each)
    _refuse_mixed(ledgers, own.values())
    found = [bootstrap.fn(sorted(each, key=_place), settings) for each in own.values()]
    return compare.fn(found, found[0].sample, [f.generator for f in found], settings, power=power)


def _place(ledger: LedgerFolder) -> tuple[int, int]:
    return ledger.cell.repetition, ledger.cell.fold


def _refuse_mixed(ledgers: Sequence[LedgerFolder], own: Iterable[Sequence[LedgerFolder]]) -> None:
    if not ledgers:
        raise InputError("ledgers must be those of a study, got none")
    if any(each.release.sample != ledgers[0].release.sample for each in ledgers):
        raise InputError("ledgers must be of one sample, got several")
    for of_one in own:
        name, places = of_one[0].release.generator.name, [_place(each) for each in of_one]
        if len(set(places)) < len(places):
            twice = next(p for p in places if places.count(p) > 1)
            raise InputError(
                f"ledgers must be of different places, got two of {name} in repetition {twice[0]}, fold {twice[1]}"
            )
        if any((e.release.generator, e.planned) != (of_one[0].release.generator, of_one[0].planned) for e in of_one):
            raise InputError(f"ledgers of {name} must be of one generator and the same metrics, got several")
