"""`turnstile probe-keywords`."""

import json

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
