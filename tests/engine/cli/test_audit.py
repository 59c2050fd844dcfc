"""`turnstile audit`."""

import json
from pathlib import Path

import pytest
from command_line import run

import engine.models
from engine.models.uniform import UniformSource
from engine.vocabulary import Vocabulary

MODELS = Path(__file__).parents[3] / "resources/models"
LETTERS = [bytes((byte,)) for byte in range(0x20, 0x7F)]


@pytest.fixture(autouse=True)
def model(monkeypatch):
    source = UniformSource("letters", Vocabulary([*LETTERS, None, None], [95], {95: "<eos>", 96: "<think>"}))
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)


def test_a_model_without_faults_is_a_success(capsys):
    assert run("audit", "--model", "letters") == 0
    assert "#95 <eos>" in capsys.readouterr().out


def test_a_special_token_in_quotes_is_found_with_its_place(capsys):
    grammar = ("--notation", "gbnf", "--grammar", 'root ::= "<think>" [a-z]*')
    assert run("audit", "--model", "letters", "--json", *grammar) == 1
    found = json.loads(capsys.readouterr().out)
    (finding,) = [each for each in found["findings"] if each["code"] == "special-as-text"]
    assert finding["place"] == {"text": "<think>", "line": 1, "column": 11}
    assert finding["ids"] == [96]
    assert (found["size"], found["ends"], found["logits_width"]) == (97, [95], None)
    assert run("audit", "--model", "letters", *grammar) == 1
    assert "1:11: special-as-text: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "codes", "files"),
    [
        ("records", ["special-has-spelling"], ["tokenizer_config.json", "generation_config.json", "config.json"]),
        ("shakespeare", ["missing-bytes", "no-end"], []),
    ],
)
def test_the_bundled_tokenizers_have_known_properties(capsys, name, codes, files):
    run("audit", "--tokenizer", MODELS / name, "--json")
    found = json.loads(capsys.readouterr().out)
    assert [each["code"] for each in found["findings"]] == codes
    assert [each["file"] for each in found["ends_by_file"]] == files


def test_a_missing_tokenizer_and_a_grammar_without_notation_are_errors(capsys, tmp_path):
    assert run("audit", "--tokenizer", tmp_path / "missing") == 1
    assert run("audit", "--model", "letters", "--grammar", "a") == 2
    assert capsys.readouterr().out == ""
