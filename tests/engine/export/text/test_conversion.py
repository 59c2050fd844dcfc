"""A schema as a grammar: what it reads like, and that it has the same language."""

from __future__ import annotations

import gc
import json
import re
import weakref
from collections.abc import Callable

import pytest
from catalogue_texts import shows
from error_keys import raises_code
from lockstep import difference, excess, texts
from schemas import INSTANCES, OPTIONAL, PERSON, SCHEMAS, SHAPES, TREE

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.export import NumberSpelling, to_gbnf, to_regex
from engine.export.rules.flatten import is_recursive
from engine.export.schema import strings
from engine.export.schema.rules import SchemaRules
from engine.export.target import ExportJob, ExportOptions, no_vocabulary
from engine.export.targets import TARGETS, target
from engine.export.writing import refusal
from engine.source import CancelledError, CancelToken, GrammarError, Limits
from engine.source.cancel import work_turns
from engine.source.catalogue import catalogue_text

MODES = ("compact", "one-space", "flexible", "any")
CASES = [(name, MODES[i % 4]) for i, name in enumerate(SCHEMAS)] + [("person", mode) for mode in MODES]


def compiled(schema: object, whitespace: str = "one-space", **options: object) -> CompiledGrammar:
    return compile_grammar("json_schema", json.dumps(schema), CompileOptions(whitespace=whitespace, **options))


def is_plain(text: str) -> bool:
    """Whether every string is spelled the shortest way, and no number has an exponent."""
    strings = re.compile(r'"(?:[^"\\]|\\.)*"')
    plain = all(json.dumps(json.loads(part), ensure_ascii=False) == part for part in strings.findall(text))
    return plain and not re.search("[eE]", re.sub("true|false", "", strings.sub("", text)))


@pytest.mark.parametrize("escapes", ["shortest", "any"])
@pytest.mark.parametrize(("name", "whitespace"), CASES)
def test_every_spelling_is_the_same_language(name, whitespace, escapes):
    schema = compiled(SCHEMAS[name], whitespace, escapes=escapes)
    text = to_gbnf(schema, NumberSpelling.ANY).text
    grammar = compile_grammar("gbnf", text)
    assert difference(schema, grammar) == ""
    for instance in INSTANCES:
        assert grammar.fullmatch(instance) == schema.fullmatch(instance), instance
    for match in texts(schema, count=5):
        assert grammar.fullmatch(match)
        assert grammar.fullmatch(match[:-1]) == schema.fullmatch(match[:-1])


def test_names_and_values_without_conditions_are_written_apart():
    schema = compiled({"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": {"maxLength": 1}})
    grammar = compile_grammar("gbnf", to_gbnf(schema, NumberSpelling.ANY).text)
    for text in (
        r'{"a": "\u00e9"}',
        r'{"a\u00e9": "é"}',
        r'{"aé": "\/"}',
        r'{"b": "\u00e9"}',
        r'{"b": "é"}',
        r'"\u00E9"',
    ):
        assert grammar.fullmatch(text) == schema.fullmatch(text), text
    assert grammar.fullmatch(r'{"aé": "\ud83d\ude00"}')
    assert not grammar.fullmatch(r'{"b": "\u00e9"}')


@pytest.mark.parametrize(("name", "whitespace"), CASES)
def test_plain_spelling_is_the_plain_part_of_the_language(name, whitespace):
    schema = compiled(SCHEMAS[name], whitespace)
    grammar = compile_grammar("gbnf", to_gbnf(schema, NumberSpelling.PLAIN).text)
    assert excess(grammar, schema) == ""
    known = [match.decode() for match in (*texts(schema, count=6), *texts(grammar, count=3))]
    for instance in (*INSTANCES, *known):
        assert grammar.fullmatch(instance) == (schema.fullmatch(instance) and is_plain(instance)), instance


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("spelling", NumberSpelling)
def test_llama_cpp_has_nothing_against_the_text(name, spelling):
    conversion = to_gbnf(compiled(SCHEMAS[name], "flexible"), spelling)
    found = {diagnostic.code for diagnostic in compile_grammar("gbnf", conversion.text).diagnostics}
    assert found <= ({"gbnf-bad-range", "gbnf-unproductive-rule"} if name == "nothing" else set())
    names = [line.split(" ::= ")[0] for line in conversion.text.splitlines() if " ::= " in line]
    assert names[0] == "root"
    assert len(set(names)) == len(names)
    assert all(re.fullmatch("[A-Za-z0-9-]+", name) for name in names)


