"""The real table: read from its source, typed, checked, and stored for the study."""

from synthrisk.tasks.data.source import read
from synthrisk.tasks.data.types import typed
from synthrisk.tasks.workspace.references import Table, store

__all__ = ["Table", "read", "store", "typed"]
