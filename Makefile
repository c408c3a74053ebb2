# Everything runs in .venv, which the first call makes. PYTHON chooses the interpreter: make test PYTHON=python3.12
PYTHON ?= python3
PYTEST_ARGS ?= --numprocesses=auto
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test lint

demo: .venv/installed
	$(BIN)/syncscope compare examples/vidcom2/per_frame_reads.py examples/vidcom2/read_once.py --frames 2 8 32

test: .venv/installed-for-tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: .venv/installed-for-tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

$(BIN)/python:
	$(PYTHON) -m venv .venv

# The stamps are made last, so that an install that broke off is done again.
.venv/installed: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable .
	touch $@

.venv/installed-for-tests: pyproject.toml constraints.txt | $(BIN)/python
	$(INSTALL) --editable '.[test,models]'
	touch .venv/installed $@
