"""The table of modules that pickles of earlier versions name: 20_aliases.py CHECKOUT ALIASES.json"""
import json, sys
from pathlib import Path
root, table = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
file = root / "tasks/tracking/store_outage.py"
text = file.read_text()
old = '_MOVED: dict[str, str] = {}  # modules of earlier versions, or "module:name" of a value: where it is now\n'
if text.count(old) != 1: sys.exit(f"{file}: the empty table _MOVED is not there (is branch houseb merged?)")
rows = "".join(f'    "{a}": "{b}",\n' for a, b in sorted(table.items()))
file.write_text(text.replace(old, '# modules of earlier versions, or "module:name" of a value: where it is now\n_MOVED = {\n' + rows + "}\n"))
