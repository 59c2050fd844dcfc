"""A JSON Schema as an automaton for each rule of its GBNF form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from catalogue_texts import shows
from error_keys import raises_key
from hypothesis import given
from hypothesis import strategies as st

from engine.automata.rtn.rule_tracker import RuleTracker
from engine.compile import CompileOptions, compile_grammar
from engine.export import NumberSpelling, drawable_automata, without_white_space
from engine.export.tables.rule_automata import schema_automata
from engine.source import CancelledError, CancelToken, GrammarError, LimitExceededError
from engine.source.catalogue import catalogue_text

TREE = """{
  "type": "object",
  "properties": {
    "name": {"type": "string", "maxLength": 2},
    "children": {"type": "array", "items": {"$ref": "#"}}
  },
  "required": ["name"],
  "additionalProperties": false
}"""
TEXTS = (
    '{"name":"a"}',
    '{"name": "ab", "children": []}',
    '{"name":"a","children":[{"name":""},{"name":"b"}]}',
    '{\n\t"name": "a b"\n}',
    '{"name":" b"}',
    '{"name":"abc"}',
    '{"children":[]}',
    "{}",
    '{"name":"a","children":[{}]}',
    "",
)
GALLERY = sorted(Path(__file__).parents[4].joinpath("resources", "examples").glob("*schema*.json"))


def test_every_rule_has_the_name_and_the_place_of_what_it_says():
    found = drawable_automata(compile_grammar("json_schema", TREE), 1000)
    rules = {rule.name: rule for rule in found.automata.rules}
    assert [*rules] == ["root", "name", "children", "char", "escape"]
    words = {name: TREE[rule.span.start : rule.span.end] for name, rule in rules.items()}
    assert words["root"] == TREE
    assert words["name"] == '{"type": "string", "maxLength": 2}'
    assert words["char"] == ""
    assert {state.spans for state in rules["name"].dfa.states} == {(rules["name"].span,)}
    assert {state.spans for state in rules["char"].dfa.states} == {()}
    calls = {call.rule: call.spans for call in rules["root"].calls}
    assert calls == {"name": (rules["name"].span,), "children": (rules["children"].span,)}
    assert {call.spans for call in rules["name"].calls} == {(rules["name"].span,)}  # `char` has no place of its own


@pytest.mark.parametrize("whitespace", ["compact", "one-space", "flexible", "any"])
def test_what_is_drawn_holds_the_schemas_texts_but_for_their_white_space(whitespace):
    grammar = compile_grammar("json_schema", TREE, CompileOptions(whitespace=whitespace))
    compact = compile_grammar("json_schema", TREE, CompileOptions(whitespace="compact"))
    found = drawable_automata(grammar, 1000)
    match = RuleTracker(found.automata)
    assert "ws" not in found.automata.numbers
    assert (catalogue_text("export.note.fragment.compact") in found.notes) == (whitespace != "compact")
    for text in TEXTS:
        without = without_white_space(text.encode())
        assert match.positions(without).accepting == compact.fullmatch(without)
        assert match.positions(without).accepting >= grammar.fullmatch(text)


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_the_gallery_is_drawn(path):
    example = json.loads(path.read_text(encoding="utf-8"))
    grammar = compile_grammar("json_schema", example["source"])
    found = drawable_automata(grammar, 4000)
    assert RuleTracker(found.automata).positions(b"").reading


def test_the_spelling_is_plain_and_the_text_may_be_another():
    grammar = compile_grammar("json_schema", '{"type": "number"}')
    found = drawable_automata(grammar, 100)
    match = RuleTracker(found.automata)
    assert grammar.fullmatch("1e2")
    assert not match.positions(b"1e").reading
    assert shows(found.notes[0], "export.note.fragment.plain")


def test_every_spelling_leaves_nothing_out():
    grammar = compile_grammar("json_schema", TREE)
    found = schema_automata(grammar, 20_000, NumberSpelling.ANY)
    match = RuleTracker(found.automata)
    assert found.notes == ()
    for text in (*TEXTS, r'{"name":"\u0061"}', r'{"n\u0061me" : ""}'):
        assert match.positions(text.encode()).accepting == grammar.fullmatch(text)


@pytest.mark.parametrize(("schema", "text"), [('{"const": 1}', b"1"), ('{"type": "integer"}', b"-20")])
def test_one_rule_alone_is_a_rule(schema, text):
    found = drawable_automata(compile_grammar("json_schema", schema), 100)
    assert "unused" not in found.automata.numbers
    assert found.automata.rules[0].name == "root"
    assert RuleTracker(found.automata).positions(text).accepting


def test_no_text_has_no_rules():
    assert drawable_automata(compile_grammar("json_schema", "false"), 100).automata.rules == ()


def test_what_no_grammar_can_say_is_refused_with_its_place():
    with pytest.raises(GrammarError) as refused:
        drawable_automata(compile_grammar("json_schema", '{"uniqueItems": true}'), 100)
    assert refused.value.diagnostics[0].span.start > 0


def test_too_many_states_are_refused():
    with raises_key(LimitExceededError, "errors.limit.rule_states", limit=10):
        drawable_automata(compile_grammar("json_schema", TREE), 10)


POINT = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 3}
SHAPE = {
    "type": "object",
    "properties": {"type": {"enum": ["line", "area"]}, "points": {"type": "array", "items": POINT}},
    "required": ["type"],
    "additionalProperties": False,
}
COPIES = json.dumps({"type": "object", "properties": {f"shape {number}": SHAPE for number in range(9)}})
IN_ANOTHER_ORDER = json.dumps(
    {"type": "array", "prefixItems": [SHAPE, {**SHAPE, "properties": dict(reversed(SHAPE["properties"].items()))}]}
)
NESTED_COPIES = json.dumps(
    {
        "type": "object",
        "properties": {name: {"$ref": f"#/$defs/{name}"} for name in ("left", "right")},
        "$defs": {
            name: {"type": "array", "items": {"anyOf": [{"$ref": f"#/$defs/{name}"}, SHAPE]}}
            for name in ("left", "right")
        },
    }
)


def objects_and_arrays(work) -> int:
    """The number of objects and arrays that some work wrote as rules."""
    totals = []
    try:
        work(CancelToken(lambda what, _, total: totals.append(total) if what == "writing rules" else None))
    except LimitExceededError:
        totals.append(0)
    return max(totals)


@pytest.mark.parametrize("schema", [TREE, COPIES, IN_ANOTHER_ORDER, NESTED_COPIES])
@pytest.mark.parametrize("spelling", NumberSpelling)
def test_rules_that_share_copies_take_no_more_states_and_the_same_texts(schema, spelling):
    grammar = compile_grammar("json_schema", schema)
    named = schema_automata(grammar, 20_000, spelling).automata
    shared = schema_automata(grammar, 20_000, spelling, is_named=False).automata
    assert shared.size == named.size
    shape = '{"type":"line","points":[[1,2.5],[0,-3,1]]}'
    swapped = '{"points":[[1,2.5]],"type":"line"}'
    values = (shape, f"[{shape},{swapped}]", f"[{shape},{shape}]", f'{{"left":[[{shape}]],"right":[[]]}}')
    for text in (*TEXTS, *values, f'{{"shape 3":{shape}}}', f'{{"shape 3":{swapped}}}'):
        accepts = [RuleTracker(found).positions(text.encode()).accepting for found in (shared, named)]
        assert accepts[0] is accepts[1]


def test_copies_of_a_subschema_are_written_once_where_nobody_reads_the_names():
    grammar = compile_grammar("json_schema", COPIES)
    assert objects_and_arrays(lambda cancel: schema_automata(grammar, 20_000, is_named=False, cancel=cancel)) == 6
    assert objects_and_arrays(lambda cancel: schema_automata(grammar, 20_000, cancel=cancel)) == 30


def test_a_drawing_that_is_too_large_is_refused_before_its_copies_are_written():
    grammar = compile_grammar("json_schema", COPIES)
    assert objects_and_arrays(lambda cancel: drawable_automata(grammar, 10, cancel=cancel)) == 6


def test_a_cancel_ends_it():
    cancel = CancelToken()
    grammar = compile_grammar("json_schema", TREE)
    cancel.cancel()
    with pytest.raises(CancelledError):
        drawable_automata(grammar, 1000, cancel=cancel)


_JSON = st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x))


@given(_JSON, st.sampled_from([None, 1, "\t"]), st.integers(0, 40))
def test_white_space_goes_around_the_tokens_only(value, indent, end):
    spaced = json.dumps(value, indent=indent, separators=(" , ", " : ")).encode()
    compact = json.dumps(value, separators=(",", ":")).encode()
    assert without_white_space(spaced) == compact
    assert compact.startswith(without_white_space(spaced[:end]))


STREET = {"type": "object", "properties": {"street": {"type": "string"}}, "required": ["street"]}
ZIP = {"type": "object", "properties": {"zip": {"type": "integer"}}, "required": ["zip"]}


def within(schema: object) -> dict[str, object]:
    return {"type": "object", "properties": {"address": schema}, "required": ["address"]}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"anyOf": [STREET, ZIP]}, {"option-1", "option-2", "option-2-key"}),
        (within({"anyOf": [STREET, ZIP]}), {"address", "address-option-1", "address-option-2-key"}),
        (
            {"type": "object", "properties": {"billing": within(STREET), "shipping": within(ZIP)}, "required": []},
            {"billing-address", "shipping-address", "shipping-address-key"},
        ),
        (within({"type": "array", "items": ZIP}), {"address", "address-item"}),
    ],
)
def test_a_rule_that_a_number_would_tell_apart_is_drawn_under_the_path_of_its_schema(schema, expected):
    automata = drawable_automata(compile_grammar("json_schema", json.dumps(schema)), 1000).automata
    names = {rule.name for rule in automata.rules}
    assert expected <= names
    assert not {name for name in names if name.startswith(("object-", "address-object"))} - {"object-other"}
    assert {call.rule for rule in automata.rules for call in rule.calls} <= names
