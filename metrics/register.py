"""The register of metrics: ours and those of installed plugins, found by entry point."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import entry_points

from synthrisk.metrics.errors import InputError, nearest
from synthrisk.metrics.metric import Metric

GROUP = "synthrisk.metrics"


class Register(Mapping[str, Metric]):
    """Metrics by name, in the order of their groups; each is loaded on first use."""

    @cached_property
    def _entries(self) -> dict[str, object]:
        return {e.name: e for e in entry_points(group=GROUP)}

    def __getitem__(self, name: str) -> Metric:
        if name not in self._entries:
            raise KeyError(f"no metric is called {name!r}{nearest(str(name), self._entries)}")
        found = self._entries[name].load()  # type: ignore[attr-defined]
        if not isinstance(found, Metric) or found.name != name:
            raise InputError(f"entry point {GROUP}:{name} must give a Metric of that name, got {type(found).__name__}")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


METRICS = Register()
