# Everything there is to run; `make` alone lists it. Each target sets up what it needs first, see scripts/setup.sh.

PY := .venv/bin/python
JOBS ?= 2
# Choose the interpreter, and another package index for the CPU build of torch: make demo PYTHON=... TORCH_INDEX=...
export PYTHON TORCH_INDEX

# Runs a command silently; its output is shown only when it fails.
quietly = @out=$$($(1) 2>&1) || { printf '%s\n' "$$out"; echo "failed: $(1)"; exit 1; }

# Here nothing may be missing: a test that this machine cannot run fails instead of being skipped.
# One thread a process, since two processes share two cores; and byte code is kept, since many tests start processes.
pytest = OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -n $(JOBS) -q --require-all --durations 15 --durations-min 5
# PYTEST_ARGS may select tests of one kind only; pytest reports an empty selection with status 5.
or-none-selected = || [ $$? = 5 -a -n "$(PYTEST_ARGS)" ]

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-package test-long test-vllm test-warp test-libraries lint lint-code lint-imports lint-types docs pictures bench-peers clean

help: ## list the targets
	@echo "agentrl: multi-turn text and visual environments for LLM and VLM agents"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

demo: ## set up (downloads torch: see docs/install.md), train a tiny model in minutes, write a report and a film
	@scripts/setup.sh demo
	@.venv/bin/agentrl demo

PARTS := lint test-package test-vllm
test: ## set up everything, check the code, run the tests (each part runs even when another fails)
	@scripts/setup.sh test
	@failed=; for part in $(PARTS); do \
		if $(MAKE) --no-print-directory $$part; then echo "== make $$part: passed"; \
		else echo "== make $$part: FAILED"; failed="$$failed $$part"; fi; \
	done; \
	if [ -n "$$failed" ]; then echo "== make test: FAILED ($${failed# })"; exit 1; fi; \
	echo "== make test: passed"

# Each process takes half of the files and then tests from the other half, so shared fixtures are made once or twice.
test-package: ## run the tests except those of vLLM
	@scripts/setup.sh test
	@$(pytest) --dist worksteal -m "not vllm and not warp and not library and not long" $(PYTEST_ARGS) $(or-none-selected)

test-all: ## like test, with the long tests: the same promises with larger numbers
	@$(MAKE) --no-print-directory test PARTS="$(PARTS) test-long test-warp test-libraries"

test-long: ## run the long tests alone
	@scripts/setup.sh test
	@scripts/setup.sh lerobot
	@$(pytest) --dist worksteal -m "not vllm and not warp and not library and long" $(PYTEST_ARGS) $(or-none-selected)

# An engine is started once for each test file, so the tests of a file stay together.
test-vllm: ## install vLLM in a virtual environment of its own and run the tests that need it
	@scripts/setup.sh test
	@scripts/setup.sh vllm
	@$(pytest) --dist loadfile -m vllm $(PYTEST_ARGS) $(or-none-selected)

# In one process: compiling the kernels for a processor takes ten minutes at first, and seconds after that.
test-warp: ## install MuJoCo Warp in a virtual environment of its own and run the tests that need it
	@scripts/setup.sh warp
	@.venv-warp/bin/python -m pytest -q --require-all --timeout 3600 -m warp tests/envs/common/warp tests/envs/primitiveskill/test_skill_warp.py tests/rollout/test_device_collect.py tests/envs/libero/test_libero_vla_warp.py $(PYTEST_ARGS) $(or-none-selected)

LIBRARIES := verl verifiers openenv inspect-ai agentlightning litellm textworld browsergym ray
test-libraries: ## install other libraries in virtual environments of their own and run the tests that need them
	@scripts/setup.sh test
	@for library in $(LIBRARIES); do scripts/setup.sh library:$$library || exit 1; done
	@$(pytest) --dist loadfile -m library $(PYTEST_ARGS) $(or-none-selected)

lint: ## check style, import direction and types
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory --keep-going -j $(JOBS) lint-types lint-imports lint-code

lint-code:
	$(call quietly,$(PY) -m ruff check .)
	$(call quietly,$(PY) -m ruff format --check .)

lint-imports:
	$(call quietly,.venv/bin/lint-imports)

lint-types:
	$(call quietly,$(PY) -m pyright)

docs: ## build the documentation site into docs/_build/html
	@scripts/setup.sh docs
	@$(PY) -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

pictures: ## draw the pictures of the README again
	@scripts/setup.sh docs
	@$(PY) scripts/make_pictures.py

bench-peers: ## install the libraries the benchmarks compare with, in .venv-peers and .venv-peers-web
	@scripts/setup.sh peers
	@scripts/setup.sh peers-web

clean: ## remove build products (rm -rf .venv .venv-* removes the virtual environments)
	@rm -rf build dist docs/_build docs/generated .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find agentrl benchmarks tests docs scripts -name __pycache__ -type d -prune -exec rm -rf {} +
