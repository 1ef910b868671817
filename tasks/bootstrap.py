"""Let the findings of one generator be made from its ledgers, and keep who is most exposed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from synthrisk.conf.study import Bootstrap
from synthrisk.metrics.exposure.single_records import vulnerable
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.plugins import METRIC_GROUP
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.release.validity import whole_enough
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.estimation import Releases, find_all, find_worse
from synthrisk.metrics.study.ledger import Planned
from synthrisk.metrics.study.yardsticks import Covariates, Strangers
from synthrisk.tasks.workspace.digests import code_digest, entry_point_code, key_of, versions
from synthrisk.tasks.workspace.failures import told_safely
from synthrisk.tasks.workspace.folders import Place, keep_file
from synthrisk.tasks.workspace.records import Findings, keep_contributions, keep_exposed, keep_findings, kept_findings
from synthrisk.tasks.workspace.references import Found, LedgerFolder, Sample
from synthrisk.tasks.workspace.store import save_arrays
from synthrisk.tasks.workspace.verb import found_or_made, verb

FINDINGS, EXPOSED, CONTRIBUTIONS = "findings.json", "exposed.parquet", "contributions.npz"
_PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy")


def _title(parameters: dict[str, Any]) -> str:
    return f"bootstrap {parameters['ledgers'][0].release.generator.name}"


@verb("bootstrap", _title)
def bootstrap(ledgers: Sequence[LedgerFolder], settings: Bootstrap) -> Found:
    """Return what was found of one generator, risks and utility; what it says of single records is kept by path.

    Findings that are there already are found again by their key.
    """
    release, folder = ledgers[0].release, findings_folder(ledgers, settings)

    def found() -> Found:
        found_or_made("bootstrap", folder, lambda draft: _write(draft, ledgers, settings))
        risks, utility = kept_findings(folder / FINDINGS)
        return Found(tuple(ledgers), risks, utility, Place(folder / EXPOSED), Place(folder / CONTRIBUTIONS))

    return told_safely(Path(release.sample.workspace), f"bootstrap-{release.generator.name}", found)


def findings_folder(ledgers: Sequence[LedgerFolder], settings: Bootstrap) -> Path:
    """Return where the findings of these ledgers are, or will be: a folder named by all that decides what is in it."""
    sample, generator = ledgers[0].release.sample, ledgers[0].release.generator
    key = key_of(
        (generator.name, generator.role),
        [Path(each.path).name for each in ledgers],
        [asdict(p.measure) for p in ledgers[0].planned],
        settings.model_dump(mode="json"),
        (sample.seed, sample.identifier, sample.key),
        code_digest([find_all.__module__, vulnerable.__module__, Covariates.__module__], alone=[__name__]),
        versions(_PACKAGES),
    )
    return Path(sample.workspace) / "findings" / key


def _write(draft: Path, ledgers: Sequence[LedgerFolder], settings: Bootstrap) -> None:
    sample, generator = ledgers[0].release.sample, ledgers[0].release.generator
    drawn = seed_of(sample.seed, "bootstrap", generator.name)
    interval = Interval(settings.confidence, settings.method, settings.resamples, drawn)
    whole = [not each.check().invalid for each in ledgers]
    if whole_enough(whole):  # the others are left out, and named
        ledgers = [each for each, fine in zip(ledgers, whole, strict=True) if fine]
    size = sample.cut.repetitions, sample.cut.releases
    groups = _vulnerable(sample, settings.vulnerable)
    releases = Releases(ledgers, sample.records(), sample.entities(), groups, None if all(whole) else size)
    measures = [p.measure for p in ledgers[0].planned]
    again = [each.again for each in ledgers]
    who, covariates = (generator.name, generator.role), _covariates(ledgers, releases)
    if any(again):
        others = [second or first for first, second in zip(ledgers, again, strict=True)]
        made = find_worse(*who, (releases, replace(releases, ledgers=others)), measures, interval, covariates)
    else:
        made = find_all(*who, releases, measures, interval, covariates=covariates)
    keep_exposed(draft / EXPOSED, made.exposed)
    keep_contributions(draft / CONTRIBUTIONS, made.kept)
    keep_findings(draft / FINDINGS, Findings(made.findings, made.utility))


def _vulnerable(sample: Sample, share: float) -> Mapping[str, np.ndarray]:
    """Return the groups of vulnerable records: no release decides them, so that they are found once for all."""
    code = code_digest([vulnerable.__module__], alone=[__name__])
    key = key_of(sample.table.digest, sample.identifier, sample.key, share, code, versions(("numpy", "pandas")))
    path = Path(sample.workspace) / "vulnerable" / f"{key}.npz"
    return _kept(path, lambda: vulnerable(sample.records(), sample.key, share, sample.entities()))


def _kept(path: Path, make: Callable[[], Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return arrays that are kept in a file, which is made where it is not there."""
    keep_file(path, lambda draft: save_arrays(make(), draft))
    with np.load(path, allow_pickle=False) as kept:
        return dict(kept)


def _covariates(ledgers: Sequence[LedgerFolder], releases: Releases) -> Covariates | None:
    """Return what foretells scores without membership, where members and control records are different people.

    They are in one release. In a study of several the same people are both in turn, and nothing is adjusted.
    """
    sample, generator = ledgers[0].release.sample, ledgers[0].release.generator
    if (
        all(METRICS[each.measure.metric].is_utility for each in ledgers[0].planned)
        or not sample.cut.is_one
        or generator.role == "yardstick"
        or not sample.holds_out()
        or releases.entities is not None
    ):
        return None
    strangers = Strangers(releases.records, sample.held_out(0, 0), sample.seed)
    scores = {each.measure.key: _where_strangers_are_released(sample, strangers, each) for each in ledgers[0].planned}
    known = {each.measure.key: each.options.get("quasi_identifiers", ()) for each in ledgers[0].planned}
    return Covariates(releases.records, {key: own for key, own in scores.items() if len(own)}, sample.seed, known)


def _where_strangers_are_released(sample: Sample, strangers: Strangers, planned: Planned) -> np.ndarray:
    """Return the scores of one measure, empty where it has none: the same for every generator, so found once."""
    ours, theirs = entry_point_code(METRIC_GROUP, [planned.measure.metric])
    code = code_digest([Strangers.__module__, *ours], alone=[__name__]), theirs
    about = (asdict(planned.measure), planned.options, sample.table.digest, sample.cut.digest, sample.identifier)
    key = key_of(*about, sample.seed, *code, versions(_PACKAGES))
    path = Path(sample.workspace) / "strangers" / f"{key}.npz"

    def scores() -> Mapping[str, np.ndarray]:
        found = strangers.scores(planned)
        return {"scores": np.empty(0) if found is None else found}

    return _kept(path, scores)["scores"]
