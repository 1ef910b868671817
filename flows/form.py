"""How parameters of our flows look in Prefect's forms: what there is to choose from, and a place for all else."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import WithJsonSchema

from synthrisk.conf import Study
from synthrisk.conf.loader import shipped
from synthrisk.metrics import METRICS

_SHIPPED = {"title": "shipped", "enum": list(shipped())}  # without a type, so that older pages show a file as text
_FILE = {"title": "file", "type": "string"}
_NONE = {"type": "null"}
_SETTINGS = {"title": "settings", "type": "object"}

StudyChoice = Annotated[str | Path | dict[str, Any] | Study, WithJsonSchema({"anyOf": [_SHIPPED, _FILE, _SETTINGS]})]
"""A shipped study by its name, a file by its path, or settings."""

StudyName = Annotated[str | None, WithJsonSchema({"anyOf": [_SHIPPED, _FILE, _NONE]})]
"""A shipped study by its name, or a file by its path, or none."""

_NAMES = {"title": "names", "type": "array", "items": {"type": "string", "enum": ["all", *METRICS]}}
_WITH_OPTIONS = {"title": "with options", "type": "array", "items": {}}

MetricNames = Annotated[list[str | dict[str, Any]] | None, WithJsonSchema({"anyOf": [_NAMES, _WITH_OPTIONS, _NONE]})]
"""Metrics by name, or mappings as in a study, or none."""
