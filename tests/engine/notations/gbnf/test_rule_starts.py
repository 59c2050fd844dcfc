"""The heads of rules that are found at each edit, against the names that the lexer's tokens define."""

from __future__ import annotations

import pytest

from engine.notations import NOTATIONS

GBNF = NOTATIONS["gbnf"]
TEXTS = [
    'root ::= a-1 | "x ::= y"\n  a-1 ::= [a-z]+ # b ::= c\n',
    'root::="a"\n\nroot2 ::=\n  root |\n  "b"\n',
    "",
]


@pytest.mark.parametrize("text", TEXTS)
def test_rule_starts_are_the_definitions_of_the_names(text):
    defined = sorted((span.start, name.text) for name in GBNF.names(text) for span in name.definitions)
    assert [(offset, name) for name, offset in GBNF.rule_starts(text)] == defined


def test_other_notations_have_no_rules():
    assert not any(tuple(notation.rule_starts("a ::= b")) for notation in NOTATIONS.values() if notation is not GBNF)
