# Two commands are enough:  make app  starts the dashboard,  make test  runs the tests except the slow ones.
#   make app PORT=8600                   use another port than 8501
#   make app ADDRESS=0.0.0.0 PORT=8600   share with a class; prints the address to give out
#   make app PYTHON=/path/to/python3     choose the Python that .venv is made with
#   make test ARGS="tests/test_project.py -x"   pass arguments to pytest
#   make test ARGS="-n 8"                run the tests in eight processes
#   make test-visits                     whole visits of the pages, mostly in a browser
#   make test-long                       more cases and larger data

ADDRESS = localhost
PORT = 8501
PYTHON ?=
ARGS =
VENV = .venv

# Workers and tests start many processes. Keep compiled bytecode, so that only the first process compiles a file.
export PYTHONDONTWRITEBYTECODE =

# All paths are relative, so a folder with spaces in its name works.
PY = $(VENV)/bin/python
SOURCES = nspca app.py pages tests benchmarks scripts docs
# Files with words in them. Pictures, data and notebooks are left out; the examples are the notebooks.
TEXTS = $(shell find $(wildcard *.md *.py nspca pages tests benchmarks scripts docs deploy sample_data/*.md) -type f \( -name '*.py' -o -name '*.md' -o -name '*.js' -o -name '*.css' -o -name '*.R' \) -not -path '*/__pycache__/*')

.PHONY: help app test test-visits test-long lint format docs links note wheel clean environment test-environment docs-environment

help:
	@echo "make app    start the dashboard (PORT=8501, ADDRESS=localhost)"
	@echo "make test   run the tests (ARGS=... goes to pytest)"
	@echo "make test-visits  whole visits of the pages;  make test-long  more cases, larger data"
	@echo "make lint   check style, types, imports and spelling;  make format  apply it"
	@echo "make docs   build the pages of docs/ into build/site"
	@echo "make links  open every link of the pages (needs a network)"
	@echo "make note   build the note on certificates as PDF (needs LaTeX)"
	@echo "make wheel  build an sdist and a wheel in dist/"
	@echo "make clean  remove .venv and everything that was built"

app: environment
	@exec $(PY) -m nspca app --address "$(ADDRESS)" --port "$(PORT)"

test: test-environment
	@$(PY) -m pytest $(ARGS)

test-visits: test-environment
	@$(PY) -m pytest -m "visit and not long" $(ARGS)

test-long: test-environment
	@$(PY) -m pytest -m long $(ARGS)

lint: test-environment
	@mkdir -p build
	@$(PY) -m ruff check $(wildcard $(SOURCES))
	@$(PY) -m ruff format --check $(wildcard $(SOURCES))
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports --no-logo >build/arrows.log 2>&1 || { cat build/arrows.log; exit 1; }
	@$(PY) -m codespell_lib $(TEXTS)

format: test-environment
	@$(PY) -m ruff check --fix $(wildcard $(SOURCES))
	@$(PY) -m ruff format $(wildcard $(SOURCES))

# A warning is an error. So is a page that would load something from another host.
docs: docs-environment
	@$(PY) -m sphinx -E -q -W --keep-going -b html -d build/doctrees docs build/site
	@$(PY) -m scripts.offline build/site
	@echo "build/site/index.html"

# Opens every link of the pages, those to other sites too: it needs a network.
links: docs-environment
	@$(PY) -m sphinx -q -b linkcheck -d build/doctrees docs build/links

# The note as PDF. TeX is needed: on Debian latexmk, texlive-latex-recommended, texlive-latex-extra, texlive-fonts-recommended, tex-gyre.
note: docs-environment
	@command -v latexmk >/dev/null || { echo "nspca: the PDF needs latexmk and LaTeX; docs/releasing.md names the packages. make docs shows the same note in a browser." >&2; exit 1; }
	@$(PY) -m sphinx -q -W --keep-going -b latex -d build/note-doctrees -D root_doc=note -D include_patterns=note.md -D suppress_warnings=myst.xref_missing docs build/note
	@$(MAKE) --no-print-directory -s -C build/note >build/note/latex.log 2>&1 || { tail -n 30 build/note/latex.log >&2; exit 1; }
	@echo "build/note/nspca-note.pdf"

wheel: test-environment
	@rm -rf dist *.egg-info
	@$(PY) -c "from setuptools import build_meta; build_meta.build_sdist('dist')" >/dev/null
	@$(PY) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist dist/*.tar.gz
	@ls dist/*

clean:
	@rm -rf "$(VENV)" build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

environment:
	@$(find_python); exec "$$python" scripts/environment.py "$(VENV)" app

test-environment:
	@$(find_python); exec "$$python" scripts/environment.py "$(VENV)" test

docs-environment:
	@$(find_python); exec "$$python" scripts/environment.py "$(VENV)" docs

# Set $python to the first Python that starts and is new enough. A name on PATH may be an old version, or a shim that does not start.
define find_python
python=; \
for name in $(if $(PYTHON),"$(PYTHON)",python3.14 python3.13 python3.12 python3.11 python3 python); do \
  if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python="$$name"; break; fi; \
done; \
if [ -z "$$python" ]; then \
  echo "nspca: Python 3.11 or newer is needed and $(if $(PYTHON),$(PYTHON) is not one,none was found on PATH): install it, or name one with PYTHON=/path/to/python3." >&2; exit 1; \
fi
endef
