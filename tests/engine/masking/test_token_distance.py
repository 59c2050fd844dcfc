"""Distances in tokens and dead ends, against walks over all tokens."""

from __future__ import annotations

import json
import random

import pytest

from engine import Matcher, Vocabulary, compile_grammar
from engine.analysis.dead_end_search import dead_ends
from engine.analysis.token_successors import TokenSuccessors
from engine.source import CancelledError, CancelToken

WORDS = Vocabulary([b"a", b"b", b"ab", b"c", b"abc", b"bb", None, None], eos_ids=[6], special={7: "<t>"})
DIGITS_OPEN = Vocabulary([b"[", b"1", None], eos_ids=[2])
GRAMMARS = [
    ("regex", "abd|aba"),
    ("regex", "(a|b)*d|c{3}"),
    ("regex", "(abc){3}a{2}"),
    ("regex", "(ab|bx)+c"),
    ("regex", "[ab]{2,5}d?"),
    ("regex", "(?=.*bb)[abc]{3,6}"),
    ("regex", "(?:(?!a$)[abc])*"),
    ("regex", r"(?:a\B|b\b|c(?!$))*"),
    ("regex", "x|y"),
    ("gbnf", 'root ::= "a" two | "b" "d"\ntwo ::= "b" "b" | "c" two'),
    ("gbnf", 'root ::= "a" <t> "b" | "ab" "d" | "c" <[3]>'),
    ("gbnf", 'root ::= ("a" | !<[0]>) "bb"'),
    ("json_schema", '{"enum": [1]}'),
]


def by_walking(matcher):
    """The fewest tokens to a match, trying all of them, and the configurations on the way; None if none lead there."""
    level, seen, length = {matcher.configuration: matcher.fork()}, {matcher.configuration}, 0
    while level:
        if any(one.is_accepting for one in level.values()):
            return length
        found = {}
        for one in level.values():
            for token in range(matcher.vocabulary.size):
                fork = one.fork()
                if fork.accept(token) and not fork.is_finished and fork.configuration not in seen:
                    seen.add(fork.configuration)
                    found[fork.configuration] = fork
        level, length = found, length + 1
    return None


def everywhere(grammar, vocabulary):
    """A matcher at every place that tokens lead to, with the fewest tokens first."""
    start = Matcher(grammar, vocabulary)
    found, todo = {start.configuration: start}, [start]
    for one in todo:
        for token in range(vocabulary.size):
            fork = one.fork()
            if fork.accept(token) and not fork.is_finished and fork.configuration not in found:
                found[fork.configuration] = fork
                todo.append(fork)
    return list(found.values())


@pytest.mark.parametrize(("notation", "text"), GRAMMARS)
def test_the_fewest_tokens_are_those_of_a_walk_over_all(notation, text):
    for matcher in everywhere(compile_grammar(notation, text), WORDS):
        found, truth = matcher.shortest_token_completion(), by_walking(matcher)
        assert (found.at_least, found.at_most) == (truth, truth)
        assert found.is_dead_end == (truth is None)
        if truth is not None:
            assert len(found.token_ids) == truth
            assert all(matcher.accept(token) for token in found.token_ids)
            assert matcher.is_accepting


@pytest.mark.parametrize(("notation", "text"), GRAMMARS)
def test_dead_ends_are_those_of_a_walk_over_all(notation, text):
    grammar = compile_grammar(notation, text)
    found = dead_ends(grammar, WORDS)
    assert found.is_complete
    dead = {one.configuration: one for one in everywhere(grammar, WORDS) if by_walking(one) is None}
    assert len(found.found) == len(dead)
    for end in found.found:
        matcher = Matcher(grammar, WORDS)
        assert all(matcher.accept(token) for token in end.token_ids)
        assert matcher.configuration in dead
        assert end.text == b"".join(WORDS.tokens[token] or b"" for token in end.token_ids)
        assert end.is_trap == any(matcher.is_allowed(token) for token in range(WORDS.size))
        assert end.expected == grammar.automaton.expected(matcher.configuration)


def test_a_dead_end_without_bound_is_known_by_the_bytes_that_are_missing():
    matcher = Matcher(compile_grammar("gbnf", 'root ::= "a" root "d" | "c"'), WORDS)
    assert matcher.shortest_token_completion().at_least == 1
    assert matcher.accept(0)
    assert matcher.shortest_token_completion().is_dead_end


def test_where_bytes_are_tokens_nothing_is_searched(small):
    found = dead_ends(compile_grammar("json_schema", "{}"), small)
    assert (found.found, found.n_explored, found.is_complete) == ((), 0, True)


def test_an_unbounded_grammar_is_looked_at_in_part():
    grammar = compile_grammar("gbnf", 'root ::= "a" root "b" | "c" | "bd"')
    found = dead_ends(grammar, WORDS, limit=20)
    assert not found.is_complete
    assert found.n_explored == 20
    assert found.found
    for end in found.found:  # dead for certain, though not everything was looked at
        matcher = Matcher(grammar, WORDS)
        assert all(matcher.accept(token) for token in end.token_ids)
        assert matcher.shortest_token_completion().is_dead_end


