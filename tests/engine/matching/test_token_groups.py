"""The tokens of a place, held against asking for each token by itself."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from engine.compile import compile_grammar
from engine.matching import Matcher
from engine.matching.token_groups import position_groups
from engine.source import CancelledError, CancelToken, LimitExceededError
from engine.vocabulary import Vocabulary

WORDS = (
    b"a",
    b"ab",
    b"abc",
    b"b",
    b"ba",
    b"(",
    b"((",
    b"()",
    b")",
    b"{",
    b'{"',
    b'"',
    b'"a',
    b'a"',
    b":",
    b" ",
    b"1",
    b"12",
    b"",
)
TOKENS = (*WORDS, "é".encode(), "é".encode()[:1], b"<end>", None)
END = len(TOKENS) - 2
VOCABULARY = Vocabulary(TOKENS, [END], {END: "<end>"})

PLACES = [
    ("regex", "[ab]*é?", b""),
    ("regex", "(ab|ac|[a-z]+)x*", b"a"),
    ("regex", "a{3,9}", b"aa"),
    ("gbnf", 'root ::= "(" root ")" | [ab]+ | "()"', b"("),
    ("gbnf", 'root ::= root "a" | "b"', b"b"),
    ("json_schema", '{"type": "object"}', b'{"a'),
    ("json_schema", '{"properties": {"ab": {}, "a": {}}}', b'{"'),
    ("json_schema", '{"type": "integer"}', b"1"),
]


def matcher(notation: str, text: str, prefix: bytes) -> Matcher:
    found = Matcher(compile_grammar(notation, text), VOCABULARY)
    assert not prefix or found.accept_bytes(prefix)
    return found


@pytest.mark.parametrize(("notation", "text", "prefix"), PLACES)
def test_groups_are_what_each_token_by_itself_leads_to(
    notation: str, text: str, prefix: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.matching.token_groups.EXAMPLES", len(TOKENS))
    at = matcher(notation, text, prefix)
    automaton = at.grammar.automaton
    expected: defaultdict[object, set[int]] = defaultdict(set)
    for token_id, token in enumerate(VOCABULARY.tokens):
        if token and token_id != END and at.is_allowed(token_id):
            byte_class, reached = int(automaton.class_of_byte[token[0]]), automaton.run(at.configuration, token)
            reads = automaton.edge_spans(at.configuration, byte_class) or byte_class
            expected[reads, automaton.spans(reached), automaton.accepts(reached)].add(token_id)
    groups = position_groups(at)
    assert sorted(sorted(group.tokens.examples) for group in groups) == sorted(map(sorted, expected.values()))
    assert all(group.tokens.count == len(group.tokens.examples) for group in groups)
    for group in groups:
        assert {automaton.run(at.configuration, TOKENS[one] or b"") for one in group.targets} == {
            automaton.run(at.configuration, TOKENS[one] or b"") for one in group.tokens.examples
        }


def test_masses_are_the_models_before_the_mask() -> None:
    at = matcher("regex", "[ab]*", b"")
    p = np.linspace(0.0, 0.1, len(TOKENS) + 3)  # logits may be wider than the tokenizer
    (group,) = (one.tokens for one in position_groups(at, p))
    letters = [0, 1, 3, 4]
    assert group.mass == pytest.approx(sum(p[i] for i in letters))
    assert group.examples == (4, 3, 1, 0)


def test_the_mass_of_a_group_with_an_unknown_token_is_unknown_and_that_token_comes_last() -> None:
    at = matcher("regex", "[ab]*", b"")
    p = np.linspace(0.0, 0.1, len(TOKENS))
    p[4] = np.nan
    (group,) = (one.tokens for one in position_groups(at, p))
    assert group.mass is None
    assert group.examples == (3, 1, 0, 4)


def test_after_the_end_nothing_comes() -> None:
    at = matcher("regex", "a", b"a")
    assert at.accept(END)
    assert position_groups(at) == ()


def test_an_end_leads_nowhere() -> None:
    assert position_groups(matcher("regex", "a?", b"a")) == ()


def test_a_walk_can_be_cancelled() -> None:
    tokens = [bytes((a, b, c)) for a in range(97, 123) for b in range(97, 123) for c in range(97, 123)]
    at = Matcher(compile_grammar("regex", "[a-z]*"), Vocabulary(tokens, []))
    cancel = CancelToken()
    cancel.cancel()
    with cancel.scope(), pytest.raises(CancelledError):
        position_groups(at)


def test_a_walk_can_be_limited() -> None:
    """A walk counts the same number of steps, even if the automaton remembers earlier walks."""
    at = matcher("regex", "[ab]*é?", b"")
    for _ in range(2):
        with pytest.raises(LimitExceededError):
            position_groups(at, most_advances=2)
        assert position_groups(at, most_advances=20)


def shown(notation: str, text: str, prefix: bytes) -> list[tuple[set[bytes], list[str], list[str], bool]]:
    at = matcher(notation, text, prefix)
    excerpt = at.grammar.source.excerpt
    return [
        (
            {TOKENS[one] or b"" for one in group.tokens.examples},
            [excerpt(span) for span in group.reads],
            [excerpt(span) for span in group.follows],
            group.may_end,
        )
        for group in position_groups(at)
    ]


def test_states_that_differ_by_a_counter_alone_are_one_position() -> None:
    (group,) = shown("regex", "[ab]{1,300}", b"")
    assert group == ({b"a", b"ab", b"b", b"ba"}, ["[ab]"], ["[ab]"], True)


def test_tokens_are_apart_by_the_part_that_reads_their_first_byte_and_by_what_comes_next() -> None:
    found = shown("gbnf", "root ::= word number\nword ::= [ab]{1,9}\nnumber ::= [0-9]{1,2}", b"a")
    assert sorted(found, key=str) == sorted(
        [
            ({b"a", b"ab", b"b", b"ba"}, ["[ab]"], ["[ab]", "[0-9]"], False),
            ({b"1"}, ["[0-9]"], ["[0-9]"], True),
            ({b"12"}, ["[0-9]"], [], True),
        ],
        key=str,
    )
