"""One release judged whose tables outgrow a machine: Parquet files in parts on a Dask cluster. Imports Dask on use."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePosixPath
from typing import Any, TypeVar

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
from fsspec.core import url_to_fs

from synthrisk.conf.loader import checked
from synthrisk.conf.study import Bootstrap, Data, Split, Threshold
from synthrisk.metrics.errors import InputError
from synthrisk.metrics.intervals.estimates import Interval
from synthrisk.metrics.models.threads import ONE_THREAD
from synthrisk.metrics.partitions.findings import broken, check_sides, findings, strangers_in_words
from synthrisk.metrics.partitions.keys import keys_of_real, keys_of_release, values_of_real
from synthrisk.metrics.partitions.parts import MEMBERS, Partitioned, Parts, agree, neighbouring
from synthrisk.metrics.release.k_anonymity import KAnonymity
from synthrisk.metrics.seeds import seed_of
from synthrisk.metrics.study.ledger import Planned
from synthrisk.metrics.tables.codes import infer
from synthrisk.metrics.tables.tables import Target, name_of
from synthrisk.metrics.verdicts.results import StudyResult
from synthrisk.metrics.verdicts.verdicts import Beside
from synthrisk.metrics.verdicts.verdicts import judge as verdicts_of
from synthrisk.tasks.data.types import of_cells, of_names, refuse
from synthrisk.tasks.judge import new_study_id, spelled_out, threat_model
from synthrisk.tasks.synthesize.conform import conform
from synthrisk.tasks.workspace.files.coarse_cells import coarse_cells

_S = TypeVar("_S")
LOCAL_CLUSTER = {
    "threads_per_worker": 1,
    "env": ONE_THREAD,
    "dashboard_address": None,
    "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"},  # Dask serves pages even then: on any free port
}
"""How a cluster on this machine is started: workers of one thread, no dashboard."""
_WAIT = "10s"
_INSTALL = "engine dask needs Dask, which is not installed: pip install 'synthrisk[dask]'"


class OnDask:
    """Parts that lie on workers, or are read there (``Parts``); what is shared is sent to each worker once."""

    def __init__(self, client: Any, items: Sequence[Any]):
        self._client = client
        self._items = list(items)

    def each(self, function: Callable[..., Any], *shared: Any) -> "OnDask":
        """Return what the function makes of each part, on its worker (``Parts.each``)."""
        from dask.delayed import delayed

        sent = self._sent(shared)
        made = [delayed(function, pure=False)(item, *sent) for item in self._items]
        return OnDask(self._client, self._client.compute(made))

    def all(self) -> list[Any]:
        """Return all parts (``Parts.all``)."""
        return list(self._client.gather(self._items))

    def fold(self, function: Callable[..., _S], state: _S, *shared: Any) -> _S:
        """Return the last state (``Parts.fold``): parts are read side by side, and taken one after the other."""
        sent = self._sent(shared)
        last: Any = state
        for item in self._items:
            last = self._client.submit(function, item, last, *sent, pure=False)
        return self._client.gather(last) if self._items else state

    def joined(self, function: Callable[[Any, Any], Any]) -> Any:
        """Return what the function makes of all parts (``Parts.joined``)."""
        left = self._items
        while len(left) > 1:
            pairs = zip(left[::2], left[1::2], strict=False)
            odd = left[-1:] if len(left) % 2 else []
            left = [self._client.submit(function, *pair, pure=False) for pair in pairs] + odd
        return self._client.gather(left[0])

    def fewer(self, function: Callable[[Sequence[Any]], Any], count: int) -> "OnDask":
        """Return the parts made of lists of parts (``Parts.fewer``)."""
        lists = neighbouring(self._items, count)
        return OnDask(self._client, [self._client.submit(function, list(some), pure=False) for some in lists])

    def placed(self, items: Sequence[Any]) -> "OnDask":
        """Return other parts (``Parts.placed``)."""
        return OnDask(self._client, [self._client.scatter([item], hash=False)[0] for item in items])

    def _sent(self, shared: Sequence[Any]) -> list[Any]:
        return [self._client.scatter([each], broadcast=True, hash=False)[0] for each in shared]


@contextmanager
def cluster(address: str | None, workers: int) -> Iterator[Any]:
    """Connect to a Dask cluster, or start one on this machine with so many processes, until the block ends.

    Raises:
        InputError: Dask is not installed, or no cluster answers at the address.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise InputError(_INSTALL) from None
    with dask.config.set({"dataframe.convert-string": False}):
        if address is not None:
            try:
                client = Client(address, timeout=_WAIT)  # type: ignore[no-untyped-call]
            except (OSError, ValueError):
                raise InputError(f"dask must be the address of a scheduler that answers, got {address!r}") from None
            with client:
                yield client
            return
        own = LocalCluster(n_workers=workers, host="127.0.0.1", silence_logs=40, **LOCAL_CLUSTER)  # type: ignore[no-untyped-call]
        with own, Client(own) as client:  # type: ignore[no-untyped-call]
            yield client


