"""torch and transformers, imported with their first use and told to be quiet.

Their progress bars and log lines would land in a terminal that the user is not
looking at, or in the JSON of a command; progress is told through `CancelToken`.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from types import ModuleType

from engine.models.errors import ModelError
from engine.source import CancelToken

_THREADS = 4  # more gain nothing for one token at a time
_SMALL = 50_000_000  # parameters; below it a second thread costs more in waiting than it computes


@cache
def _libraries() -> tuple[ModuleType, ModuleType]:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the tokenizer's threads warn at every fork
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    os.environ.setdefault("TQDM_DISABLE", "1")  # the GGUF reader's bar asks nobody else
    import_module("tqdm").tqdm.monitor_interval = 0  # and would leave a thread behind
    try:
        torch, transformers = import_module("torch"), import_module("transformers")
    except ImportError as error:
        raise ModelError(
            f"torch and transformers cannot be imported ({error}); install Turnstile again, "
            "or use a tokenizer alone (uniform:PATH)"
        ) from error
    transformers.logging.set_verbosity(transformers.logging.CRITICAL)
    transformers.logging.disable_progress_bar()
    return torch, transformers


def threads_for(parameters: int) -> int:
    """How many threads compute a model: half of the cores at most, since the window and the masks need theirs.

    Measured on two busy cores: two threads make a step of a small model seven times slower, of SmolLM2 three times.
    """
    chosen = os.environ.get("OMP_NUM_THREADS", "")
    if chosen.isdigit() and int(chosen) > 0:
        return int(chosen)
    if parameters < _SMALL:
        return 1
    return max(1, min(_THREADS, (os.cpu_count() or 1) // 2))


def libraries(cancel: CancelToken) -> tuple[ModuleType, ModuleType]:
    """The modules torch and transformers.

    Raises:
        ModelError: the installation lacks one.
    """
    cancel.report("starting torch", 0)
    found = _libraries()
    cancel.check()
    return found
