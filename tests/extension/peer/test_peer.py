"""A peer of an extension is measured beside Turnstile, in a process of its own."""

import json

from engine.cli.main import main


def test_it_is_compared(capsys):
    options = ("--notation", "regex", "--grammar", "ab|cd", "--text", "ab", "--text", "ba", "--engines", "python-re")
    assert main(("bench", *options, "--json", "--model", "shakespeare")) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["engine"]["name"] for one in document["engines"]] == ["turnstile", "python-re"]
    assert [one["engine"]["cases"][0]["verdicts"] for one in document["engines"]] == [[True, False]] * 2
