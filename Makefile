# Every target makes .venv by itself; a fresh machine needs Python 3.11 or newer, make and git.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The first interpreter that starts and is new enough; PYTHON=/path/to/python overrides it.
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)

CODE := $(wildcard planner solvers renderers benchmarks tests)
SCRIPTS := $(wildcard .ci/run .ci/lab-packages .ci/actionlint/run *.sh */*.sh */*/*.sh)
# Worker processes of the test run.
JOBS ?= 2
PYTEST := $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.PHONY: help install plan test lint format bench e2e nightly clean

help: ## list the targets
	@sed -n 's/^\([a-z][a-z0-9]*\):.*## /\1	/p' $(MAKEFILE_LIST) | while IFS='	' read -r target text; do \
		printf '  make %-10s %s\n' "$$target" "$$text"; done

install: $(STAMP) ## make .venv and install the project into it, editable

$(STAMP): pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer found; install one or say make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "==> making $(VENV) and installing (a few minutes the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "error: this Python has no venv module; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check --editable '.[dev]'
	@touch $@

plan: $(STAMP) ## plan specs/ and render its manifests under build/
	@mkdir -p build
	@echo "==> planning specs/ (lock: build/plan.lock.json)"
	@$(BIN)/planner plan specs --out build/plan.lock.json
	@echo "==> rendering manifests under build/manifests/"
	@$(BIN)/planner render build/plan.lock.json --out build/manifests >build/render.txt
	@tail -n 1 build/render.txt

# numba's machine code is invisible to coverage, so its tests run as plain Python first; then everything runs compiled
# and both runs count. Exit code 5 says that no test has the mark, which is no failure of the first run.
test: $(STAMP) ## run all tests but e2e, with branch coverage
	@echo "==> compiled kernels as plain Python"
	@NUMBA_DISABLE_JIT=1 $(PYTEST) -q -m interpreted --cov --cov-report= --cov-fail-under=0 || test $$? -eq 5
	@echo "==> everything"
	@$(PYTEST) -q -n $(JOBS) --cov --cov-append

lint: $(STAMP) ## ruff, mypy --strict, import contracts, shellcheck, actionlint, zizmor
	@echo "==> ruff"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "==> mypy"
	@$(BIN)/mypy $(CODE)
	@echo "==> import contracts"
	@$(BIN)/lint-imports --no-logo
	@echo "==> shellcheck"
	@$(BIN)/shellcheck $(SCRIPTS)
	@echo "==> actionlint"
	@SHELLCHECK=$(CURDIR)/$(BIN)/shellcheck .ci/actionlint/run
	@echo "==> zizmor"
	@$(BIN)/zizmor --offline --quiet --no-progress .

format: $(STAMP) ## let ruff mend what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(STAMP) ## run all benchmarks and write benchmarks/RESULTS.md
	@$(BIN)/python -m benchmarks all

# The first run builds Kubernetes and Compose from source, which the time limit of a test does not count.
e2e: $(STAMP) ## run the tests that need real back ends; .ci/lab-packages installs these
	@$(PYTEST) -q -m e2e -o timeout_func_only=true tests/e2e

nightly: $(STAMP) ## run the tests that take minutes, with fresh random examples
	@$(PYTEST) -q -n $(JOBS) -m 'nightly or slow' --hypothesis-profile=nightly || test $$? -eq 5

clean: ## remove what was built, keep .venv
	rm -rf build dist .coverage .coverage.* htmlcov .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
