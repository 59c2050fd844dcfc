"""A context manager that suspends the garbage collector while one large structure is built.

A large grammar has millions of objects that all stay alive. Scanning them again and again
takes a third to half of the time of the build, and pauses of more than a second.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_MANY: Final = 10_000  # new objects; fewer are scanned in less than a millisecond


class OtherCode:
    """Other code of the process, which may freeze objects, as servers do; `freezes` is set once it was seen to."""

    freezes = False


@contextmanager
def no_collection() -> Iterator[None]:
    """Suspend the collector of cyclic garbage; contexts may be nested.

    At the end, new objects are moved to the oldest generation, or all of them would be scanned at once, and again and
    again. Objects that other code has frozen stay frozen. Counting those takes time in proportion to their number (30
    ms for a million), so once there were any, that is done for many new objects only.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not OtherCode.freezes or gc.get_count()[0] > _MANY:
                OtherCode.freezes = gc.get_freeze_count() > 0
                if not OtherCode.freezes:
                    gc.freeze()
                    gc.unfreeze()
            gc.enable()
