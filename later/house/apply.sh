#!/bin/bash
# apply.sh CHECKOUT: the whole transformation on a clean checkout of main (branch houseb merged, or it is applied here).
# Not idempotent, like the tool: a checkout that is transformed already is refused. All steps fail loudly.
set -u
H=$(dirname "$(readlink -f "$0")"); D=$(readlink -f "$1"); PY=.venv/bin/python; RUFF=.venv/bin/ruff
die() { echo "apply.sh: $*" >&2; exit 1; }
cd "$D" || die "no folder $1"
[ -e flows/orchestration ] && die "$D is transformed already (flows/orchestration is there): take a fresh checkout"
[ -z "$(git status --porcelain --untracked-files=no)" ] || die "$D has changes that are not committed"
for p in "$H"/patches/*.patch; do
  [ -e "$p" ] || continue
  # a branch that was merged, with conflicts resolved, need not be its patch to the letter: what each brings tells
  case "$(basename "$p")" in
    houseb.patch) grep -q "_MOVED: dict" tasks/tracking/earlier_form.py && { echo "patch houseb.patch: its branch is merged"; continue; } ;;
    housea.patch) grep -q '"pd.DataFrame"' metrics/covering.py && { echo "patch housea.patch: its branch is merged"; continue; } ;;
  esac
  if git apply --reverse --check "$p" 2>/dev/null; then echo "patch $(basename "$p"): there already"
  elif git apply --3way "$p" 2>/dev/null; then echo "patch $(basename "$p"): applied"
  else die "patch $(basename "$p") does not apply: merge its branch first; see NOTES"; fi
done
T=$(mktemp -d); mkdir -p "$T/lib/synthrisk"
for d in metrics conf tasks flows; do ln -s "$D/$d" "$T/lib/synthrisk/$d"; done
grep -q "_MOVED: dict" tasks/tracking/earlier_form.py || die "tasks/tracking/earlier_form.py has no table _MOVED: merge branch houseb first"
PYTHONPATH="$T/lib" PYTHONDONTWRITEBYTECODE=1 $PY "$H/aliases.py" "$T/lib" "$D" "$T/aliases.json" "$H/metrics.toml" "$H/rest.toml" || die "aliases.py"
$PY "$H/tool.py" "$D" "$H/metrics.toml" "$H/rest.toml" > "$T/tool.out" 2>&1; rc=$?
grep -v "^note:" "$T/tool.out"; cp "$T/tool.out" scratch/house_tool.out
[ $rc -eq 0 ] || grep -q "^ERROR" "$T/tool.out" && { echo "--- the tool told of errors; lines with (skipped) did not stop it"; grep "^ERROR" "$T/tool.out" | grep -qv "(skipped)" && die "tool.py"; }
for p in "$H"/post/*.py; do $PY "$p" "$D" "$T/aliases.json" || die "$(basename "$p")"; done
cd "$D"
$RUFF check --fix -q metrics conf tasks flows tests benchmarks docs; $RUFF format -q metrics conf tasks flows tests benchmarks docs
$PY docs/architecture.py
$RUFF check . --output-format concise && $RUFF format --check . | tail -1
rm -rf "$T"; git add -A -- . ':!.lib' 2>/dev/null
echo "done: $(find metrics tasks flows conf -name '*.py' | wc -l) files under metrics, tasks, flows, conf"
