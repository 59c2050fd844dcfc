"""A llama.cpp server in a child process: its start, its end, and what it says when it fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psutil
import pytest
from error_keys import raises_key
from llama_server import connect

from engine.models import ModelError, local_server
from engine.models.local_server import LocalServer
from engine.servers import ServerClient, ServerError
from engine.source import CancelledError, CancelToken


def test_it_serves_the_model_under_a_key_of_its_own(llama_server, tiny_gguf_file):
    with connect(llama_server) as client:
        assert client.get("/props")["model_path"] == str(tiny_gguf_file)
    assert llama_server.version.startswith("20")
    with ServerClient(llama_server.address, key="another") as client, raises_key(ServerError, "errors.servers.key"):
        client.get("/props")


def test_it_ends_when_it_is_closed(tiny_gguf_file):
    server = LocalServer(tiny_gguf_file, CancelToken(), threads=1)
    assert not server.has_ended()
    server.close()
    server.close()
    assert server.has_ended()


def test_it_ends_when_nothing_refers_to_it(tiny_gguf_file):
    server = LocalServer(tiny_gguf_file, CancelToken(), threads=1)
    child = newest_child()
    del server
    assert not child.is_running()


PARENT = """
import sys
from pathlib import Path
from engine.models.local_server import LocalServer
from engine.servers import ServerClient, ServerError
from engine.source import CancelToken
server = LocalServer(Path(sys.argv[1]), CancelToken(), threads=1)
print("ready", flush=True)
sys.stdin.read()
"""


def test_it_ends_when_its_parent_is_killed(tiny_gguf_file):
    command = [sys.executable, "-c", PARENT, str(tiny_gguf_file)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout.readline() == b"ready\n"
        (server,) = psutil.Process(parent.pid).children()
        parent.kill()
    psutil.wait_procs([server], timeout=60)
    assert not server.is_running()


def test_it_says_that_the_memory_may_be_exhausted_when_it_was_killed(fresh_llama_server):
    newest_child().kill()
    assert fresh_llama_server.has_ended(wait_s=60)
    with raises_key(ModelError, "errors.models.server.killed"):
        raise fresh_llama_server.failure()


def test_it_has_the_last_words_of_a_server_that_crashed(fresh_llama_server):
    newest_child().send_signal(signal.SIGABRT)  # as a failed assertion of llama.cpp does
    assert fresh_llama_server.has_ended(wait_s=60)
    with raises_key(ModelError, "errors.models.server.ended", status=-signal.SIGABRT):
        raise fresh_llama_server.failure()


def test_it_reports_progress_and_can_be_cancelled_while_it_starts(tiny_gguf_file):
    before, stages = children(), []

    def stop(what: str, done: int, total: int | None) -> None:
        stages.append((done, total))
        token.cancel()

    token = CancelToken(stop)
    with pytest.raises(CancelledError):
        LocalServer(tiny_gguf_file, token)
    assert stages == [(0, None)]
    assert children() == before


def test_other_files_and_damaged_ones_are_refused(tmp_path, tiny_gguf_file):
    file = tmp_path / "model.gguf"
    for data, key in (
        (None, "errors.models.server.missing"),
        (b"PK\3\4", "errors.models.server.not_gguf"),
        (b"", "errors.models.server.not_gguf"),
        (tiny_gguf_file.read_bytes()[:2000], "errors.models.server.ended"),
    ):
        if data is not None:
            file.write_bytes(data)
        with raises_key(ModelError, key):
            LocalServer(file, CancelToken())


def test_a_file_that_llama_cpp_refuses_is_refused_with_its_reason(tmp_path, tiny_gguf_file):
    file = tmp_path / "model.gguf"
    file.write_bytes(tiny_gguf_file.read_bytes().replace(b"llama", b"llamo", 1))  # the architecture comes first
    with raises_key(ModelError, "errors.models.server.ended", status=1) as caught:
        LocalServer(file, CancelToken())
    assert "unknown model architecture: 'llamo'" in str(caught.value)


def test_a_model_larger_than_the_memory_is_refused(tiny_gguf_file, monkeypatch):
    monkeypatch.setattr(local_server, "available_memory", lambda: 1000)
    with raises_key(ModelError, "errors.models.too_large"):
        LocalServer(tiny_gguf_file, CancelToken())


def test_without_the_package_the_error_names_the_extra(tiny_gguf_file, monkeypatch):
    monkeypatch.setattr(local_server, "find_spec", lambda name: None)
    with raises_key(ModelError, "errors.models.server.library"):
        LocalServer(tiny_gguf_file, CancelToken())


def children() -> list[psutil.Process]:
    return psutil.Process().children()


def newest_child() -> psutil.Process:
    """The child process that was started last: process ids begin again at some point, so they tell nothing."""
    return max(children(), key=psutil.Process.create_time)
