"""Strings of bounded length that must match, against the product of the pattern and a counter."""

import json
from random import Random

import pytest

from engine.automata.byte_automaton import DEAD
from engine.compile import CompileOptions, compile_grammar
from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.lexing.bounded_lexer import MOST_LEAST, RUN
from engine.schema_automaton.string_languages.language import TextLanguage
from engine.schema_automaton.string_languages.witnesses import Witnesses
from engine.source import Limits, Span
from tests.engine.schema_automaton.string_formulas import PIECES, node_of

BOUNDED = [
    ("^a+$", 0, 3),
    ("^(ab)*$", 3, 3),
    ("^(ab)*$", 3, 4),
    ("^(aab|b)*$", 2, 40),
    ("^a{2,5}b?$", 1, 4),
    (r"^(?:\S+\s+){0,3}\S+$", 0, 2 * RUN + 1),
    ("^[ab]{20}$", 20, 20),
    ("^(a|[^a]{3})*$", 5, RUN),
    ("ab", 3, 70),
    ("^$|^a", 0, 2),
    ("^é*$", 1, RUN - 1),
    ("^a*$", MOST_LEAST + 1, MOST_LEAST + 3),
]


COUNTED = [
    ("^a{1,40}$", 0, None),
    ("^[ab]{2,16}$", 0, None),
    ("^a[ab]{0,20}b$", 0, None),
    ("^(?:a|é){3,17}b{2}$", 0, None),
    ("^(?:ab|bb)[^a]{0,18}$", 0, None),
    ("^a{0,30}$", 3, 20),
    ("^[ab]{3,30}$", 40, None),
    ("^(?:ab){1,20}$", 0, None),
    ("^a{1,20}b{1,20}$", 0, None),
    ("^a{70,90}$", 0, None),
    ("^(?:a{1,20})?b$", 0, None),
]


@pytest.mark.parametrize("escapes", [Escapes.SHORTEST, Escapes.ANY])
@pytest.mark.parametrize(("pattern", "least", "most"), BOUNDED + COUNTED)
def test_a_bounded_pattern_is_the_product_with_its_length(pattern, least, most, escapes):
    arena = Arena()
    text = arena.text(lambda: node_of(pattern), ("pattern", pattern), Span(0, 1))
    language = TextLanguage(arena.all_of((text, arena.length(least, most, Span(0, 1)))), Witnesses(Limits(), escapes))
    schema = {"type": "string", "pattern": pattern, "minLength": least}
    if most is not None:
        schema["maxLength"] = most
    automaton = compile_grammar("json_schema", json.dumps(schema), CompileOptions(escapes=escapes.value)).automaton
    most = 100 if most is None else most
    random = Random(pattern)
    assert (automaton.start == DEAD) is (language.start is None)
    for _ in range(30 if language.start is not None else 0):
        place = automaton.run(automaton.start, b'"')
        state = language.start
        for _ in range(most + 2):
            row = language.row(state)
            ends = automaton.run(place, b'"') != DEAD
            assert ends is (language.accepts(state) or row[ord('"')] is not None)
            going_on = [byte for byte in range(256) if row[byte] is not None and byte != ord('"')]
            assert going_on == [byte for byte in range(256) if byte != ord('"') and automaton.step(place, byte) != DEAD]
            pieces = [piece for piece in PIECES if piece[0] in going_on]
            if not pieces:
                break
            for byte in random.choice(pieces):
                place, state = automaton.step(place, byte), language.step(state, byte)
                assert (place == DEAD) is (state is None)
                if state is None:
                    break
            if state is None:
                break


def test_where_a_bounded_pattern_stands():
    schema = '{"type": "string", "pattern": "^a+$", "minLength": 2, "maxLength": 9}'
    automaton = compile_grammar("json_schema", schema).automaton

    def said(text):
        return [schema[span.start : span.end] for span in automaton.spans(automaton.run(automaton.start, text))]

    assert said(b'"a') == said(b'"') != said(b'"aa')
    assert len(said(b'"')) == 3
    assert len(said(b'"aa')) == 2
