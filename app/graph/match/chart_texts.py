"""Shortest texts through charts, and the paths from one state to another.

A chart may call rules, and the text of a call is a shortest text of the called rule. The shortest texts of all rules at
once are Knuth's generalisation of Dijkstra's algorithm (Information Processing Letters 6, 1977): states are settled in
the order of their lengths, and a call waits until the called rule is settled. Token elements have no bytes here, so no
text passes them; a path may.

Paths are those that pass no state twice. There may be exponentially many, so they are enumerated one at a time: a state
is entered only if the target can still be reached from it, hence no search is in vain.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from app.graph.layout.types import EdgeKey
from app.graph.match.folding import Chart

MAX_TEXT = 100_000
"""Bytes; a longer text is unknown: rules may double it again and again."""

_PLEASANT = b"a0A x_-"  # if an edge takes one of these, texts are easier to read than with its lowest byte

Node = tuple[int, int]  # a rule and a state of it


class _Hop(NamedTuple):
    """The cheapest use of an edge: a byte, or a call."""

    target: int
    byte: int = -1
    rule: int = -1


class ChartTexts:
    """The shortest texts through the automata of some rules; a single automaton is one rule without calls.

    Args:
        charts: one for each rule, the start rule first; calls are numbers of rules.
    """

    def __init__(self, charts: Sequence[Chart]) -> None:
        self._charts = charts
        self._hops = [_hops_of(chart) for chart in charts]
        self._accepting = [frozenset(state.id for state in chart.dfa.states if state.accepting) for chart in charts]
        self._lengths: dict[Node, int] = {}  # of the shortest text from the start of the rule
        self._before: dict[Node, tuple[int, _Hop]] = {}
        self._ends: dict[int, int] = {}  # for each rule the accepting state of its shortest text
        self._rule_texts: dict[int, bytes | None] = {}
        self._settle()
        self._entries = self._enter()
        self._completions: dict[int, dict[int, tuple[int, _Hop | None]]] = {}

    def text_to(self, rule: int, state: int) -> bytes | None:
        """Return a shortest text from the start of the grammar to a state; None if there is none or it is unknown."""
        parts = []
        node: Node | None = (rule, state)
        while node is not None:
            parts.append(self._text_within(*node))
            if node[0] not in self._entries:
                return None
            node = self._entries[node[0]][1]
        return _joined(reversed(parts))

    def text_through(self, rule: int, state: int) -> bytes | None:
        """Return a text of the grammar that passes a state; None if there is none or it is unknown."""
        parts = [self.text_to(rule, state), self._completion(rule, state)]
        caller = self._entries[rule][1] if rule in self._entries else None
        while caller is not None:
            # The state after the call: the cheapest of those that a call of this rule leads to.
            following = [hop.target for hop in self._hops[caller[0]].get(caller[1], ()) if hop.rule == rule]
            found = [text for state in following if (text := self._completion(caller[0], state)) is not None]
            parts.append(min(found, key=len, default=None))
            rule, caller = caller[0], self._entries[caller[0]][1]
        return _joined(parts)

    def steps_to(self, rule: int, state: int) -> tuple[bytes | int, ...] | None:
        """Return the shortest path from the start of a rule to one of its states, as bytes and numbers of rules."""
        if (rule, state) not in self._lengths:
            return None
        found: list[bytes | int] = []
        while (rule, state) in self._before:
            state, hop = self._before[rule, state]
            if hop.rule >= 0:
                found.append(hop.rule)
            elif found and isinstance(found[-1], bytes):
                found[-1] = bytes((hop.byte,)) + found[-1]
            else:
                found.append(bytes((hop.byte,)))
        return tuple(reversed(found))

    def edge_text(self, rule: int, key: EdgeKey, inner: frozenset[int]) -> bytes | None:
        """Return a shortest text of an edge, which may pass states that the drawing folds away.

        Args:
            rule: the rule.
            key: the edge.
            inner: the states that it may pass.
        """
        source, target = key
        heap = [(0, b"", source, True)]
        passed: set[int] = set()
        while heap:
            length, text, state, is_first = heapq.heappop(heap)
            if state == target and not is_first:
                return text
            if state in passed or not (is_first or state in inner):
                continue
            passed.add(state)
            for hop in self._hops[rule].get(state, ()):
                more = bytes((hop.byte,)) if hop.rule < 0 else self._rule_texts.get(hop.rule)
                if more is not None:
                    heapq.heappush(heap, (length + len(more), text + more, hop.target, False))
        return None

    # --- computation -------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Compute the lengths of the shortest texts within each rule."""
        lengths, before = self._lengths, self._before
        heap = [(0, rule, chart.dfa.start) for rule, chart in enumerate(self._charts) if chart.dfa.start is not None]
        lengths.update(((rule, state), 0) for _, rule, state in heap)
        waiting: defaultdict[int, list[tuple[int, int, _Hop]]] = defaultdict(list)
        settled: set[Node] = set()
        while heap:
            length, rule, state = heapq.heappop(heap)
            if (rule, state) in settled:
                continue
            settled.add((rule, state))
            found = [(length, rule, state, hop) for hop in self._hops[rule].get(state, ())]
            if state in self._accepting[rule] and rule not in self._ends:
                self._ends[rule] = state
                self._rule_texts[rule] = self._text_within(rule, state)
                found += [(lengths[caller, at], caller, at, hop) for caller, at, hop in waiting.pop(rule, ())]
            for base, caller, source, hop in found:
                more = 1
                if hop.rule >= 0:
                    if hop.rule not in self._ends:
                        waiting[hop.rule].append((caller, source, hop))
                        continue
                    text = self._rule_texts[hop.rule]
                    more = MAX_TEXT if text is None else len(text)
                after = caller, hop.target
                if base + more < lengths.get(after, MAX_TEXT):
                    lengths[after] = base + more
                    before[after] = source, hop
                    heapq.heappush(heap, (base + more, *after))

    def _text_within(self, rule: int, state: int) -> bytes | None:
        """Return the shortest text from the start of a rule to one of its states."""
        if (rule, state) not in self._lengths:
            return None
        parts = []
        while (rule, state) in self._before:
            state, hop = self._before[rule, state]
            parts.append(bytes((hop.byte,)) if hop.rule < 0 else self._rule_texts[hop.rule])
        return _joined(reversed(parts))

    def _enter(self) -> dict[int, tuple[int, Node | None]]:
        """Return for each rule the length of the shortest text that leads to it, and the state that calls it then."""
        entries: dict[int, tuple[int, Node | None]] = {0: (0, None)} if self._charts else {}
        by_rule: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for (rule, state), length in self._lengths.items():
            by_rule[rule] += [(length, state, hop.rule) for hop in self._hops[rule].get(state, ()) if hop.rule >= 0]
        heap = [(0, 0)] if self._charts else []
        while heap:
            length, rule = heapq.heappop(heap)
            if length > entries[rule][0]:
                continue
            for within, state, called in by_rule[rule]:
                if called not in entries or length + within < entries[called][0]:
                    entries[called] = length + within, (rule, state)
                    heapq.heappush(heap, (length + within, called))
        return entries

    def _completion(self, rule: int, state: int) -> bytes | None:
        """Return the shortest text from a state to the end of its rule."""
        if rule not in self._completions:
            self._completions[rule] = self._completions_of(rule)
        found = self._completions[rule]
        parts: list[bytes | None] = []
        while state in found:
            hop = found[state][1]
            if hop is None:
                return _joined(parts)
            parts.append(bytes((hop.byte,)) if hop.rule < 0 else self._rule_texts[hop.rule])
            state = hop.target
        return None

    def _completions_of(self, rule: int) -> dict[int, tuple[int, _Hop | None]]:
        entering: defaultdict[int, list[tuple[int, int, _Hop]]] = defaultdict(list)
        for source, hops in self._hops[rule].items():
            for hop in hops:
                text = b"." if hop.rule < 0 else self._rule_texts.get(hop.rule)
                if text is not None:
                    entering[hop.target].append((source, len(text), hop))
        found: dict[int, tuple[int, _Hop | None]] = dict.fromkeys(self._accepting[rule], (0, None))
        heap = [(0, state) for state in sorted(self._accepting[rule])]
        while heap:
            length, state = heapq.heappop(heap)
            if length > found[state][0]:
                continue
            for source, more, hop in entering[state]:
                if source not in found or length + more < found[source][0]:
                    found[source] = length + more, hop
                    heapq.heappush(heap, (length + more, source))
        return found