@pytest.mark.parametrize("options", [{"property_order": "any"}, {"additional": "closed"}])
def test_options_of_the_compile_hold(options):
    for name in ("optional", "open", "person"):
        schema = compiled(SCHEMAS[name], **options)
        assert difference(schema, compile_grammar("gbnf", to_gbnf(schema, NumberSpelling.ANY).text)) == ""


# ---------------------------------------------------------------------- as people read it


def lines(schema: object, **options: object) -> list[str]:
    return to_gbnf(compiled(schema, **options)).text.splitlines()[1:]


def test_rules_are_named_after_the_schema():
    assert lines(PERSON, whitespace="flexible") == [
        (
            r'root ::= "{" ws "\"fullName\"" ws ":" ws string ws ("," ws "\"age\"" ws ":" ws age ws)? '
            r'("," ws "\"address\"" ws ":" ws postal-address ws)? "}"'
        ),
        r'age ::= "-0" | "0" | "1" ([0-4] [0-9]? | "5" "0"? | [6-9])? | [2-9] [0-9]?',
        r'postal-address ::= "{" ws "\"city\"" ws ":" ws string ws "," ws "\"zip\"" ws ":" ws zip ws "}"',
        r'zip ::= "\"" [0-9]{5} "\""',
        r'string ::= "\"" char* "\""',
        r'char ::= [^"\\\x00-\x1F] | escape',
        r'escape ::= "\\" ["\\bfnrt] | "\\u00" ("0" [0-7bef] | "1" [0-9a-f])',
        r'ws ::= (" " | "\n" [\t ]{0,32})?',
    ]


def test_recursion_is_a_rule_that_refers_to_itself():
    assert lines(TREE)[:2] == [
        r'root ::= "{\"value\": " number (", \"children\": " children)? "}"',
        r'children ::= "[" (root (", " root)*)? "]"',
    ]


def test_alternatives_have_the_names_of_their_definitions():
    assert lines(SHAPES)[:3] == [
        "root ::= null | circle | square",
        r'circle ::= "{\"kind\": \"circle\", \"r\": " r "}"',
        r'r ::= "0." "0"* [1-9] [0-9]* | [1-9] [0-9]* ("." [0-9]+)?',
    ]


def test_what_may_be_left_out_stays_in_a_line():
    assert lines(OPTIONAL)[:2] == [
        r'root ::= "{" (root-a (", " root-b)? root-rest | root-b root-rest | root-c (", " root-d)? | root-d)? "}"',
        r'root-a ::= "\"a\": " integer',
    ]


def test_a_name_that_is_taken_gets_a_number():
    schema = {
        "properties": {"string": {"enum": ["a", "b"]}, "root": {"minimum": 1}, "ß": {"pattern": "^a"}},
        "type": "object",
    }
    names = {line.split(" ::= ")[0] for line in lines(schema)}
    assert {"root", "string-2", "root-value", "member"} <= names, names


def test_each_rule_knows_its_place():
    source = json.dumps(PERSON)
    conversion = to_gbnf(compile_grammar("json_schema", source))
    places = {rule.name: source[rule.span.start : rule.span.end] for rule in conversion.grammar.rules}
    assert json.loads(places["root"]) == PERSON
    assert json.loads(places["age"]) == PERSON["properties"]["age"]
    assert json.loads(places["postal-address"]) == PERSON["$defs"]["PostalAddress"]
    assert places["ws"] == ""


def links(schema: object) -> dict[str, list[str]]:
    """Of each rule, what it stands for in the source."""
    source = json.dumps(schema)
    conversion = to_gbnf(compile_grammar("json_schema", source))
    return {rule.name: [source[place.start : place.end] for place in rule.places] for rule in conversion.rules}


