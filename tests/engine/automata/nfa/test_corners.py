"""Rules that recurse at their beginning and at their end at once, held against all strings of their languages."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.automata.byte_automaton import DEAD
from engine.automata.nfa.closures import Corners
from engine.automata.nfa.stacks import Stacks
from engine.compile import compile_grammar
from tests.support import heavy_grammars

LONGEST = 6
TEXTS = ["".join(letters) for n in range(LONGEST + 1) for letters in itertools.product("ab", repeat=n)]
MANY_CONFIGURATIONS = 500

rules = st.lists(
    st.lists(st.lists(st.sampled_from(["r0", "r1", "r2", '"a"', '"b"', '"ab"']), max_size=3), min_size=1, max_size=3),
    min_size=3,
    max_size=3,
)


def written(alternatives) -> str:
    lines = [
        f"r{number} ::= " + " | ".join(" ".join(sequence) or '""' for sequence in each)
        for number, each in enumerate(alternatives)
    ]
    return "\n".join(["root ::= r0", *lines])


def strings(alternatives) -> set[str]:
    """All strings of the first rule that are no longer than `LONGEST`, by adding until nothing is new."""
    known: list[set[str]] = [set() for _ in alternatives]
    grown = True
    while grown:
        grown = False
        for number, each in enumerate(alternatives):
            for sequence in each:
                found = {""}
                for symbol in sequence:
                    parts = known[int(symbol[1:])] if symbol.startswith("r") else {symbol.strip('"')}
                    found = {one + other for one in found for other in parts if len(one + other) <= LONGEST}
                grown |= not found <= known[number]
                known[number] |= found
    return known[0]


def configurations(automaton) -> int:
    """How many configurations can be reached, unless they are more than `MANY_CONFIGURATIONS`."""
    todo, seen = [automaton.start], {automaton.start, DEAD}
    while todo and len(seen) <= MANY_CONFIGURATIONS:
        new = set(automaton.row(todo.pop())) - seen
        seen |= new
        todo += new
    return len(seen)


@settings(max_examples=75, deadline=None)
@given(rules)
def test_random_rules(alternatives):
    grammar, language = compile_grammar("gbnf", written(alternatives)), strings(alternatives)
    assert [text for text in TEXTS if grammar.fullmatch(text) is not (text in language)] == []
    automaton = grammar.automaton
    begun = {text[:length] for text in language for length in range(len(text) + 1)}
    assert [text for text in begun if automaton.run(automaton.start, text.encode()) == DEAD] == []
    if grammar.is_regular:
        assert configurations(automaton) <= MANY_CONFIGURATIONS, written(alternatives)


@pytest.mark.parametrize(
    ("rules", "regular", "finite"),
    [
        ([[["r1", "r1"], ['"ab"']], [["r1"], ["r0"]]], True, True),
        ([[["r1", "r1"], ['"ab"']], [['"a"'], ["r0"]]], True, True),
        ([[["r0", '"a"', "r0"], ['"b"']]], True, True),
        ([[["r0", '"a"', "r1"], ['"b"']], [['"b"', "r0"], ['"a"']]], True, True),
        # `r1` ends with `r0`, which may be the beginning of another `r1` as well.
        ([[["r1", "r2"], ['"ab"']], [["r0"], ['"a"']], [["r1"], ["r0"]]], False, True),
        # Each rule ends with itself and begins with the other, or with itself.
        ([[["r1"], ["r0", '"a"', "r0"]], [['"b"'], ["r0", '"b"', "r1"]]], False, True),
        ([[["r1"], ["r0", '"a"', "r0"]], [["r2"], ["r0", '"b"', "r1"]], [['"a"'], ["r1", '"ab"', "r2"]]], False, True),
        ([[["r1"], ["r0", '"a"', "r0"]], [["r2"], ["r0", '"b"', "r1"]], [['"a"', "r0", '"b"'], ['"b"']]], False, False),
        # Two corners, each within the end of the other.
        ([[["r0", '"a"', "r1"], ['"b"']], [["r1", '"b"', "r0"], ['"a"']]], False, False),
        ([[["r1", '"a"', "r1"], ['"b"']], [["r0"], ["r0", '"b"']]], False, False),
    ],
)
def test_corners_pile_up_or_not(rules, regular, finite):
    grammar = compile_grammar("gbnf", written(rules))
    assert grammar.is_regular is regular
    assert (configurations(grammar.automaton) <= MANY_CONFIGURATIONS) is finite
    language = strings(rules)
    assert [text for text in TEXTS if grammar.fullmatch(text) is not (text in language)] == []


def test_a_match_stays_as_large_as_it_is_however_long_the_text():
    automaton = compile_grammar("gbnf", 'root ::= a a | "ab"\na ::= a | root').automaton
    configuration = automaton.run(automaton.start, b"ab" * 3)
    size = automaton.size
    assert automaton.run(configuration, b"ab" * 1_000) == configuration
    assert automaton.size == size


def test_rules_that_recurse_at_both_ends_of_one_another_pile_nothing_up():
    grammar = compile_grammar("gbnf", 'root ::= e\ne ::= t | e "+" e | "(" e ")"\nt ::= [a-z] | e "*" t')
    automaton = grammar.automaton
    configuration = automaton.run(automaton.start, b"a*b+c*d+")
    size, stacks = automaton.size, automaton.stack_sets
    assert automaton.run(configuration, b"a*b+c*d+" * 1_000) == configuration
    assert (automaton.size, automaton.stack_sets) == (size, stacks)
    deep = automaton.run(configuration, b"(" * 50 + b"a*b+c")
    assert automaton.run(deep, b")" * 49 + b"*d") != DEAD
    assert automaton.run(deep, b")" * 51) == DEAD


def test_rules_that_all_begin_with_one_another_take_no_stack_for_each_pair():
    count = 300
    grammar = compile_grammar("gbnf", heavy_grammars.gbnf_left_recursive(count))
    automaton = grammar.automaton
    configuration = automaton.run(automaton.start, b"aad7")
    assert configuration != DEAD
    assert automaton.stack_sets < 50 * count
    for text, holds in (("d0", True), ("d3ccc", True), ("d0c", False), ("ad1b", True), ("ad2b", False)):
        assert grammar.fullmatch(text) is holds, text


def test_the_sites_of_a_large_corner_are_found_in_one_pass(monkeypatch):
    n, asked = 300, []
    monkeypatch.setattr(
        Corners, "begins_with", lambda self, rule, find=Corners.begins_with: asked.append(rule) or find(self, rule)
    )
    rules = "\n".join(f'r{i} ::= r{i + 1} "a" | "b"' for i in range(n))
    automaton = compile_grammar("gbnf", f'root ::= r0\n{rules}\nr{n} ::= r0 "x" | "y"').automaton
    configuration = automaton.run(automaton.start, b"ba")
    assert configuration
    assert automaton.shortest_completion(configuration, 1_000).text == b""
    assert len(asked) < 10 * n


def test_rules_that_are_each_another_alone_return_once_for_all_of_them(monkeypatch):
    n, pushed = 500, []
    monkeypatch.setattr(Stacks, "push", lambda self, *a, push=Stacks.push: pushed.append(a) or push(self, *a))
    rules = "\n".join(f'r{i} ::= r{(i + 1) % n} | r{i * 7 % n} | "a"' for i in range(n))
    automaton = compile_grammar("gbnf", f"root ::= r0\n{rules}").automaton
    assert automaton.accepting[automaton.run(automaton.start, b"a")]
    assert len(pushed) < 10 * n
