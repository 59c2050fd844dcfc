"""Explanations as a person reads them, from real matchers."""

from __future__ import annotations

import pytest

from engine.compile import compile_grammar
from engine.matching import Matcher
from engine.matching.explanation_text import explain
from engine.source import SourceText, Span
from engine.vocabulary import Vocabulary

TOKENS = Vocabulary([b"A", b"AB:", b"Sure", b" x", "é".encode(), None, b"", b"A\xc3", b"\n"], [5], {5: "<end>"})


def said(pattern: str, token: int | bytes, taken: bytes = b"") -> str:
    grammar = compile_grammar("regex", pattern)
    matcher = Matcher(grammar, TOKENS)
    assert matcher.accept_bytes(taken) or not taken
    token_id = token if isinstance(token, int) else None
    return explain(matcher.explain(token), grammar.source, TOKENS, token_id=token_id)


@pytest.mark.parametrize(
    ("pattern", "token", "taken", "words"),
    [
        (
            "[A-Z]+: x",
            3,
            b"",
            (
                "`␣x` is not allowed here: it begins with a space. Expected here: `A-Z`. "
                "The match is at line 1, column 1: `[A-Z]`."
            ),
        ),
        (
            "[A-Z]+: x",
            2,
            b"",
            (
                "`Sure` is not allowed here: `S` fits, but not `u` after it. Expected there: `A-Z` or `:`. "
                "The match is at line 1, column 1: `[A-Z]`, and 1 other place."
            ),
        ),
        (
            "a[à-ç]",
            4,
            b"a",
            (
                "`é` is not allowed here: it begins with `é` (at its byte 2, A9). Expected there: "
                "the rest of a character (byte A0 to A7). The match is at line 1, column 2: `[à-ç]`."
            ),
        ),
        (
            "[A-Z]+: x",
            5,
            b"A",
            (
                "The text cannot end here. Expected here: `A-Z` or `:`. "
                "The match is at line 1, column 1: `[A-Z]`, and 1 other place."
            ),
        ),
        ("A", 0, b"A", "`A` is not allowed here: it begins with `A`. The text is complete here: nothing may follow."),
        (
            "(?:AB)?",
            8,
            b"",
            (
                "`↵` is not allowed here: it begins with a line feed. Expected here: `A`, or the end of the text. "
                "The match is at line 1, column 4: `A`."
            ),
        ),
        ("A+", 0, b"", "`A` is allowed here. The text may end after it. The match is at line 1, column 1: `A`."),
        ("A+", 99, b"", "Token #99 is not in the vocabulary."),
    ],
)
def test_a_verdict_in_words(pattern, token, taken, words):
    assert said(pattern, token, taken) == words


def test_what_has_no_bytes_is_never_allowed():
    assert said("A", 6).startswith("Token #6 has no text, so the grammar never allows it.")


def test_the_end_is_named_where_it_is_allowed():
    assert said("A*", 5).startswith("`<end>` is allowed here.")


def test_after_the_end_nothing_follows():
    matcher = Matcher(compile_grammar("regex", "A*"), TOKENS)
    matcher.accept(5)
    assert explain(matcher.explain(0)) == "The generation is over: nothing may follow."


def test_bytes_that_are_no_character_are_told_as_bytes():
    assert "but not the byte C3 after it" in said("AB", 7)


def test_places_are_in_lines_and_long_ones_are_cut():
    from engine.matching.explanation_text import location_text

    source = SourceText("one\n" + "x" * 100 + "\n`y")
    assert location_text((), source) == ""
    assert location_text((Span(4, 104), Span(0, 1), Span(1, 2)), source) == (
        f"line 2, column 1: `{'x' * 47}…`, and 2 other places"
    )
    assert location_text((Span(2, 5),), source) == "line 1, column 3: `e↵x`"
    assert location_text((Span(105, 107),), source) == "line 3, column 1: `` `y ``"
    assert location_text((Span(107, 107),), source) == "line 3, column 3"
