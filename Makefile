# Everything a newcomer needs; `make` alone lists it. Set-up happens by itself, see scripts/setup.sh.

PY := .venv/bin/python
JOBS ?= 2
# Choose the interpreter, and another package index for the CPU build of torch: make demo PYTHON=... TORCH_INDEX=...
export PYTHON TORCH_INDEX

# Runs a command silently; its output is shown only when it fails.
quietly = @out=$$($(1) 2>&1) || { printf '%s\n' "$$out"; echo "failed: $(1)"; exit 1; }

# Engines are started once for each file, so a file is not torn apart.
test-vllm = $(PY) -m pytest -n $(JOBS) --dist loadfile -q -m vllm $(PYTEST_ARGS)
# Whoever chooses tests by PYTEST_ARGS may choose none of one kind.
or-none-chosen = || [ $$? = 5 -a -n "$(PYTEST_ARGS)" ]

.DEFAULT_GOAL := help
.PHONY: help demo test test-vllm lint docs pictures bench-peers clean

help: ## what can be made
	@echo "agentrl: multi-turn text and visual environments for LLM and VLM agents"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

demo: ## set up (downloads torch: see README), train a tiny model in minutes, write a report and a film
	@scripts/setup.sh demo
	@.venv/bin/agentrl demo

test: lint ## set up everything, check the code, run the whole test suite
	@scripts/setup.sh vllm
	@$(PY) -m pytest -n $(JOBS) -q -m "not vllm" $(PYTEST_ARGS) $(or-none-chosen)
	@$(test-vllm) $(or-none-chosen)

test-vllm: ## set up vLLM in an environment of its own, run the tests that need it
	@scripts/setup.sh test
	@scripts/setup.sh vllm
	@$(test-vllm)

lint: ## ruff, import direction and types, without the tests
	@scripts/setup.sh test
	$(call quietly,$(PY) -m ruff check .)
	$(call quietly,$(PY) -m ruff format --check .)
	$(call quietly,.venv/bin/lint-imports)
	$(call quietly,$(PY) -m pyright)

docs: ## build the documentation site into docs/_build/html
	@scripts/setup.sh docs
	@$(PY) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

pictures: ## draw the README's pictures again
	@scripts/setup.sh docs
	@$(PY) scripts/make_pictures.py

bench-peers: ## install the libraries the benchmarks compare with, in .venv-peers
	@scripts/setup.sh peers

clean: ## remove what was built (virtual environments stay; rm -rf .venv .venv-* removes them)
	@rm -rf build dist docs/_build docs/generated .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find agentrl tests docs scripts -name __pycache__ -type d -prune -exec rm -rf {} +
