# Every target sets up its own .venv when it is missing or older than pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-slow lint format bench docs clean

$(READY): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed (PYTHON=... names it)"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (PYTHON=... names it)"; exit 2; }
	@echo "Setting up $(VENV) (once) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $(READY)

demo: $(READY)  ## record a small shop's agent, and tell its reliability (offline, no key)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m examples.support.demo

test: $(READY)  ## the whole suite, less the checks marked slow
	@$(BIN)/python -m pytest -n 2 -m "not slow"

test-slow: $(READY)  ## the checks marked slow
	@$(BIN)/python -m pytest -m slow

lint: $(READY)  ## ruff, mypy strict, import-linter
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(READY)
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(READY)  ## side-by-side measurements, written to benchmarks/results.md
	@$(BIN)/python -m benchmarks

docs: $(READY)  ## check that every code block of the README and the docs runs
	@$(BIN)/python -m pytest tests/docs

clean:
	rm -rf $(VENV) .trialtape .pytest_cache .mypy_cache .ruff_cache .import_linter_cache dist
