"""The client against a double that does what servers do wrong."""

from __future__ import annotations

import threading

import pytest

from engine.servers import (
    RefusedRequestError,
    ServerClient,
    ServerError,
    SilentServerError,
    UnreachableServerError,
    UnreadableReplyError,
)
from engine.servers.client import is_remote, server_address
from engine.source import CancelledError, CancelToken
from tests.support.server_double import DoubleReply, served

KEY = "a-secret-key-0123456789"


def test_json_goes_there_and_comes_back_on_one_connection():
    with served(lambda request: {"got": request.body}) as double:
        client = ServerClient(double.address, key=KEY)
        assert client.post("/a", {"x": "ü"}) == {"got": {"x": "ü"}}
        assert client.get("/b") == {"got": None}
        client.close()
        assert [(one.method, one.path) for one in double.requests] == [("POST", "/a"), ("GET", "/b")]
        assert {one.headers["Authorization"] for one in double.requests} == {f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("status", "key"), [(401, "key"), (403, "key"), (404, "route"), (429, "busy"), (500, "status"), (302, "redirect")]
)
def test_a_refusal_has_the_message_of_the_server_without_the_key(status, key):
    reply = DoubleReply({"error": {"message": f"not with\n{KEY}"}}, status, headers={"Location": "http://127.0.0.1:9/"})
    with served({"/a": reply}) as double:
        with pytest.raises(RefusedRequestError) as error:
            ServerClient(double.address, key=KEY).post("/a", {})
        assert (error.value.key, error.value.status) == (f"errors.servers.{key}", status)
        assert error.value.message == "not with (removed)"
        assert len(double.requests) == 1


def test_a_placeholder_of_a_key_changes_no_answer():
    with served(lambda request: {"tokens": ["EMPTY"]}) as double:
        assert ServerClient(double.address, key="EMPTY").get("/a") == {"tokens": ["EMPTY"]}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "a"}, "a"),
        ({"detail": "b"}, "b"),
        ({"object": "error", "message": "c"}, "c"),
        ("plain", "plain"),
        ({"detail": [{"loc": ["x"]}]}, '{"detail": [{"loc": ["x"]}]}'),
    ],
)
def test_the_message_is_found_in_every_form_of_error(body, message):
    with served({"/a": DoubleReply(body, 400)}) as double:
        assert ServerClient(double.address).send("GET", "/a").message == message


def test_an_answer_that_is_not_json_is_an_error():
    with served({"/a": DoubleReply("<html>")}) as double, pytest.raises(UnreadableReplyError):
        ServerClient(double.address).get("/a")


def test_half_an_answer_is_an_error_and_the_next_request_connects_again():
    with served({"/a": DoubleReply({"x": "y" * 1_000}, breaks_off_at=100), "/b": 1}) as double:
        client = ServerClient(double.address)
        with pytest.raises(SilentServerError) as error:
            client.get("/a")
        assert error.value.key == "errors.servers.broken_off"
        assert client.get("/b") == 1


@pytest.mark.parametrize("reply", [DoubleReply(waits=True), DoubleReply("[" + "1," * 5_000, byte_delay=0.01)])
def test_a_server_that_is_slow_ends_at_the_limit_of_time(reply):
    with served({"/a": reply}) as double:
        with pytest.raises(SilentServerError) as error:
            ServerClient(double.address).get("/a", timeout=0.3)
        assert error.value.key == "errors.servers.timed_out"


@pytest.mark.parametrize("reply", [DoubleReply(waits=True), DoubleReply("[" + "1," * 5_000, byte_delay=0.01)])
def test_a_request_that_is_cancelled_ends_while_the_server_is_silent(reply):
    cancel, arrived = CancelToken(), threading.Event()

    def answer(_request):
        arrived.set()
        return reply

    with served(answer) as double:
        client = ServerClient(double.address, cancel=cancel)
        other = threading.Thread(target=lambda: (arrived.wait(), cancel.cancel()))
        other.start()
        with pytest.raises(CancelledError):
            client.get("/a")
        other.join()
        assert not double.stopping.is_set()


def test_another_token_may_cancel_for_a_while():
    with served({"/a": 1}) as double:
        client, cancel = ServerClient(double.address), CancelToken()
        cancel.cancel()
        with pytest.raises(CancelledError), client.cancelled_by(cancel):
            client.get("/a")
        assert client.get("/a") == 1


def test_a_closed_port_is_an_error():
    with served({}) as double:
        address = double.address
    with pytest.raises(UnreachableServerError):
        ServerClient(address).get("/a")


def test_events_are_read_as_they_come():
    events = ({"a": 1}, {"a": 2}, "[DONE]", {"a": 3})
    with served({"/a": DoubleReply(events=events)}) as double:
        assert list(ServerClient(double.address).stream("/a", {})) == [{"a": 1}, {"a": 2}]


def test_lines_of_json_are_events_too():
    with served({"/a": DoubleReply('{"a": 1}\n{"a": 2}\n')}) as double:
        assert list(ServerClient(double.address).stream("/a", {})) == [{"a": 1}, {"a": 2}]


def test_half_a_stream_yields_its_events_and_then_raises():
    whole = DoubleReply(events=({"a": 1}, {"a": 2}))
    with served({"/a": DoubleReply(events=whole.events, breaks_off_at=20)}) as double:
        found = []
        with pytest.raises(SilentServerError):
            found.extend(ServerClient(double.address).stream("/a", {}))
    with served({"/a": DoubleReply(events=whole.events, breaks_off_at=20)}) as double:
        stream = ServerClient(double.address).stream("/a", {})
        assert next(stream) == {"a": 1}
        with pytest.raises(SilentServerError):
            next(stream)


@pytest.mark.parametrize(
    "reply",
    [
        DoubleReply({"error": "no"}, 400),
        DoubleReply(events=({"error": {"message": "no"}},)),
        DoubleReply('error: {"message": "no"}\n\n'),
    ],
)
def test_an_error_in_a_stream_is_a_refusal(reply):
    with served({"/a": reply}) as double, pytest.raises(RefusedRequestError) as error:
        list(ServerClient(double.address).stream("/a", {}))
    assert error.value.message == "no"


@pytest.mark.parametrize(
    "address", ["", "localhost:8000", "file:///etc/passwd", "http://u:p@h/v1", "http://h/v1?key=1", "http://h:99999/"]
)
def test_an_address_has_to_be_one_of_a_server(address):
    with pytest.raises(ServerError) as error:
        ServerClient(address)
    assert error.value.key == "errors.servers.address"


@pytest.mark.parametrize(
    ("address", "base", "openai_path"),
    [
        ("http://h:1/", "http://h:1", "/v1"),
        ("http://h:1/v1/chat/completions", "http://h:1", "/v1"),
        ("http://h:1/completion", "http://h:1", "/v1"),
        ("http://h/api/chat", "http://h", "/v1"),
        ("https://h/openai/v1/models", "https://h/openai/v1", ""),
        ("https://h/v1beta/openai/", "https://h/v1beta/openai", ""),
    ],
)
def test_the_path_of_a_route_is_removed(address, base, openai_path):
    client = ServerClient(address)
    assert (client.address, server_address(address), client.openai_path) == (base, base, openai_path)


@pytest.mark.parametrize(
    ("address", "remote"),
    [
        ("http://127.0.0.1:1", False),
        ("http://[::1]:1", False),
        ("http://localhost", False),
        ("http://192.168.0.2", True),
        ("https://api.example.com", True),
    ],
)
def test_an_address_is_remote_unless_it_is_loopback(address, remote):
    assert is_remote(address) is remote
