"""Keywords and constructs on a server: by its mask on a real llama-server, by what a model writes on doubles."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from doubles_chat import ChatDouble
from llama_server import connect
from server_double import served

from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.server_probe.asking import asking_of
from engine.diagnosis.server_probe.constructs import CONSTRUCTS, constructs_of
from engine.diagnosis.server_probe.keyword_check import decide_keyword
from engine.diagnosis.server_probe.probe import probe_server
from engine.diagnosis.server_probe.report import ConstructState, MaskState, WayState
from engine.diagnosis.server_probe.violating_texts import ViolatingTexts, keywords_of, tried_rules
from engine.servers import ServerClient
from engine.servers.grammar_form import GrammarForm
from engine.source import CancelToken

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
        "age": {"type": "integer", "minimum": 3, "maximum": 9, "multipleOf": 3},
        "tags": {"type": "array", "items": {"enum": ["x", "y", "z"]}, "uniqueItems": True, "maxItems": 2},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
USUAL = "Sure! Here is the word that you have asked me to write: hello"
CASES = [(one.name, one) for one in CONSTRUCTS]


def asked(schema=SCHEMA):
    return RequestConstraint("json_schema", json.dumps(schema))


def without(schema, keyword):
    """Return a schema with none of a keyword, as an engine reads it that drops it."""
    if isinstance(schema, dict):
        return {name: without(inner, keyword) for name, inner in schema.items() if name != keyword}
    return [without(one, keyword) for one in schema] if isinstance(schema, list) else schema


def test_keywords_are_those_that_a_value_can_violate():
    schema = {
        "type": "object",
        "properties": {"type": {"type": "string"}, "items": {"items": {"minLength": 1}, "const": []}},
        "additionalProperties": {"maxLength": 3},
        "not": {"required": ["x"]},
        "enum": [{"type": "a"}],
    }
    assert [one.pointer for one in keywords_of(schema)] == [
        "/type",
        "/properties/type/type",
        "/properties/items/items/minLength",
        "/properties/items/const",
        "/additionalProperties/maxLength",
        "/not",
        "/enum",
    ]


def test_each_text_violates_its_keyword_alone():
    texts = ViolatingTexts(json.dumps(SCHEMA), CompileOptions(), CancelToken())
    schema = compile_grammar("json_schema", json.dumps(SCHEMA))
    assert schema.fullmatch(texts.legal)
    for keyword in keywords_of(SCHEMA):
        relaxed = json.loads(json.dumps(SCHEMA))
        holder = relaxed
        for step in keyword.pointer.split("/")[1:-1]:
            holder = holder[step]
        del holder[keyword.keyword]
        found = texts.of(keyword)
        assert found, keyword
        for text in found:
            assert not schema.fullmatch(text)
            assert compile_grammar("json_schema", json.dumps(relaxed)).fullmatch(text)


def test_a_keyword_that_others_imply_has_no_text():
    schema = {"type": "string", "const": "ab", "minLength": 1}
    texts = ViolatingTexts(json.dumps(schema), CompileOptions(), CancelToken())
    by_name = {one.keyword: texts.of(one) for one in keywords_of(schema)}
    assert by_name["minLength"] == ()
    assert by_name["const"]


def test_a_real_server_drops_keywords_and_each_has_a_counterexample(llama_server):
    with connect(llama_server) as client:
        report = probe_server(client, ways=["response_format"], grammar=asked())
    found = {one.pointer: one for one in report.keywords}
    dropped = {pointer for pointer, one in found.items() if one.enforced is False}
    assert dropped == {
        "/properties/name/minLength",
        "/properties/name/maxLength",
        "/properties/age/multipleOf",
        "/properties/tags/uniqueItems",
    }
    assert all(one.enforced for pointer, one in found.items() if pointer not in dropped)
    schema = compile_grammar("json_schema", json.dumps(SCHEMA))
    for pointer in dropped:
        text = found[pointer].counterexample
        assert not schema.fullmatch(text)
        assert compile_grammar("json_schema", json.dumps(without(SCHEMA, found[pointer].keyword))).fullmatch(text)
    assert report.mask is MaskState.PARTLY
    assert report.relevant == frozenset()


def test_the_six_constructs_fail_open_on_a_build_with_llguidance(llama_server):
    with connect(llama_server) as client:
        report = probe_server(client)
    by_way = {(one.construct, one.way): one.state for one in report.constructs}
    assert {by_way[name, "/completion json_schema"] for name, _ in CASES} == {ConstructState.OPEN}
    assert set(report.fails_open) == {name for name, _ in CASES}
    chat = {name: by_way[name, "response_format"] for name, _ in CASES}
    refused = {"dangling-ref", "unknown-type"}
    assert {name for name, state in chat.items() if state is ConstructState.REFUSED} == refused
    assert {state for name, state in chat.items() if name not in refused} == {ConstructState.DROPPED}
    assert report.mask is MaskState.PARTLY
    states = {one.name: one.state for one in report.ways}
    assert states["tools, required"] is WayState.OFF  # its template has no tools, and the server does not say so
    assert {states[name] for name in ("response_format", "grammar", "/completion grammar")} == {WayState.ON}


def test_a_grammar_that_has_none_of_the_constructs_is_not_judged_by_them(llama_server):
    schema = {"type": "object", "properties": {"a": {"enum": ["x"]}}, "required": ["a"], "additionalProperties": False}
    with connect(llama_server) as client:
        report = probe_server(client, ways=["response_format"], grammar=asked(schema))
    assert report.fails_open
    assert report.mask is MaskState.ON


def test_a_dropped_keyword_is_seen_where_a_model_writes_what_it_is_told():
    double = ChatDouble(weakened=lambda schema: without(schema, "multipleOf"))
    with served(double) as server, ServerClient(server.address) as client:
        report = probe_server(client, ways=["structured_outputs.json"], grammar=asked())
    found = {one.pointer: one.enforced for one in report.keywords}
    assert found.pop("/properties/age/multipleOf") is False
    assert set(found.values()) == {None}  # an answer that obeys proves nothing
    assert "multipleOf" in report.sentence
    assert report.mask is MaskState.PARTLY


def test_a_refused_grammar_is_reported_with_the_words_of_the_server():
    double = ChatDouble(refuses=lambda schema: "uniqueItems" in json.dumps(schema))
    with served(double) as server, ServerClient(server.address) as client:
        report = probe_server(client, ways=["response_format"], grammar=asked())
    assert report.grammar_error == "The schema is not supported"
    assert report.mask is MaskState.UNKNOWN


@pytest.mark.parametrize(("name", "construct"), CASES)
def test_a_server_that_drops_its_mask_for_a_construct_fails_open(name, construct):
    def obeys(request):
        return json.dumps(construct.schema) not in json.dumps(request.body)

    double = ChatDouble(obeys=obeys, refuses=lambda schema: schema["properties"].keys() > {"a"} and not is_(schema))

    def is_(schema):
        return schema["properties"]["b"] == construct.schema

    with served(double) as server, ServerClient(server.address) as client:
        report = probe_server(client, ways=["response_format"])
    assert report.fails_open == (name,)
    others = {one.state for one in report.constructs if one.construct != name}
    assert others == {ConstructState.REFUSED}
    assert report.mask is MaskState.PARTLY


@pytest.mark.parametrize(("text", "times"), [(USUAL, 1), (f"Well, {USUAL}", 2)])
def test_free_text_is_only_read_on_if_the_model_would_have_begun_otherwise(text, times):
    def answers(request):
        is_free = "wibble" in json.dumps(request.body)
        double = ChatDouble(
            always=text if is_free else USUAL,
            obeys=lambda _: not is_free,
            refuses=lambda schema: "b" in schema["properties"] and not is_free,
        )
        return double(request)

    with served(answers) as server, ServerClient(server.address) as client:
        report = probe_server(client, ways=["response_format"])
        sent = [one for one in server.requests if "wibble" in json.dumps(one.body)]
    assert report.fails_open == ("unknown-type",)
    assert len(sent) == times


def test_a_construct_that_is_dropped_alone_is_told_apart_from_no_mask():
    double = ChatDouble(weakened=lambda schema: without(schema, "not"), refuses=lambda s: "$ref" in str(s))
    known = [one for one in CONSTRUCTS if one.name in ("not", "look-ahead", "dangling-ref")]

    def answers(request):
        sent = json.dumps(request.body) if request.body else ""
        others = [one for one in CONSTRUCTS if one not in known]
        if any(json.dumps(one.schema)[1:-1] in sent for one in others):
            return ChatDouble(refuses=lambda _: True)(request)
        return double(request)

    with served(answers) as server, ServerClient(server.address) as client:
        report = probe_server(client, ways=["response_format"])
    found = {one.construct: one.state for one in report.constructs}
    assert found["not"] is ConstructState.DROPPED
    assert found["look-ahead"] is ConstructState.MASKED  # the model obeyed, which proves nothing
    assert found["dangling-ref"] is ConstructState.REFUSED


def test_constructs_are_found_in_a_schema():
    schema = {
        "properties": {
            "a": {"not": {"type": "string"}},
            "b": {"pattern": r"^\bfoo(?!x)"},
            "c": {"$ref": "#/$defs/none"},
            "d": {"type": ["string", "wibble"]},
        }
    }
    assert constructs_of(schema) == {"not", "word-boundary", "look-ahead", "dangling-ref", "unknown-type"}
    assert constructs_of({"pattern": r"\\b", "$ref": "#/$defs/a", "$defs": {"a": {}}}) == frozenset()


RULES = """root ::= "{" item ("," item)* "}"
item ::= "\\"" name "\\":" num
name ::= [a-z]{1,9}
num ::= "-"? [0-9]+
"""


@pytest.mark.parametrize("text", [RULES, 'root ::= ("ä" | "日本")+ end?\nend ::= "🦙"', 'root ::= "a"* b*\nb ::= "b"'])
def test_each_text_changes_the_part_of_its_rule_and_is_illegal(text):
    grammar = compile_grammar("gbnf", text)
    rules = tried_rules(grammar, CancelToken())
    assert {one.name for one in rules} == {line.split()[0] for line in text.splitlines()}
    for rule in rules:
        assert grammar.fullmatch(rule.legal)
        assert rule.violating
        assert not any(grammar.fullmatch(one) for one in rule.violating)


def test_a_rule_that_any_text_fits_has_none_and_one_that_no_text_uses_is_unknown():
    rules = tried_rules(compile_grammar("gbnf", "root ::= any\nany ::= [^x]*"), CancelToken())
    assert all("x" in text for rule in rules for text in rule.violating or ())
    (only,) = tried_rules(compile_grammar("regex", "(?s:.*)"), CancelToken())
    assert (only.name, only.violating) == ("", None)


def test_the_rules_of_a_grammar_are_in_force_on_a_real_server(llama_server):
    with connect(llama_server) as client:
        report = probe_server(client, grammar=RequestConstraint("gbnf", RULES))
    assert {one.keyword: one.enforced for one in report.keywords} == dict.fromkeys(
        ("root", "item", "name", "num"), True
    )
    assert {one.pointer for one in report.keywords} == {""}


def test_a_regex_is_in_force_as_the_rules_to_which_it_converts(llama_server):
    with connect(llama_server) as client:
        report = probe_server(client, ways=["/completion grammar"], grammar=RequestConstraint("regex", "[0-9]{4}(-ä)?"))
    (found,) = report.keywords
    assert found.enforced
    assert found.name


def test_a_grammar_of_rules_that_the_server_refuses_is_reported(llama_server):
    nested = RequestConstraint("gbnf", "root ::= root? [a-z]")
    with connect(llama_server) as client:
        report = probe_server(client, ways=["/completion grammar"], grammar=nested)
    assert report.grammar_error
    assert report.mask is MaskState.UNKNOWN


def test_a_judge_of_rules_decides_texts_as_the_grammar_does(llama_server):
    grammar = compile_grammar("gbnf", RULES)
    texts = [
        "",
        "{",
        '{"a":1}',
        '{"a":1}x',
        '{"abc":-10,"b":0}',
        '{"A":1}',
        '{"aaaaaaaaa":1}',
        '{"aaaaaaaaaa":1}',
        '{"ä":1}',
    ]
    with connect(llama_server) as client:
        judge = asking_of("llama-server").text_judges[GrammarForm.GRAMMAR](client, "")
        assert judge.is_available
        assert [judge.allows(RULES, text) for text in texts] == [grammar.fullmatch(text) for text in texts]


class LooseJudge:
    """A server on which a rule of `RULES` allows any printable text."""

    way, is_available = "grammar", True

    def __init__(self, rule):
        lines = [line for line in RULES.splitlines() if not line.startswith(f"{rule} ")]
        self._grammar = compile_grammar("gbnf", "\n".join([*lines, f"{rule} ::= [ -~]*"]))

    def allows(self, _constraint, text):
        return self._grammar.fullmatch(text)


@pytest.mark.parametrize("rule", ["name", "num"])
def test_a_rule_that_is_not_in_force_has_a_counterexample(rule):
    grammar = compile_grammar("gbnf", RULES)
    found = {one.name: decide_keyword(RULES, one, LooseJudge(rule)) for one in tried_rules(grammar, CancelToken())}
    assert found[rule].enforced is False
    assert not grammar.fullmatch(found[rule].counterexample)
    assert found[rule].state == "dropped"


def test_a_regex_is_tried_by_texts_that_the_model_is_told_to_write():
    for obeys in (True, False):
        double = ChatDouble(obeys=lambda r, obeys=obeys: obeys or "[0-9]" not in json.dumps(r.body))
        with served(double) as server, ServerClient(server.address) as client:
            grammar = RequestConstraint("regex", "[0-9]{4}")
            report = probe_server(client, ways=["structured_outputs.regex"], grammar=grammar)
        (found,) = report.keywords
        assert found.enforced is (None if obeys else False)
        assert bool(found.counterexample) is not obeys
        assert bool(found.held) is obeys
        assert found.note


def test_rules_on_a_server_without_a_judge_are_tried_and_never_called_enforced():
    def answers(request):
        loose = request.body and '"num ::=' not in json.dumps(request.body) and "{1,9}" in json.dumps(request.body)
        return ChatDouble(obeys=lambda _: not loose)(request)

    for double, enforced in ((ChatDouble(), {None}), (answers, {False})):
        with served(double) as server, ServerClient(server.address) as client:
            grammar = RequestConstraint("gbnf", RULES)
            report = probe_server(client, ways=["structured_outputs.grammar"], grammar=grammar)
        found = {one.keyword: one for one in report.keywords}
        assert set(found) == {"grammar", "root", "item", "name", "num"}
        assert {one.enforced for one in found.values()} == enforced


def test_a_model_that_does_not_do_what_it_is_told_is_no_try():
    deaf = ChatDouble(always="hello")

    def answers(request):
        body = {**request.body, "messages": [{"role": "user", "content": "x"}]} if request.body else request.body
        return deaf(replace(request, body=body))

    with served(answers) as server, ServerClient(server.address) as client:
        report = probe_server(client, ways=["structured_outputs.json"], grammar=asked())
    assert {(one.enforced, one.held) for one in report.keywords} == {(None, 0)}


def test_a_text_that_is_longer_than_the_context_is_not_taken_for_a_refused_one(llama_server):
    schema = {"type": "string", "pattern": "^a+$", "minLength": 2, "maxLength": 1_000}
    with connect(llama_server) as client:
        report = probe_server(client, ways=["response_format"], grammar=asked(schema))
    found = {one.keyword: one.enforced for one in report.keywords}
    assert found["minLength"] is False
    assert found["maxLength"] is None  # 1,001 tokens do not fit into a context of 512
    assert found["pattern"] is True