def test_rules_and_keywords_lead_to_each_other():
    address = {"type": "object", "properties": {"street": {"type": "string"}}, "additionalProperties": False}
    home, tags = {"$ref": "#/$defs/address"}, {"items": {"enum": ["a", "b"]}, "type": "array"}
    names = {"first": {"type": "string", "minLength": 3}, "last": {"type": "string", "minLength": 3}}
    schema = {
        "type": "object",
        "properties": {"home": home, "work": home, "tags": tags, **names},
        "additionalProperties": False,
        "$defs": {"address": address},
    }
    found = links(schema)
    of = {
        name: json.dumps({name: value})[1:-1] for name, value in (*schema["properties"].items(), ("address", address))
    }
    assert found["root"][0] == json.dumps(schema)
    assert found["root-home"] == [of["home"]]
    street = json.dumps(address["properties"])[1:-1]
    assert set(found["address"]) == {of["address"], of["home"], of["work"], street}
    assert found["address"][0] == of["address"], "its own place is the first"
    assert found["tags"] == [of["tags"]]
    assert found["tags-item"] == [json.dumps({"items": tags["items"]})[1:-1]]
    assert found["first"] == [of["first"], of["last"]], "two that say the same are one rule for both"
    assert found["string"] == [street], "what every grammar has belongs to whoever asks for it"
    assert found["ws"] == []


def test_a_rule_of_a_named_alternative_leads_to_it():
    cat, dog = ({"title": name, "type": "object", "required": [name]} for name in ("Cat", "Dog"))
    found = links({"anyOf": [cat, dog, {"type": "integer", "minimum": 7}]})
    assert (found["cat"], found["dog"]) == ([json.dumps(cat)], [json.dumps(dog)])


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("spelling", NumberSpelling)
def test_each_rule_stands_where_it_is_said_to(name, spelling):
    schema = compiled(SCHEMAS[name], "flexible")
    conversion = to_gbnf(schema, spelling)
    told = "".join(f"# {note}\n" for note in conversion.notes)
    texts_of_rules = [conversion.text[rule.span.start : rule.span.end] + "\n" for rule in conversion.rules]
    assert told + "".join(texts_of_rules) == conversion.text
    for rule, text in zip(conversion.rules, texts_of_rules, strict=True):
        assert text.startswith(f"{rule.name} ::= ")
        for place in rule.places:
            part = schema.source.text[place.start : place.end]
            assert _is_json(part) or _is_json("{" + part + "}"), part


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_the_same_schema_is_always_the_same_text():
    assert to_gbnf(compiled(SCHEMAS["patterns"])) == to_gbnf(compiled(SCHEMAS["patterns"]))


def test_a_note_says_what_plain_spelling_leaves_out():
    assert shows(to_gbnf(compiled({})).text, "export.note.fragment.plain")
    assert to_gbnf(compiled({}), NumberSpelling.ANY).notes == ()


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("schema", "pointer", "reason"),
    [
        (
            {"items": {"type": "string"}, "uniqueItems": True, "maxItems": 5},
            "/uniqueItems",
            catalogue_text("errors.export.rules.distinct"),
        ),
        (
            {"type": "object", "minProperties": 3},
            "/minProperties",
            catalogue_text("errors.export.rules.remembered_keys"),
        ),
        (
            {"properties": {"a": {"type": "number", "not": {"multipleOf": 0.25}}}},
            "/properties/a",
            catalogue_text("errors.limit.number_states"),
        ),
        (
            {"propertyNames": {"enum": [f"k{i}" for i in range(14)]}, "type": "object"},
            "/propertyNames",
            "more than 5,000 states",
        ),
    ],
)
def test_what_cannot_be_said_is_refused_by_its_pointer(schema, pointer, reason):
    with pytest.raises(GrammarError) as refused:
        to_gbnf(compiled(schema))
    (diagnostic,) = refused.value.diagnostics
    assert pointer in diagnostic.message
    assert reason in diagnostic.message


def test_it_can_be_cancelled():
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        to_gbnf(compiled(PERSON), cancel=cancel)


class Counting(CancelToken):
    """Counts how often it is asked."""

    checks = 0

    def check(self) -> None:
        self.checks += 1


def test_one_large_object_asks_often_whether_to_go_on():
    members = {f"property{i}": {"type": "object", "properties": {"a": {"maxLength": i}}} for i in range(100)}
    schema = compiled({"type": "object", "properties": members, "additionalProperties": False})
    cancel = Counting()
    to_gbnf(schema, cancel=cancel)
    rules = 2 * len(members) + 10  # is as often as it is asked between rules
    assert cancel.checks > rules + 20


# ---------------------------------------------------------------------- as a regex


REGULAR = [name for name in SCHEMAS if name not in ("anything", "tree", "open", "some member", "long", "many")]


@pytest.mark.parametrize(("name", "dialect"), [(name, ("python", "ecma")[i % 2]) for i, name in enumerate(REGULAR)])
def test_without_recursion_a_regex_is_the_same_language(name, dialect):
    schema = compiled(SCHEMAS[name])
    conversion = to_regex(schema, NumberSpelling.ANY, dialect=dialect)
    again = compile_grammar("regex", conversion.text, CompileOptions(dialect=dialect))
    assert conversion.notes == ()
    assert difference(schema, again) == ""


