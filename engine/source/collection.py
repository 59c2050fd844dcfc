"""Suspend the collection of cyclic garbage while one large structure is built.

A large grammar is millions of objects that all stay. To look through them again and again
takes a third to half of the time of what builds them, and more than a second at a time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Iterator[None]:
    """Suspend the collection of cyclic garbage; it may be nested.

    What was made meanwhile then counts as old, or all of it would be looked through at once.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():  # what others have frozen stays so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
