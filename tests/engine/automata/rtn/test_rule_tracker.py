"""The rules that a text is within, held against the parse trees of every text that goes on from it.

A use of a rule is in the midst of its text if some whole text begins so and has a parse tree in which the use begins
before the place and ends behind it; it read the last byte if it ends there or behind it.
"""

from __future__ import annotations

import itertools

import pytest

from engine.automata.rtn.rule_tracker import OpenRules, RuleTracker
from engine.compile import compile_grammar
from engine.grammar import Chars, Choice, Empty, Grammar, Node, Repeat, RuleReference, Sequence

GRAMMARS = {
    "sums": ('root ::= term ("+" term)*\nterm ::= "a" | "(" root ")"\n', "a+()", 5),
    "right": ('root ::= item root | item\nitem ::= "a" | "b" item\n', "ab", 4),
    "left": ('root ::= root "+" word | word\nword ::= "a" | word "a"\n', "a+", 5),
    "ambiguous": ('root ::= one two | two one "b"\none ::= "a"*\ntwo ::= "a" | "ab"\n', "ab", 5),
    "empty": ('root ::= maybe "a" maybe\nmaybe ::= ("b" root)?\n', "ab", 5),
    "repeated": ('root ::= digit{2,4} end\ndigit ::= "a" | "b"\nend ::= "." | ".."\n', "ab.", 6),
}


class Trees:
    """The uses of rules in all parse trees of one text."""

    def __init__(self, grammar: Grammar, text: str) -> None:
        self._text = text
        self._rules = {rule.name: rule.node for rule in grammar.rules}
        self._ends: dict[tuple[str, int], set[int]] = {
            (name, i): set() for name in self._rules for i in range(len(text) + 1)
        }
        grown = True
        while grown:
            grown = False
            for name, i in self._ends:
                grown |= self._grow(name, i)
        self.uses: set[tuple[str, int, int]] = set()
        if len(text) in self._ends[grammar.start, 0]:
            self._use(grammar.start, 0, len(text))

    def _grow(self, name: str, start: int) -> bool:
        known = self._ends[name, start]
        found = self._reach(self._rules[name], start)
        grown = not found <= known
        known |= found
        return grown

    def _reach(self, node: Node, start: int) -> set[int]:
        match node:
            case Empty():
                return {start}
            case Chars():
                fits = start < len(self._text) and ord(self._text[start]) in node.set
                return {start + 1} if fits else set()
            case RuleReference():
                return set(self._ends[node.name, start])
            case Sequence():
                reached = {start}
                for item in node.items:
                    reached = set().union(*(self._reach(item, at) for at in reached))
                return reached
            case Choice():
                return set().union(*(self._reach(item, start) for item in node.alternatives))
            case Repeat():
                return set().union(*(self._reach(self._unrolled(node, n), start) for n in self._counts(node)))
        raise AssertionError(node)

    def _counts(self, node: Repeat) -> range:
        most = node.minimum + len(self._text) if node.maximum is None else node.maximum
        return range(node.minimum, most + 1)

    def _unrolled(self, node: Repeat, count: int) -> Sequence:
        return Sequence((node.node,) * count)

    def _use(self, name: str, start: int, end: int) -> None:
        if (name, start, end) not in self.uses:
            self.uses.add((name, start, end))
            self._within(self._rules[name], start, end)

    def _within(self, node: Node, start: int, end: int) -> None:
        if end not in self._reach(node, start):
            return
        match node:
            case RuleReference():
                self._use(node.name, start, end)
            case Choice():
                for item in node.alternatives:
                    self._within(item, start, end)
            case Repeat():
                for count in self._counts(node):
                    self._within(self._unrolled(node, count), start, end)
            case Sequence() if node.items:
                first, rest = node.items[0], Sequence(node.items[1:])
                for middle in self._reach(first, start):
                    if end in self._reach(rest, middle):
                        self._within(first, start, middle)
                        self._within(rest, middle, end)


@pytest.mark.parametrize("name", GRAMMARS)
def test_uses_are_those_of_parse_trees(name):
    source, letters, longest = GRAMMARS[name]
    compiled = compile_grammar("gbnf", source)
    automata = compiled.rule_automata()
    names = [rule.name for rule in automata.rules]
    texts = ["".join(chosen) for n in range(longest + 1) for chosen in itertools.product(letters, repeat=n)]
    trees = {text: Trees(compiled.grammar, text).uses for text in texts}
    match = RuleTracker(automata)
    for prefix in (text for text in texts if 0 < len(text) <= longest - 2):
        here = len(prefix)
        whole = [uses for text, uses in trees.items() if text.startswith(prefix) and uses]
        read = {(rule, i) for uses in whole for rule, i, j in uses if i < here <= j}
        going_on = {(rule, i) for uses in whole for rule, i, j in uses if i < here < j}
        found = match.open_rules(prefix.encode())
        found_read = {(names[rule], i) for rule, i in found.read}
        found_open = {(names[rule], i) for rule, i in found.open}
        assert found_open <= found_read
        # Texts that end behind the longest one looked at have trees that are not here, so what is here must be found;
        # the other way round only where whole texts show it.
        assert read <= found_read, prefix
        assert going_on <= found_open, prefix
        if whole and here <= 2:
            assert found_open == going_on, prefix


def test_what_does_not_match_is_within_nothing():
    match = RuleTracker(compile_grammar("gbnf", GRAMMARS["sums"][0]).rule_automata())
    assert match.open_rules(b"") == OpenRules()
    assert match.open_rules(b"+") == OpenRules()
    assert match.open_rules(b"(").depth == 2
    assert match.open_rules(b"(+") == OpenRules()


def test_depth_is_how_many_are_within_one_another():
    names = ["root", "term"]
    match = RuleTracker(compile_grammar("gbnf", GRAMMARS["sums"][0]).rule_automata())
    for text, depth in ((b"(", 2), (b"((", 4), (b"(((", 6), (b"((a", 5), (b"((a)", 3), (b"((a))", 1), (b"a+(a", 3)):
        found = match.open_rules(text)
        assert found.depth == depth, text
        assert names[found.open[0][0]] == "root"


def test_a_list_that_recurs_at_its_end_grows_deeper():
    match = RuleTracker(compile_grammar("gbnf", GRAMMARS["right"][0]).rule_automata())
    assert [match.open_rules(b"a" * n).depth for n in (1, 2, 3)] == [1, 2, 3]
    assert match.open_rules(b"a" * 500).depth == 500


def test_left_recursion_counts_once():
    match = RuleTracker(compile_grammar("gbnf", GRAMMARS["left"][0]).rule_automata())
    depths = {match.open_rules(b"a" + b"+a" * n).depth for n in range(5)}
    assert len(depths) <= 2
    assert max(depths) <= 2
