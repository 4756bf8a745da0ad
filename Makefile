# Everything runs from .venv, which is made on first use. Useful variables:
#   PYTHON       the interpreter that makes .venv; by default the first of python3, python3.14 …
#                python3.11 that is new enough
#   TORCH_INDEX  where torch comes from; by default, on Linux without an NVIDIA GPU, PyTorch's index
#                of CPU builds, since PyPI's torch brings several gigabytes of CUDA libraries
#   PIP_ARGS     passed to pip
#   ARGS         passed to the program of run, demo, bench and gpu
#   PYTEST_ARGS  passed to pytest; by default it runs in as many processes as there are cores, up to 4

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
INPUTS := pyproject.toml constraints.txt
PIP_ARGS ?=
INSTALL := $(BIN)/python -m pip install --constraint constraints.txt $(PIP_ARGS)
# In a variable, since a comma would end an argument of $(call).
DEV_EXTRAS := '.[local,dev]'
TORCH_INDEX ?= $(shell [ "$$(uname -s)" = Linux ] && ! command -v nvidia-smi >/dev/null && \
  echo https://download.pytorch.org/whl/cpu)
ARGS ?=
PYTEST_ARGS ?= --numprocesses auto --maxprocesses 4 --dist worksteal
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

# Prints and runs a command; in a terminal, prints a dot every second while it runs.
patiently = echo '$(subst ','\'',$(1))'; \
  if [ -t 1 ]; then (while sleep 1; do printf .; done) & trap "kill $$!" EXIT; fi; $(1)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run demo demo-coffee test check bench gpu clean

help:
	@echo "make run          serve the page and the API on http://127.0.0.1:7860"
	@echo "make demo         hold a recorded conversation with the assistant"
	@echo "make demo-coffee  order coffee in a recorded conversation"
	@echo "make test         run all tests"
	@echo "make check        lint, formatting, types, JavaScript syntax"
	@echo "make bench        measure voice to voice on this machine"
	@echo "make gpu          check and measure the kernels on a CUDA device"
	@echo "make clean        remove .venv and caches"

run: $(VENV)/.installed
	$(BIN)/python -m voice.serve $(ARGS)

demo: $(VENV)/.installed
	$(BIN)/python -m voice.demo $(ARGS)

demo-coffee: $(VENV)/.installed
	$(BIN)/python -m voice.demo coffee $(ARGS)

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@command -v node >/dev/null || { echo "make check: node (Node.js 20 or newer) is missing" >&2; exit 1; }
	@# From standard input, because node takes a bare .js file for CommonJS.
	@for file in web/*.js web/console/*.js; do \
	  node --input-type=module --check <"$$file" || { echo "$$file: syntax error" >&2; exit 1; }; done

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.voice.turns $(ARGS)

gpu: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.gpu $(ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; none was found." \
	  "Name one: make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit( \
	  f"Python 3.11 or newer is needed; $(PYTHON) is {v.major}.{v.minor}")'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "$(PYTHON) cannot make virtual" \
	  "environments (Debian: apt-get install python3-venv)" >&2; exit 1; }
	@$(call patiently,$(PYTHON) -m venv $(VENV))
	@# Older versions of pip show no progress while they install, which takes a while.
	-@$(call patiently,$(INSTALL) --quiet --upgrade pip)
	@# If this index cannot be reached, the next command takes torch from the package index.
	$(if $(TORCH_INDEX),-@$(call patiently,$(INSTALL) --index-url $(TORCH_INDEX) --retries 1 --no-deps torch))

# The interpreter is an order-only prerequisite, so that its date does not matter.
$(VENV)/.installed: $(INPUTS) | $(BIN)/python
	@$(call patiently,$(INSTALL) --editable '.[local]')
	@touch $@

$(VENV)/.installed-dev: $(INPUTS) | $(BIN)/python
	@$(call patiently,$(INSTALL) --editable $(DEV_EXTRAS))
	@touch $(VENV)/.installed $@
