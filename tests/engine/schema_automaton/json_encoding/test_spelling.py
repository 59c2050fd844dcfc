import itertools
import json

from hypothesis import given
from hypothesis import strategies as st

from engine.automata.utf8 import FINAL, Utf8Automaton
from engine.grammar import CharSet
from engine.schema_automaton.json_encoding.class_encoder import json_automaton
from engine.schema_automaton.json_encoding.encoder import Escapes, spellings

SETS = [
    CharSet.chars("a"),
    CharSet.chars('"\\/\n'),
    CharSet(((0x10000, 0x10FFFF),)),
    CharSet.of(((0x1F600, 0x1F64F), (0xD000, 0xD7FF), (0x41, 0x5A))),
]
characters = st.one_of(
    st.characters(exclude_categories=["Cs"]), st.sampled_from(list('aZ"\\/\n\0\x7f\ud7ff\ue000\U00010000\U0001f600'))
)


def reads(automaton: Utf8Automaton, data: bytes) -> bool:
    node: int | None = 0
    for index, byte in enumerate(data):
        node = automaton.step(node or 0, byte)
        if node is None or node == FINAL:
            return node == FINAL and index == len(data) - 1
    return False


def ways(character: str) -> list[bytes]:
    units = character.encode("utf-16-be")
    escaped = "".join(f"\\u{units[i]:02x}{units[i + 1]:02X}" for i in range(0, len(units), 2)).encode()
    return [json.dumps(character, ensure_ascii=flag)[1:-1].encode() for flag in (True, False)] + [escaped]


def is_listed(way: bytes, code: int, escapes: Escapes) -> bool:
    return any(
        len(way) == len(listed) and all(byte in position for byte, position in zip(way, listed, strict=True))
        for listed in spellings(code, escapes)
    )


@given(characters, st.sampled_from(SETS), st.sampled_from(Escapes))
def test_a_spelling_is_read_exactly_where_it_is_listed_and_the_set_holds_the_character(character, chars, escapes):
    code = ord(character)
    for way in ways(character):
        expected = code in chars and is_listed(way, code, escapes)
        assert reads(json_automaton(chars, escapes), way) is expected


@given(characters)
def test_any_spelling_is_every_one_that_json_has(character):
    assert all(is_listed(way, ord(character), Escapes.ANY) for way in ways(character))


@given(characters, st.sampled_from(Escapes))
def test_the_listed_spellings_are_those_that_the_automaton_reads(character, escapes):
    automaton = json_automaton(CharSet.chars(character), escapes)
    for way in spellings(ord(character), escapes):
        for text in itertools.product(*way):
            assert reads(automaton, bytes(text))


@given(characters)
def test_the_shortest_spelling_is_one_and_it_is_what_dumps_writes(character):
    (way,) = spellings(ord(character), Escapes.SHORTEST)
    assert b"".join(way) == json.dumps(character, ensure_ascii=False)[1:-1].encode()


@given(characters)
def test_spellings_of_fewer_escapes_are_among_those_of_more(character):
    shortest, above_ascii, every = (
        {bytes(text) for way in spellings(ord(character), escapes) for text in itertools.product(*way)}
        for escapes in (Escapes.SHORTEST, Escapes.ABOVE_ASCII, Escapes.ANY)
    )
    assert shortest <= above_ascii <= every
    assert json.dumps(character)[1:-1].encode() in above_ascii or character == "\x7f"


def test_a_lone_surrogate_is_spelled_by_an_escape_only():
    assert b"".join(spellings(0xD800, Escapes.SHORTEST)[0]) == rb"\ud800"
    for escapes in Escapes:
        assert len(spellings(0xD800, escapes)) == 1
