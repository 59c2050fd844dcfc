"""What every test gets: no screen, a home of its own, no network, and nothing left behind."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from leaks import Running, leaks

pytest_plugins = ["pytester"]

HOMES = {
    "HOME": "",
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_RUNTIME_DIR": "runtime",
    "XDG_STATE_HOME": "state",
}
SETTINGS = {
    "QT_QPA_PLATFORM": "offscreen",
    "QT_SCALE_FACTOR": "1",
    "QT_FONT_DPI": "96",
    "QT_STYLE_OVERRIDE": "Fusion",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONDONTWRITEBYTECODE": "",  # hundreds of processes import the same modules: none compiles what another has
}

hypothesis.settings.register_profile("developer", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "developer")


def pytest_configure(config: pytest.Config) -> None:
    """Set the environment before anything imports Qt, torch or numba; worker processes inherit it."""
    home = tempfile.TemporaryDirectory(prefix="turnstile-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    for name, folder in HOMES.items():
        path = Path(home.name, folder)
        path.mkdir(mode=0o700, exist_ok=True)
        os.environ[name] = str(path)
    os.environ.update(SETTINGS)
    sys.dont_write_bytecode = False  # this process has read the variable already
    # Kernels take seconds to compile: they alone are kept from run to run, and shared by the processes of a run.
    cache: pytest.Cache | None = getattr(config, "cache", None)  # there is none under -p no:cacheprovider
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache.mkdir("numba")) if cache else home.name)


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """Fail a test that leaves a thread or a process behind; what fixtures of wider scope started may stay."""
    before = Running.now()
    yield
    left = leaks(before)
    if left:
        pytest.fail("left running: " + "; ".join(left))
