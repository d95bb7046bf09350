# mvref: two commands, `make book` and `make test`; `make help` lists the others.
# Everything runs in .venv, which is made once from the pinned requirements.

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
else
BIN := .venv/bin
endif

# Two test workers share two cores, so each of them computes with one thread unless told otherwise.
ONE_THREAD := OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1}
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest -q
# Those in quotation marks run side by side: Sphinx uses one core.
STAGES := lint unit outputs small "experiments book" links
# No data set is found, and below a file none can be stored: what chapters show is the same anywhere.
NO_DATA := MVREF_DATA= MVREF_CACHE="$(CURDIR)/Makefile"
OF_EXPERIMENTS := tests/experiments
OF_HTML := $(addprefix tests/project/test_,html.py binder.py live.py)
WEB := tests/project/test_web.py

# Tests that rest on the copy and on what is installed: they run unless they have passed with just these here.
ONCE := $(ONE_THREAD) $(BIN)/python tests/passed.py -q
FORKED := -p tests.chapters.kernels  # which imports once for all chapters

.PHONY: help book slides exercises pdf test lint unit outputs small experiments data links web browser lab live chapters numerics lowest reproduce bench release lock clean

help:
	@sed -n 's/^## //p' Makefile

## make book       build the HTML book; with EXECUTE=1 all chapters run first, as by `make chapters`
book: .venv/installed $(if $(EXECUTE),chapters) _build/.configured
	@rm _build/.configured
	$(BIN)/jupyter-book build . -n -W --keep-going
	@$(MAKE) --no-print-directory slides
	$(BIN)/python book/plain.py _build/html
	@touch _build/.configured
	@echo "The book: $$(pwd)/_build/html/index.html"

## make slides     slides of every "In one page" in _build/html/slides (`make book` makes them, too)
slides: .venv/installed
	$(BIN)/python -m book.slides

## make exercises  the chapters without the solutions of their exercises, in _build/exercises
exercises: .venv/installed
	rm -rf _build/exercises
	$(BIN)/python book/plain.py _build/exercises --no-solutions

## make pdf        print the chapters, a PDF for each part, into _build/html (needs Chromium, Chrome or Edge)
pdf: .venv/installed
	$(BIN)/python book/pdf.py $(if $(CHROME),"$(CHROME)")

## make test       every stage below, in this order, until one fails
test: .venv/installed
	@echo "Takes 15 to 60 minutes on two cores, less where something has passed here before and nothing has changed"
	@start=$$(date +%s); for stages in $(STAGES); do \
	  begin=$$(date +%s); echo; for stage in $$stages; do sed -n "s/^## make $$stage  */=== $$stage: /p" Makefile; done; \
	  $(MAKE) --no-print-directory -j2 $(if $(filter output-sync,$(.FEATURES)),--output-sync) $$stages || { \
	    echo "=== $$stages failed; alone: make $$stages ==="; exit 1; }; \
	  took="$$took, $$stages $$(( $$(date +%s) - begin )) s"; echo "===$${took##*,}"; \
	done; \
	echo; echo "=== all stages passed in $$(( $$(date +%s) - start )) s$$took ==="

## make lint         style of the code and of the chapters, types of the signatures
lint: .venv/installed
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check --exclude '*.ipynb' .
	$(BIN)/python -m ruff format --check --line-length 88 --exclude '*.py' --exclude '*.md' .
	$(BIN)/python -m mypy

## make unit         unit and property tests, doctests, packaging
unit: .venv/installed
	$(ONCE) -n 2 --ignore=tests/chapters --ignore=tests/benchmarks \
	  $(addprefix --ignore=,$(OF_HTML) $(WEB) $(OF_EXPERIMENTS))

## make outputs      nbval executes every chapter and compares what it shows with what is stored
outputs: .venv/installed
	$(NO_DATA) $(ONCE) $(FORKED) --nbval --nbval-sanitize-with tests/chapters/pictures.cfg --nbval-cell-timeout=600 -o verbosity_assertions=2 -n 2 --dist loadfile \
	  $$(ls -S $(or $(CHAPTERS),book/*.ipynb book/*/*.ipynb))

## make small        the notebooks' form; papermill runs what pages offer, with small parameters and the wheel alone
small: .venv/installed _build/outside/installed
	$(NO_DATA) $(ONCE) -n 2 tests/chapters

## make experiments  protocols, ledger and verdicts
experiments: .venv/installed
	$(ONCE) -n 2 $(OF_EXPERIMENTS)

## make data         the tests that need data sets or the papers' texts, and no others
data: .venv/installed
	$(PYTEST) -n 2 -rs -m "data or papers"

## make links        the built HTML: links, anchors, outside resources, launch buttons
links: .venv/installed
	$(PYTEST) -n 2 --dist loadfile $(OF_HTML)