def parquet(client: Any, argument: str, path: str, columns: Sequence[str]) -> Parts:
    """Return the row groups of a Parquet file or folder as parts, which workers read.

    Raises:
        InputError: It is no Parquet file that can be read.
    """
    import dask.dataframe as dd

    try:
        frame = dd.read_parquet(
            path, columns=list(columns), dtype_backend="numpy_nullable", split_row_groups=True, index=False
        )
        return OnDask(client, frame.to_delayed(optimize_graph=True))
    except Exception as error:  # noqa: BLE001 - every file system has errors of its own, with addresses and keys in them
        raise InputError(f"{argument} {path!r} cannot be read as Parquet: {type(error).__name__}") from None


MANY = 2_000_000
"""Real records from which ``--engine dask`` is suggested."""
_SUFFIXES = (".parquet", ".pq")


def tables_in_parts(client: Any, data: Data, files: Mapping[str, str], columns: list[str]) -> Partitioned:
    """Return the tables in the codes that their parts agree on.

    Args:
        client: Of the Dask cluster whose workers read the files.
        data: What is said of the columns of the real table.
        files: ``real``, ``synthetic`` and, where there are any, ``control`` records: Parquet files or folders.
        columns: Those that are kept (``kept_columns``).

    Raises:
        InputError: A file cannot be read, or its cells do not fit; the text holds no cell.
    """
    parts = {name: parquet(client, name, path, columns) for name, path in files.items()}
    settled = partial(_settled, data, files["synthetic"])
    tables = agree(columns, parts["real"], parts.get("control"), parts["synthetic"], settled)
    check_sides(tables)
    return tables


def kept_columns(data: Data, files: Mapping[str, str]) -> list[str]:
    """Return the columns that the real table has and nothing leaves out; refuse files that have others.

    Raises:
        InputError: A file is no Parquet file, or its columns are not those of the real table.
    """
    found = {name: _schema(name, path).names for name, path in files.items()}
    refuse([*of_names(found["real"], data, Split())])
    kept = [c for c in found["real"] if c not in data.drop]
    for name, own in found.items():
        absent, extra = [c for c in kept if c not in own], [c for c in own if c not in found["real"]]
        if absent or extra:
            raise InputError(
                f"{name} must have the columns of real for engine dask, got {absent!r} absent and {len(extra)} others; "
                "--drop leaves out columns of real, and --engine memory reads releases that lack some or have others"
            )
    return kept


def rows_of(path: str) -> int | None:
    """Return how many rows a Parquet file says it has; None where it is none that can be asked at once."""
    if not path.endswith(_SUFFIXES):
        return None
    try:
        return int(_dataset(path).count_rows())
    except (OSError, ValueError, ImportError, pa.ArrowException):
        return None


def _schema(name: str, path: str) -> pa.Schema:
    if PurePosixPath(path).suffix.lower() not in (*_SUFFIXES, ""):
        raise InputError(f"{name} must be a Parquet file or a folder of such for engine dask, got {path!r}")
    try:
        return _dataset(path).schema
    except FileNotFoundError:
        raise InputError(f"{name} must lead to a Parquet file, found none at {path!r}") from None
    except (OSError, ValueError, ImportError, pa.ArrowException) as error:
        raise InputError(f"{name} {path!r} cannot be read as Parquet: {type(error).__name__}") from None


