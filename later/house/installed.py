"""installed.py CHECKOUT: in CHECKOUT/.lib the package as installed there: links, and the entry points of its pyproject."""
import sys, tomllib
from pathlib import Path
root = Path(sys.argv[1]).resolve(); lib = root / ".lib"; (lib / "synthrisk").mkdir(parents=True, exist_ok=True)
for top in ("metrics", "conf", "tasks", "flows"):
    link = lib / "synthrisk" / top
    if not link.exists(): link.symlink_to(root / top)
project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
info = lib / f"synthrisk-{project['version']}.dist-info"; info.mkdir(exist_ok=True)
groups = {"console_scripts": project["scripts"], **project["entry-points"]}
(info / "entry_points.txt").write_text("\n".join(f"[{g}]\n" + "".join(f"{n} = {v}\n" for n, v in p.items()) for g, p in groups.items()))
from importlib.metadata import distribution
old = distribution("synthrisk").read_text("METADATA")
(info / "METADATA").write_text(old); (info / "RECORD").write_text("")
