"""Whether a Prefect API is configured, told without the second that it takes to import Prefect where none can be."""

import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

_VARIABLES = ("PREFECT_API_URL", "PREFECT_API", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH", "PREFECT_HOME")


def is_configured() -> bool:
    """Tell whether a Prefect API is configured."""
    if "prefect" not in sys.modules and not any(_hints()):
        return False
    from prefect.settings import PREFECT_API_URL

    return bool(PREFECT_API_URL.value())


def _hints() -> Iterator[bool]:
    """Yield of each place that Prefect reads settings from whether it may name an API, or lead to one that does."""
    yield any(name.upper() in _VARIABLES for name in os.environ)
    yield Path("~/.prefect/profiles.toml").expanduser().is_file()
    yield Path("prefect.toml").is_file()
    yield "prefect_" in _text(Path(".env")).lower()
    yield _has_table(_text(Path("pyproject.toml")))


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8") if file.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return "PREFECT_"  # Prefect may be able to read it


def _has_table(text: str) -> bool:
    try:
        return "prefect" in tomllib.loads(text).get("tool", {})
    except (tomllib.TOMLDecodeError, TypeError):
        return True