def _dataset(path: str) -> ds.Dataset:
    system, place = url_to_fs(path)
    return ds.dataset(place, filesystem=system, format="parquet")


def _settled(data: Data, released: str, values: pd.Series, like: pd.Series | None) -> pd.Series:
    """Return distinct values in the type of their column: a real one is typed by its cells, a released one by it."""
    name = str(values.name)
    if like is not None:
        if (coarse := coarse_cells(values, like)) is not None:
            raise InputError(
                f"synthetic must hold exact cells for engine dask, got coarse ones in column {name!r} "
                f"({coarse.words}); engine memory reads each as all values that it stands for"
            )
        return conform(values.to_frame(name), like.to_frame(name), released)[name]
    typed = infer(values, code=name in data.categorical).rename(name)
    refuse([*of_cells(typed.to_frame(name), data)])
    return typed


RELEASE = "release"
"""What the release is called."""
LACKING = (
    "in parts there are no reference generators, no population yardstick, no ceiling of utility, no look at who lies "
    "near the release or at columns that nothing attacks, no groups of vulnerable records: no verdict is NO EVIDENCE"
)


def judged_in_parts(
    tables: Partitioned,
    data: Data,
    planned: Sequence[Planned],
    thresholds: Mapping[str, Any],
    settings: Bootstrap,
    seed: int,
    tell: Callable[[str], None] = lambda step: None,
) -> StudyResult:
    """Return what is found of a release in parts: numbers and intervals are those of ``evaluate`` without references.

    ``tell`` is told what is done next, measure after measure.

    Raises:
        InputError: The control records are no strangers, or a measure or an option is not computed in parts.
    """
    begun = datetime.now(UTC)
    tell("a look at the control records")
    refusal, warning = strangers_in_words(tables)
    if refusal:
        raise InputError(f"control must hold records that the synthesizer never saw, got ones of which {refusal}")
    interval, beside = (
        Interval(settings.confidence, settings.method, settings.resamples, seed_of(seed, *words))
        for words in (("bootstrap", RELEASE), ("compare",))
    )
    found, utility = findings(tables, planned, RELEASE, interval, beside, tell)
    limits = {name: checked(Threshold, value, name) for name, value in thresholds.items()}
    tell("keys and columns")
    known = _keys(data, list(tables.columns))
    reason = broken(tables)
    broken_or_not = Beside(broken={RELEASE: reason} if reason else {})
    return StudyResult(
        study_id=new_study_id(begun),
        name="evaluate",
        findings=found,
        checks=[],
        verdicts=verdicts_of(found, {name: limit.value for name, limit in limits.items()}, [], broken_or_not),
        limits=spelled_out(limits, [f.measure for f in found]),
        facts=_facts(tables, data, settings, seed, begun),
        settings={RELEASE: {"role": "synthesizer", "kind": "files"}},
        utility=utility,
        keys=_how_rare(tables, known, data.sensitive) if known else None,
        warning=warning,
        warnings=(LACKING, *([f"the release is broken: {reason}"] if reason else [])),
        quasi_identifiers=tuple(known),
        sensitive=tuple(map(name_of, data.sensitive)),
    )


def _how_rare(tables: Partitioned, known: Sequence[str], sensitive: Sequence[Target]) -> KAnonymity:
    real, values = keys_of_real(tables, known), values_of_real(tables, known, sensitive)
    return KAnonymity(tuple(known), real, {RELEASE: keys_of_release(tables, known, sensitive)}, values)


def _keys(data: Data, columns: Sequence[str]) -> list[str]:
    known = data.quasi_identifiers
    return [c for c in columns if c not in data.guessed] if known == "*" else list(known)


def _facts(tables: Partitioned, data: Data, settings: Bootstrap, seed: int, begun: datetime) -> dict[str, str]:
    return {
        "data": data.title,
        "records": str(tables.real_rows),
        "members": str(tables.rows[MEMBERS]),
        "columns": str(len(tables.columns)),
        "releases": "1",
        "repetitions": "1",
        "seed": str(seed),
        "engine": "dask",
        "interval": f"{settings.method}, {settings.confidence:g}",
        "threat_model": threat_model(data.quasi_identifiers, data.sensitive),
        "started": begun.isoformat(timespec="seconds"),
    }
