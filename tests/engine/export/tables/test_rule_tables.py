"""The tables of a grammar's rules, as somebody else reads them from the file."""

from __future__ import annotations

import json

from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.automata.rtn.rule_automata import CallEdge, RuleAutomata, RuleAutomaton
from engine.automata.rtn.rule_tracker import RuleTracker
from engine.compile import CompiledGrammar, compile_grammar
from engine.export.schema.settings import NumberSpelling
from engine.export.target import ExportJob, ExportOptions
from engine.export.writing import make
from engine.source import Span

NESTED = 'root ::= "(" root ")" | x\nx ::= [é"]'
TREE = """{
  "type": "object",
  "properties": {
    "name": {"type": "string", "maxLength": 2},
    "children": {"type": "array", "items": {"$ref": "#"}}
  },
  "required": ["name"],
  "additionalProperties": false
}"""


def text_of(grammar: CompiledGrammar, spelling: NumberSpelling = NumberSpelling.PLAIN) -> str:
    return make("json", ExportJob(grammar, None, ExportOptions(spelling=spelling))).content.decode()


def read_back(text: str) -> RuleAutomata:
    """As somebody else would read the file."""
    document = json.loads(text)
    assert (document["format"], document["version"]) == ("turnstile-rule-automata", 2)
    return RuleAutomata(tuple(map(rule_of, document["rules"])))


def rule_of(rule: dict) -> RuleAutomaton:
    states = tuple(DfaState(state, state in rule["accepting"]) for state in range(rule["states"]))
    edges = tuple(DfaEdge(e["source"], e["target"], tuple(map(tuple, e["bytes"]))) for e in rule["edges"])
    calls = tuple(CallEdge(call["source"], call["target"], call["rule"]) for call in rule["calls"])
    return RuleAutomaton(rule["name"], Span(0, 0), False, ByteDfa(0, states, edges), calls)


def test_the_json_file_says_what_matches():
    grammar = compile_grammar("gbnf", NESTED)
    match = RuleTracker(read_back(text_of(grammar)))
    for text in ("é", '"', "((é))", "((é)", "", "a", "()"):
        assert match.positions(text.encode()).accepting == grammar.fullmatch(text)


def test_the_json_file_holds_tokens_taken_whole():
    text = text_of(compile_grammar("gbnf", 'root ::= "(" root ")" | !<[7]> | <think>'))
    (root,) = json.loads(text)["rules"]
    assert root["tokens"] == [
        {"source": 0, "target": 2, "names": [], "ids": [7], "negated": True},
        {"source": 0, "target": 2, "names": ["<think>"], "ids": [], "negated": False},
    ]


def test_a_rule_may_be_called_unused():
    text = text_of(compile_grammar("gbnf", 'root ::= unused\nunused ::= "(" root ")" | "a"'))
    assert [rule["name"] for rule in json.loads(text)["rules"]] == ["root", "unused"]


def test_the_file_of_a_schema_holds_the_rules_with_their_white_space():
    document = json.loads(text_of(compile_grammar("json_schema", TREE)))
    assert "ws" in {rule["name"] for rule in document["rules"]}
    assert len(document["notes"]) == 1
    assert json.loads(text_of(compile_grammar("json_schema", TREE), NumberSpelling.ANY))["notes"] == []
