"""A configuration as its set of stacks."""

from __future__ import annotations

from itertools import product

import pytest

from engine.automata.byte_automaton import DEAD
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.stack_listing import MOST_FRAMES, StackListing
from engine.compile import CompiledGrammar, compile_grammar

ARITHMETIC = 'root ::= expr "="\nexpr ::= term ("+" term)*\nterm ::= "a" | "(" expr ")"'
LEFT = 'root ::= root "+" t | t\nt ::= "a" | "(" root ")"'
AMBIGUOUS = 'root ::= x x\nx ::= "(" x "1" | "(" x "2" | "a"'
GRAMMARS = [ARITHMETIC, LEFT, AMBIGUOUS, 'root ::= root root | "a" | "(" root ")"', 'root ::= "a(" | "a" [+(]+']


def after(text: str, data: str, limit: int = 1000) -> tuple[CompiledGrammar, StackListing]:
    grammar = compile_grammar("gbnf", text)
    automaton = grammar.automaton
    assert isinstance(automaton, LazyAutomaton)
    return grammar, automaton.stacks(automaton.run(automaton.start, data.encode()), limit)


def told(text: str, data: str) -> list[str]:
    """Each stack as `rule:what may come next`, a full stop where the rule may be over, `*` at a left corner."""
    grammar, found = after(text, data)
    assert found.more == 0
    return [
        " > ".join(
            f"{frame.rule}{'*' * frame.is_corner}:{''.join(map(grammar.source.excerpt, frame.spans))}"
            f"{'.' * frame.may_end}"
            for frame in stack.frames
        )
        for stack in found.stacks
    ]


def test_a_stack_tells_of_every_open_rule_what_may_come_next_in_it() -> None:
    assert told(ARITHMETIC, "") == ["root:= > expr:+. > term:a("]
    assert told(ARITHMETIC, "((a") == [
        "root:= > expr:+. > term:) > expr:+. > term:) > expr:+",
        "root:= > expr:+. > term:) > expr:+. > term:)",
    ]
    assert told(ARITHMETIC, "a=") == [""]


def test_a_left_recursive_rule_stands_by_its_left_corner() -> None:
    assert told(LEFT, "") == ["root*:+. > t:a("]
    assert told(LEFT, "(a+") == ["root*:+. > t:) > root*:+. > t:a("]


def test_a_rule_that_is_over_after_its_call_is_not_on_the_stack() -> None:
    assert told('root ::= x\nx ::= "a" y\ny ::= "b" x | "c"', "ab") == ["x:a"]


def test_a_grammar_that_calls_nothing_is_in_its_only_rule() -> None:
    assert told('root ::= "ab" | "ac"', "a") == ["root:bc"]
    assert told('root ::= "a"', "a") == [""]


@pytest.mark.parametrize("text", GRAMMARS)
def test_the_tops_are_what_may_come_next_and_no_stack_comes_twice(text: str) -> None:
    grammar = compile_grammar("gbnf", text)
    automaton = grammar.automaton
    assert isinstance(automaton, LazyAutomaton)
    for length in range(6):
        for chars in product("a(+", repeat=length):
            configuration = automaton.run(automaton.start, "".join(chars).encode())
            found = automaton.stacks(configuration, 10_000)
            tops = {span for stack in found.stacks for frame in stack.frames[-1:] for span in frame.spans}
            assert tops == set(automaton.spans(configuration))
            assert found.more == 0
            assert any(not stack.frames for stack in found.stacks) == automaton.accepts(configuration)


def test_stacks_beyond_the_limit_are_counted_and_not_listed() -> None:
    _, found = after(AMBIGUOUS, "(" * 60, limit=5)
    assert len(found.stacks) == 5
    assert found.more == 2**60 - 5
    assert len({stack.frames for stack in found.stacks}) == 5


def test_of_a_deep_stack_the_middle_is_left_out() -> None:
    _, found = after('root ::= "(" root ")" | "a"', "(" * 5000)
    (stack,) = found.stacks
    assert (len(stack.frames), stack.left_out) == (MOST_FRAMES + 1, 5000 - MOST_FRAMES)


def test_nowhere_there_are_no_stacks() -> None:
    automaton = compile_grammar("gbnf", ARITHMETIC).automaton
    assert isinstance(automaton, LazyAutomaton)
    assert automaton.stacks(DEAD) == StackListing((), 0)


def test_a_pattern_with_conditions_has_no_rules_to_tell_of() -> None:
    automaton = compile_grammar("regex", "(?=ab)a.|c").automaton
    assert isinstance(automaton, LazyAutomaton)
    (stack,) = automaton.stacks(automaton.start).stacks
    assert [frame.rule for frame in stack.frames] == ["root"]


def test_a_stack_has_no_frames_only_where_the_text_may_end() -> None:
    automaton = compile_grammar("regex", "(?:(?!0$)[ab0])*").automaton
    assert isinstance(automaton, LazyAutomaton)
    for text in (b"", b"0", b"a", b"a0", b"00", b"0b"):
        here = automaton.run(automaton.start, text)
        at_end = [stack for stack in automaton.stacks(here).stacks if not stack.frames]
        assert bool(at_end) == automaton.accepts(here)
