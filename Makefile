# Every target sets up its own .venv when it is missing or older than pyproject.toml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# openai 1.x on httpx, beside the newer one on httpx2 that .venv has.
COMPAT := .venv-compat
COMPAT_READY := $(COMPAT)/.ready
COMPAT_PACKAGES := "openai>=1.100,<2" "httpx>=0.28,<0.29" "brotli>=1.1" "pytest>=9.0"

# What the benchmarks measure beside us and nothing else needs.
PEERS := .peers
PEERS_READY := $(PEERS)/.ready
PEER_PACKAGES := cassetter==0.16.1

.PHONY: demo test test-slow test-compat lint format bench calibration pictures docs clean

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

$(COMPAT_READY): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed (PYTHON=... names it)"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (PYTHON=... names it)"; exit 2; }
	@echo "Setting up $(COMPAT) (once) ..."
	@$(PYTHON) -m venv $(COMPAT)
	@$(COMPAT)/bin/python -m pip install --quiet --upgrade pip
	@$(COMPAT)/bin/python -m pip install --quiet --editable . $(COMPAT_PACKAGES)
	@touch $(COMPAT_READY)

test-compat: $(COMPAT_READY)  ## openai 1.x on httpx, in an environment of its own
	@TRIALTAPE_COMPAT=1 $(COMPAT)/bin/python -m pytest tests/compat

lint: $(READY)  ## ruff, mypy strict, import-linter
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(READY)
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# In a folder of its own: installed beside the tests it would load itself into each of their runs.
$(PEERS_READY): Makefile | $(READY)
	@echo "Getting what is measured beside us, into $(PEERS) (once) ..."
	@$(BIN)/python -m pip install --quiet --upgrade --no-deps --target $(PEERS) $(PEER_PACKAGES) && touch $(PEERS_READY) \
		|| echo "$(PEER_PACKAGES) cannot be installed; its rows are left out"

bench: $(READY) $(PEERS_READY)  ## side-by-side measurements, written to benchmarks/results.md
	@$(BIN)/python -m benchmarks

pictures: $(READY)  ## the pictures of the docs, drawn anew; needs a Chromium
	@for script in docs/pictures/make_*.py; do $(BIN)/python $$script || exit $$?; done

calibration: $(READY)  ## how often the intervals hold, written to benchmarks/calibration.md (a few minutes)
	@$(BIN)/python -m benchmarks.calibration --reps 600 --write

docs: $(READY)  ## check that every code block of the README and the docs runs
	@$(BIN)/python -m pytest tests/docs

clean:
	rm -rf $(VENV) $(COMPAT) $(PEERS) .trialtape .pytest_cache .mypy_cache .ruff_cache .import_linter_cache dist
