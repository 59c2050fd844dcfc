"""Set up every test: no screen, a separate home folder, no network, pinned fonts, and a check for leftovers."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Generator, Iterator
from multiprocessing.context import BaseContext
from pathlib import Path

import hypothesis
import pytest
from environment import set_environment
from forked_workers import forking
from leaks import Running, leaks

pytest_plugins = ["pytester", "cpu_times", "llama_server"]

hypothesis.settings.register_profile("developer", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "developer")


def pytest_configure(config: pytest.Config) -> None:
    """Set the environment before anything imports Qt, torch or numba; worker processes inherit it."""
    home = tempfile.TemporaryDirectory(prefix="turnstile-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    set_environment(Path(home.name))
    sys.dont_write_bytecode = False  # this process has read the variable already
    # Kernels take seconds to compile: they alone are kept from run to run, and shared by the processes of a run.
    cache: pytest.Cache | None = getattr(config, "cache", None)  # there is none under -p no:cacheprovider
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache.mkdir("numba")) if cache else home.name)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass over modules without the mark where `-m alone` selects it: importing all of them takes half a minute."""
    is_passed_over = config.option.markexpr == "alone" and collection_path.suffix == ".py"
    return (is_passed_over and b"mark.alone" not in collection_path.read_bytes()) or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Take what stays for the whole run, such as modules and tests, out of all garbage collections."""
    gc.disable()  # nearly all of it stays, and each collection would look at all of it
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def modules_stay() -> Iterator[None]:
    """Do the same with what a module imported and cached; a collection of everything takes a tenth of a second."""
    yield
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Append the ids of skipped tests to the file that `SKIPPED_TESTS` names; `.ci/run` installs more and runs them."""
    if file := os.environ.get("SKIPPED_TESTS"):
        with Path(file).open("a", encoding="utf-8") as lines:
            skipped = {report.nodeid for report in terminalreporter.stats.get("skipped", ())}
            lines.writelines(f"{test}\n" for test in sorted(skipped))


@pytest.fixture(scope="session")
def ready_worker() -> BaseContext | None:
    """Makes copies of a worker process that has imported and loaded everything."""
    return forking()


@pytest.fixture
def ready_peers(ready_worker: BaseContext | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of engines that are compared are such copies, too."""
    if ready_worker:
        monkeypatch.setattr("engine.peers.bench.spawn_context", lambda: ready_worker)


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """Fail a test that leaves a thread or a process behind; what fixtures of wider scope started may stay."""
    before = Running.now()
    yield
    left = leaks(before)
    if left:
        pytest.fail("left running: " + "; ".join(left))
