"""However long a text is, and however many ways there are to read it, a matcher holds no more and no more.

Configurations are counted after a part of the text and after all of it: what a text can lead to is found in its first
part, and the rest adds nothing.
"""

from __future__ import annotations

import json

import pytest

from engine import compile_grammar
from engine.automata.byte_automaton import DEAD

TOKENS = 100_000
AMBIGUOUS = 'root ::= s\ns ::= s s | "a" | "" | "(" s ")"'
HIDDEN = 'root ::= b root | "a" | root root\nb ::= "a"? c?\nc ::= "b"?'
LISTS = 'root ::= "[" (root ("," root)*)? "]"'
EXPRESSIONS = 'root ::= e\ne ::= e "+" e | e "*" e | "(" e ")" | [0-9]+'
UP_AND_DOWN = "".join("[" * depth + "]" * depth + "," for depth in (1, 5, 2, 9, 3, 7))
SCHEMA = json.dumps(
    {"type": "array", "items": {"type": ["object", "array", "number", "string"], "items": {"$ref": "#/items"}}}
)
UNIQUE = json.dumps({"type": "array", "items": {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True}})
ONE_OF = json.dumps(
    {
        "type": "array",
        "items": {
            "oneOf": [
                {"properties": {"a": {"type": "number"}, "b": {"minLength": 2}}, "required": ["a"]},
                {"properties": {"a": {"type": "string"}}, "required": ["a"], "minProperties": 1},
            ]
        },
    }
)


@pytest.mark.parametrize(
    ("notation", "grammar", "opening", "unit"),
    [
        ("gbnf", AMBIGUOUS, b"", b"aa(a(a)a)a"),
        ("gbnf", HIDDEN, b"", b"aaababaaba"),
        ("gbnf", LISTS, b"[", UP_AND_DOWN.encode()),
        ("gbnf", EXPRESSIONS, b"1", b"+1*(2+3*(4))"),
        ("regex", r"(?:(?:a|ab)(?:c|bcd)?){5,}", b"", b"aababcdac"),
        ("regex", r"(?:a{1,3}|aa{2,5}b?)*", b"", b"aaaaaabaaab"),
        ("regex", r"(?=(?:.*a){3})(?:[ab]|ba)*(?<!x)", b"", b"abbaab"),
        ("json_schema", SCHEMA, b"[", b'[1,[2,"x",{"a":[]}]],{"k":{"l":[[]]}},-1.5e3,'),
        ("json_schema", UNIQUE, b"[", b"[1,2],[2,1],[2],[],"),
        ("json_schema", ONE_OF, b"[", b'{"a":1,"b":"xx"},{"a":3,"c":4},{"a":"s","z":[1]},'),
        ("json_schema", "{}", b"[", b'{"a":{"b":[1,2,{"c":null}]}},[[[]]],"\\u00e9x",'),
    ],
)
def test_a_long_text_needs_no_more_than_its_beginning(notation: str, grammar: str, opening: bytes, unit: bytes) -> None:
    automaton = compile_grammar(notation, grammar).automaton
    here = automaton.run(automaton.start, opening + 20 * unit)
    early = automaton.size
    for _ in range(TOKENS // 20 // len(unit)):
        here = automaton.run(here, 20 * unit)
    assert here != DEAD
    assert automaton.size <= early + 2


def test_a_count_is_part_of_a_configuration_and_no_more() -> None:
    automaton = compile_grammar("regex", r"(?:(?:a|ab)(?:c|bcd)?){0,100000}").automaton
    here = automaton.run(automaton.start, b"aababcdac" * 500)
    assert here != DEAD
    assert automaton.size <= 9 * 500 + 10  # one for each byte
