"""The kinds of servers, by doubles that answer as the sources of their releases do: read, not recorded.

vLLM 0.33.0: `entrypoints/serve/engine/protocol.py`, `entrypoints/serve/instrumentator/basic.py`. SGLang 0.5.23:
`srt/entrypoints/{http_server.py,openai/protocol.py}`. Ollama 0.32.15: `server/routes.go`, `openai/openai.go`. LM Studio
has no public sources: by its documentation of `/api/v0`.
"""

from __future__ import annotations

import pytest

from engine.servers import KINDS, RefusedRequestError, ServerClient, ServerError, identify
from tests.support.server_double import DoubleReply, served


def _models(owner, *names, **more):
    return {"object": "list", "data": [{"id": name, "object": "model", "owned_by": owner, **more} for name in names]}


LLAMA_SERVER = {
    "/props": {
        "default_generation_settings": {"n_ctx": 2048, "params": {}},
        "build_info": "b11549-0",
        "model_path": "/models/m.gguf",
        "chat_template": "{{ messages }}",
    },
    "/v1/models": _models("llamacpp", "m.gguf"),
}
VLLM = {"/version": {"version": "0.33.0"}, "/v1/models": _models("vllm", "org/m", max_model_len=4096, root="org/m")}
SGLANG = {
    "/server_info": {"version": "0.5.23", "model_path": "org/m"},
    "/v1/models": _models("sglang", "org/m", max_model_len=4096),
}
OLLAMA = {
    "/api/version": {"version": "0.32.15"},
    "/api/tags": {"models": [{"name": "llama3.2:latest"}, {"name": "qwen3:8b"}]},
    "/v1/models": _models("library", "llama3.2:latest", "qwen3:8b"),
}
LM_STUDIO = {
    "/api/v0/models": {
        "object": "list",
        "data": [
            {"id": "a", "state": "not-loaded", "max_context_length": 1024},
            {"id": "b", "state": "loaded", "max_context_length": 8192, "loaded_context_length": 4096},
        ],
    },
    "/v1/models": _models("organization_owner", "a", "b"),
}
OTHER = {"/v1/models": _models("me", "x")}


@pytest.mark.parametrize(
    ("answers", "kind", "version", "model", "context"),
    [
        (LLAMA_SERVER, "llama-server", "b11549-0", "m.gguf", 2048),
        (VLLM, "vllm", "0.33.0", "org/m", 4096),
        (SGLANG, "sglang", "0.5.23", "org/m", 4096),
        (OLLAMA, "ollama", "0.32.15", "llama3.2:latest", None),
        (LM_STUDIO, "lm-studio", "", "b", 4096),
        (OTHER, "openai", "", "x", None),
    ],
)
def test_each_kind_is_recognised_by_what_it_answers(answers, kind, version, model, context):
    with served(answers) as double:
        found = identify(ServerClient(double.address))
    assert (found.kind, found.version, found.model, found.context_length) == (kind, version, model, context)
    assert found.kind in KINDS
    assert KINDS[found.kind].title


def test_a_model_may_be_named_and_has_to_be_there():
    with served(OLLAMA) as double:
        assert identify(ServerClient(double.address), "qwen3:8b").model == "qwen3:8b"
        with pytest.raises(ServerError) as error:
            identify(ServerClient(double.address), "gpt-9")
    assert error.value.key == "errors.servers.no_such_model"


def test_a_server_of_no_known_kind_is_an_error():
    with served({"/": "hello"}) as double, pytest.raises(ServerError) as error:
        identify(ServerClient(double.address))
    assert error.value.key == "errors.servers.unknown"


def test_a_missing_key_is_an_error_rather_than_another_kind():
    with (
        served(lambda _: DoubleReply({"error": "Invalid API Key"}, 401)) as double,
        pytest.raises(RefusedRequestError) as error,
    ):
        identify(ServerClient(double.address))
    assert error.value.status == 401


@pytest.mark.parametrize("text", ["<html>", "[]", "null", '{"data": 3}', '{"default_generation_settings": 1}'])
def test_nonsense_on_every_route_is_a_server_of_no_known_kind_or_one_without_models(text):
    with served(lambda _: DoubleReply(text)) as double:
        if "default_generation_settings" in text:
            assert identify(ServerClient(double.address)).models == ()
        else:
            with pytest.raises(ServerError) as error:
                identify(ServerClient(double.address))
            assert error.value.key == "errors.servers.unknown"
