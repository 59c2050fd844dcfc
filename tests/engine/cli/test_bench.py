"""`turnstile bench`: what is compared, what is printed, and what is misuse."""

import json
from importlib.resources import files

import pytest
from catalogue_texts import shows
from random_model import RandomModel

import engine.models
import engine.peers
from engine import CompileOptions, Limits
from engine.cli.main import main
from engine.peers import find_peers
from engine.peers.adapter import OWN
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

pytestmark = pytest.mark.usefixtures("ready_peers")

GRAMMAR = ("--notation", "regex", "--grammar", "[ab]+")


@pytest.fixture(autouse=True)
def model(monkeypatch):
    """No other engine than this one, and a small model."""
    monkeypatch.setattr("engine.cli.bench.find_peers", lambda names: find_peers(names or [OWN]))
    source = RandomModel()
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)


def run(*arguments):
    try:
        return main(("bench", *arguments))
    except SystemExit as leave:  # argparse
        return int(leave.code or 0)


def test_a_table(capsys):
    assert run(*GRAMMAR, "--text", "ab", "--text", "b") == 0
    lines = capsys.readouterr().out.splitlines()
    grammars, texts = (
        catalogue_text(f"cli.bench.table.{name}", count=n) for name, n in (("grammars", 1), ("texts", 2))
    )
    assert shows(lines[0], "cli.bench.table.head", cases="<grammar>", grammars=grammars, texts=texts)
    assert lines[2].split()[0] == catalogue_text("cli.bench.column.engine")
    assert lines[3].startswith("turnstile")
    assert "1/1" in lines[3]
    assert "2/2" in lines[3]


def test_json_has_every_measurement(capsys, tmp_path):
    texts = tmp_path / "texts.jsonl"
    texts.write_text('"ab"\n\n{"text": "b", "valid": true}\n')
    assert run(*GRAMMAR, "--texts", str(texts), "--walks", "2", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert [text["text"] for text in document["cases"][0]["texts"]] == ["ab", "b"]
    (ours,) = document["engines"]
    (measured,) = ours["engine"]["cases"]
    assert measured["ending"] == "done"
    assert measured["verdicts"] == [True, True]
    assert (ours["labelled"], ours["false_rejects"]) == (1, 0)


def test_many_schemas(capsys, tmp_path):
    schemas = tmp_path / "schemas.jsonl"
    schemas.write_text('{"id": "s", "schema": {"enum": ["ab"]}, "tests": []}\n{"id": "t", "schema": {"type": 1}}\n')
    assert run("--schemas", str(schemas)) == 0
    out = capsys.readouterr().out
    assert "1/2" in out
    assert "turnstile refused: t: GrammarError: " in out


def test_a_model_writes_the_texts_that_nobody_gave(capsys):
    assert run("--notation", "regex", "--grammar", "[ab]{2}", "--json") == 0
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert case["texts"]
    assert all(set(text["text"]) <= set("ab") and len(text["text"]) == 2 for text in case["texts"])


def test_a_broken_grammar_is_told_as_anywhere(capsys):
    assert run("--notation", "regex", "--grammar", "(a", "--text", "a") == 1
    assert "regex-unclosed-group" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (("--grammar", "a"), "bench.error.grammar"),
        (("--notation", "regex"), "bench.error.grammar"),
        (("--text", "a"), "bench.error.texts"),
        (("--schemas", "no/such/file"), "file.unreadable"),
        ((*GRAMMAR, "--time-limit", "0"), "argument.not_between"),
    ],
)
def test_misuse(capsys, arguments, key):
    assert run(*arguments) == 2
    assert shows(capsys.readouterr().err, f"cli.{key}")


def test_an_unknown_engine_is_misuse(capsys):
    assert run(*GRAMMAR, "--text", "a", "--engines", "llama") == 2
    assert "llama" in capsys.readouterr().err


def test_a_file_that_holds_no_cases_or_texts(capsys, tmp_path):
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{}\n")
    assert run("--schemas", str(broken)) == 2
    assert "line 1 is not" in capsys.readouterr().err
    broken.write_text('{"no": "text"}\n')
    assert run(*GRAMMAR, "--texts", str(broken)) == 2
    assert shows(capsys.readouterr().err, "cli.bench.error.text_line", number=1)


@pytest.fixture
def bytes_alone(monkeypatch):
    """A model that can write every text."""
    source = RandomModel(Vocabulary([*(bytes((byte,)) for byte in range(256)), None], [256], {256: "<end>"}))
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)


@pytest.mark.usefixtures("bytes_alone")
def test_without_arguments_the_examples_are_compared_by_their_own_test_strings(capsys):
    folder = files("resources") / "examples"
    examples = [json.loads(file.read_text("utf-8")) for file in folder.iterdir() if file.name.endswith(".json")]
    assert run() == 0
    lines = capsys.readouterr().out.splitlines()
    texts = sum(len(example["test_strings"]) for example in examples)
    counts = {
        name: catalogue_text(f"cli.bench.table.{name}", count=n)
        for name, n in (("grammars", len(examples)), ("texts", texts))
    }
    cases = catalogue_text("cli.bench.table.examples")
    assert shows(lines[0], "cli.bench.table.head", cases=cases, **counts)
    row = lines[3].split()
    assert f"{len(examples)}/{len(examples)}" in row
    assert row[-2:] == [f"{texts}/{texts}", "0+0"]


def test_it_compiles_with_the_options_of_every_other_command(monkeypatch):
    seen = []
    monkeypatch.setattr(engine.peers, "run_bench", lambda *_, options, **__: seen.append(options) or [])
    given = ("--escapes", "any", "--additional", "closed", "--whitespace", "compact", "--dialect", "ecma")
    assert run(*GRAMMAR, "--text", "ab", *given, "--limit", "work=5000000") == 0
    assert seen == [
        CompileOptions(
            dialect="ecma", whitespace="compact", escapes="any", additional="closed", limits=Limits(work=5_000_000)
        )
    ]
