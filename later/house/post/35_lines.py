"""Code in one string that a longer module name has made too long: a line of it a string."""
import re, sys
from pathlib import Path
root = Path(sys.argv[1])
for path in [*(root / "tests").rglob("*.py"), *(root / "benchmarks").rglob("*.py")]:
    lines = path.read_text("utf-8").split("\n")
    new = []
    for line in lines:
        found = re.fullmatch(r'(\s*)(\w+) = (f?)"((?:[^"\\]|\\.)*\\n(?:[^"\\]|\\.)*)"', line) if len(line) > 120 else None
        if found:
            space, name, f, text = found.groups()
            parts = [p for p in re.split(r"(?<=\\n)", text) if p]
            new += [f"{space}{name} = (", *(f'{space}    {f}"{p}"' for p in parts), f"{space})"]
        else:
            new.append(line)
    if new != lines:
        path.write_text("\n".join(new), "utf-8")
