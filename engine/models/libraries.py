"""Deferred import of torch and transformers, with their console output turned off.

Their progress bars and log lines would appear in a terminal that the user does not
see, or in the JSON output of a command; `CancelToken` reports progress instead.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from types import ModuleType

from engine.models.source import ModelError
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text

_MAX_THREADS = 4  # more threads are not faster for one token at a time
_SMALL_MODEL = 50_000_000  # parameters; for smaller models a second thread costs more than it gains


@cache
def _import_libraries() -> tuple[ModuleType, ModuleType]:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # otherwise tokenizers warns at every fork
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    os.environ.setdefault("TQDM_DISABLE", "1")  # the only switch for the progress bar of the GGUF reader
    import_module("tqdm").tqdm.monitor_interval = 0  # otherwise the bar would leave a thread running
    try:
        torch, transformers = import_module("torch"), import_module("transformers")
    except ImportError as error:
        raise ModelError("errors.models.libraries", reason=str(error)) from error
    transformers.logging.set_verbosity(transformers.logging.CRITICAL)
    transformers.logging.disable_progress_bar()
    return torch, transformers


def threads_for(parameters: int) -> int:
    """Return the number of threads for a model: at most half of the cores, since the window and the masks need some.

    Measured on two busy cores: with two threads a step of a small model is seven times slower, of SmolLM2 three times.
    """
    configured = os.environ.get("OMP_NUM_THREADS", "")
    if configured.isdigit() and int(configured) > 0:
        return int(configured)
    if parameters < _SMALL_MODEL:
        return 1
    return max(1, min(_MAX_THREADS, (os.cpu_count() or 1) // 2))


def libraries(cancel: CancelToken) -> tuple[ModuleType, ModuleType]:
    """Import torch and transformers.

    Raises:
        ModelError: one of them is not installed.
    """
    cancel.report(catalogue_text("sources.stage.libraries"), 0)
    found = _import_libraries()
    cancel.check()
    return found
