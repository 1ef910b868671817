"""What is added: docs, tests, the list of places, the earlier name of tracking.history, lines of the changelog."""
import shutil, subprocess, sys
from pathlib import Path
root, add = Path(sys.argv[1]), Path(__file__).parents[1] / "add"
for each in ("docs/architecture.py", "docs/architecture.md", "tests/test_layout.py"):
    shutil.copyfile(add / each, root / each)
page = root / "CONTRIBUTING.md"; text = page.read_text()
if "## Where would I change" not in text:
    page.write_text(text.rstrip("\n") + "\n" + (add / "questions.md").read_text())
init = root / "tasks/tracking/__init__.py"; text = init.read_text()
if "class _Past" not in text:
    assert text.count("import logging\n") == 1, init
    text = text.replace("import logging\n", "import logging\nimport sys\nfrom importlib import import_module\nfrom types import ModuleType\nfrom typing import Any\n")
    init.write_text(text.rstrip("\n") + (add / "tracking_init.txt").read_text())
log = root / "CHANGELOG.md"; text = log.read_text(); lines = (add / "changelog.md").read_text()
if lines not in text:
    head = text.index("\n## "); end = text.index("\n", head + 1)
    log.write_text(text[: end + 1] + "\n" + lines.strip("\n") + "\n" + text[end + 1 :].lstrip("\n"))
subprocess.run([sys.executable, "docs/architecture.py"], cwd=root, check=True)
