"""aliases.py BEFORE CHECKOUT OUT.json MAPPING...: where values are that pickles of earlier versions name.

BEFORE: a folder with the package `synthrisk` as it was (.lib); CHECKOUT: the sources as they were. Writes {old: new}.
"""
import dataclasses, json, sys, typing
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent)); sys.path.insert(0, sys.argv[1])
import tool
house = tool.House(Path(sys.argv[2]).resolve(), [Path(m) for m in sys.argv[4:]])
house.collide()
from pydantic import BaseModel
from synthrisk.metrics.register import METRICS
from synthrisk.tasks.tracking.waiting import Waiting
seen, ahead = set(), [Waiting]
while ahead:
    kind = ahead.pop()
    for inner in typing.get_args(kind): ahead.append(inner)
    if not isinstance(kind, type) or kind in seen: continue
    seen.add(kind)
    if dataclasses.is_dataclass(kind) or issubclass(kind, (BaseModel, tuple)):
        if kind.__module__.startswith("synthrisk"):
            try: hints = typing.get_type_hints(kind)
            except Exception: hints = getattr(kind, "__annotations__", {})
            ahead += [h for h in hints.values()]
            ahead += kind.__subclasses__()
named = {(k.__module__, k.__qualname__) for k in seen if k.__module__.startswith("synthrisk.")}
named |= {(k.__module__, k.__qualname__) for m in METRICS.values() if (k := m.transform) is not None and hasattr(k, "__qualname__")}
from synthrisk.tasks.workspace.shared import Place
named.add((Place.__module__, "Place"))
moved = {}
for module, name in sorted(named):
    new, called = house.resolve(module, name)
    if called != name: print("RENAMED", module, name, called)
    if new != module: moved.setdefault(module, {})[name] = new
table = {}
for module, names in moved.items():
    homes = set(names.values()) | ({module} if any((module, n) in named and n not in names for n in {b for a, b in named if a == module}) else set())
    if len(homes) == 1: table[module] = homes.pop()
    else: table |= {f"{module}:{n}": h for n, h in names.items()}
Path(sys.argv[3]).write_text(json.dumps(table, indent=1, sort_keys=True))
print(len(named), "values,", len(table), "moved")
