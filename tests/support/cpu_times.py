"""Measures the processor time of tests, with that of all processes which they start.

`pytest --cpu-times 20 tests/app/window` lists the twenty modules that take most; the time on the clock says little on a
machine that others use. What a fixture of a module or a session takes counts for the first test that requests it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator

import psutil
import pytest
from leaks import descendants

PROPERTY = "processor time"
STARTED = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-times", type=int, metavar="COUNT", help="list the modules that take most processor time")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.cpu_times:
        config.pluginmanager.register(Clock())


class Clock:
    """The measurements of one process of tests."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        item.stash[STARTED] = spent()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None]:
        yield
        item.user_properties.append((PROPERTY, spent() - item.stash[STARTED]))

    @staticmethod
    def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        times, tests = Counter[str](), Counter[str]()
        for report in (one for reports in terminalreporter.stats.values() for one in reports):
            if getattr(report, "when", None) == "teardown":
                module = report.nodeid.partition("::")[0]
                times[module] += dict(report.user_properties).get(PROPERTY, 0)
                tests[module] += 1
        terminalreporter.section("processor time")
        terminalreporter.line(f"{sum(times.values()):8.1f} s {sum(tests.values()):6} tests")
        for module, seconds in times.most_common(config.option.cpu_times):
            terminalreporter.line(f"{seconds:8.1f} s {tests[module]:6} {module}")


def spent() -> float:
    """Return the seconds of processor time of this process, of those below it, and of those that ended."""
    seconds = 0.0
    for process in (psutil.Process(), *descendants()):
        try:
            seconds += sum(process.cpu_times()[:4])
        except psutil.Error:  # it ended, and counts for its parent
            continue
    return seconds
