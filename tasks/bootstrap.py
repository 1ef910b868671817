"""Let the findings of one generator be made from its ledgers, and keep who is most exposed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from synthrisk.conf.study import Bootstrap
from synthrisk.metrics.exposure.vulnerable import vulnerable
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.attacked import Releases
from synthrisk.metrics.study.synthesizer_findings import find_all
from synthrisk.tasks.workspace.code import code_digest
from synthrisk.tasks.workspace.contributions import keep_contributions
from synthrisk.tasks.workspace.failure import told_safely
from synthrisk.tasks.workspace.handed import Found
from synthrisk.tasks.workspace.references import LedgerFolder, Sample
from synthrisk.tasks.workspace.store import key_of, save_arrays, versions, write_file
from synthrisk.tasks.workspace.verb import verb


def _title(parameters: dict[str, Any]) -> str:
    return f"bootstrap {parameters['ledgers'][0].release.generator.name}"


@verb("bootstrap", _title)
def bootstrap(ledgers: Sequence[LedgerFolder], settings: Bootstrap) -> Found:
    """Return what was found of one generator, risks and utility; what it says of single records is kept by path."""
    sample, generator = ledgers[0].release.sample, ledgers[0].release.generator
    measures, folder = [p.measure for p in ledgers[0].planned], Path(sample.workspace)
    drawn = seed_of(sample.seed, "bootstrap", generator.name)

    def found() -> Found:
        records = sample.records()
        groups = _vulnerable(sample, settings.vulnerable)
        interval = Interval(settings.confidence, settings.method, settings.resamples, drawn)
        releases = Releases(ledgers, records, sample.entities(), groups)
        made = find_all(generator.name, generator.role, releases, measures, interval)
        name = key_of(generator.name, [each.path for each in ledgers], [m.key for m in measures])
        path = folder / "exposed" / f"{name}.parquet"
        write_file(path, lambda draft: made.exposed.to_parquet(draft, compression="zstd"))
        kept = keep_contributions(folder / "contributions" / f"{name}.npz", made.kept)
        return Found(tuple(ledgers), made.findings, made.utility, str(path), kept)

    return told_safely(folder, f"bootstrap-{generator.name}", found)


def _vulnerable(sample: Sample, share: float) -> Mapping[str, np.ndarray]:
    """Return the groups of vulnerable records: no release decides them, so that they are found once for all."""
    code = code_digest([vulnerable.__module__], alone=[__name__])
    key = key_of(sample.table.digest, sample.identifier, sample.key, share, code, versions(("numpy", "pandas")))
    path = Path(sample.workspace) / "vulnerable" / f"{key}.npz"
    if not path.exists():
        write_file(path, lambda draft: save_arrays(vulnerable(sample.records(), sample.key, share), draft))
    with np.load(path, allow_pickle=False) as kept:
        return dict(kept)
