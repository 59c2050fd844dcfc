"""`turnstile explain` and `turnstile mask`."""

from __future__ import annotations

import json

import pytest
from catalogue_texts import shows
from tiny_gguf import CONTROL, END_IDS, token_bytes

import engine.models
from engine.cli.main import main
from engine.models.uniform import UniformSource
from engine.peers import PEERS
from engine.servers.keys import KEY_VARIABLE
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

VALUES = 'root ::= value\nvalue ::= bool | number\nbool ::= "true" | "tra"\nnumber ::= [0-9]+'
LETTERS = [bytes((code,)) for code in b"abcdefghijklmnopqrstuvwxyz0123456789"]


@pytest.fixture(autouse=True)
def model(monkeypatch):
    source = UniformSource("letters", Vocabulary([*LETTERS, b"true", None], [37], {37: "<end>"}))
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)


def run(capsys, *arguments, notation="gbnf", grammar=VALUES):
    code = main([arguments[0], "--notation", notation, "--grammar", grammar, *arguments[1:]])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_text_that_may_not_come_next(capsys):
    code, out, _ = run(capsys, "explain", "--next", "trx")
    assert code == 0
    assert out.splitlines() == [
        (
            "`trx` is not allowed here: `tr` fits, but not `x` after it. Expected there: `a` or `u`. "
            "The match is at line 3, column 13: `u`, and 1 other place."
        ),
        "- In `bool`: `tr` fits, then `u` is expected, at line 3, column 13: `u`.",
        "- In `bool`: `tr` fits, then `a` is expected, at line 3, column 22: `a`.",
        "- In `number`: `0-9` is expected, at line 4, column 12: `[0-9]`.",
    ]


def test_the_same_as_data(capsys):
    code, out, _ = run(capsys, "explain", "--next", "trx", "--json")
    document = json.loads(out)
    assert code == 0
    assert (document["reason"], document["allowed"], document["offset"]) == ("dead byte", False, 2)
    assert [(one["offset"], one["rules"]) for one in document["stacks"]] == [
        (2, ["bool"]),
        (2, ["bool"]),
        (0, ["number"]),
    ]
    assert document["stacks"][2]["spans"] == [{"text": "[0-9]", "line": 4, "column": 12}]


def test_where_a_text_stands_and_how_far_its_end_is(capsys):
    _, out, _ = run(capsys, "explain", "--text", "tru", "--model", "any")
    assert out.splitlines() == [
        catalogue_text("verdicts.distance.bytes", bounds=1, ending=": `e`", count=1)
        + " "
        + catalogue_text("verdicts.distance.tokens", bounds=1),
        catalogue_text("cli.explain.prose.forced", text="e"),
        "- In `bool`: `e` is expected, at line 3, column 14: `e`.",
    ]
    _, out, _ = run(capsys, "explain", "--text", "12", "--json")
    document = json.loads(out)
    assert (document["accepting"], document["exhausted"], document["tokens"]) == (True, False, None)
    assert document["completion"] == {"at_least": 0, "at_most": 0, "text": ""}
    _, out, _ = run(capsys, "explain", "--text", "true")
    assert out.splitlines()[:2] == [
        catalogue_text("cli.explain.prose.exhausted"),
        catalogue_text("verdicts.distance.here"),
    ]


def test_a_text_that_a_look_ahead_forbids_to_end_may_not_end(capsys):
    grammar = "(?:(?!0$)[ab0])*"
    _, out, _ = run(capsys, "explain", "--text", "0", "--model", "any", notation="regex", grammar=grammar)
    assert out.splitlines()[0] == catalogue_text(
        "verdicts.distance.bytes", bounds=1, ending=": `a`", count=1
    ) + " " + catalogue_text("verdicts.distance.tokens", bounds=1)
    _, out, _ = run(capsys, "explain", "--text", "0", "--json", notation="regex", grammar=grammar)
    document = json.loads(out)
    assert document["completion"] == {"at_least": 1, "at_most": 1, "text": "a"}
    assert not document["accepting"]
    _, out, _ = run(capsys, "explain", "--text", "0a", notation="regex", grammar=grammar)
    assert out.splitlines()[0] == catalogue_text("verdicts.distance.here")


def test_a_token_is_explained_by_its_id(capsys):
    _, out, _ = run(capsys, "explain", "--token", "36", "--model", "any")
    assert out.startswith("`true` is allowed here. The text may end after it.")
    _, out, _ = run(capsys, "explain", "--token", "37", "--model", "any")
    assert out.startswith("The text cannot end here.")


def test_dead_ends_of_a_vocabulary(capsys):
    grammar = "ab[A-Z]|a*c"
    _, out, _ = run(capsys, "explain", "--dead-ends", "--model", "any", notation="regex", grammar=grammar)
    where = catalogue_text("cli.message.after", text="ab")
    assert shows(out, "cli.explain.dead_end.no_token", where=where, bytes="`A-Z`")
    assert out.endswith("line 1, column 3: `[A-Z]`\n")
    _, out, _ = run(capsys, "explain", "--dead-ends", "--model", "any", "--json", notation="regex", grammar="a[A-Z]{2}")
    document = json.loads(out)
    assert [(end["text"], end["is_trap"]) for end in document["dead_ends"]] == [("", True), ("a", False)]
    assert document["complete"]
    _, out, _ = run(capsys, "explain", "--dead-ends", "--model", "any")
    assert out == catalogue_text("cli.explain.prose.no_dead_end") + "\n"