def _hops_of(chart: Chart) -> dict[int, list[_Hop]]:
    found: defaultdict[int, list[_Hop]] = defaultdict(list)
    for edge in chart.dfa.edges:
        if edge.ranges:
            byte, last = edge.ranges[0]
            if byte < last or len(edge.ranges) > 1:
                byte = next((one for one in _PLEASANT if any(a <= one <= b for a, b in edge.ranges)), byte)
            found[edge.source].append(_Hop(edge.target, byte))
    for (source, target), calls in chart.calls.items():
        found[source] += [_Hop(target, rule=rule) for rule in dict.fromkeys(calls)]
    return found


def _joined(parts: Iterable[bytes | None]) -> bytes | None:
    found = list(parts)
    known = [part for part in found if part is not None]
    return b"".join(known) if len(known) == len(found) and sum(map(len, known)) <= MAX_TEXT else None


def edges_between(edges: Iterable[EdgeKey], source: int, target: int) -> frozenset[EdgeKey]:
    """Return the edges on all paths from one state to another, however long; also those of loops on the path.

    Args:
        edges: the edges.
        source: the first state.
        target: the last state.
    """
    after: defaultdict[int, list[int]] = defaultdict(list)
    before: defaultdict[int, list[int]] = defaultdict(list)
    known = list(edges)
    for a, b in known:
        after[a].append(b)
        before[b].append(a)
    reached, reaching = _reachable(source, after.__getitem__), _reachable(target, before.__getitem__)
    return frozenset((a, b) for a, b in known if a in reached and b in reaching)


