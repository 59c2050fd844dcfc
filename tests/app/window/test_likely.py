"""Which notation a text looks like."""

from __future__ import annotations

import pytest

from app.document.gallery import examples
from app.pasting import likely_notation


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
    assert likely_notation(text) == notation


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.title)
def test_no_example_looks_like_another_notation(example):
    assert likely_notation(example.document().grammar.text) in (None, example.notation)


def test_a_long_text_is_looked_at_where_it_begins():
    assert likely_notation("a" * 30_000 + '\nroot ::= "a"') is None
