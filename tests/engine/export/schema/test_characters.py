"""Characters of byte automata, and characters as JSON spells them, against `json` and a run of the node."""

from __future__ import annotations

import json

from error_keys import raises_key
from hypothesis import given
from hypothesis import strategies as st
from language import matches, nodes

from engine.automata.utf8 import FINAL
from engine.compile import compile_grammar
from engine.export.rules.character_automaton import character_system
from engine.export.rules.expressions import choice
from engine.export.rules.right_linear import System
from engine.export.schema.strings import escaped, raw
from engine.grammar import Chars, CharSet, Grammar, Rule
from engine.grammar.charset import EVERY_SCALAR
from engine.grammar.print_gbnf import print_gbnf
from engine.notations.regex.parser import parse
from engine.schema_automaton.json_encoding.class_encoder import json_automaton
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.source import LimitExceededError, Limits, SourceText

code_points = st.integers(0, 0xD7FF) | st.integers(0xE000, 0x10FFFF) | st.sampled_from([0x22, 0x5C, 0x2F, 0x0A, 0x1F])
char_sets = st.lists(code_points, min_size=1, max_size=4).map(
    lambda codes: CharSet.of((c, c) for c in codes)
) | st.tuples(code_points, code_points).map(lambda pair: CharSet.of([(min(pair), max(pair))]) & EVERY_SCALAR)


def run(system: System, text: str) -> bool:
    state = 0
    for character in text:
        for label, target in system.edges[state]:
            assert isinstance(label, Chars)
            if ord(character) in label.set:
                state = target
                break
        else:
            return False
    return system.accepting[state]


@given(nodes(looks=True), st.text("abé€😀", max_size=5))
def test_an_automaton_reads_characters_as_the_node_does(node, text):
    system = character_system(node, Limits())
    assert (system is not None and run(system, text)) == matches(node, text)


@given(char_sets, st.lists(code_points, max_size=5))
def test_a_class_stays_a_class(characters, codes):
    system = character_system(Chars(characters), Limits())
    assert system is not None
    for code in (*codes, *(edge for pair in characters.ranges for edge in pair)):
        assert run(system, chr(code)) == (code in characters)


def test_an_automaton_that_is_too_large_is_refused():
    node, _ = parse(SourceText("(?=.*a.{9}b).*"), "python", Limits())
    with raises_key(LimitExceededError, "errors.limit.automaton_states"):
        character_system(node, Limits(), 100)


def as_grammar(characters: CharSet, escapes: Escapes):
    node = choice(raw(characters), escaped(characters, escapes, Limits()))
    return compile_grammar("gbnf", print_gbnf(Grammar((Rule("root", node),), "root")))


def read(text: bytes) -> str | None:
    try:
        return str(json.loads(b'"' + text + b'"'))
    except ValueError:
        return None


def ways(code: int) -> list[bytes]:
    """Texts that may spell a character, right and wrong ones."""
    units = chr(code).encode("utf-16-be")
    digits = ["".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))]
    escapes = ['\\"', "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"]
    return [
        *(
            text.encode()
            for text in (chr(code), *escapes, *digits, digits[0].upper().replace("U", "u"), digits[0][:-1])
        ),
        json.dumps(chr(code))[1:-1].encode(),
        json.dumps(chr(code), ensure_ascii=False)[1:-1].encode(),
    ]


@given(char_sets, st.lists(code_points, max_size=3), st.sampled_from(Escapes))
def test_characters_have_all_spellings_of_their_escapes(characters, codes, escapes):
    grammar, automaton = as_grammar(characters, escapes), json_automaton(characters, escapes)
    for code in (*codes, *(edge for pair in characters.ranges for edge in pair)):
        for text in ways(code):
            node: int | None = 0
            for byte in text:
                node = None if node is None or node == FINAL else automaton.step(node, byte)
            assert grammar.fullmatch(text) == (node == FINAL)


@given(char_sets, st.lists(code_points, max_size=3))
def test_plain_spelling_is_one_way(characters, codes):
    grammar = as_grammar(characters, Escapes.SHORTEST)
    for code in (*codes, *(edge for pair in characters.ranges for edge in pair)):
        shortest = json.dumps(chr(code), ensure_ascii=False)[1:-1].encode()
        assert grammar.fullmatch(shortest) == (code in characters)
        for text in ways(code):
            if text != shortest and read(text) == chr(code):
                assert not grammar.fullmatch(text)
