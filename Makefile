# make demo: a study of 6,000 Adult records, minutes. make test: the tests. Both set up .venv first.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
export DO_NOT_TRACK := true
export PREFECT_SERVER_ANALYTICS_ENABLED := false
export OMP_WAIT_POLICY ?= passive  # threads that wait in circles cost other processes several times the work
unexport PYTHONDONTWRITEBYTECODE  # else each process of each test compiles all that it imports anew

# the files in which a test has the marker: to read all others takes a minute
files = $(sort $(shell grep -rl --include='test_*.py' 'mark\.$(1)' tests))

.PHONY: demo test proofs check services wheel bench site clean

demo: .venv/ready
	$(BIN)/synthrisk benchmark demo --prefect || test $$? -eq 1  # 1: a limit is crossed, which the demo shows

test: .venv/ready
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

# files that take minutes come first, so that no core is idle at the end
LONG = $(addprefix tests/,flows/test_dask.py flows/test_nothing_gets_out.py tasks/test_no_false_all_clear.py \
	flows/test_killed.py flows/test_benchmark.py flows/test_shared_workspace.py flows/test_faults.py flows/test_evaluate.py)
# two of them alone leave two cores idle for two fifths of the time: they wait for servers, signals and kills
proofs: .venv/ready
	$(BIN)/python -m pytest -m "proof and not slow" -n 3 --dist loadfile --no-loadscope-reorder \
		$(LONG) $(filter-out $(LONG),$(call files,proof))

check: .venv/ready site
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPYPATH=.venv/types $(BIN)/mypy -p synthrisk
	$(BIN)/lint-imports
	$(BIN)/python -m pytest --doctest-modules --import-mode=importlib metrics conf tasks flows
	$(BIN)/python tests/readme_commands.py

# strictly: a link that leads nowhere, or a page that no menu names, is an error
site: .venv/ready
	mkdir -p .venv/types/synthrisk && ln -sfn $(CURDIR)/metrics $(CURDIR)/conf $(CURDIR)/tasks $(CURDIR)/flows .venv/types/synthrisk/
	rm -f build/site.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	touch build/site.stamp  # tests read this site where nothing is newer

services: .venv/ready
	$(BIN)/python tests/deployments/run_services.py $(filter-out tests/deployments/%,$(call files,services))

# the wheel on other Pythons, with the lowest and with the newest versions of what it needs
wheel: .venv/ready
	$(BIN)/python tests/wheel.py

bench: .venv/ready
	$(BIN)/python -m benchmarks

# torch first and by itself: the pinned build is what everything else is resolved against. uv takes seconds where pip
# takes minutes, but does not know pip's settings (a mirror, say): where it cannot install, pip does
ALL = -c constraints.txt --no-build-isolation -e ".[sdv,private,dask,postgresql,fair,files,test,docs]"
.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt setuptools wheel torch uv
	rm -rf build *.egg-info  # what an older build left would be found first
	$(BIN)/uv pip install --quiet --system-certs --compile-bytecode --python $(BIN)/python $(ALL) \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check $(ALL)
	$(BIN)/python -m synthrisk.flows.execution.forkserver  # compiles searches and forests, as pip does modules
	$(BIN)/python -m synthrisk.flows.orchestration.server 2> /dev/null  # makes Prefect's database, which takes seconds
	touch $@

clean:
	rm -rf .venv .synthrisk build dist *.egg-info
