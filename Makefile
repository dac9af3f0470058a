# Two environments: .venv holds what a user installs, .venv-dev also what developers need.
PYTHON ?= python3
PIP = -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
WORKERS ?= 2
PYTEST = .venv-dev/bin/python -m pytest --numprocesses $(WORKERS) --dist loadgroup

.PHONY: demo test test-long check browser bench docs clean

demo: .venv/ready  ## install the package and run its demo on the embedded graph
	.venv/bin/nqe demo --output build/atlas.graph

test: .venv-dev/ready check  ## check style and types, and run all tests except the long ones
	$(PYTEST) -m "not long"

test-long: .venv-dev/ready  ## run the long tests: builds, benchmarks, many repetitions
	$(PYTEST) -m long

check: .venv-dev/ready  ## check style, types and the direction of imports
	.venv-dev/bin/ruff check --quiet .
	.venv-dev/bin/ruff format --quiet --check .
	.venv-dev/bin/mypy
	.venv-dev/bin/python -m pytest tests/test_imports.py

browser:  ## install Chromium for the tests of the page, if that is possible here
	command -v chromium >/dev/null \
	  || { test "$$(id -u)" = 0 && apt-get update -qq \
	       && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium >/dev/null; } \
	  || echo "Chromium is missing: the tests of the page will be skipped"

bench: .venv-dev/ready  ## measure all times again; what trains for an hour is run by hand
	for script in benchmarks/bench_*.py; do .venv-dev/bin/python $$script || exit 1; done

docs: .venv-dev/ready  ## build the documentation as a site in build/site
	.venv-dev/bin/mkdocs build --quiet --strict --site-dir build/site

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	.venv/bin/python $(PIP) --editable '.[serve]'
	touch $@

.venv-dev/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-dev
	.venv-dev/bin/python $(PIP) --editable '.[dev]'
	touch $@

clean:  ## remove both environments and everything that was built
	rm -rf .venv .venv-dev build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
