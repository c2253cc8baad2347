# Two commands: `make demo` and `make test`. Everything else they need, they set up.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo serve test check clients format docs lock dist audit clean

demo: $(VENV)/base
	@$(BIN)/ragways demo

# The service and its page on the bundled corpus: http://127.0.0.1:8080
serve: $(VENV)/serve
	@$(BIN)/ragways serve --demo

# Three at once, for many tests wait for servers, browsers and clusters that they have started.
test: check
	$(BIN)/python -m pytest -n 3 --dist worksteal

check: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/dev
	$(BIN)/python docs/generate.py

# The lock is complete, so nothing is resolved: --no-deps keeps out what a package asks for and ragways never imports.
$(VENV)/base: requirements.lock pyproject.toml
	@echo "Setting up (once)…"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ragways needs Python 3.11 or later: make PYTHON=/path/to/python3.11 …")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --no-deps --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --editable .
	@touch $@

$(VENV)/serve: $(VENV)/base requirements-serve.lock
	@$(PIP) install --no-deps --require-hashes -r requirements-serve.lock
	@touch $@

$(VENV)/dev: $(VENV)/base requirements-dev.lock
	@$(PIP) install --no-deps --require-hashes -r requirements-dev.lock
	@touch $@

# The libraries that ragways has retrievers for, each in an environment of its own beside the base one, for tests.
clients: $(VENV)/langchain/ready $(VENV)/llamaindex/ready $(VENV)/ray/ready $(VENV)/cloud/ready

$(VENV)/%/ready: requirements-%.lock $(VENV)/base
	@test -x $(VENV)/$*/bin/python || $(PYTHON) -m venv $(VENV)/$*
	@$(VENV)/$*/bin/python -m pip --disable-pip-version-check --quiet install --no-compile --no-deps --require-hashes -r $<
	@$(BIN)/python -c 'import os, sysconfig; print("import site; site.addsitedir(%r)" % os.path.realpath(sysconfig.get_path("purelib")))' \
		> $$($(VENV)/$*/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/ragways-base.pth
	@touch $@

# Needs `uv` on the path.
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url
lock:
	$(COMPILE) pyproject.toml --output-file requirements.lock
	$(COMPILE) pyproject.toml --group dev --constraint requirements.lock --output-file requirements-dev.lock
	$(COMPILE) pyproject.toml --extra serve --constraint requirements-dev.lock --output-file requirements-serve.lock
	$(COMPILE) --group release --output-file requirements-release.lock
	$(COMPILE) --group langchain --constraint requirements.lock --output-file requirements-langchain.lock
	$(COMPILE) --group llamaindex --constraint requirements.lock --output-file requirements-llamaindex.lock
	$(COMPILE) --group ray --constraint requirements.lock --output-file requirements-ray.lock
	$(COMPILE) --group cloud --constraint requirements.lock --output-file requirements-cloud.lock

# Wheel and source archive, checked as the package index would, and the list of what ships (CycloneDX), under dist/.
dist: $(VENV)/dev $(VENV)/release/ready
	rm -rf dist
	$(BIN)/python -m hatchling build -t sdist -t wheel
	$(VENV)/release/bin/twine check --strict dist/*
	$(BIN)/python release/lock.py sbom dist

# Apart from the development environment, which needs none of what twine brings.
$(VENV)/release/ready: requirements-release.lock
	@test -x $(VENV)/release/bin/python || $(PYTHON) -m venv $(VENV)/release
	@$(VENV)/release/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --require-hashes -r requirements-release.lock
	@touch $@

# Needs the network, and says so where there is none; never part of `make test`.
audit:
	$(PYTHON) release/lock.py audit

clean:
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
