"""The byte automata of a grammar's rules, run with a stack: where a text may stand, as a number.

A configuration is a set of threads, each a state of some rule and a context:
what goes on when that rule is over. Contexts are shared, as in a
graph-structured stack (Tomita, *Efficient Parsing for Natural Language*, 1986),
and equal ones are one, so equal configurations have equal numbers and what was
worked out once is looked up. Three things keep them few and finite where the
language is regular:

- A call with nothing left to do behind it returns to where its caller does.
- A rule that may be empty is passed over where it is called.
- What a rule begins with is known from the grammar alone. A context is the rule
  and the calls at its position that lead to it through such beginnings; where it
  returns to is worked out from that. So left recursion is no loop: its frames
  refer to themselves by this name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

DEAD = 0
"""The configuration of no threads: nothing goes on."""

_END = 0
_OVER = (-1, _END)

Pair = tuple[int, int]
"""A thread: a state and a context; `_OVER` where the whole text may end."""


class Configuration:
    """A set of threads, and what is known of it.

    Attributes:
        kernel: the threads that tell it from others.
        items: the kernel, and where rules that are over return to.
        readers: the threads that read bytes or tokens, of rules that are called here too.
        accepting: whether the text may end here.
        steps: where the bytes lead that were asked for.
    """

    __slots__ = ("accepting", "items", "kernel", "readers", "steps")

    def __init__(self, kernel: frozenset[Pair], items: frozenset[Pair], readers: tuple[Pair, ...]) -> None:
        self.kernel = kernel
        self.items = items - {_OVER}
        self.readers = readers
        self.accepting = _OVER in items
        self.steps: dict[int, int] = {}


class Pushdown:
    """The automaton.

    Args:
        rules: the start rule first; of each, as in the file: name, states, accepting, edges, calls and tokens.
    """

    def __init__(self, rules: Sequence[Mapping[str, Any]]) -> None:
        numbers = {rule["name"]: number for number, rule in enumerate(rules)}
        self._accepting: list[bool] = []
        self._edges: list[list[tuple[int, int, int]]] = []
        self._calls: list[list[tuple[int, int]]] = []
        self._tokens: list[list[tuple[int, int]]] = []
        self.token_sets: list[Mapping[str, Any]] = []
        self._starts: list[list[int]] = []
        self._rows: dict[int, list[int]] = {}
        for rule in rules:
            self._add(rule, numbers)
        self._last = [
            accepting and not (edges or calls or tokens)
            for accepting, edges, calls, tokens in zip(
                self._accepting, self._edges, self._calls, self._tokens, strict=True
            )
        ]
        self._nullable = self._find_nullable()
        self._starts = [self._passed(start) for (start,) in self._starts]
        self._left = [[call for state in states for call in self._calls[state]] for states in self._starts]
        self._left_callers: list[list[tuple[int, int]]] = [[] for _ in rules]
        for caller, calls in enumerate(self._left):
            for rule_number, target in calls:
                self._left_callers[rule_number].append((caller, target))
        self._below: dict[int, frozenset[int]] = {}
        self._above: dict[int, frozenset[int]] = {}
        self._contexts: list[tuple[int, frozenset[tuple[int, Pair]]]] = [(-1, frozenset())]
        self._context_numbers: dict[tuple[int, frozenset[tuple[int, Pair]]], int] = {}
        self._returns: list[frozenset[Pair] | None] = [frozenset((_OVER,))]
        self.configurations = [Configuration(frozenset(), frozenset(), ())]
        self._numbers: dict[frozenset[Pair], int] = {frozenset(): DEAD}
        self.start = self.at(self._starts[0][0]) if rules else DEAD

    def at(self, state: int) -> int:
        """The configuration of one state alone, with nothing around it."""
        return self.intern(self._reached(state, _END))

    def intern(self, kernel: Iterable[Pair]) -> int:
        """The number of a configuration."""
        threads = frozenset(kernel)
        number = self._numbers.get(threads)
        if number is None:
            number = self._numbers[threads] = len(self.configurations)
            self.configurations.append(self._closed(threads))
        return number

    def step(self, number: int, byte: int) -> int:
        """The configuration behind a byte; `DEAD` where no text goes on so."""
        configuration = self.configurations[number]
        following = configuration.steps.get(byte)
        if following is None:
            reached: set[Pair] = set()
            for state, context in configuration.readers:
                target = self._row(state)[byte]
                if target >= 0:
                    reached |= self._reached(target, context)
            following = configuration.steps[byte] = self.intern(reached)
        return following

    def run(self, number: int, data: bytes) -> int:
        """The configuration behind some bytes."""
        for byte in data:
            number = self.step(number, byte)
            if number == DEAD:
                break
        return number

    def whole(self, number: int) -> list[tuple[int, frozenset[Pair]]]:
        """The token sets of which one may be taken whole, and the threads behind it."""
        return [
            (tokens, self._reached(target, context))
            for state, context in self.configurations[number].readers
            for tokens, target in self._tokens[state]
        ]

    def returns(self, context: int) -> frozenset[Pair]:
        """Where a rule goes on that was called in a context, once it is over."""
        known = self._returns[context]
        if known is None:
            rule, seeds = self._contexts[context]
            found: set[Pair] = set()
            todo, seen = [rule], {rule}
            while todo:
                called = todo.pop()
                found.update(pair for seed, pair in seeds if seed == called)
                for caller, target in self._left_callers[called]:
                    outer = self._context(caller, seeds)
                    if outer is None:
                        continue
                    if not self._last[target]:
                        found.add((target, outer))
                    elif caller not in seen:
                        seen.add(caller)
                        todo.append(caller)
            known = self._returns[context] = frozenset(found)
        return known

    # ------------------------------------------------------------------ configurations

    def _reached(self, state: int, context: int) -> frozenset[Pair]:
        """A state as threads: where nothing is left to do in its rule, where that returns to."""
        return self.returns(context) if self._last[state] else frozenset(((state, context),))

    def _closed(self, kernel: frozenset[Pair]) -> Configuration:
        items: set[Pair] = set()
        todo = list(kernel)
        while todo:
            item = todo.pop()
            if item in items:
                continue
            items.add(item)
            if item == _OVER:
                continue
            state, context = item
            if self._accepting[state]:
                todo += self.returns(context)
            todo += [(target, context) for rule, target in self._calls[state] if self._nullable[rule]]
        seeds: set[tuple[int, Pair]] = set()
        called: set[int] = set()
        for state, context in items - {_OVER}:
            for rule, target in self._calls[state]:
                called |= self._rules_below(rule)
                seeds.update((rule, pair) for pair in self._reached(target, context))
        readers = [item for item in items if item != _OVER]
        fixed = frozenset(seeds)
        for rule in called:
            inner = self._context(rule, fixed)
            assert inner is not None
            readers += [(state, inner) for state in self._starts[rule]]
        reading = (item for item in readers if self._edges[item[0]] or self._tokens[item[0]])
        return Configuration(kernel, frozenset(items), tuple(reading))

    def _context(self, rule: int, seeds: frozenset[tuple[int, Pair]]) -> int | None:
        """A rule called by the beginnings of some rules; None where none of them begins with it."""
        above = self._rules_above(rule)
        key = rule, frozenset(seed for seed in seeds if seed[0] in above)
        if not key[1]:
            return None
        number = self._context_numbers.get(key)
        if number is None:
            number = self._context_numbers[key] = len(self._contexts)
            self._contexts.append(key)
            self._returns.append(None)
        return number

    # ------------------------------------------------------------------ the grammar

    def _add(self, rule: Mapping[str, Any], numbers: Mapping[str, int]) -> None:
        first = len(self._accepting)
        self._starts.append([first])
        self._accepting += [False] * rule["states"]
        for state in rule["accepting"]:
            self._accepting[first + state] = True
        self._edges += [[] for _ in range(rule["states"])]
        self._calls += [[] for _ in range(rule["states"])]
        self._tokens += [[] for _ in range(rule["states"])]
        for edge in rule["edges"]:
            self._edges[first + edge["source"]] += [(low, high, first + edge["target"]) for low, high in edge["bytes"]]
        for call in rule["calls"]:
            self._calls[first + call["source"]].append((numbers[call["rule"]], first + call["target"]))
        for taken in rule["tokens"]:
            self._tokens[first + taken["source"]].append((len(self.token_sets), first + taken["target"]))
            self.token_sets.append(taken)

    def _row(self, state: int) -> list[int]:
        """Of each byte the state behind it, -1 where there is none."""
        row = self._rows.get(state)
        if row is None:
            row = self._rows[state] = [-1] * 256
            for low, high, target in self._edges[state]:
                row[low : high + 1] = [target] * (high + 1 - low)
        return row

    def _find_nullable(self) -> list[bool]:
        """Of each rule whether it matches the empty text."""
        self._nullable = [False] * len(self._starts)
        grown = True
        while grown:
            grown = False
            for rule, (start,) in enumerate(self._starts):
                if not self._nullable[rule] and any(self._accepting[state] for state in self._passed(start)):
                    self._nullable[rule] = grown = True
        return self._nullable

    def _passed(self, start: int) -> list[int]:
        """The states that are reached by passing over rules that may be empty."""
        found = [start]
        for state in found:
            for rule, target in self._calls[state]:
                if self._nullable[rule] and target not in found:
                    found.append(target)
        return found

    def _rules_below(self, rule: int) -> frozenset[int]:
        """The rules that a rule may begin with, itself included."""
        if rule not in self._below:
            self._below[rule] = _reachable(rule, lambda one: [called for called, _ in self._left[one]])
        return self._below[rule]

    def _rules_above(self, rule: int) -> frozenset[int]:
        """The rules that may begin with a rule, itself included."""
        if rule not in self._above:
            self._above[rule] = _reachable(rule, lambda one: [caller for caller, _ in self._left_callers[one]])
        return self._above[rule]


def _reachable(first: int, following: Any) -> frozenset[int]:
    found, todo = {first}, [first]
    while todo:
        fresh = [one for one in following(todo.pop()) if one not in found]
        found.update(fresh)
        todo += fresh
    return frozenset(found)
