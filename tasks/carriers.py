"""Find which columns of a release carry what makes it a risk."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from synthrisk.metrics.exposure.single_records import vulnerable
from synthrisk.metrics.register import METRICS
from synthrisk.metrics.release.readings import coarsened_alike
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.carriers import Carriers, OneRelease, carriers
from synthrisk.metrics.study.planned import Planned
from synthrisk.metrics.study.quantities import AGAINST_CONTROL, Limited, limited
from synthrisk.metrics.study.verdicts import Verdict
from synthrisk.metrics.tables.tables import Tables
from synthrisk.tasks.workspace.code import code_digest
from synthrisk.tasks.workspace.handed import Estimated
from synthrisk.tasks.workspace.kept import keep_file
from synthrisk.tasks.workspace.references import LedgerFolder
from synthrisk.tasks.workspace.store import key_of, versions

_KEPT = "carriers"
_PACKAGES = ("numpy", "pandas", "scikit-learn", "scipy")


def carried(estimated: Estimated, verdicts: Sequence[Verdict]) -> dict[str, Carriers]:
    """Return which columns carry a RISK, by synthesizer, on its first release; nothing where that cannot be told.

    Of the limits that are crossed it is one of singling out, whose claims name columns, or else the one that is crossed
    by most.
    """
    told: dict[str, Carriers] = {}
    for found in estimated.found:
        planned = {p.measure.key: p for p in found.ledgers[0].planned}
        crossed = [v for v in verdicts if (v.synthesizer, v.word) == (found.name, "RISK")]
        pairs = [(v, limited(v.quantity, tuple(planned))) for v in crossed]
        own = [(v, what) for v, what in pairs if what.quantity in AGAINST_CONTROL and what.key in planned]
        if own:
            _, what = max(own, key=lambda pair: (_singles_out(planned[pair[1].key]), pair[0].excess))
            kept = _kept(found.ledgers[0], planned[what.key], what, estimated.settings.vulnerable)
            told |= {found.name: kept} if kept else {}
    return told


def _singles_out(planned: Planned) -> bool:
    return METRICS[planned.measure.metric].isolated is not None


def _kept(ledger: LedgerFolder, planned: Planned, limit: Limited, share: float) -> Carriers | None:
    """Return what carries a limited quantity of one release, found once; ``share`` of the records are vulnerable.

    None where it cannot be found, which is tried again another time.
    """
    sample = ledger.release.sample
    code = code_digest([carriers.__module__], alone=[__name__])
    key = key_of(Path(ledger.path).name, sample.cut.digest, limit.name, share, code, versions(_PACKAGES))
    path = Path(sample.workspace) / _KEPT / f"{key}.json"

    def write(draft: Path) -> None:
        found = carriers(_one(ledger, share if limit.group else None), planned, limit)
        draft.write_text(json.dumps(None if found is None else asdict(found)))

    try:
        keep_file(path, write)
    except Exception:  # noqa: BLE001 - a metric may fail on changed columns as it likes: the verdict stands without words
        return None
    told = json.loads(path.read_text())
    return None if told is None else Carriers(**told | {"columns": tuple(map(tuple, told["columns"]))})


def _one(ledger: LedgerFolder, share: float | None) -> OneRelease:
    release, sample = ledger.release, ledger.release.sample
    groups = {} if share is None else vulnerable(sample.records(), sample.key, share)
    tables = coarsened_alike(Tables(sample.records(), release.synthetic()))  # where some cells of it are coarse
    return OneRelease(
        tables.real,
        tables.synthetic,
        release.membership(),
        sample.entities(),
        {name: np.asarray(own) for name, own in groups.items()},
        seed_of(sample.seed, _KEPT, release.generator.name),
    )