def test_the_tokens_that_may_come_next(capsys):
    _, out, _ = run(capsys, "mask", "--model", "any", "--text", "tr")
    assert out.splitlines() == [catalogue_text("cli.mask.allowed", allowed=2, total=38), "       0 a", "      20 u"]
    _, out, _ = run(capsys, "mask", "--model", "any", "--text", "tra", "--json")
    assert json.loads(out) == {"legal": True, "allowed": 1, "of": 38, "ids": [37]}
    _, out, _ = run(capsys, "mask", "--model", "any", "--text", "tra")
    assert out.splitlines()[1] == "      37 <end>"


def test_a_text_that_begins_no_match_is_told_why(capsys):
    code, out, err = run(capsys, "explain", "--text", "tx")
    assert (code, out) == (1, "")
    assert shows(err, "cli.explain.error.illegal", reason="`tx` is not allowed here: `t` fits, but not `x` after it.")
    code, _, err = run(capsys, "mask", "--model", "any", notation="regex", grammar="a(?!.*)")
    assert code == 1
    assert catalogue_text("cli.explain.prose.empty") in err


@pytest.mark.parametrize("arguments", [("--token", "3"), ("--dead-ends",), ("--next", "a", "--token", "1")])
def test_what_needs_a_vocabulary_says_so(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        run(capsys, "explain", *arguments)
    assert ended.value.code == 2


def test_a_grammar_that_names_tokens_needs_a_vocabulary(capsys):
    grammar = 'root ::= "a" <end>'
    code, _, err = run(capsys, "explain", "--text", "a", grammar=grammar)
    assert code == 1
    assert shows(err, "cli.explain.error.names_tokens")


@pytest.fixture
def tiny(monkeypatch):
    vocabulary = Vocabulary(token_bytes(), END_IDS, dict(enumerate(CONTROL)))
    source = UniformSource("tiny", vocabulary)
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)
    return vocabulary


@pytest.fixture
def beside(tiny, llama_server, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, llama_server.key)
    return ("mask", "--model", "any", "--server", llama_server.address)


def test_the_mask_of_a_server_beside_ours(beside, capsys):
    code, out, _ = run(capsys, *beside, "--text", "fal", grammar='root ::= "false"')
    assert code == 0
    assert shows(out.splitlines()[-1], "cli.mask.engine.same")


def test_another_mask_of_a_server_is_listed(beside, tiny, capsys):
    code, out, _ = run(capsys, *beside, "--text", "a", grammar="root ::= [^x]+")
    assert code == 0
    assert shows(out, "cli.mask.engine.differs")
    assert "<|im_start|>" in out
    _, out, _ = run(capsys, *beside, "--text", "a", "--json", grammar="root ::= [^x]+")
    (found,) = json.loads(out)["engines"]
    assert (found["complete"], found["reason"]) == (True, None)
    assert {0, 2} <= set(found["gained"])
    assert [tiny.tokens[token_id] for token_id in found["lost"]] == [b"\0"]
    assert set(found["gained"]) <= set(found["ids"])
    assert not set(found["lost"]) & set(found["ids"])


def test_a_server_that_applies_no_mask_says_so(beside, capsys):
    code, out, _ = run(capsys, *beside, notation="json_schema", grammar='{"not": {"type": "string"}}')
    assert code == 0
    assert shows(out, "cli.mask.engine.known", reason=catalogue_text("masks.fragment.unmasked"))


def test_a_grammar_that_a_server_refuses_has_no_mask_there(beside, capsys):
    code, out, _ = run(capsys, *beside, grammar='root ::= root "a" | "b"')
    assert code == 0
    assert shows(out, "cli.mask.engine.absent")


def test_a_server_that_is_not_there_is_one_line(tiny, capsys):
    code, _, err = run(capsys, "mask", "--model", "any", "--server", "http://127.0.0.1:9", grammar='root ::= "a"')
    assert code == 1
    assert shows(err, "errors.servers.unreachable", address="http://127.0.0.1:9")


def test_a_text_that_no_tokens_spell_is_compared_with_no_server(model, llama_server, monkeypatch, capsys):
    monkeypatch.setenv(KEY_VARIABLE, llama_server.key)
    given = ("mask", "--model", "any", "--server", llama_server.address, "--text", "A")
    code, _, err = run(capsys, *given, grammar='root ::= "A" [0-9]')
    assert code == 2
    assert shows(err, "cli.mask.no_spelling")


def test_an_engine_is_compared_by_its_name(model, capsys):
    code, out, _ = run(capsys, "mask", "--model", "any", "--engine", "llguidance", notation="regex", grammar="[a-c]+")
    assert code == (0 if PEERS["llguidance"].version else 1)
    if not code:
        assert shows(out, "cli.mask.engine.same")


def test_an_unknown_engine_is_misuse(model, capsys):
    code, _, err = run(capsys, "mask", "--model", "any", "--engine", "nobody")
    assert code == 2
    assert shows(err, "errors.peers.unknown", name="nobody")
