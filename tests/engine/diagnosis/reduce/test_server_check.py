"""A check by a server: one of our own on this machine, which is told how to fail."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from engine.diagnosis.reduce.reduction import reduce_text
from engine.diagnosis.reduce.server_check import ServerCheck, ServerError
from engine.diagnosis.server_probe.canary import CANARY_VALUE

KEY = "a-secret-key-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer", "multipleOf": 3}, "b": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


class Server(ThreadingHTTPServer):
    """A server that answers as `answer` says, which receives the schema and returns a status and a text."""

    daemon_threads = True

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.requests = []
        self.stop = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(200, {"data": [{"id": "first"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, dict(self.headers), body))
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        status, text = self.server.answer(schema)
        if status == 0:
            self.server.stop.wait(30)
        elif status in (301, 400):
            self.reply(status, {"error": {"message": text}})
        else:
            self.reply(200, {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]})

    def reply(self, status, document):
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        if status == 301:
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def serve(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    servers = []

    def start(answer):
        server = Server(answer)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        servers.append((server, thread))
        return server

    yield start
    for server, thread in servers:
        server.stop.set()
        server.shutdown()
        server.server_close()
        thread.join()


def refuses_multiples(schema):
    """Refuse `multipleOf`, and answer everything else within the grammar of the test."""
    if "multipleOf" in json.dumps(schema):
        return 400, f"Unsupported keyword; your key is {KEY}"
    return 200, json.dumps({"a": CANARY_VALUE}) if CANARY_VALUE in json.dumps(schema) else '{"a": 3}'


def ignores_multiples(schema):
    return 200, json.dumps({"a": CANARY_VALUE}) if CANARY_VALUE in json.dumps(schema) else '{"a": 4}'


def test_a_refusal_is_reduced_to_the_keyword_and_the_key_stays_secret(serve):
    server = serve(refuses_multiples)
    check = ServerCheck(server.url, "json_schema", key=KEY)
    found = check.failure(json.dumps(SCHEMA))
    assert found.kind == "http-400"
    assert KEY not in repr(found)
    assert check.canary() is None
    reduced = reduce_text(json.dumps(SCHEMA), "json_schema", lambda text: found.is_like(check.failure(text)))
    assert reduced.pointer == "/properties/a/multipleOf"
    path, headers, body = server.requests[0]
    assert (path, headers["Authorization"], body["model"]) == ("/v1/chat/completions", f"Bearer {KEY}", "first")
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA


def test_an_answer_that_breaks_the_grammar_is_a_failure(serve):
    check = ServerCheck(serve(ignores_multiples).url, "json_schema", model="m")
    found = check.failure(json.dumps(SCHEMA))
    assert (found.kind, found.text) == ("keyword-not-enforced", '{"a": 4}')


def test_an_answer_within_the_grammar_is_none(serve):
    check = ServerCheck(serve(lambda _: (200, '{"a": 3}')).url, "json_schema", model="m")
    assert check.failure(json.dumps(SCHEMA)) is None
    assert check.failure("{") is None


def test_a_request_is_sent_as_it_is(serve):
    server = serve(refuses_multiples)
    named = {"name": "x", "schema": SCHEMA}
    request = {"model": "mine", "prompt": "hi", "response_format": {"type": "json_schema", "json_schema": named}}
    assert ServerCheck(server.url, "json_schema").failure(json.dumps(request)).kind == "http-400"
    path, _, body = server.requests[0]
    assert path == "/v1/completions"
    assert body == {**request, "temperature": 0, "stream": False}


def test_the_canary_shows_that_no_grammar_is_in_force(serve):
    assert ServerCheck(serve(lambda _: (200, "Hello!")).url, "json_schema", model="m").canary() == "Hello!"


def test_a_refused_canary_is_an_error(serve):
    with pytest.raises(ServerError) as error:
        ServerCheck(serve(lambda _: (400, "no")).url, "json_schema", model="m").canary()
    assert error.value.key == "errors.diagnosis.canary"


def test_a_request_that_takes_too_long_is_a_failure(serve):
    check = ServerCheck(serve(lambda _: (0, "")).url, "json_schema", model="m", timeout=0.5)
    assert check.failure(json.dumps(SCHEMA)).kind == "no-answer"


def test_no_redirect_is_followed(serve):
    check = ServerCheck(serve(lambda _: (301, "moved")).url, "json_schema", model="m", key=KEY)
    assert check.failure(json.dumps(SCHEMA)).kind == "http-301"


def test_a_server_that_cannot_be_reached_is_an_error(serve):
    server = serve(refuses_multiples)
    url = server.url
    server.shutdown()
    server.server_close()
    with pytest.raises(ServerError) as error:
        ServerCheck(url, "json_schema", model="m").failure("{}")
    assert error.value.key == "errors.servers.unreachable"


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "file:///etc/passwd", "http://u:p@host/v1", "http://host/v1?key=1"]
)
def test_an_address_has_to_be_one_of_a_server(url):
    with pytest.raises(ServerError) as error:
        ServerCheck(url, "json_schema")
    assert error.value.key == "errors.servers.address"
