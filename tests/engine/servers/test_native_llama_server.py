"""What a llama-server without LLGuidance does with schemas that it cannot enforce."""

from __future__ import annotations

import pytest
from error_keys import raises_key

from engine.servers import RefusedRequestError, ServerClient

PROMPT = [5, 6, 7]


@pytest.fixture
def client(native_llama_server):
    with ServerClient(native_llama_server) as client:
        yield client


def complete(client: ServerClient, **more: object) -> dict:
    return client.post("/completion", {"prompt": PROMPT, "n_predict": 8, "temperature": 0, **more})


def test_it_refuses_a_grammar_for_llguidance(client):
    with raises_key(RefusedRequestError, "errors.servers.status", status=400) as caught:
        complete(client, grammar='%llguidance {}\nstart: "a"')
    assert "llguidance is not enabled" in caught.value.message


@pytest.mark.parametrize(
    ("schema", "root"),
    [
        ({"type": "string", "pattern": "^(?=a)b"}, "string"),
        ({"type": "string", "pattern": "^\\bab$"}, "string"),
        ({"not": {"type": "string"}}, "value"),
    ],
)
def test_it_drops_a_keyword_that_it_cannot_convert_and_enforces_the_rest(client, schema, root):
    grammar = complete(client, json_schema=schema)["generation_settings"]["grammar"]
    assert f"root ::= {root}\n" in grammar


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"$ref": "#/definitions/x"}, "cannot resolve $ref"),
        ({"type": "wibble"}, "unrecognized type wibble"),
        (5, "schema must be an object"),
    ],
)
def test_what_cannot_be_a_schema_is_refused_with_its_reason(client, schema, reason):
    with raises_key(RefusedRequestError, "errors.servers.status", status=400) as caught:
        complete(client, json_schema=schema)
    assert reason in caught.value.message
