"""All benchmarks, one after the other: ``python -m benchmarks``."""

from pathlib import Path
from runpy import run_path

for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
    print(f"\n== {path.stem} ==", flush=True)
    run_path(str(path), run_name="__main__")
