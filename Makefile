# Two environments: .venv holds what a user needs, .venv-dev everything.
PYTHON ?= python3
PIP = -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
WORKERS ?= 2

.PHONY: demo test check bench docs browser clean

demo: .venv/ready  ## set up and do the main job on the embedded graph
	.venv/bin/nqe demo --output build/atlas.graph

test: .venv-dev/ready browser check  ## set up and run every test
	.venv-dev/bin/python -m pytest --numprocesses $(WORKERS) --dist loadgroup

check: .venv-dev/ready  ## style, types, and the direction of imports
	.venv-dev/bin/ruff check --quiet .
	.venv-dev/bin/ruff format --quiet --check .
	.venv-dev/bin/mypy
	.venv-dev/bin/python -m pytest tests/test_imports.py

bench: .venv-dev/ready  ## measure times again; what trains for an hour is run by hand
	for script in benchmarks/bench_*.py; do .venv-dev/bin/python $$script || exit 1; done

docs: .venv-dev/ready  ## the documentation as a site, in build/site
	.venv-dev/bin/mkdocs build --quiet --strict --site-dir build/site

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	.venv/bin/python $(PIP) --editable .
	touch $@

.venv-dev/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-dev
	.venv-dev/bin/python $(PIP) --editable '.[dev]'
	touch $@

browser:  ## Chromium for the browser tests; without it they skip
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update --quiet --quiet \
	  && DEBIAN_FRONTEND=noninteractive apt-get install --quiet --quiet --yes --no-install-recommends chromium >/dev/null; } \
	  || echo "no chromium, and no way to install it: browser tests will skip"

clean:
	rm -rf .venv .venv-dev build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
