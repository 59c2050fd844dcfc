"""The lazy automaton against the obvious matcher, over every short text."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from language import ALPHABET, matches, nodes

from engine.automata.byte_automaton import DEAD
from engine.automata.dfa.materialise import minimal_dfa, neighbourhood
from engine.automata.nfa import lazy_automaton
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.program import assemble
from engine.compile import compile_grammar
from engine.grammar import Node
from engine.grammar.simplify import simplify
from engine.source import LimitExceededError, Limits

TEXTS = ["".join(chars) for length in range(5) for chars in product(ALPHABET, repeat=length)]
SLOW = settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def automaton_of(node: Node) -> LazyAutomaton:
    return LazyAutomaton(assemble(simplify(node), Limits()), Limits())


def accepts(automaton: LazyAutomaton, text: str) -> bool:
    return automaton.accepts(automaton.run(automaton.start, text.encode()))


@SLOW
@given(nodes(looks=False))
def test_every_short_text_without_looks(node: Node) -> None:
    automaton = automaton_of(node)
    for text in TEXTS:
        assert accepts(automaton, text) == matches(node, text), text


@SLOW
@given(nodes(looks=True))
def test_every_short_text_with_looks(node: Node) -> None:
    automaton = automaton_of(node)
    for text in TEXTS:
        assert accepts(automaton, text) == matches(node, text), text


@SLOW
@given(nodes(looks=True))
def test_a_row_is_what_single_steps_come_to(node: Node) -> None:
    by_rows, by_steps = automaton_of(node), automaton_of(node)
    same = {by_rows.start: by_steps.start}
    todo = [by_rows.start]
    while todo and len(same) < 200:
        state = todo.pop()
        row = by_rows.row(state)
        steps = [by_steps.step(same[state], byte_class) for byte_class in range(by_steps.n_classes)]
        assert len(row) == len(steps)
        for following, other in zip(row, steps, strict=True):
            assert (following == DEAD) is (other == DEAD)
            if following not in same:
                todo.append(following)
            assert same.setdefault(following, other) == other
            assert by_rows.accepts(following) is by_steps.accepts(other)


@SLOW
@given(nodes(looks=True))
def test_the_minimal_automaton_is_the_same_language_and_has_no_dead_end(node: Node) -> None:
    automaton = automaton_of(node)
    try:
        dfa = minimal_dfa(automaton, 5_000)
    except LimitExceededError:
        assume(False)  # a large automaton is drawn now and then
    for text in TEXTS:
        assert dfa.accepts(text.encode()) == matches(node, text), text
    alive = {state.id for state in dfa.states if state.accepting}
    grown = True
    while grown:
        more = {edge.source for edge in dfa.edges if edge.target in alive} - alive
        alive |= more
        grown = bool(more)
    assert alive == {state.id for state in dfa.states}


@SLOW
@given(nodes(looks=True))
def test_a_neighbourhood_agrees_with_the_whole(node: Node) -> None:
    automaton = automaton_of(node)
    for text in ("", "a", "ab"):
        centre = automaton.run(automaton.start, text.encode())
        if centre == DEAD:
            continue
        part = neighbourhood(automaton, centre, 2, 60)
        for end in TEXTS:
            state = part.run(end.encode()[:1])
            assert (state is None) == (automaton.run(centre, end.encode()[:1]) == DEAD) or 0 in part.boundary


@pytest.mark.parametrize(
    "pattern", [r"\bé\w*\b|\W\w", r"(?=.*\d)(?!.*\s)[\w-]{2,}", r"(?:\w\B|\w\b-|(?<=\d)é)*", r"(?<!\w)(?:(?!\d$)\S)*"]
)
def test_bytes_are_stepped_in_groups_as_one_by_one(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    grouped = compile_grammar("regex", pattern).automaton
    with monkeypatch.context() as patched:
        patched.setattr(lazy_automaton, "MANY_CLASSES", 1_000)
        plain = compile_grammar("regex", pattern).automaton
    assert grouped.is_grouped
    assert not plain.is_grouped
    pairs = [(grouped.start, plain.start)]
    for ours, theirs in pairs:
        assert grouped.accepts(ours) == plain.accepts(theirs)
        for left, right in zip(grouped.row(ours), plain.row(theirs), strict=True):
            assert (left == DEAD) == (right == DEAD)
            if left != DEAD and (left, right) not in pairs and len(pairs) < 150:
                pairs.append((left, right))
    assert len(pairs) > 50
