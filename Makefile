# make setup    the environment in .venv (quick when it is there already)
# make demo     what each method costs on the shipped instances, with certified bounds and gaps
# make test     the tests of every day;  make test-all  the long ones too;  make bench  the benchmarks;  make lint
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready

.PHONY: setup demo test test-all bench lint clean
setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v <= (3, 13) else "yardline needs Python 3.11 to 3.13, this is %d.%d: make PYTHON=python3.12 ..." % v)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: setup
	@$(BIN)/python -m yardline.demo

test: setup
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup -m "not slow"

test-all: setup
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup

bench: setup
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/comparing.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf .venv build dist *.egg-info yardline.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
