"""Let every attack of the study score all real records against one release."""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from synthrisk.conf.plan import plan
from synthrisk.metrics import ATTACKS, METRICS
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.models.threads import one_thread
from synthrisk.metrics.plugins import ATTACK_GROUP, METRIC_GROUP
from synthrisk.metrics.release import identifiers
from synthrisk.metrics.release.validity import as_plain
from synthrisk.metrics.study.ledger import Planned, values_as_plain
from synthrisk.metrics.study.scoring import look, read_again, score_release, sizes_of_keys, tables_of
from synthrisk.tasks.workspace.digests import code_digest, entry_point_code, key_of, versions
from synthrisk.tasks.workspace.failures import told_safely
from synthrisk.tasks.workspace.folders import Place
from synthrisk.tasks.workspace.records import write_records
from synthrisk.tasks.workspace.references import (
    CHECK,
    KEYS,
    LEDGER,
    RELEASED,
    SECOND_LEDGER,
    SECOND_VALUES,
    VALUES,
    LedgerFolder,
    ReleaseFolder,
)
from synthrisk.tasks.workspace.store import draft_name, private_folder
from synthrisk.tasks.workspace.verb import check_given, check_listed, found_or_made, verb
from synthrisk.tasks.workspace.work_limits import NO_LIMITS, Limits, Taken, within

_SCORING = "synthrisk.metrics.study.scoring"


def _title(parameters: dict[str, Any]) -> str:
    release = parameters["release"]
    of = release.cell.in_words(release.sample.cut.releases) if isinstance(release, ReleaseFolder) else "no release"
    return f"attack {of}"


@verb("attack", _title)
def attack(
    release: ReleaseFolder, metrics: Sequence[str | Mapping[str, Any] | Planned], limits: Limits = NO_LIMITS
) -> LedgerFolder:
    """Attack one release; a ledger that is there already is found again by its key.

    Beside it stand the sizes of the keys that the quasi-identifiers make, where there are any.

    Args:
        release: The release.
        metrics: Names, or mappings as in a study: ``["zero_cap", {"name": "rapid", "threshold": 0.5}]``.
        limits: What it may take.

    Raises:
        InputError: A metric is unknown, its options are wrong, or the release cannot be scored by it.
        CellError: A metric failed, or took more than a limit; its own words are in a private file of the workspace.
    """
    check_given("release", release, ReleaseFolder, "synthesize or release")
    check_listed(metrics=metrics)
    sample = release.sample
    asked = [each for each in metrics if not isinstance(each, Planned)]
    named = plan(asked, sample.columns, sample.quasi_identifiers, sample.sensitive)
    planned = tuple([each for each in metrics if isinstance(each, Planned)] + named)
    folder = Path(sample.workspace)

    def kept() -> LedgerFolder:
        place = ledger_of(release, planned)
        cell = f"attack-{release.cell.name}"

        def write(draft: Path) -> Taken | None:
            within(limits, folder, cell, _write, draft, release, planned)
            return release.taken()  # stands beside the scores: who judges them need not fetch the release

        found_or_made("attack", Path(place.path), write)
        return place

    return told_safely(folder, f"attack-{release.cell.name}", kept)


def ledger_of(release: ReleaseFolder, planned: Sequence[Planned]) -> LedgerFolder:
    """Return where the ledger of one release is, or will be: a folder named by all that decides what is in it."""
    sample, measured = release.sample, tuple(planned)
    key = key_of(
        release.key,
        [(p.measure.key, p.measure.metric, p.measure.attacker, p.options) for p in measured],
        sample.seed,
        *_code(measured),
        sample.key,
        sample.table.left_out and sample.table.left_out.digest,
        versions(("numpy", "pandas", "scikit-learn", "scipy")),
    )
    return LedgerFolder(release, measured, Place(Path(sample.workspace) / "ledgers" / key))


