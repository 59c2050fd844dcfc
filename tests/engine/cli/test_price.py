"""`turnstile price`: prices by part of the grammar, and two orders of keys."""

import json

import pytest
from command_line import run
from random_model import RandomModel

import engine.models
from engine.cli.exit_codes import ExitCode
from engine.vocabulary import Vocabulary

SCHEMA = '{"type": "object", "properties": {"a": {"enum": [1]}, "b": {"enum": [2]}}, "required": ["a", "b"]}'
KEYS = ("--notation", "json_schema", "--grammar", SCHEMA, "--additional", "closed", "--model", "any", "--samples", "3")
RULES = ("--notation", "gbnf", "--grammar", 'root ::= "A" b\nb ::= "B" | "C"\n', "--model", "any", "--samples", "3")


@pytest.fixture(autouse=True)
def model(monkeypatch):
    tokens = [bytes([byte]) for byte in b'AB{}":,12ab ']
    vocabulary = Vocabulary([*tokens, b"<end>"], [len(tokens)])
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: RandomModel(vocabulary, spread=0.2))


def document(capsys, *options):
    assert run("price", *options, "--json") == ExitCode.SUCCESS
    return json.loads(capsys.readouterr().out)


def test_the_prices_of_parts_add_up_to_those_of_the_steps(capsys):
    found = document(capsys, *RULES)
    steps = [sum(step[0] for step in output["steps"]) for output in found["outputs"]]
    assert found["nats"][0] == pytest.approx(sum(steps) / 3)
    assert sum(part["nats"][0] for part in found["parts"]) == pytest.approx(found["nats"][0])
    assert {part["name"] for part in found["parts"]} >= {"root", "b"}
    assert found["sentence"]


def test_the_prices_are_printed(capsys):
    assert run("price", *RULES) == ExitCode.SUCCESS
    assert "`root`" in capsys.readouterr().out


def test_two_orders_of_keys(capsys):
    found = document(capsys, *KEYS, "--before", "b", "a")
    assert [one["present"] for one in found["orders"]] == [False, True]
    assert found["difference"]["count"] == 3
    assert list(json.loads(found["schema"])["properties"]) == ["b", "a"]
    assert run("price", *KEYS, "--before", "b", "a") == ExitCode.SUCCESS
    assert "`b`" in capsys.readouterr().out


def test_a_missing_key_is_named(capsys):
    assert run("price", *KEYS, "--before", "b", "missing") == ExitCode.MISUSE
    assert "missing" in capsys.readouterr().err
