"""Matches within a text, against a search that tries every range."""

from __future__ import annotations

import random
import re

import pytest

from engine.compile import compile_grammar
from engine.diagnosis.test_strings.matches import find_matches
from engine.source import CancelledError, CancelToken


def by_trying(grammar, data):
    """Return the longest match at each position by asking for every range."""
    found, start = [], 0
    while start < len(data):
        end = next((end for end in range(len(data), start, -1) if grammar.fullmatch(data[start:end])), start)
        if end > start:
            found.append((start, end))
        start = max(end, start + 1)
    return tuple(found)


@pytest.mark.parametrize(
    ("notation", "text", "letters"),
    [
        ("regex", "ab?|b+c", "abc"),
        ("regex", "é|[a-c]{2,3}", "abcé"),
        ("regex", "(?:a|ab)(?:c|bcd)", "abcd"),
        ("gbnf", 'root ::= "(" root? ")"', "()a"),
        ("json_schema", '{"type": "array", "items": {"type": "integer"}}', "[]1,"),
    ],
)
def test_it_finds_what_trying_every_range_finds(notation, text, letters):
    grammar = compile_grammar(notation, text)
    drawn = random.Random(7)
    for _ in range(30):
        data = "".join(drawn.choice(letters) for _ in range(drawn.randint(0, 9))).encode()
        assert find_matches(grammar, data).ranges == by_trying(grammar, data), data


def test_greedy_patterns_are_found_as_python_finds_them():
    text = "on 2026-11-28 and 2027-01-02, not 20261-1"
    found = find_matches(compile_grammar("regex", r"[0-9]{4}-[0-9]{2}-[0-9]{2}"), text.encode())
    assert found.ranges == tuple(match.span() for match in re.finditer(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text))
    assert found.searched == len(text)


def test_the_empty_match_is_not_reported():
    assert find_matches(compile_grammar("regex", "a*"), b"baab").ranges == ((1, 3),)
    assert find_matches(compile_grammar("regex", "a*"), b"").ranges == ()


def test_at_the_limit_it_says_how_far_it_searched():
    grammar = compile_grammar("regex", "a+b")
    found = find_matches(grammar, b"a" * 100 + b"b", most_steps=250)
    assert found.ranges == ((0, 101),)
    found = find_matches(grammar, b"a" * 100, most_steps=250)
    assert found.ranges == ()
    assert found.searched < 100


def test_it_can_be_cancelled():
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        find_matches(compile_grammar("regex", "a+b"), b"a" * 200, cancel=cancel)
