"""Parts on the workers of a Dask cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from synthrisk.metrics.errors import InputError
from synthrisk.metrics.models.threads import ONE_THREAD
from synthrisk.metrics.partitions.parts import Parts, neighbouring

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
        found: _S = self._client.gather(last) if self._items else state
        return found

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
