"""Worker processes as copies of one that has imported and loaded all that they need.

The application starts a handful of them for a window, and each imports for a second
and loads kernels for another; the tests open hundreds of windows. What a worker is
asked, what it answers and how it dies is the same. That one comes up by itself is
held by the tests of `app.jobs`, of the whole application, and those marked `alone`,
all of which start theirs as the application does.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing import forkserver
from multiprocessing.context import BaseContext
from unittest.mock import patch

READY = "ready_workers"
"""The module that the first process imports, and nobody else."""


def forking() -> BaseContext | None:
    """What starts such processes, once the first is ready; None where processes cannot be forked."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return None
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([READY])
    with patch.dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path))):  # where it finds the module
        forkserver.ensure_running()
    # The first answer is awaited here, where no test's patience runs out. A module that cannot be imported would be
    # passed over; its copy tells why.
    was_imported = f"import sys; found = {READY!r} in sys.modules; import {READY}; sys.exit(not found)"
    copy = context.Process(target=exec, args=(was_imported,))
    copy.start()
    copy.join()
    assert copy.exitcode == 0, f"{READY} was not imported"
    return context
