"""A printed regex reads back, here and in Python."""

from __future__ import annotations

import re

from error_keys import raises_key
from hypothesis import given
from hypothesis import strategies as st
from language import matches, nodes

from engine.compile import CompileOptions, compile_grammar
from engine.export.rules.expressions import choice, literal, one_of
from engine.export.text.print_regex import NoRegexError, print_regex
from engine.grammar import EMPTY, Lookaround, RuleReference

TEXTS = ["", "a", "b", "ab", "ba", "aab", "abab", "bbb", "éa", "aaaa"]


@given(nodes(looks=False), st.sampled_from(TEXTS), st.sampled_from(["python", "ecma"]))
def test_a_printed_regex_reads_back(node, text, dialect):
    printed = print_regex(node, dialect)
    again = compile_grammar("regex", printed, CompileOptions(dialect=dialect))
    assert again.fullmatch(text) == matches(node, text)


@given(nodes(looks=False), st.sampled_from(TEXTS))
def test_python_reads_a_printed_regex_the_same_way(node, text):
    assert bool(re.fullmatch(print_regex(node), text)) == matches(node, text)


@given(st.characters(exclude_categories=["Cs"]), st.sampled_from(["python", "ecma"]))
def test_every_character_has_a_spelling(character, dialect):
    for node in (one_of(character), one_of(character + "a-]"), choice(one_of(character), literal("ab"))):
        again = compile_grammar("regex", print_regex(node, dialect), CompileOptions(dialect=dialect))
        assert again.fullmatch(character)
        assert not again.fullmatch("\x00" if character != "\x00" else "\x01")


def test_what_a_regex_cannot_say_is_refused():
    with raises_key(NoRegexError, "errors.export.print_regex.inexpressible", kind="rulereference"):
        print_regex(RuleReference("a"))
    with raises_key(NoRegexError, "errors.export.print_regex.inexpressible", kind="lookaround"):
        print_regex(Lookaround(EMPTY, ahead=True, negated=False))
