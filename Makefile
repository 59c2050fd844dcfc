# `make run` opens the window, `make test` checks everything, `make bundle` builds packages for users; each sets up what it
# needs.

BIN := .venv/bin
# Two processes of tests at once: one thread each, or they fight for the cores.
TEST := QT_QPA_PLATFORM=offscreen OMP_NUM_THREADS=1 $(BIN)/python -m pytest

.PHONY: run test manual bundle ready-to-run ready-to-test ready-to-manual ready-to-bundle lint types contracts tests format

run: ready-to-run
	@$(BIN)/turnstile

# One after the other, cheapest first, whatever -j says.
test: ready-to-test
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory types
	@$(MAKE) --no-print-directory contracts
	@$(MAKE) --no-print-directory tests

bundle: ready-to-bundle
	@build/env/bin/python packaging/make_bundle.py

ready-to-run ready-to-test ready-to-manual ready-to-bundle: ready-to-%:
	@python="$$(sh packaging/find-python.sh)" && "$$python" packaging/bootstrap.py $*

# The pages of `resources/manual` as HTML, which *Help › Manual* opens from the disk.
manual: ready-to-manual
	$(BIN)/python -m sphinx --builder html --fail-on-warning --quiet --conf-dir packaging/manual resources/manual resources/manual/html

# The parts of `make test`, for work on one of them; they expect that it ran once.
lint:
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

types:
	$(BIN)/python -m mypy --num-workers 2

# Without its cache, which does not notice that a package appeared.
contracts:
	$(BIN)/lint-imports --no-logo --no-cache

# What measures the event loop runs by itself, so that no neighbour slows it.
tests:
	$(TEST) -n 2 --dist worksteal -m "not alone"
	$(TEST) -m alone

format:
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .
