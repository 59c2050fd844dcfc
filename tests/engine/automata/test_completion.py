"""The shortest completion against one that tries every text in the order of length."""

from __future__ import annotations

from collections import deque

import pytest

from engine.automata.byte_automaton import DEAD
from engine.automata.completion_search import legible_bytes
from engine.compile import compile_grammar
from engine.source import CancelledError, CancelToken, limited_work, work_turns

NESTED = 'root ::= "(" root ")" | "a"'
SUMS = 'root ::= sum "!"\nsum ::= sum "+" term | term\nterm ::= "x" sum "y" | "abc"'
HIDDEN = 'root ::= a "z"\na ::= b a "x" | "yy"\nb ::= "" | "q"'
LEFT = 'root ::= e\ne ::= e "+" t | t\nt ::= t "*" f | f\nf ::= "(" e ")" | [0-9]+ ";"'
TAIL = 'root ::= "[" item more\nmore ::= "," item more | "]"\nitem ::= "ab" | "abcd" item'
COUNTED = 'root ::= ("a" pair{2,4}){3} "."\npair ::= "b" ("c" | "dd"){2,}'
TOKENS = 'root ::= "a" <think> | "b" "cd"'

AT_THE_END = [
    "(?:(?!0$)[ab0])*",
    "(?:(?!e$)[a-z ])*",
    r"(?:(?!0\Z)[ab0]){2,}",
    r"(?:(?=a|b$)[ab])*",
    r"(?:[ab](?!$))*c?",
    r"(?:a\B|b\b|-)*",
    r"(?:(?!a\b)[ab-])*",
    r"(?:(?!(?=a).$)[ab])*",
    r"(?m:(?:a(?!$)|[b\n])*)",
    "(?:(?!é$)[aé])*",
]
"""Conditions on the end of the text, which the thread that reads meets before the text has ended."""

CASES = [
    ("regex", "abc|d{3,9}x"),
    ("regex", "(a{2,3}b){3}c"),
    ("regex", "((ab?){2,}c){2,3}|x{9}"),
    ("regex", "a*"),
    ("regex", "[^a]é|€"),
    ("regex", "(?=.*z)[a-z]+x"),
    ("regex", "(?=.*zo)(?=.*ca)[acoz]+x"),
    ("regex", "(?!ab)[ab]+c"),
    ("regex", r"(a|ab\b)+ ?c"),
    ("regex", "x(?<=ax)y|xaxy"),
    *[("regex", text) for text in AT_THE_END],
    ("gbnf", NESTED),
    ("gbnf", SUMS),
    ("gbnf", HIDDEN),
    ("gbnf", LEFT),
    ("gbnf", TAIL),
    ("gbnf", COUNTED),
    ("gbnf", TOKENS),
]


def by_trying(automaton, configuration, alphabet=range(256)):
    """The length of the shortest completion, level by level over configurations; None if there is none."""
    level, seen, length = {configuration}, {configuration}, 0
    while level:
        if any(automaton.accepts(one) for one in level):
            return length
        level = {automaton.run(one, bytes((byte,))) for one in level for byte in alphabet} - seen - {DEAD}
        seen |= level
        length += 1
        assert length < 60
    return None


def places(automaton, depth=4, most=60):
    """Some configurations near the start."""
    found = {automaton.start: 0}
    todo = deque(found)
    while todo and len(found) < most:
        here = todo.popleft()
        if found[here] < depth:
            for byte in legible_bytes(automaton.classes):
                after = automaton.run(here, bytes((byte,)))
                if after != DEAD and after not in found:
                    found[after] = found[here] + 1
                    todo.append(after)
    return list(found)


@pytest.mark.parametrize(("notation", "text"), CASES)
def test_it_is_what_trying_every_text_finds(notation, text):
    automaton = compile_grammar(notation, text).automaton
    for place in places(automaton):
        found = automaton.shortest_completion(place, 2_000)
        assert found.is_exact
        assert found.at_least == by_trying(automaton, place)
        if found.text is not None:
            assert len(found.text) == found.at_most
            assert automaton.accepts(automaton.run(place, found.text))


@pytest.mark.parametrize(("notation", "text"), CASES)
def test_what_is_lacking_is_exact_without_conditions_and_a_bound_with_them(notation, text):
    automaton = compile_grammar(notation, text).automaton
    for place in places(automaton):
        at_least, exact = automaton.min_remaining(automaton.cursor(place))
        distance = by_trying(automaton, place)
        assert (at_least == 0) == automaton.accepts(place)
        assert exact == ("(?" not in text and r"\b" not in text) or automaton.accepts(place)
        if exact:
            assert at_least == distance
        elif distance is not None:
            assert at_least <= distance


@pytest.mark.parametrize("alphabet", [b"abc", b"xyz!a", b"(a", b"az", b"[],ab"])
@pytest.mark.parametrize(("notation", "text"), CASES)
def test_some_bytes_may_be_missing(notation, text, alphabet):
    automaton = compile_grammar(notation, text).automaton
    for place in places(automaton, depth=2, most=20):
        found = automaton.shortest_completion(place, 2_000, None, frozenset(alphabet))
        if text in (NESTED, SUMS, HIDDEN, LEFT) and found.is_impossible:
            continue  # trying would never end
        assert found.at_most == found.at_least == by_trying(automaton, place, alphabet)


@pytest.mark.parametrize("depth", [1, 7, 3000])
def test_a_deep_stack_needs_no_search(depth):
    automaton = compile_grammar("gbnf", NESTED).automaton
    place = automaton.run(automaton.start, b"(" * depth)
    assert automaton.min_remaining(place) == (depth + 1, True)
    found = automaton.shortest_completion(place, 10)
    assert (found.at_least, found.at_most) == (depth + 1, depth + 1)
    assert found.text == (b"a" + b")" * depth if depth < 10 else None)


def test_counts_beyond_all_search_are_exact_too():
    automaton = compile_grammar("regex", "(?:(?:ab){300}c){300}").automaton
    found = automaton.shortest_completion(automaton.run(automaton.start, b"ababa"), 50)
    assert (found.at_least, found.at_most, found.text) == (300 * 601 - 5, 300 * 601 - 5, None)


def test_where_the_search_ends_early_the_answer_has_two_ends():
    automaton = compile_grammar("regex", "(?=.*zoo)(?=.*cat)(?=.*dog)[a-z]+x").automaton
    exact = automaton.shortest_completion(automaton.start, 2_000)
    assert exact.text is not None
    bound = automaton.shortest_completion(automaton.start, 2)
    assert bound.at_least <= exact.at_least
    assert bound.at_most is None or bound.at_most >= exact.at_least
    assert not bound.is_exact


def test_what_only_tokens_complete_no_bytes_do():
    automaton = compile_grammar("gbnf", TOKENS).automaton
    found = automaton.shortest_completion(automaton.run(automaton.start, b"a"), 100)
    assert found.is_impossible
    assert automaton.shortest_completion(DEAD, 100).is_impossible


def test_it_can_be_cancelled():
    cancel = CancelToken()
    cancel.cancel()
    automaton = compile_grammar("regex", "(?=.*zoo)[a-z]+x").automaton
    with pytest.raises(CancelledError):
        automaton.shortest_completion(automaton.start, 100, cancel)


def test_bytes_are_chosen_to_be_read():
    automaton = compile_grammar("regex", r"[\x00-\x7f]{3}[0-9A-Z ]").automaton
    assert automaton.shortest_completion(automaton.start, 100).text == b"aaa0"


def test_a_representative_of_each_class():
    classes = compile_grammar("regex", "[a-f]x|[0-9]").automaton.classes
    chosen = legible_bytes(classes)
    assert sorted(classes.of_byte[byte] for byte in chosen) == list(range(len(classes)))
    assert legible_bytes(classes, frozenset(b"bQ")) == b"bQ"
    assert {byte for byte in chosen if byte in b"abcdefx0123456789"} == set(b"ax0")


def test_the_lengths_of_a_large_program_are_counted_as_work():
    alternatives = "|".join(f"word{i}" for i in range(2_000))
    grammar = compile_grammar("regex", alternatives)
    size = 2_000 * len("word")
    with limited_work("errors.limit.step_work", 10 * size):
        grammar.automaton.min_remaining(grammar.automaton.cursor(grammar.automaton.start))
        assert work_turns() > size


def test_a_completion_does_not_depend_on_how_much_the_automaton_holds(monkeypatch):
    source = 'root ::= "a" root "b" | root "c" | "aa"'
    automaton = compile_grammar("gbnf", source).automaton
    place = automaton.run(automaton.start, b"aaa")
    expected = automaton.shortest_completion(place, 100)
    assert expected.text is not None
    monkeypatch.setattr("engine.automata.nfa.lazy_automaton.MOST_SEARCHED", 2)
    full = compile_grammar("gbnf", source).automaton
    place = full.run(full.start, b"aaa")
    held = full.size
    assert held > 2
    monkeypatch.setattr("engine.automata.nfa.lazy_automaton.MOST_SEARCHED", held - 1)
    assert full.shortest_completion(place, 100) == expected
    assert full.size == held
    assert full.accepts(full.run(place, expected.text))
