"""What a study is: typed frozen settings, their YAML loader, and the studies that come with the package."""

from synthrisk.conf.load import load, resolve, schema, shipped
from synthrisk.conf.study import Study

__all__ = ["Study", "load", "resolve", "schema", "shipped"]
