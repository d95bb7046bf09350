# mvref: two commands, `make book` and `make test`; `make help` lists the others.
# Everything runs in .venv, which is made once from the pinned requirements.

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
else
BIN := .venv/bin
endif

# Two test workers share two cores, so each of them computes with one thread unless told otherwise.
PYTEST := OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1} $(BIN)/python -m pytest -q
STAGES := lint unit outputs small book links
OF_HTML := $(addprefix tests/project/test_,html.py binder.py live.py)
WEB := tests/project/test_web.py

.PHONY: help book slides exercises pdf test lint unit outputs small links web lab live chapters numerics reproduce bench release lock clean

help:
	@sed -n 's/^## //p' Makefile

## make book       build the HTML book, executing chapters that changed
book: .venv/installed _build/.executed _build/.configured
	$(BIN)/python book/execute.py --cache
	@rm _build/.configured
	$(BIN)/jupyter-book build . -n -W --keep-going
	@$(MAKE) --no-print-directory slides
	@touch _build/.configured
	@echo "The book: $$(pwd)/_build/html/index.html"

## make slides     slides of every "In one page" in _build/html/slides (`make book` makes them, too)
slides: .venv/installed
	$(BIN)/python -m book.slides

## make exercises  the exercises without solutions, a notebook for each chapter, in _build/exercises
exercises: .venv/installed
	$(BIN)/python -m book.exercises

## make pdf        print the built book into _build/html/mvref.pdf (needs Chromium, Chrome or Edge)
pdf: .venv/installed
	$(BIN)/python book/pdf.py $(if $(CHROME),"$(CHROME)")

## make test       every stage below, in this order, until one fails
test: .venv/installed
	@start=$$(date +%s); for stage in $(STAGES); do \
	  echo; echo "=== $$stage ==="; \
	  $(MAKE) --no-print-directory $$stage || { echo "=== $$stage failed ==="; exit 1; }; \
	done; \
	echo; echo "=== all stages passed ($(STAGES)) in $$(( $$(date +%s) - start )) s ==="

## make lint         style of the code and of the chapters
lint: .venv/installed
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

## make unit         unit and property tests, doctests, packaging, ledger spot checks
unit: .venv/installed
	$(PYTEST) -n 2 --ignore=tests/chapters --ignore=tests/benchmarks \
	  $(addprefix --ignore=,$(OF_HTML) $(WEB))

## make outputs      every chapter executed (`make book` takes it from there), its outputs compared
outputs: .venv/installed _build/.executed
	OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1} $(BIN)/python book/execute.py --cache --compare

## make small        the notebooks' form, and every chapter run with small parameters
small: .venv/installed
	$(PYTEST) -n 2 tests/chapters

## make links        the built HTML: links, anchors, outside resources, launch buttons
links: .venv/installed
	$(PYTEST) $(OF_HTML)

## make web        axe-core, Lighthouse and the keyboard on the built HTML (needs a browser and Node.js)
web: .venv/installed
	@! command -v npm > /dev/null || npm ci --prefix tests/project/web --ignore-scripts
	$(PYTEST) -s -rs $(WEB)

## make lab        open your copies of the chapters in JupyterLab (notebooks/, made once)
lab: .venv/installed
	$(BIN)/python book/plain.py notebooks
	$(BIN)/jupyter lab notebooks

## make live       serve the built book; on its pages "Run it here" changes and runs the code
live: .venv/installed
	$(BIN)/python book/live.py --ServerApp.open_browser=True

## make chapters   execute every chapter again, in place
chapters: .venv/installed
	$(BIN)/python book/execute.py

## make numerics   `make outputs` under several BLAS kernels and thread counts
numerics: .venv/installed
	$(BIN)/python tests/chapters/numerics.py

## make reproduce  recompute the full tables into the ledger (hours; can be stopped and resumed)
reproduce: .venv/installed
	$(BIN)/python -m mvref run all

## make bench      the speed tests; their table opens the chapter on speed (BENCH: its Python)
bench: .venv/installed
	$(or $(BENCH),$(BIN)/python) -m pytest tests/benchmarks -s --benchmark-disable \
	  --table mvref/experiments/ledger/bench.csv

## make release    wheel, source distribution and book (HTML, PDF) into dist, checked; needs the tag
release: book pdf
	$(BIN)/python .ci/release.py

## make lock       pin the requirements again from pyproject.toml (needs uv)
lock:
	$(PYTHON) .ci/lock.py

## make clean      remove what was built; .venv stays
clean:
	rm -rf _build build dist book/reference/*/ mvref.egg-info .pytest_cache .ruff_cache .hypothesis .benchmarks
	find mvref tests book .ci -name __pycache__ -type d -exec rm -rf {} +

.venv/installed: pyproject.toml requirements.txt requirements-liblinear.txt
	@command -v $(PYTHON) > /dev/null || { echo "No $(PYTHON) here: install Python 3.11 or newer, or name yours with make PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("mvref needs Python 3.11 or newer, and $(PYTHON) is %d.%d.%d: name a newer one with make PYTHON=..." % sys.version_info[:3])'
	@$(PYTHON) .ci/environment.py
	@touch $@

# The cache of executed chapters looks at the chapters only; a change of the code must empty it too.
_build/.executed: $(shell find mvref -name '*.py' -o -name '*.csv' -o -name '*.npz') $(wildcard book/errata/*.toml) requirements.txt
	rm -rf _build/.jupyter_cache
	@mkdir -p _build && touch $@

# Sphinx builds the pages that changed. A change of their order or of the code rebuilds all of them,
# and so does a build that did not end well: it would not warn a second time.
_build/.configured: _build/.executed _config.yml _toc.yml $(wildcard book/_ext/*.py)
	rm -rf _build/html _build/.doctrees
	@touch $@
