"""All benchmarks, one after the other: ``python -m benchmarks``."""

import sys
from pathlib import Path
from runpy import run_path

sys.path.insert(0, str(Path(__file__).parent))  # they import each other as scripts do
for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
    print(f"\n== {path.stem} ==", flush=True)
    run_path(str(path), run_name="__main__")
