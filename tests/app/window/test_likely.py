"""Which notation a text looks like."""

from __future__ import annotations

import pytest

from app.document.gallery import examples
from engine.notations import NOTATIONS


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        ('{"type": "object"}', "json_schema"),
        ('\n{\n  "$defs": {', "json_schema"),  # a broken one is meant as one, too
        ('root ::= "a"', "gbnf"),
        ('# numbers\nroot ::= [0-9]+ item\nitem ::= "x"', "gbnf"),
        ('root ::= "{" "\\"a\\": " [0-9]+', "gbnf"),
        (r"[0-9]{4}-\d\d", "regex"),
        ("(?:yes|no)", "regex"),
        ("", None),
        ("  \n", None),
        ("yes|no", None),
        ("{", None),
        ("true", None),
        ('["a", "b"]', None),
        ('"[a-z]+"', None),
    ],
)
def test_few_words_say_what_a_text_is(text, notation):
    found = NOTATIONS.likely(text)
    assert (found and found.id) == notation


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.title)
def test_no_example_looks_like_another_notation(example):
    found = NOTATIONS.likely(example.document().grammar.text)
    assert found is None or found.id == example.notation


def test_a_long_text_is_looked_at_where_it_begins():
    assert NOTATIONS.likely("a" * 30_000 + '\nroot ::= "a"') is None
