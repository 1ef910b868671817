"""What a study is: typed frozen settings, their YAML loader, and the studies that come with the package."""

from synthrisk.conf.loader import load, schema, shipped
from synthrisk.conf.secrets import resolve
from synthrisk.conf.study import Study

__all__ = ["Study", "load", "resolve", "schema", "shipped"]
