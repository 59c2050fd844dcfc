"""A configuration taken apart, against the whole."""

from __future__ import annotations

import random

import pytest

from engine.automata.byte_automaton import DEAD
from engine.compile import compile_grammar

AMBIGUOUS = 'root ::= s "!"\ns ::= "(" s ")" | "(" t ")" | "a" s? | "ab"\nt ::= s | "a" t | "b"'
CASES = [
    ("regex", "(a|b)*a(a|b){2}", "ab"),
    ("regex", "(?=.*b)(a|ab|b)+c", "abc"),
    ("regex", r"(a|b)+\b |a+", "ab "),
    ("gbnf", AMBIGUOUS, "()ab!"),
    ("gbnf", 'root ::= e\ne ::= e "+" e | e "*" e | "a"', "a+*"),
    ("gbnf", 'root ::= x x x\nx ::= "a" | "a" x | "b"', "ab"),
]


def texts(letters, seed):
    chance = random.Random(seed)
    return ["".join(chance.choices(letters, k=chance.randrange(7))).encode() for _ in range(60)]


@pytest.mark.parametrize("most", [1, 2, 3, 20])
@pytest.mark.parametrize(("notation", "text", "letters"), CASES)
def test_the_parts_together_read_what_the_whole_reads(notation, text, letters, most):
    automaton = compile_grammar(notation, text).automaton
    for prefix in texts(letters, 1):
        whole = automaton.run(automaton.start, prefix)
        if whole == DEAD:
            assert automaton.split_stacks(whole, most) == ()
            continue
        parts = automaton.split_stacks(whole, most)
        assert 0 < len(parts) <= most
        assert len(set(parts)) == len(parts)
        for suffix in texts(letters, 2):
            after = automaton.run(whole, suffix)
            ends = [automaton.run(part, suffix) for part in parts]
            assert (after != DEAD) == any(end != DEAD for end in ends)
            assert automaton.accepts(after) == any(automaton.accepts(end) for end in ends)


@pytest.mark.parametrize(("notation", "text", "letters"), CASES)
def test_each_part_is_one_stack(notation, text, letters):
    automaton = compile_grammar(notation, text).automaton
    for prefix in texts(letters, 3):
        configuration = automaton.run(automaton.start, prefix)
        for part in automaton.split_stacks(configuration, 1_000):
            listed = automaton.stacks(part)
            assert (len(listed.stacks), listed.more) == (1, 0)
            assert automaton.split_stacks(part, 5) == (part,)


def test_the_open_rules_the_innermost_first():
    automaton = compile_grammar("gbnf", 'root ::= "[" v "]"\nv ::= "{" w "}" | "x"\nw ::= "n" v "."').automaton
    place = automaton.run(automaton.start, b"[{n{")
    assert automaton.open_rules(place) == ("w", "v", "w", "v", "root")
    assert automaton.open_rules(automaton.start) == ("root",)
    assert automaton.open_rules(DEAD) == ()


def test_a_left_recursive_rule_is_named_by_its_corner():
    automaton = compile_grammar("gbnf", 'root ::= e "!"\ne ::= e "+" t | t\nt ::= "x" | "(" e ")"').automaton
    named = [automaton.open_rules(part) for part in automaton.split_stacks(automaton.run(automaton.start, b"("), 20)]
    assert all(rules[-2:] == ("e", "root") for rules in named)
    assert all(rules[0] == "t" for rules in named)


def test_of_what_is_not_taken_apart_the_innermost_rules():
    automaton = compile_grammar("gbnf", 'root ::= a | b | c\na ::= "1" "!"\nb ::= "2" "!"\nc ::= "3" "!"').automaton
    assert set(automaton.open_rules(automaton.start)) == {"a", "b", "c"}
    first, rest = automaton.split_stacks(automaton.start, 2)
    assert len(automaton.open_rules(rest)) == 2
    assert {automaton.open_rules(first)[0], *automaton.open_rules(rest)} == {"a", "b", "c"}


def test_few_names_of_a_deep_stack():
    automaton = compile_grammar("gbnf", 'root ::= "(" root ")" | "a"').automaton
    deep = automaton.run(automaton.start, b"(" * 5000)
    assert [automaton.open_rules(part) for part in automaton.split_stacks(deep, 20)] == [("root",) * 32] * 2


def test_an_expression_has_no_rules():
    automaton = compile_grammar("regex", "(a|b)c").automaton
    assert automaton.open_rules(automaton.start) == ()
