"""Names of modules that stand in strings in parts lead somewhere: forkserver's and the workers' lists."""
import ast, sys
from pathlib import Path
root = Path(sys.argv[1]); bad = []
for file, prefix in (("flows/execution/forkserver.py", ""), ("flows/execution/workers.py", "tasks.")):
    tree = ast.parse((root / file).read_text())
    for stmt in tree.body:
        if isinstance(stmt, ast.Assign) and getattr(stmt.targets[0], "id", "") in ("_COMPILED", "_NEEDED", "_TASKS"):
            for node in ast.walk(stmt):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    path = root / (prefix + node.value).replace(".", "/")
                    if not path.with_suffix(".py").exists() and not (path / "__init__.py").exists():
                        bad.append(f"{file}: {node.value}")
for each in bad: print("ERROR: no module for the string", each)
sys.exit(bool(bad))
