"""The measure that CONTRIBUTING.md shows works as it stands there."""

import re
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[1]


def test_the_measure_of_the_page_passes_its_check_and_counts_copies():
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.DOTALL)
    shown = {}
    exec(block, shown)
    real = pd.DataFrame({"x": [1, 1, 2, 3], "c": ["a", "a", "b", "b"]})
    assert shown["COPIED"](real, pd.DataFrame({"x": [1, 2], "c": ["a", "a"]})).value == 0.5
