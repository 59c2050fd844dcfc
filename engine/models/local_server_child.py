"""The child process that runs llama.cpp's HTTP server; `engine.models.local_server` starts it.

Its request is one line of JSON on its standard input, which no list of processes shows: the API key is in it. Its
answer is one line that begins with `ANSWER`, among the lines of llama.cpp's log. It ends when its input closes, which
every system does when its parent ends, however that happens. This file runs as a script, outside of its package.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Final

LIBRARY: Final = "xllamacpp"
ANSWER: Final = b"turnstile-server "
_ERRORS_ONLY: Final = 1


def main() -> None:
    """Start the server, answer with its address and version, and run until the input closes."""
    request = json.loads(sys.stdin.buffer.readline())
    llama = import_module(LIBRARY)
    params = llama.CommonParams()
    params.model.path = request["path"]
    params.model_alias = {request["name"]}
    params.port = 0  # any that is free
    params.api_keys = [request["key"]]
    params.n_ctx = request["context"]
    params.n_parallel = 1  # one output at a time, which has the whole context
    params.cache_ram_mib = 0  # it keeps prompts of other outputs, up to 8 GB of them
    params.warmup = False
    params.ui = False
    params.offline = True
    params.verbosity = _ERRORS_ONLY
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = request["threads"]
    try:
        server = llama.Server(params)  # waits until the model is loaded
    except RuntimeError as error:
        sys.exit(str(error))
    answer = {"address": server.listening_address, "version": llama.__version__}
    sys.stdout.buffer.write(ANSWER + json.dumps(answer).encode() + b"\n")
    sys.stdout.buffer.flush()
    sys.stdin.buffer.read()
    os._exit(0)  # without the destructors, which wait for requests


if __name__ == "__main__":
    main()
