"""Finds the threads and processes that a test leaves running.

Turnstile works in processes, and a worker that outlives its test slows the
next one or holds the whole run open. What ends by itself within the grace is
no leak: a worker that was told to stop needs a moment.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

# These live until the interpreter ends: the standard library's own helpers, and what renders chat templates.
HELPERS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver", "chat_template_child")


@dataclass(frozen=True, slots=True)
class Running:
    """The threads and child processes of this process, at one moment."""

    threads: frozenset[threading.Thread]
    processes: frozenset[psutil.Process]

    @classmethod
    def now(cls) -> Running:
        return cls(frozenset(threading.enumerate()), frozenset(descendants()))


def leaks(before: Running, grace: float = 60.0) -> list[str]:
    """What runs now, did not run before, and does not end within `grace` seconds; one line each."""
    now = Running.now()
    found = []
    for thread in now.threads - before.threads:
        thread.join(grace)
        if thread.is_alive():
            found.append(f"thread {thread.name!r}")
    fresh = [process for process in now.processes - before.processes if not is_helper(process)]
    _, alive = psutil.wait_procs(fresh, timeout=grace)
    found += [f"process {process.pid}: {' '.join(command_line(process))[:200]}" for process in alive]
    return found


def descendants() -> list[psutil.Process]:
    """The processes below this one, from the lists that Linux keeps: psutil asks every process of the machine."""
    try:
        return [psutil.Process(pid) for pid in _below(os.getpid())]
    except (OSError, psutil.Error):  # there are no such lists, or something ended while they were read
        return psutil.Process().children(recursive=True)


def _below(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            yield child
            yield from _below(child)


def is_helper(process: psutil.Process) -> bool:
    """Whether it is one. What a helper forked has its command line, and is none."""
    try:
        parent = process.parent()
    except psutil.Error:  # it ended
        return False
    return _is_named_as_one(process) and (parent is None or not _is_named_as_one(parent))


def _is_named_as_one(process: psutil.Process) -> bool:
    words = " ".join(command_line(process))
    return any(name in words for name in HELPERS)


def command_line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # it ended, or is a zombie
        return []
