# Make is the door: what CI runs, a laptop runs. `make help` lists the targets.
SHELL := /bin/sh
# Distributions build theirs with optimizations that a build from source lacks by default.
PYTHON ?= $(shell infra/choose-python /usr/bin/python3 python3)
VENV ?= .venv
BIN := $(VENV)/bin
HALLMARK := $(BIN)/hallmark
REPORT ?= report
ARGS ?=
PYTEST := $(BIN)/python -m pytest
# Tests start hundreds of processes, and each would compile whatever it imports.
unexport PYTHONDONTWRITEBYTECODE
# One more than there are cores, since many tests wait for processes; more than eight only take memory.
JOBS ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$(( cores < 7 ? cores + 1 : 8 )))
# A venv has its own pip; uv, itself from the hashed lock, is much faster and falls back to pip where it cannot read
# the index configuration.
INSTALL = $(BIN)/python infra/install.py

.DEFAULT_GOAL := help
.PHONY: help run fleet test quick-tests check format live soak mutants bench conformance docs impact release lock up clean setup-run setup-dev system-dev sandbox-dev

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: setup-run ## discover the starter registry, probe and score its servers, print the table and write the report
	$(HALLMARK) run --registry starter --report $(REPORT) $(ARGS)

fleet: setup-run ## start the scheduler and workers for all queues on this machine, with PostgreSQL and Redis of the settings
	$(HALLMARK) fleet $(ARGS)

test: ## what CI runs: checks, and beside them every test that needs no network (fixed seeds, small counts)
	@+$(MAKE) --no-print-directory -j2 check quick-tests

quick-tests: sandbox-dev
	$(PYTEST) -n $(JOBS) --dist loadgroup --no-loadscope-reorder -m "not live and not soak" $(ARGS)

check: setup-dev ## ruff, mypy --strict, import contracts, generated docs, changelog fragments
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/python -m publish.handbook.generate --check docs
	$(BIN)/python -m workers.settings.reference_page --check docs
	$(BIN)/towncrier build --draft --version next >/dev/null

format: setup-dev ## let ruff format and fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

live: setup-dev ## tests that use the package registries
	@infra/system-packages bwrap=bubblewrap
	$(HALLMARK) sandbox build
	HALLMARK_REQUIRE=sandbox $(PYTEST) -m live $(ARGS)

soak: setup-dev ## the full counts: examples of properties, 50 kills, 200 faults over nights, 500 boxes
	@infra/system-packages bwrap=bubblewrap faketime=faketime chromium-headless-shell=chromium-headless-shell
	$(PYTEST) -m "(soak or hypothesis) and not live" --hypothesis-profile full --timeout 3600 $(ARGS)

mutants: setup-dev ## change scoring, disclosure and the store in 36 small ways and name those that no test notices
	$(BIN)/python -m tests.mutation $(ARGS)

bench: setup-dev ## measure each part (ratios against a named peer or limit in the same run), and a night
	@infra/system-packages bwrap=bubblewrap
	$(BIN)/python -m bench.probe
	$(BIN)/python -m bench.scan
	$(BIN)/python -m bench.fleet
	$(BIN)/python -m bench.fleet_memory
	$(BIN)/python -m bench.hostile
	$(BIN)/python -m bench.store
	$(BIN)/python -m bench.lint
	$(BIN)/python -m bench.scoring
	$(BIN)/python -m bench.publication
	$(BIN)/python -m bench.poisoning
	$(BIN)/python -m bench.source
	$(BIN)/python -m bench.secrets
	$(BIN)/python -m bench.leasing
	$(BIN)/python -m bench.tail
	$(BIN)/python -m bench.sandbox
	$(BIN)/python -m bench.night --servers 10000 --largest 10

conformance: setup-dev ## run the official suite against the positive control and compare with our verdicts
	$(BIN)/python -m tests.conformance.official --write docs

docs: setup-dev ## write the generated pages in docs/
	$(BIN)/python -m tests.publish.api.example_site --write
	$(BIN)/python -m publish.handbook.generate --write docs
	$(BIN)/python -m workers.settings.reference_page --write docs
	$(BIN)/python -m tests.scoring.ladder_page --write docs

impact: setup-dev ## score every recorded dossier under BASE (HEAD) and the working tree, print who moved and why
	$(BIN)/python infra/impact.py --base $(or $(BASE),HEAD) $(ARGS)

release: setup-dev ## move changes/ into CHANGELOG.md: make release VERSION=x.y.z
	@test -n "$(VERSION)" || { echo "VERSION is missing: make release VERSION=x.y.z" >&2; exit 2; }
	$(BIN)/towncrier build --yes --version $(VERSION)

LOCK = $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
  --custom-compile-command "make lock" pyproject.toml

lock: ## write requirements/*.txt with hashes from pyproject.toml
	$(LOCK) --extra dev -o requirements/dev.txt
	$(LOCK) --extra all -c requirements/dev.txt -o requirements/run.txt
	$(LOCK) -c requirements/dev.txt -o requirements/base.txt

up: ## start PostgreSQL, Redis, beat and workers with Docker Compose
	COMMIT=$$(git rev-parse HEAD 2>/dev/null) docker compose -f infra/compose.yaml up --build

clean: ## remove the virtual environment and the report; evidence and cache stay
	rm -rf $(VENV) $(REPORT) .mypy_cache .ruff_cache .pytest_cache .hypothesis

setup-run: $(VENV)/.run
	@infra/system-packages bwrap=bubblewrap
	@$(HALLMARK) sandbox build

setup-dev: $(VENV)/.dev

# While system packages are installed, Python packages are too, and the checks begin. A venv may need one of its own.
system-dev: | $(VENV)/bin/python
	@infra/system-packages bwrap=bubblewrap chromium-headless-shell=chromium-headless-shell nginx=nginx

sandbox-dev: setup-dev system-dev
	$(HALLMARK) sandbox build

$(VENV)/.dev: requirements/dev.txt pyproject.toml infra/install.py | $(VENV)/bin/python
	$(INSTALL) requirements/dev.txt
	@touch $@ $(VENV)/.run

$(VENV)/.run: requirements/run.txt pyproject.toml infra/install.py | $(VENV)/bin/python
	$(INSTALL) requirements/run.txt
	@touch $@

$(VENV)/bin/python:
	@echo "setup: $(PYTHON) makes the virtual environment; for another one: make PYTHON=python3.x"
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"Python 3.11 or newer is needed, {v[0]}.{v[1]} was found: make PYTHON=python3.x")'
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { infra/system-packages ensurepip=python3-venv; $(PYTHON) -m venv $(VENV); }