def simple_paths(edges: Iterable[EdgeKey], source: int, target: int) -> Iterator[tuple[int, ...] | None]:
    """Enumerate the paths from one state to another that pass no state twice, short ones early.

    A path from a state to itself is a cycle. None is yielded between two paths, after about a millisecond of work, so
    that a caller can handle events.

    Args:
        edges: the edges.
        source: the first state.
        target: the last state.
    """
    relevant = edges_between(edges, source, target)
    after: defaultdict[int, set[int]] = defaultdict(set)
    before: defaultdict[int, set[int]] = defaultdict(set)
    for a, b in relevant:
        after[a].add(b)
        before[b].add(a)
    distance = _distances(target, before)

    def ordered(state: int, path: list[int]) -> Iterator[int]:
        """Return the states that may follow: the target can be reached from them without the states of the path."""
        taken = frozenset(path)
        if after[state] == {target}:
            return iter((target,))
        alive = _reachable(target, lambda one: [two for two in before[one] if two not in taken])
        found = [two for two in after[state] if two == target or (two not in taken and two in alive)]
        return iter(sorted(found, key=lambda two: (distance.get(two, 0), two)))

    path = [source]
    pending = [ordered(source, path)]
    while pending:
        following = next(pending[-1], None)
        if following is None:
            pending.pop()
            path.pop()
        elif following == target:
            yield (*path, target)
        else:
            path.append(following)
            pending.append(ordered(following, path))
            yield None


def _reachable(state: int, following: Callable[[int], Iterable[int]]) -> frozenset[int]:
    found, queue = {state}, [state]
    while queue:
        for after in following(queue.pop()):
            if after not in found:
                found.add(after)
                queue.append(after)
    return frozenset(found)


def _distances(target: int, before: defaultdict[int, set[int]]) -> dict[int, int]:
    found, frontier = {target: 0}, [target]
    while frontier:
        reached = {source for state in frontier for source in before[state]} - found.keys()
        found |= dict.fromkeys(reached, found[frontier[0]] + 1)
        frontier = list(reached)
    return found
