# One command per job. Everything that a job needs it installs itself, into .venv.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
ARGS ?=
SEEDS ?= 40
FIRST ?= 1

.PHONY: help demo test check format bench simulate lock clean

help:  ## list the commands
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: .venv/run.stamp  ## the product against a local Slack workspace (ARGS="--once --json")
	$(BIN)/digestbot demo $(ARGS)

test: .venv/dev.stamp  ## all tests (ARGS="-k name")
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --sort=cover

check: .venv/dev.stamp  ## format, lint, types, import contracts, audit
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/support/audit.py

format: .venv/dev.stamp  ## write the format and the safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/dev.stamp  ## the figures of SPEC 13, as ratios in one run
	$(BIN)/python -m bench $(ARGS)

simulate: .venv/dev.stamp  ## random histories: SEEDS=n FIRST=seed
	DIGESTBOT_SIMULATE_SEEDS=$(SEEDS) DIGESTBOT_SIMULATE_FIRST=$(FIRST) $(BIN)/python -m pytest tests/simulation -q --timeout=0 $(ARGS)

lock: .venv/dev.stamp  ## renew both lock files (UPGRADE=--upgrade)
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet \
		$(UPGRADE) --extra build --extra dev pyproject.toml -o requirements-dev.lock
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet \
		$(UPGRADE) --extra build -c requirements-dev.lock pyproject.toml -o requirements.lock

clean:  ## remove what the commands made
	rm -rf .venv .demo .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .cache dist build

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "digestbot needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 …")'
	$(PYTHON) -m venv .venv

.venv/run.stamp: requirements.lock pyproject.toml | .venv/bin/python
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e .
	touch $@

.venv/dev.stamp: requirements-dev.lock pyproject.toml | .venv/bin/python
	$(PIP) --require-hashes -r requirements-dev.lock
	$(PIP) --no-deps --no-build-isolation -e .
	touch $@ .venv/run.stamp