def test_little_effort_gives_bounds(small):
    schema = {"type": "array", "items": {"type": "string", "minLength": 3}, "minItems": 4}
    matcher = Matcher(compile_grammar("json_schema", json.dumps(schema)), small)
    exact = matcher.shortest_token_completion(effort=10_000_000)
    assert exact.is_exact
    bound = matcher.shortest_token_completion(effort=1)
    assert bound.at_least <= exact.at_least <= bound.at_most
    assert not bound.is_exact
    assert len(bound.token_ids) == bound.at_most


def test_after_an_end_nothing_is_lacking():
    matcher = Matcher(compile_grammar("regex", "a?"), WORDS)
    assert matcher.accept(6)
    assert matcher.shortest_token_completion().token_ids == ()
    assert matcher.shortest_completion().text == b""


def test_nothing_completes_an_empty_language():
    matcher = Matcher(compile_grammar("regex", "a(?!.*)"), WORDS)
    assert matcher.shortest_token_completion().is_dead_end
    assert matcher.shortest_completion().is_impossible
    assert dead_ends(matcher.grammar, WORDS).is_complete


def test_a_search_can_be_cancelled():
    cancel = CancelToken()
    cancel.cancel()
    grammar = compile_grammar("regex", "(ab|bx)+c")
    with pytest.raises(CancelledError):
        dead_ends(grammar, WORDS, cancel=cancel)
    with pytest.raises(CancelledError):
        Matcher(grammar, WORDS).shortest_token_completion(cancel=cancel)


@pytest.mark.parametrize("effort", [0, 8, 80, 800, 80_000])
def test_a_limited_search_finds_bounds_whatever_the_automaton_remembers(effort):
    grammar = compile_grammar("regex", "(?:a|b|ab){40}c")
    matcher = Matcher(grammar, WORDS)
    first = matcher.shortest_token_completion(effort)
    exact = matcher.shortest_token_completion()
    assert exact.is_exact
    assert first.at_least <= exact.at_least <= first.at_most
    assert matcher.shortest_token_completion(effort) == first


def test_texts_are_spelled_by_as_few_tokens_as_can_be():
    steps = TokenSuccessors(compile_grammar("regex", "a").automaton, WORDS)
    words, chance = [token for token in WORDS.tokens if token], random.Random(5)
    for _ in range(200):
        text = bytes(chance.choices(b"abcd", (4, 4, 2, 0.2), k=chance.randrange(9)))
        level, fewest = {b""}, 0
        while level and text not in level:
            level = {start + word for start in level for word in words if text.startswith(start + word)}
            fewest += 1
        spelled = steps.fewest_tokens(text)
        assert (None if spelled is None else len(spelled)) == (fewest if level else None)
        assert spelled is None or b"".join(WORDS.tokens[token] for token in spelled) == text


def test_a_real_vocabulary(tekken):
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    matcher = Matcher(compile_grammar("json_schema", json.dumps(schema)), tekken)
    assert matcher.accept_bytes(b'{"name": "hello')
    found = matcher.shortest_token_completion()
    assert (found.at_least, found.at_most) == (1, 1)
    assert tekken.tokens[found.token_ids[0]] == b'"}'


def test_a_search_can_be_cancelled_within_one_wide_place():
    grammar = compile_grammar("json_schema", '{"type": "string", "minLength": 9}')
    words = [bytes((first, second)) for first in range(0x23, 0x5B) for second in range(0x23, 0x7F)]
    matcher = Matcher(grammar, Vocabulary([bytes((byte,)) for byte in range(256)] + words, []))
    assert matcher.accept_bytes(b'"a')
    looks = 0

    class Impatient(CancelToken):
        def check(self) -> None:
            nonlocal looks
            looks += 1
            super().check()

    assert matcher.shortest_token_completion(cancel=Impatient()).at_least is not None
    assert looks > 2


@pytest.mark.parametrize("schema", ['{"enum": [1, 12, 345]}', '{"type": "integer"}', '{"type": "number"}'])
def test_a_number_that_is_the_whole_text_needs_no_byte_behind_it(schema):
    """No token holds what stands behind a number elsewhere: a blank, a comma or a bracket."""
    digits = Vocabulary([b"1", b"2", b"3", b"45", None], eos_ids=[4])
    for taken in ((), (0,), (2,)):
        matcher = Matcher(compile_grammar("json_schema", schema), digits)
        assert all(map(matcher.accept, taken))
        truth = by_walking(matcher)
        found = matcher.shortest_token_completion()
        assert (found.at_least, found.at_most) == (truth, truth)
        automaton = matcher.grammar.automaton
        completion = automaton.shortest_completion(matcher.configuration, 2_000, None, frozenset(b"12345"))
        assert completion.at_least == completion.at_most
        assert matcher.accept_bytes(completion.text)
        assert matcher.is_accepting


def test_a_number_within_an_array_needs_the_bytes_behind_it():
    matcher = Matcher(compile_grammar("json_schema", '{"type": "array", "items": {"type": "integer"}}'), DIGITS_OPEN)
    assert matcher.accept(0)
    assert matcher.accept(1)
    assert matcher.shortest_token_completion().is_dead_end
