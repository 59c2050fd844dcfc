"""`turnstile forced`."""

from __future__ import annotations

import json

import pytest
from catalogue_texts import shows
from random_model import RandomModel

import engine.models
from engine.cli.main import main
from engine.compile import compile_grammar
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

PEOPLE = r'\{"name":"(John|Paul)","age":(20|30)\}'
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"name": {"enum": ["John", "Paul"]}, "age": {"enum": [20, 30]}},
        "required": ["name", "age"],
        "additionalProperties": False,
    }
)
PIECES = ["na", "am", "me", "nam", "ame", "name", '{"', '":"', '","', "John", "Jo", "Paul", "age", "20"]
TOKENS = Vocabulary([*(bytes((byte,)) for byte in range(256)), *(piece.encode() for piece in PIECES), None], [270])


@pytest.fixture(autouse=True)
def _model(monkeypatch):
    source = RandomModel(TOKENS)
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    try:
        code = main(["forced", "--model", "any", *arguments])
    except SystemExit as leave:  # argparse
        code = int(leave.code or 0)
    return code, *capsys.readouterr()


def regex(pattern: str) -> tuple[str, ...]:
    return "--notation", "regex", "--grammar", pattern


def test_the_report_as_data(capsys):
    code, out, err = run(capsys, *regex(PEOPLE), "--of", "name", "--json", "--seed", "3")
    document = json.loads(out)
    assert (code, err) == (0, "")
    automaton = document["automaton"]
    assert (automaton["states_before"], len(automaton["states"])) == (28, 5)
    assert [edge["label"] for edge in automaton["edges"]] == ['{"name":"', "John", "Paul", '","age":', "[23]0}"]
    assert [one["text"] for one in document["runs"]] == ['{"name":"', 'ohn","age":', 'aul","age":', "0}"]
    assert (document["part"], document["spellings"], len(document["paths"])) == ("name", 8, 8)
    assert sum(path["likeliest"] for path in document["paths"]) == 1
    for path in document["paths"]:
        assert "".join(path["tokens"]) == document["forced"] == '{"name":"'
        assert sum(said["p"] for said in path["next"]) == pytest.approx(1)
        assert {said["text"][:4] for said in path["next"]} == {"John", "Paul"}
    for one in document["strategies"]:
        assert compile_grammar("regex", PEOPLE).fullmatch(one["text"])
        assert one["saved"] == one["tokens"] - one["calls"]
    saved = {one["strategy"]: one["saved"] for one in document["strategies"]}
    assert saved["none"] == 0
    assert saved["longest"] > 5


def test_the_report_in_words(capsys):
    code, out, err = run(capsys, *regex(PEOPLE), "--of", "name")
    assert (code, err) == (0, "")
    assert shows(out, "cli.forced.report.merged", states="28 states", edges="28 edges", merged_states=5, merged_edges=5)
    assert shows(out, "cli.forced.report.listed", text="name", count=8, listed=8)
    assert out.count("ln p") == 8
    assert out.count("saved") == 4
    assert "n a m e" in out


OPEN_SCHEMA = json.dumps({key: value for key, value in json.loads(SCHEMA).items() if key != "additionalProperties"})


def test_the_index_of_an_open_schema_is_refused_with_a_way_out_and_closed_it_has_28_states(capsys):
    schema = ("--notation", "json_schema", "--whitespace", "compact", "--grammar", OPEN_SCHEMA)
    code, _, err = run(capsys, *schema, "--index")
    assert code == 1
    assert catalogue_text("export.refusal.fragment.close_objects") in err
    code, out, _ = run(capsys, *schema, "--additional", "closed", "--index")
    assert code == 0
    assert [line.split(":")[0] for line in out.splitlines() if line] == [str(state) for state in range(27)]
    assert "}: 27" in out or ": 27" in out.splitlines()[-1]
    code, out, _ = run(capsys, *schema, "--additional", "closed", "--json")
    assert code == 0
    assert json.loads(out)["automaton"]["states_before"] == 28


def test_a_schema_is_looked_at_in_one_spelling_and_says_so(capsys):
    schema = ("--notation", "json_schema", "--whitespace", "compact", "--grammar", SCHEMA)
    code, out, err = run(capsys, *schema, "--json")
    assert code == 0
    assert shows(err, "export.note.fragment.plain")
    assert json.loads(out)["forced"] == '{"name":"'
    for escapes, forced in (("shortest", '{"name":"'), ("any", '{"')):
        code, out, err = run(capsys, *schema, "--spelling", "any", "--escapes", escapes, "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["automaton"] is None
        assert json.loads(out)["forced"] == forced


def test_the_index_and_the_drawings(capsys):
    code, out, _ = run(capsys, *regex("name|nap"), "--index", "--json")
    index = json.loads(out)
    name, nam = str(256 + PIECES.index("name")), str(256 + PIECES.index("nam"))
    assert code == 0
    assert set(index["0"]) == {str(ord("n")), str(256), name, nam}
    assert index[str(index["0"][nam])] == {str(ord("e")): index["0"][name]}
    code, out, _ = run(capsys, *regex("name|nap"), "--index")
    assert "n, na, nam, name" in out
    code, after, _ = run(capsys, *regex('a"b\\\\|c'), "--dot", "after")
    assert code == 0
    assert 'label="a\\"b\\\\"' in after
    code, before, _ = run(capsys, *regex('a"b\\\\|c'), "--dot", "before")
    assert before.count(" -> ") > after.count(" -> ")


def test_behind_a_text_and_where_nothing_is_forced(capsys):
    code, out, _ = run(capsys, *regex(PEOPLE), "--text", '{"name":"J', "--json")
    assert json.loads(out)["forced"] == 'ohn","age":'
    code, out, _ = run(capsys, *regex("[ab]+"))
    assert code == 0
    assert shows(out, "cli.forced.report.nothing_forced", where=catalogue_text("cli.message.at_start"))


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ((*regex(PEOPLE), "--text", "x"), "illegal"),
        ((*regex(PEOPLE), "--of", "age"), "other_part"),
        ((*regex("[ab]+"), "--of", "a"), "no_part"),
        ((*regex("[^\\s\\S]"),), "no_text"),
        (("--notation", "gbnf", "--grammar", 'root ::= "(" root? ")"', "--dot", "after"), "needs_stack"),
    ],
)
def test_what_cannot_be_told_is_one_line(capsys, arguments, key):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (1, "")
    assert shows(err, f"cli.forced.error.{key}")
    assert err.startswith("turnstile: ")
    assert len(err.splitlines()) == 1


def test_a_grammar_with_a_stack_is_told_of_without_its_automaton(capsys):
    code, out, _ = run(capsys, "--notation", "gbnf", "--grammar", 'root ::= "name" ("(" root ")" | "!")')
    assert code == 0
    assert shows(out, "cli.forced.report.not_drawn", reason=catalogue_text("cli.forced.error.needs_stack"))
    assert shows(out, "cli.forced.report.listed", text="name", count=8)


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (("--dot", "after", "--json"), "dot_json"),
        (("--spelling", "any"), "spelling"),
        (("--index", "--of", "name"), "whole_grammar"),
        (("--dot", "after", "--text", "{"), "whole_grammar"),
    ],
)
def test_options_that_contradict_each_other_end_the_command(capsys, arguments, key):
    code, out, err = run(capsys, *regex(PEOPLE), *arguments)
    assert (code, out) == (2, "")
    assert shows(err, f"cli.forced.error.{key}")