def test_a_regex_names_code_points_as_its_dialect_does():
    schema = compiled({"type": "string", "pattern": "^[\\u{E0001}-\\u{E0003}]$"})
    assert to_regex(schema).text == '"[\\U000e0001-\\U000e0003]"'
    assert to_regex(schema, dialect="ecma").text == '"[\\u{e0001}-\\u{e0003}]"'


def test_recursion_needs_a_depth():
    with raises_code("export-recursive"):
        to_regex(compiled(TREE))
    conversion = to_regex(compiled(TREE), depth=2)
    assert conversion.notes[-1] == catalogue_text("export.note.fragment.cut", depth=2)
    again = compile_grammar("regex", conversion.text)
    nested = '{"value": 1, "children": [{"value": 2, "children": [%s]}]}'
    assert again.fullmatch(nested % "")
    assert not again.fullmatch(nested % '{"value": 3}')
    assert excess(again, compiled(TREE)) == ""


def test_a_regex_that_grows_too_long_is_refused():
    with raises_code("export-no-regex"):
        to_regex(compiled({}), depth=30)
    with raises_code("export-no-regex"):
        to_regex(compiled(TREE, limits=Limits(nesting=10)), depth=8)


def large_schema(*, closed: bool) -> dict[str, object]:
    inner = {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": not closed}
    properties = {f"name{i}": {**inner, "maxProperties": 1 + i} for i in range(200)}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def turns(work: Callable[[], object]) -> int:
    with CancelToken().scope():
        work()
        return work_turns()


@pytest.mark.parametrize("name", ["regex", "jflap", "safetensors"])
def test_a_large_schema_that_recurses_is_refused_before_all_rules_are_written(name):
    chosen, options = target(name), ExportOptions()
    schema = compiled(large_schema(closed=False))
    refused = turns(lambda: chosen.refusal(ExportJob(schema, options=options)))
    assert chosen.refusal(ExportJob(schema, options=options))
    assert refused < turns(lambda: to_gbnf(schema)) / 2


def test_a_long_loop_within_a_string_is_no_recursion():
    text = {"type": "string", "allOf": [{"pattern": "^(abcde|edcba)*$"}, {"pattern": "^[a-e]*$"}]}
    entries = {
        f"k{i}": {"type": "object", "properties": {f"v{i}": text}, "additionalProperties": False} for i in range(40)
    }
    schema = compiled({"type": "object", "properties": entries, "additionalProperties": False})
    assert is_recursive(to_gbnf(schema).grammar)
    again = compile_grammar("regex", to_regex(schema).text)
    assert again.fullmatch('{"k1": {"v1": "abcdeedcba"}}')
    assert not again.fullmatch('{"k1": {"v1": "abcd"}}')
    assert target("safetensors").refusal(ExportJob(schema)) == no_vocabulary()


def test_the_rules_of_a_schema_are_written_once_for_all_targets(monkeypatch):
    written = []
    write = SchemaRules.write

    def counted(self: SchemaRules, goal: object) -> object:
        written.append(goal)
        return write(self, goal)

    monkeypatch.setattr(SchemaRules, "write", counted)
    schema = compiled(PERSON)
    job = ExportJob(schema)
    assert not any(refusal(one, job) for one in TARGETS if not one.needs_vocabulary)
    to_regex(schema)
    to_gbnf(schema)
    assert len(written) == 1


def test_a_refusal_that_is_kept_does_not_keep_the_grammar():
    schema = compiled({"uniqueItems": True})
    for _ in range(2):
        for name in ("gbnf", "regex", "safetensors"):
            assert target(name).refusal(ExportJob(schema))
    known = weakref.ref(schema)
    del schema
    gc.collect()
    assert known() is None


def test_a_condition_that_many_properties_share_is_read_once(monkeypatch):
    read = []
    node_of = strings.to_node

    def counted(formula: object) -> object:
        read.append(formula)
        return node_of(formula)

    monkeypatch.setattr(strings, "to_node", counted)
    shared = {"type": "string", "format": "email", "minLength": 3}
    to_gbnf(compiled({"properties": {f"p{i}": shared for i in range(20)}, "additionalProperties": False}))
    assert len(read) == 1
