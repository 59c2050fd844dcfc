"""`turnstile probe-keywords`."""

import json

import pytest
from doubles_chat import ChatDouble
from server_double import served

from engine.cli.main import main
from engine.peers.keyword_probes import keyword_probes


def test_turnstile_itself_enforces_every_keyword(capsys):
    assert main(["probe-keywords", "--engine", "turnstile", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    rows = document["engines"]["turnstile"]
    assert len(rows) == len(keyword_probes())
    assert [row["case"] for row in rows if row["effect"] != "enforces"] == []


def test_an_unknown_engine_is_misuse(capsys):
    assert main(["probe-keywords", "--engine", "frob"]) == 2
    assert "frob" in capsys.readouterr().err


def test_a_running_server_does_what_the_data_of_its_converter_say(llama_server, monkeypatch, capsys):
    monkeypatch.setenv("TURNSTILE_SERVER_KEY", llama_server.key)
    assert main(["probe-keywords", "--engine", llama_server.address, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    rows = document["engines"][llama_server.address]
    assert len(rows) == len(keyword_probes())
    assert {row["effect"] for row in rows} == {"enforces", "drops", "approximates", "refuses"}
    assert document["differing"] == {llama_server.address: []}


def test_a_server_whose_mask_decides_no_texts_is_not_judged_by_samples(capsys):
    with served(ChatDouble()) as server:
        assert main(["probe-keywords", "--engine", server.address]) == 1
    assert "vLLM" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "https://example.invalid"])
def test_what_a_server_does_is_not_written_to_the_data(address, capsys):
    assert main(["probe-keywords", "--engine", address, "--write"]) == 2
    assert "--write" in capsys.readouterr().err
