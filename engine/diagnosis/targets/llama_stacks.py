"""The stacks that llama.cpp would hold for a grammar: one for each parse that is still possible.

llama.cpp (`llama_grammar_advance_stack` in `src/llama-grammar.cpp`) keeps a list of stacks, each by itself: it merges
no common parts, and a mask is computed once for each. Releases until 2024 did not remove equal ones, so an ambiguous
grammar multiplies them. This follows its plain rules over a text, or over the characters that most stacks accept, and
counts both the stacks and the parses, of which several may have equal stacks.

`stack_growth` describes a text as a whole, and `StackCounter` follows a text that grows with each step.

The time is that of this walk, which advances the same stacks in the same order as llama.cpp, in Python: it compares the
rules of a grammar with each other, and not the engines.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine.grammar import Grammar
from engine.notations.gbnf.plain_rules import Element, ElementType, plain_rules
from engine.source import checkpoint

MOST_STACKS: Final = 4_000
STEPS: Final = 24
_WORK: Final = 60_000
_WORK_OF_STEPS: Final = 100_000  # of a text that grows: 0.1 seconds for all of it
_DEEPEST: Final = 120
_LONGEST: Final = 400  # characters of a text


@dataclass(frozen=True, slots=True)
class RuleStacks:
    """The stacks that are in a rule, or that return to it.

    Attributes:
        stacks: the largest number of different stacks at one position.
        parses: the largest number of parses at one position; those with equal stacks count, too.
        time_ms: milliseconds in which these stacks were advanced along the text.
    """

    stacks: int
    parses: int
    time_ms: float


@dataclass(frozen=True, slots=True)
class StackGrowth:
    """The stacks of a grammar along a text.

    Attributes:
        text: the characters that were read.
        stacks: the number of different stacks before the first character and after each.
        counts: the number of parses at the same positions.
        rule: the rule that most of the stacks are in.
        rules: the share of each rule, by name; those that no stack reached are missing.
    """

    text: str
    stacks: tuple[int, ...]
    counts: tuple[int, ...]
    rule: str
    rules: dict[str, RuleStacks]

    @property
    def most(self) -> int:
        """Return the largest number of parses."""
        return max(self.counts, default=0)


class _Item(NamedTuple):
    """An element of a rule: a class of characters, or a reference."""

    ranges: tuple[tuple[int, int], ...] = ()
    is_negated: bool = False
    rule: int = -1

    def accepts(self, code: int) -> bool:
        return any(first <= code <= last for first, last in self.ranges) != self.is_negated


_Position = tuple[int, int, int]  # rule, alternative, item
_Stack = tuple[_Position, ...]
_Stacks = dict[_Stack, int]


class _Parser:
    def __init__(self, grammar: Grammar, most_work: int = _WORK) -> None:
        plain = plain_rules(grammar)
        self.numbers = {rule.name: index for index, rule in enumerate(plain)}
        self.names = [rule.name for rule in plain]
        self.origins = [rule.origin or rule.name for rule in plain]
        self.alternatives = [self._alternatives(rule.elements) for rule in plain]
        self._start = self.numbers.get(grammar.start)
        self._work, self._most_work = 0, most_work
        self.has_dropped = False  # whether a bound left out stacks

    def begin(self) -> _Stacks:
        """Return the stacks before the first character, without earlier work; none if the first rule is missing."""
        self._work, self.has_dropped, start = 0, False, self._start
        if start is None:
            return {}
        return self.expand({((start, number, 0),): 1 for number in range(len(self.alternatives[start]))})

    def _alternatives(self, elements: tuple[Element, ...]) -> list[list[_Item]]:
        made: list[list[_Item]] = [[]]
        for element in elements:
            kind, value = element.type, element.value
            if kind is ElementType.ALT:
                made.append([])
            elif kind is ElementType.RULE_REF:
                made[-1].append(_Item(rule=self.numbers.get(str(value), -1)))
            elif kind in (ElementType.CHAR, ElementType.CHAR_NOT) and isinstance(value, int):
                made[-1].append(_Item(((value, value),), kind is ElementType.CHAR_NOT))
            elif kind is ElementType.CHAR_ALT and isinstance(value, int):
                last = made[-1][-1]
                made[-1][-1] = last._replace(ranges=(*last.ranges, (value, value)))
            elif kind is ElementType.CHAR_RNG_UPPER and isinstance(value, int):
                last = made[-1][-1]
                made[-1][-1] = last._replace(ranges=(*last.ranges[:-1], (last.ranges[-1][0], value)))
            elif kind is ElementType.CHAR_ANY:
                made[-1].append(_Item(is_negated=True))
        return made

    def expand(self, stacks: _Stacks) -> _Stacks:
        """Return the stacks whose top is a class of characters, each with the number of ways to it."""
        found: _Stacks = {}
        todo = list(reversed(stacks.items()))
        while todo and len(found) < MOST_STACKS and self._work < self._most_work:
            stack, ways = todo.pop()
            self._work += 1
            if len(stack) > _DEEPEST:
                self.has_dropped = True
                continue
            if not stack:
                found[stack] = found.get(stack, 0) + ways
                continue
            rule, alternative, index = stack[-1]
            items = self.alternatives[rule][alternative]
            if index >= len(items):
                todo.append((stack[:-1], ways))
                continue
            item = items[index]
            if item.rule < 0:
                found[stack] = found.get(stack, 0) + ways
                continue
            rest = (*stack[:-1], (rule, alternative, index + 1)) if index + 1 < len(items) else stack[:-1]
            todo += [((*rest, (item.rule, number, 0)), ways) for number in range(len(self.alternatives[item.rule]))]
        self.has_dropped |= bool(todo)
        return found

    def top(self, stack: _Stack) -> _Item | None:
        """Return the class of characters that a stack waits for; None at the end."""
        if not stack:
            return None
        rule, alternative, index = stack[-1]
        return self.alternatives[rule][alternative][index]

    def advance(self, stacks: _Stacks, code: int, times: dict[str, float]) -> _Stacks:
        """Return the stacks after a character, and add the seconds that those of each rule took."""
        after: _Stacks = {}
        for stack, ways in stacks.items():
            item = self.top(stack)
            if item is None or not item.accepts(code):
                continue
            began = time.perf_counter()
            rule, alternative, index = stack[-1]
            for one, count in self.expand({(*stack[:-1], (rule, alternative, index + 1)): ways}).items():
                after[one] = after.get(one, 0) + count
            took = time.perf_counter() - began
            for name in self.rules_of(stack):
                times[name] += took
            if len(after) >= MOST_STACKS:
                self.has_dropped = True
                break
        return after

    def rules_of(self, stack: _Stack) -> frozenset[str]:
        """Return the rules of the source that a stack is in, or returns to."""
        return frozenset(self.origins[rule] for rule, _, _ in stack)

    def likely(self, stacks: _Stacks) -> int | None:
        """Return the character that most stacks accept."""
        tried: Counter[int] = Counter()
        candidates = set()
        known = list(stacks)[:500]
        for stack in known:
            item = self.top(stack)
            if item is not None and not item.is_negated:
                candidates |= {first for first, _ in item.ranges[:4]}
        for code in sorted(candidates)[:64]:
            tried[code] = sum(stacks[stack] for stack in known if (item := self.top(stack)) and item.accepts(code))
        return tried.most_common(1)[0][0] if tried else None


def stack_growth(grammar: Grammar, data: bytes = b"") -> StackGrowth | None:
    """Count the stacks along a text; without one, along the characters that most stacks accept.

    Args:
        grammar: the rules.
        data: a text that the grammar accepts the beginning of.

    Returns:
        None if the grammar lacks its first rule.

    Raises:
        LimitExceededError: the grammar has too many plain rules.
    """
    parser = _Parser(grammar)
    if grammar.start not in parser.numbers:
        return None
    stacks = parser.begin()
    text = data.decode("utf-8", "replace")[:_LONGEST]
    numbers, counts, read, widest = [len(stacks)], [sum(stacks.values())], "", stacks
    times = defaultdict[str, float](float)
    most: dict[str, tuple[int, int]] = _largest({}, parser, stacks)
    for index in range(len(text) or STEPS):
        code = ord(text[index]) if text else parser.likely(stacks)
        if code is None or counts[-1] >= MOST_STACKS:
            break
        stacks = parser.advance(stacks, code, times)
        if not stacks:
            break
        read += chr(code)
        numbers.append(len(stacks))
        counts.append(sum(stacks.values()))
        most = _largest(most, parser, stacks)
        if counts[-1] == max(counts):
            widest = stacks
    rules = {name: RuleStacks(*found, times[name] * 1e3) for name, found in most.items()}
    return StackGrowth(read, tuple(numbers), tuple(counts), _ambiguous_rule(grammar, parser, widest), rules)


class StackCounter:
    """Counts the stacks of a grammar along a text that grows, and reads only what is new in it.

    A count depends on the text alone, not on the texts that were read before it.

    Args:
        grammar: the rules.

    Raises:
        LimitExceededError: the grammar has too many plain rules.
    """

    def __init__(self, grammar: Grammar) -> None:
        self._parser = _Parser(grammar, _WORK_OF_STEPS)
        self._begin()

    def _begin(self) -> None:
        self._text, self._stacks = "", self._parser.begin()
        self._counts = [] if self._parser.has_dropped or not self._stacks else [len(self._stacks)]

    def counts(self, text: str) -> tuple[int, ...]:
        """Return the number of different stacks before the first character of a text and after each.

        The numbers end before a character that no stack accepts, and where the bound of stacks or work is exceeded.

        Raises:
            CancelledError: the scope of a cancel token was cancelled.
        """
        if not text.startswith(self._text):
            self._begin()
        for character in text[len(self._text) :]:
            if len(self._counts) <= len(self._text):
                break  # the numbers ended earlier
            checkpoint()
            self._stacks = self._parser.advance(self._stacks, ord(character), defaultdict(float))
            self._text += character
            if self._stacks and not self._parser.has_dropped:
                self._counts.append(len(self._stacks))
        return tuple(self._counts)


def _largest(known: dict[str, tuple[int, int]], parser: _Parser, stacks: _Stacks) -> dict[str, tuple[int, int]]:
    """Return the largest numbers of stacks and parses of each rule, at the positions so far and this one."""
    numbers, parses = defaultdict[str, int](int), defaultdict[str, int](int)
    for stack, ways in stacks.items():
        for name in parser.rules_of(stack):
            numbers[name] += 1
            parses[name] += ways
    nothing = (0, 0)
    return {
        name: (max(known.get(name, nothing)[0], numbers[name]), max(known.get(name, nothing)[1], parses[name]))
        for name in known.keys() | numbers.keys()
    }


def _ambiguous_rule(grammar: Grammar, parser: _Parser, stacks: _Stacks) -> str:
    """Return the rule that most parses are in; a rule with one class of characters is used by the guilty one."""
    tops: Counter[str] = Counter()
    for stack, ways in stacks.items():
        if stack:
            tops[parser.origins[stack[-1][0]]] += ways
    return tops.most_common(1)[0][0] if tops else grammar.start