## make web        axe-core, Lighthouse and the keyboard on the built HTML (needs a browser and Node.js)
web: .venv/installed
	@! command -v npm > /dev/null || npm ci --prefix tests/project/web --ignore-scripts
	$(PYTEST) -s -rs $(WEB)

## make browser    Python in the reader's browser: Pyodide itself, and tests with the versions of its packages
##                 (needs npm, a browser, the built book and Python 3.12 or newer, best 3.14: PYTHON=...)
browser: .venv/installed
	npm ci --prefix tests/project/web --ignore-scripts
	OUTSIDE=browser PYTHON=$(PYTHON) $(BIN)/python tests/chapters/outside.py
	$(PYTEST) -rs tests/project/test_live.py
	$(NO_DATA) $(ONE_THREAD) _build/browser/$(notdir $(BIN))/python -m pytest -q \
	  -k "not FSMulti and not by_pattern" --ignore=tests/core/test_simplex_qp.py mvref tests/core
	$(NO_DATA) OUTSIDE=browser $(PYTEST) -n 2 -rs tests/chapters/test_small.py

## make lab        open your copies of the chapters in JupyterLab (notebooks/, made once)
lab: .venv/installed
	$(BIN)/python book/plain.py notebooks
	$(BIN)/jupyter lab notebooks

## make live       serve the built book; on its pages "Run it here" changes and runs the code
live: .venv/installed
	@test -f _build/html/index.html || { echo "The book is not built: run make book first"; exit 1; }
	env -u JUPYTER_TOKEN $(BIN)/jupyter server --config=book/live.json --ServerApp.open_browser=True

## make chapters   papermill executes every chapter again, in place (or CHAPTERS=book/data.ipynb)
chapters: .venv/installed
	$(NO_DATA) $(ONE_THREAD) $(BIN)/python book/execute.py $(CHAPTERS)

## make numerics   `make outputs` under several BLAS kernels and thread counts, and with your data
numerics: .venv/installed
	$(BIN)/python tests/chapters/numerics.py

## make reproduce  recompute the full tables into the ledger (hours; can be stopped and resumed)
reproduce: .venv/installed
	$(BIN)/python -m mvref run all

## make bench      the speed tests; their table opens the chapter on speed (BENCH: its Python)
bench: .venv/installed
	$(or $(BENCH),$(BIN)/python) -m pytest tests/benchmarks -s \
	  --table book/experiments/ledger/bench.csv

## make lowest     the tests with the lowest versions that pyproject.toml allows (RESOLUTION=highest: the newest)
lowest:
	$(PYTHON) -m venv --clear _build/lowest
	_build/lowest/bin/python -m pip install --quiet uv==0.13.9
	_build/lowest/bin/uv pip install --quiet --python _build/lowest/bin/python \
	  --resolution $(or $(RESOLUTION),lowest-direct) -e '.[book]' --group test
	OMP_NUM_THREADS=1 _build/lowest/bin/python -m pytest -q -n 2 -m "not ledger" \
	  --ignore=tests/chapters --ignore=tests/benchmarks

## make release    wheel, source distribution and book (HTML, PDF) into dist, checked; needs the tag
release: book pdf
	$(BIN)/python .ci/release.py

## make lock       pin the requirements again from pyproject.toml (needs uv)
lock:
	$(PYTHON) .ci/lock.py

## make clean      remove what was built; .venv stays
clean:
	rm -rf _build build dist book/reference/*/ mvref.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find mvref tests book .ci -name __pycache__ -type d -exec rm -rf {} +

.venv/installed: pyproject.toml requirements.txt requirements-liblinear.txt
	@command -v $(PYTHON) > /dev/null || { echo "No $(PYTHON) here: install Python 3.11 or newer, or name yours with make PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("mvref needs Python 3.11 or newer, and $(PYTHON) is %d.%d.%d: name a newer one with make PYTHON=..." % sys.version_info[:3])'
	@$(PYTHON) .ci/environment.py
	@touch $@

# The wheel, matplotlib, and what runs a notebook.
_build/outside/installed: requirements.txt pyproject.toml tests/chapters/outside.py \
  $(shell find mvref -name '*.py' -o -name '*.csv' -o -name '*.npz')
	$(BIN)/python tests/chapters/outside.py

# Sphinx builds the pages that changed. A change of their order or of the code rebuilds all of them,
# and so does a build that did not end well: it would not warn a second time.
_build/.configured: $(shell find mvref -name '*.py' -o -name '*.csv' -o -name '*.npz') \
  $(wildcard book/errata/*.toml book/_ext/*.py) requirements.txt _config.yml _toc.yml
	rm -rf _build/html _build/.doctrees _build/.jupyter_cache book/reference/*/
	@mkdir -p _build && touch $@
