"""The tokenizer's own spelling, and the two ends of a run."""

from __future__ import annotations

import pytest

from engine.compile import compile_grammar
from engine.decoding.forced.tokenizer_encoding import (
    count_settled,
    encode_around,
    encode_continuation,
    encode_with_tokenizer,
    respelled_spans,
    whole_characters,
)
from engine.matching import Matcher
from engine.models.source import ModelError
from engine.vocabulary import Vocabulary

PIECES = ["<s>", "J", "o", "h", "n", "hn", "ohn", "John", '"', '":', " ", ":", " 2", "2", "0", "20", "\n", "é"]
WORDS = Vocabulary([piece.encode() for piece in PIECES], [], {0: "<s>"})


def ids(*pieces: str) -> tuple[int, ...]:
    return tuple(PIECES.index(piece) for piece in pieces)


def spell(text: str) -> list[int]:
    """The longest token at each place, with a beginning of the text in front."""
    found, at = [0], 0
    while at < len(text):
        piece = max((piece for piece in PIECES[1:] if text.startswith(piece, at)), key=len, default=None)
        if piece is None:
            raise ModelError("errors.models.silent_pip")
        found.append(PIECES.index(piece))
        at += len(piece)
    return found


def test_special_tokens_in_front_do_not_count():
    assert encode_with_tokenizer(b'John":', WORDS, spell) == ids("John", '":')
    assert encode_with_tokenizer(b'John":', WORDS, None) == ids("John", '":')


def test_a_tokenizer_that_puts_a_blank_in_front_is_asked_behind_a_line_end():
    def with_blank(text):
        return spell(" " + text if text[:1] != "\n" else text)

    assert encode_with_tokenizer(b"20", WORDS, with_blank) == ids("20")
    assert encode_with_tokenizer(b"20", WORDS, lambda text: spell(" " + text)) == ids("20")
    assert encode_with_tokenizer(b"20", WORDS, lambda text: spell(text + "0")) is None  # that would be another text


def test_what_cannot_be_spelled_has_no_spelling():
    assert encode_with_tokenizer(b"x", WORDS, spell) is None
    assert encode_with_tokenizer(b"x", WORDS, None) is None
    assert encode_with_tokenizer(b"\xff", WORDS, spell) is None


def test_tokens_that_the_tokenizer_would_join_are_taken_back():
    assert encode_continuation(ids("J"), b'ohn":', WORDS, spell, 8) == (1, ids("John", '":'))
    assert encode_continuation(ids("J", "o"), b"hn", WORDS, spell, 8) == (2, ids("John"))
    assert encode_continuation(ids("J", "o"), b"hn", WORDS, spell, 1) is None
    assert encode_continuation(ids("2", "John"), b'":', WORDS, spell, 8) == (0, ids('":'))


def test_a_token_without_bytes_ends_the_text_before_it():
    assert encode_continuation((*ids("J"), 0), b"ohn", WORDS, spell, 8) == (0, ids("ohn"))


def test_half_a_character_is_left_out():
    assert encode_continuation((), b"2\xc3", WORDS, spell, 8) == (0, ids("2"))
    assert encode_continuation((), b"\xc3", WORDS, spell, 8) is None
    assert [whole_characters(data) for data in (b"ab", b"a\xc3", b"\xa9a\xc3", b"\xa9", b"")] == [2, 1, 2, 1, 0]


@pytest.mark.parametrize(
    ("grammar", "run", "own", "kept"),
    [
        ('": [12]0', '": ', ('":', " "), ('":',)),  # the blank may be a part of ` 2`
        ('": 10', '": 10', ('":', " "), ('":', " ")),  # behind the run nothing can be joined
        ('": [1x]', '": ', ('":', " "), ('":', " ")),  # no token begins with a blank and goes on so
        ('Joh(n":|x)', "Joh", ("J", "o", "h"), ()),  # `John` would be one token, so the model is asked
    ],
)
def test_what_may_be_joined_with_the_next_choice_is_left_to_the_model(grammar, run, own, kept):
    matcher = Matcher(compile_grammar("regex", grammar), WORDS)
    assert count_settled(matcher, ids(*own), run.encode()) == len(kept)
    assert matcher.is_allowed(ids(*own)[0])  # it stands where it stood


def test_around_a_part_of_a_run():
    assert encode_around(b'":John":', 2, 6, WORDS, spell) == (ids('":'), ids('":'))
    assert encode_around(b'John":', 1, 4, WORDS, spell) == (ids("J"), ids('":'))
    assert encode_around(b'xohn":', 1, 4, WORDS, spell) is None


def test_the_parts_that_the_tokenizer_would_write_otherwise_are_found():
    taken = ids("J", "ohn", '":', " ", "2", "0")
    assert list(respelled_spans(taken, WORDS, spell)) == [(0, 2, ids("John")), (3, 5, ids(" 2"))]
    assert list(respelled_spans(ids("John", '":', " 2", "0"), WORDS, spell)) == []
    assert list(respelled_spans((), WORDS, spell)) == []


def test_a_token_without_bytes_ends_a_text_whose_tokens_could_join():
    assert list(respelled_spans(ids("J", "ohn", "<s>", "2", "0"), WORDS, spell)) == [
        (0, 2, ids("John")),
        (3, 5, ids("20")),
    ]
    assert list(respelled_spans(ids("2", "<s>", "0"), WORDS, spell)) == []
