"""`turnstile probe`."""

import json

import pytest
from command_line import run
from doubles_chat import ChatDouble
from server_double import DoubleReply, served

from engine.cli.exit_codes import ExitCode

KEY = "a-secret-key-0123456789"
SCHEMA = json.dumps({"type": "object", "properties": {"n": {"multipleOf": 3, "type": "integer"}}, "required": ["n"]})
GRAMMAR = ("--notation", "json_schema", "--grammar", SCHEMA)


def test_the_report_of_a_real_server_has_every_part(llama_server, monkeypatch, capsys):
    monkeypatch.setenv("TURNSTILE_SERVER_KEY", llama_server.key)
    assert run("probe", llama_server.address, *GRAMMAR, "--json") == ExitCode.NEGATIVE
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert (report["kind"], report["mask"], report["from_token"]) == ("llama-server", "partly", 0)
    assert "multipleOf" in report["sentence"]
    assert len(report["fails_open"]) == 6
    assert {"name", "in_force"} <= report["ways"][0].keys()
    dropped = [one for one in report["keywords"] if one["enforced"] is False]
    assert [(one["pointer"], one["keyword"]) for one in dropped] == [("/properties/n/multipleOf", "multipleOf")]
    assert json.loads(dropped[0]["counterexample"])["n"] % 3
    assert report["stops"] == [1, 3]
    assert report["vocabulary"] is None
    assert report["template"]
    assert llama_server.key not in out + err


def test_the_vocabulary_is_compared_with_a_tokenizer(llama_server, monkeypatch, capsys):
    monkeypatch.setenv("TURNSTILE_SERVER_KEY", llama_server.key)
    only = ("--way", "grammar", "--json")
    assert run("probe", llama_server.address, "--tokenizer", "resources/models/records", *only) == ExitCode.SUCCESS
    difference = json.loads(capsys.readouterr().out)["vocabulary"]
    assert difference["server"] != difference["tokenizer"]


def test_the_sentence_comes_first_on_the_standard_error_and_at_the_head_of_the_table(capsys):
    with served(ChatDouble()) as server:
        assert run("probe", server.address) == ExitCode.SUCCESS
    out, err = capsys.readouterr()
    assert err.count("\n") > 1
    assert "vLLM" in out.splitlines()[0]
    assert "structured_outputs.json" in out


def test_a_server_of_which_nothing_is_known_has_a_code_of_its_own(capsys):
    with served(ChatDouble(shows_schema=True)) as server:
        assert run("probe", server.address, "--way", "response_format", "--json") == ExitCode.UNKNOWN
    assert json.loads(capsys.readouterr().out)["ways"][0]["in_force"] is None


@pytest.mark.parametrize(
    "arguments",
    [("ftp://x",), ("{server}", "--way", "none"), ("{server}", "--notation", "regex"), ("{server}", "--grammar", "a")],
)
def test_misuse(arguments, capsys):
    with served(ChatDouble()) as server:
        given = [server.address if one == "{server}" else one for one in arguments]
        assert run("probe", *given) == ExitCode.MISUSE
    assert capsys.readouterr().out == ""


def test_no_key_is_in_the_output(monkeypatch, capsys):
    monkeypatch.setenv("OTHER_KEY", KEY)

    def answers(request):
        if request.method == "GET":
            return ChatDouble()(request)
        return DoubleReply({"error": {"message": f"the key {KEY} has no access"}}, 400)

    with served(answers) as server:
        assert run("probe", server.address, "--key-env", "OTHER_KEY", "--json") == ExitCode.UNKNOWN
        assert server.requests[-1].headers["Authorization"] == f"Bearer {KEY}"
    out, err = capsys.readouterr()
    assert KEY not in out + err
    assert "has no access" in out