def _code(planned: Sequence[Planned]) -> tuple[str, list[str]]:
    """Return the digest of our code that scores these measures, and what is known of the code of others."""
    attackers = set()
    for each in planned:
        metric = METRICS[each.measure.metric]
        if "attacker" in metric.options:
            attackers.add(str(each.options.get("attacker", metric.default("attacker"))))
    metrics, theirs = entry_point_code(METRIC_GROUP, [p.measure.metric for p in planned])
    attacks, others = entry_point_code(ATTACK_GROUP, attackers & set(ATTACKS))
    return code_digest([_SCORING, identifiers.__name__, *metrics, *attacks], alone=[__name__]), theirs + others


def _write(draft: Path, release: ReleaseFolder, planned: Sequence[Planned]) -> None:
    of_others = _code(planned)[1]  # may draw from the stream that a generator draws from on another thread
    step = Step(Path(release.sample.workspace), release.cell.name)
    with one_thread() if of_others else nullcontext(), step:
        _write_all(draft, release, planned, step)


def _write_all(draft: Path, release: ReleaseFolder, planned: Sequence[Planned], step: "Step") -> None:
    sample, real, synthetic = release.sample, release.sample.records(), release.synthetic()
    member = release.membership()
    entities = sample.entities()
    tables = tables_of(real, synthetic, member, entities, release.links())
    step.tell("a look at the release")
    guessed = [column for p in planned for column in p.measure.targets]
    check = look(tables, member, len(release.used()), guessed)
    check = replace(check, problems=(*check.problems, *release.told()))
    try:
        ledger, values = score_release(tables, member, planned, sample.seed, release.cell, step.tell)
    except InputError as error:
        raise InputError(f"{check.invalid}; {error}" if check.invalid else str(error)) from None
    again = read_again(tables, member, check, guessed)
    if again is not None:
        second, said = score_release(again, member, planned, sample.seed, release.cell, step.tell_again)
        write_records(second, draft / SECOND_LEDGER, len(real))
        (draft / SECOND_VALUES).write_text(json.dumps(values_as_plain(said)))
    write_records(ledger, draft / LEDGER, len(real))  # a measure is read alone
    (draft / VALUES).write_text(json.dumps(values_as_plain(values)))
    (draft / CHECK).write_text(json.dumps(as_plain(check)))
    (draft / RELEASED).write_text(json.dumps(identifiers.as_plain(_released(release, real, synthetic, member))))
    if sample.key:
        keys = sizes_of_keys(tables, sample.key, sample.sensitive)
        (draft / KEYS).write_text(json.dumps(asdict(keys)))


def _released(
    release: ReleaseFolder, real: pd.DataFrame, synthetic: pd.DataFrame, member: pd.api.extensions.ExtensionArray
) -> tuple[identifiers.ReleasedColumn, ...]:
    """Return whose values are in the release: of all its columns, those that nothing attacks included."""
    sample = release.sample
    people = pd.concat([real, sample.unattacked()], axis=1)
    shown = pd.concat([synthetic, release.beside()], axis=1)
    return identifiers.released_values(people, member, shown, sample.entities(), sample.columns)


class Step:
    """What is done of a cell just now, in a file of the workspace that goes with the block: for whoever waits.

    The file is named as a draft is, so that one whose process was killed is swept away.
    """

    def __init__(self, folder: Path, cell: str):
        self._folder, self._cell = folder / "steps", cell
        self._path = self._folder / f"{draft_name()}{cell}"

    def __enter__(self) -> "Step":
        return self

    def tell(self, step: str) -> None:
        """Say what is begun."""
        with suppress(OSError):  # nobody hears of it; the work goes on
            private_folder(self._folder)
            self._path.write_text(step, "utf-8")

    def tell_again(self, step: str) -> None:
        """Say what is begun in the second reading of a release."""
        self.tell(f"{step}, second reading")

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def steps_in(folder: Path) -> dict[str, str]:
    """Return what is done just now, by the name of the cell."""
    found = {}
    for path in (folder / "steps").glob(".draft-*"):
        with suppress(OSError, UnicodeDecodeError):
            found[path.name.split("-", 3)[-1]] = path.read_text("utf-8")
    return {cell: step for cell, step in found.items() if step}
