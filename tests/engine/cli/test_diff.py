"""`turnstile diff`."""

import json

import pytest
from catalogue_texts import shows
from command_line import run

from engine.peers import PEERS
from engine.peers.adapter import OWN, Peer
from tests.engine.peers.schema_doubles import ChoosyAdapter, ForgetfulAdapter

pytestmark = pytest.mark.usefixtures("ready_peers")

SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer", "maximum": 40}}, "required": ["n"]}'
GRAMMAR = ("--notation", "json_schema", "--grammar", SCHEMA, "--steps", "200")


@pytest.fixture(autouse=True)
def engines(monkeypatch):
    class Doubles(dict):
        names = (OWN, "forgetful", "choosy")

    doubles = {"forgetful": ForgetfulAdapter, "choosy": ChoosyAdapter}
    found = Doubles({name: Peer(name, "pytest", adapter) for name, adapter in doubles.items()})
    found[OWN] = PEERS[OWN]
    monkeypatch.setattr("engine.cli.diff.PEERS", found)


def test_the_document_names_keyword_prefix_tokens_and_text(capsys):
    assert run("diff", "--engine", "forgetful", *GRAMMAR, "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["pointer"], found["kind"]) == ("looser", "/properties/n/maximum", "keyword")
    assert found["prefix"].startswith('{"n":')
    assert bytes.fromhex(found["bytes"]).decode() == found["prefix"]
    assert (found["lost"], found["accepted_by"], found["stopped"]) == ([], "forgetful", None)
    assert [ord(token) for token in found["gained"]] == found["gained_ids"]
    assert json.loads(found["text"])["n"] > 40
    assert found["checked"] > 0
    assert found["differences"][0]["pointer"] == found["pointer"]
    assert [one["name"] for one in found["engines"]] == [OWN, "forgetful"]


def test_the_lines_begin_with_the_verdict(capsys):
    assert run("diff", "--engine", "forgetful", "--engine", OWN, *GRAMMAR) == 1
    verdict, cause, _, text, *_ = capsys.readouterr().out.splitlines()
    assert shows(verdict, "differences.verdict.stricter")
    assert "/properties/n/maximum" in cause
    assert shows(text.strip(), "cli.diff.report.text", engine="forgetful")


def test_a_refusal_is_an_answer(capsys):
    assert run("diff", "--engine", "choosy", *GRAMMAR) == 1
    assert shows(capsys.readouterr().out.splitlines()[1], "differences.refused_for", pointer="/properties/n/maximum")
    assert run("diff", "--engine", "choosy", *GRAMMAR, "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["pointer"]) == ("refused", "/properties/n/maximum")
    assert found["refused"][0]["engine"] == "choosy"


def test_equal_engines_are_a_success(capsys):
    assert run("diff", "--engine", OWN, *GRAMMAR, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["prefix"], found["text"]) == ("equal", None, None)


@pytest.mark.parametrize("names", [(), ("nothing",), (OWN, OWN, OWN)])
def test_two_known_engines_are_needed(names):
    assert run("diff", *(word for name in names for word in ("--engine", name)), *GRAMMAR) == 2


def test_a_running_server_is_an_engine(llama_server, monkeypatch, capsys):
    monkeypatch.setenv("KEY_OF_TEST", llama_server.key)
    command = ("--notation", "gbnf", "--grammar", 'root ::= "ab" | "c"', "--key-env", "KEY_OF_TEST", "--json")
    assert run("diff", "--engine", llama_server.address, *command) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], [one["name"] for one in found["engines"]]) == ("equal", [OWN, "llama-server"])
    assert found["checked"] > 0


def test_a_server_that_is_not_there_is_an_error(capsys):
    assert run("diff", "--engine", "http://127.0.0.1:9", *GRAMMAR) == 1
    assert "http://127.0.0.1:9" in capsys.readouterr().err


def test_a_server_without_a_mask_names_the_command_that_checks_it(llama_server, monkeypatch, capsys):
    monkeypatch.setenv("TURNSTILE_SERVER_KEY", llama_server.key)
    command = ("--notation", "json_schema", "--grammar", '{"not": {"type": "string"}}')
    assert run("diff", "--engine", llama_server.address, *command) == 1
    assert f"turnstile probe {llama_server.address}" in capsys.readouterr().err


def test_a_time_limit_before_the_first_masks_is_unknown(llama_server, monkeypatch, capsys):
    monkeypatch.setenv("TURNSTILE_SERVER_KEY", llama_server.key)
    command = ("--notation", "gbnf", "--grammar", 'root ::= "ab" | "c"', "--seconds", "1e-9", "--json")
    assert run("diff", "--engine", llama_server.address, *command) == 4
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["checked"], found["stopped"]) == ("unknown", 0, "time")
