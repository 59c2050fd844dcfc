import json

from hypothesis import given
from hypothesis import strategies as st

from engine.automata.json.strings.spelling import json_automaton, spellings
from engine.automata.utf8 import FINAL, Utf8Automaton
from engine.grammar import CharSet

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


@given(characters, st.sampled_from(SETS))
def test_every_spelling_of_a_character_is_read_exactly_where_the_set_holds_it(character, chars):
    for way in ways(character):
        assert reads(json_automaton(chars), way) is (ord(character) in chars)


@given(characters)
def test_the_listed_spellings_are_those_that_the_automaton_reads(character):
    automaton = json_automaton(CharSet.chars(character))
    for way in spellings(ord(character)):
        assert reads(automaton, bytes(place[0] for place in way))
    for way in ways(character):
        assert any(
            len(way) == len(listed) and all(byte in place for byte, place in zip(way, listed, strict=True))
            for listed in spellings(ord(character))
        )
