"""A grammar that nobody uses is gone at once: nothing that belongs to it leads back to itself."""

from __future__ import annotations

import gc
import json
from weakref import ref

import pytest

from engine import CompileOptions, GrammarError, Matcher, Vocabulary, clear_caches, compile_grammar

TOKENS = [bytes([byte]) for byte in range(0x20, 0x7F)] + [b'{"', b'":', b'", "', b'"}', b"ab", b"  ", b"\\u00"]
VOCABULARY = Vocabulary([*TOKENS, None], eos_ids=[len(TOKENS)])
NODE = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 5}, "next": {"$ref": "#"}, "at": {"format": "date"}},
    "patternProperties": {"^x": {"items": {"enum": [1, "a", None]}, "minItems": 1}},
    "additionalProperties": {"oneOf": [{"type": "integer"}, {"minimum": 7}, {"not": {"type": "string"}}]},
    "dependentRequired": {"at": ["name"]},
    "minProperties": 1,
}
GRAMMARS = {
    "a counted regex": ("regex", "[A-Z]+: ([a-z]+ ){1,3}end", "AB: ab cd end"),
    "a regex with conditions": ("regex", r"(?=.*\d)\w+\b(?!z)", "ab1"),
    "left recursion": ("gbnf", 'root ::= root "+" term | term\nterm ::= [0-9]+ | "(" root ")"', "1+(2+3)"),
    "a token element": ("gbnf", "root ::= <[3]> [a-z]*", ""),
    "a recursive schema": ("json_schema", json.dumps(NODE), '{"name": "ab", "next": {"x": [1, "a"]}, "zz": 9}'),
    "distinct items": ("json_schema", '{"items": {"enum": [1, 2]}, "uniqueItems": true}', "[1, 2]"),
    "keys that count": ("json_schema", '{"minProperties": 2, "patternProperties": {"^a": {}}}', '{"ab": 1, "ab'),
    "twice the same key": ("json_schema", '{"type": "object", "type": "object", "minProperties": 2}', '{"a": 1'),
    "no schema": ("json_schema", '{"properties": {"a": {"type": "nothing"}, "b": {"$ref": "#/c"}}}', ""),
}


@pytest.fixture
def no_collections():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def use(notation: str, source: str, text: str) -> ref | None:
    """Compile a grammar, match a text twice, ask all there is to ask, and forget it."""
    try:
        grammar = compile_grammar(notation, source, CompileOptions(unenforced="warn"))
    except GrammarError:
        return None
    matcher = Matcher(grammar, VOCABULARY)
    for _ in range(2):
        taken = 0
        for character in text.encode():
            matcher.bitmask()
            matcher.explain(bytes((character,)))
            taken += matcher.accept(TOKENS.index(bytes((character,))))
        matcher.forced_bytes()
        matcher.shortest_completion(effort=200)
        matcher.fork().accept(TOKENS.index(b"a"))
        matcher.rollback(taken)
    return ref(grammar.automaton)


@pytest.mark.usefixtures("no_collections")
@pytest.mark.parametrize("name", GRAMMARS)
def test_a_grammar_is_gone_with_its_matchers(name):
    use(*GRAMMARS[name])  # what is kept for all grammars is made by the first
    gc.collect()
    automaton = use(*GRAMMARS[name])
    assert automaton is None or automaton() is None
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        left = [thing for thing in gc.garbage if type(thing).__module__.startswith("engine.")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert left == []


def test_caches_that_are_cleared_take_no_matcher_its_steps():
    grammar = compile_grammar("regex", "(ab)*")
    matcher = Matcher(grammar, VOCABULARY)
    matcher.accept(TOKENS.index(b"a"))
    clear_caches()
    matcher.accept(TOKENS.index(b"b"))
    matcher.rollback(2)
    assert matcher.is_allowed(TOKENS.index(b"a"))
