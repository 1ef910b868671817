"""What the paper prints, read once from ``published.json`` (which names its source)."""

import json
from pathlib import Path
from typing import Any

PUBLISHED: dict[str, Any] = json.loads((Path(__file__).parent / "published.json").read_text("utf-8"))
THRESHOLDS = [round(0.05 * i, 2) for i in range(1, 20)]
"""Thresholds of Figure 4 b: 0.05 .. 0.95."""
