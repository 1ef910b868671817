"""The base of all settings: frozen, and of no unknown keys."""

from pydantic import BaseModel, ConfigDict


class Settings(BaseModel):
    """Settings, each documented by the text below its field."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
