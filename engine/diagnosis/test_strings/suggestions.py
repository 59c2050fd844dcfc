"""Suggested test strings for a grammar: the shortest, random ones, one for each rule and edge, and near misses.

Each one is checked against the grammar before it is offered, whatever produced it: a suggestion states what the grammar
does.
"""

from __future__ import annotations

import heapq
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.automata.byte_automaton import DEAD
from engine.automata.byte_classes import ByteRanges
from engine.automata.rtn.rule_automata import RuleAutomata
from engine.compile import CompiledGrammar
from engine.diagnosis.test_strings.coverage import uses_of
from engine.diagnosis.test_strings.values import EdgeKey, EdgeRow, RuleRow, Suggestion, SuggestionKind
from engine.source import CancelToken, LimitExceededError
from engine.vocabulary.visible import visible

MOST_NEAR_MISSES = 8
MOST_BY_RULE = 60
RANDOM_LENGTH = 24
_EFFORT = 2_000
_TRIES = 40


def shortest_text(grammar: CompiledGrammar, cancel: CancelToken | None = None) -> tuple[Suggestion, ...]:
    """Return the shortest text that matches; none if it is not found."""
    found = grammar.automaton.shortest_completion(grammar.automaton.start, _EFFORT, cancel)
    return _kept(grammar, SuggestionKind.SHORTEST, [(found.text, "the shortest text")], accepts=True)


def random_texts(
    grammar: CompiledGrammar,
    count: int,
    seed: int,
    cancel: CancelToken | None = None,
    *,
    longest: int = RANDOM_LENGTH,
) -> tuple[Suggestion, ...]:
    """Return matching texts, drawn byte by byte; the same seed draws the same texts.

    Args:
        grammar: the grammar.
        count: the number of texts.
        seed: the seed of the draws.
        cancel: cancels the search.
        longest: the largest number of bytes that are drawn; the shortest end follows.
    """
    found: dict[str, Suggestion] = {}
    for index in range(max(_TRIES, 4 * count)):
        if len(found) == count or grammar.is_empty:
            break
        draw = random.Random(f"{seed}:{index}")
        text = _random_text(grammar, draw, longest, cancel)
        for made in _kept(grammar, SuggestionKind.RANDOM, [(text, "drawn at random")], accepts=True):
            found.setdefault(made.text, made)
    return tuple(found.values())


def texts_of_rules(
    grammar: CompiledGrammar,
    automata: RuleAutomata,
    rules: Iterable[RuleRow],
    edges: Iterable[EdgeRow],
    cancel: CancelToken | None = None,
) -> tuple[Suggestion, ...]:
    """Return a text for each rule, then for each edge, that no text uses yet; skip what an earlier suggestion uses.

    Args:
        grammar: the grammar.
        automata: its rules' automata.
        rules: the rules with their coverage.
        edges: the edges with their coverage.
        cancel: cancels the search.
    """
    witnesses = ShortestWitnesses(automata)
    made: dict[str, Suggestion] = {}
    used_rules, used_edges = set[int](), set[EdgeKey]()

    def offer(kind: SuggestionKind, text: bytes | None, why: str) -> None:
        for one in _kept(grammar, kind, [(text, why)], accepts=True):
            uses = uses_of(automata, one.text.encode(), cancel=cancel)
            used_rules.update(uses.rules or ())
            used_edges.update(uses.edges or ())
            made.setdefault(one.text, one)

    for rule in rules:
        number = automata.numbers[rule.name]
        if not rule.covered and number not in used_rules:
            offer(SuggestionKind.RULE, witnesses.through_rule(number), f"uses the rule {rule.name}")
    for edge in edges:
        if not edge.covered and edge.key not in used_edges and len(made) < MOST_BY_RULE:
            where = f" of {edge.rule}" if edge.rule else ""
            offer(SuggestionKind.EDGE, witnesses.through_edge(edge.key), f"takes another way{where}")
    return tuple(made.values())


def near_misses(
    grammar: CompiledGrammar, texts: Iterable[str], *, before: str = "", behind: str = ""
) -> tuple[Suggestion, ...]:
    """Return texts that nearly match: matching texts with one change.

    Args:
        grammar: the grammar.
        texts: the texts, or the parts of them to change.
        before: the text before each part.
        behind: the text behind each part.
    """
    found: dict[str, Suggestion] = {}
    kinds: dict[str, int] = {}
    for text in texts:
        for changed, why in ((f"{before}{one}{behind}", why) for one, why in _changes(text)):
            if changed in found or kinds.get(why, 0) >= 2 or len(found) >= MOST_NEAR_MISSES:
                continue
            for made in _kept(grammar, SuggestionKind.NEAR_MISS, [(changed.encode(), why)], accepts=False):
                found[made.text] = made
                kinds[why] = kinds.get(why, 0) + 1
    return tuple(found.values())


def _kept(
    grammar: CompiledGrammar, kind: SuggestionKind, texts: Iterable[tuple[bytes | None, str]], *, accepts: bool
) -> tuple[Suggestion, ...]:
    """Return the suggestions that the grammar treats as intended."""
    kept = []
    for data, why in texts:
        if data is None:
            continue
        try:
            if grammar.fullmatch(data) is accepts:
                kept.append(Suggestion(kind, data.decode(), accepts, why))
        except (UnicodeDecodeError, LimitExceededError):
            continue
    return tuple(kept)


def _random_text(
    grammar: CompiledGrammar, draw: random.Random, longest: int, cancel: CancelToken | None
) -> bytes | None:
    automaton, text = grammar.automaton, bytearray()
    at = automaton.start
    length = draw.randint(2, longest)
    try:
        while len(text) < length or (text[-1] >= 0x80 and not automaton.accepts(at)):
            if text and automaton.accepts(at) and draw.random() < 0.15:
                return bytes(text)
            byte = _draw_byte(automaton.expected(at), draw)
            if byte is None:
                break
            text.append(byte)
            at = automaton.run(at, bytes((byte,)))
            if at == DEAD:
                return None
        ending = automaton.shortest_completion(at, _EFFORT, cancel)
    except LimitExceededError:
        return None
    return None if ending.text is None else bytes(text) + ending.text


def _draw_byte(expected: Iterable[tuple[int, int]], draw: random.Random) -> int | None:
    """Draw a byte that may come next, preferring letters and closing punctuation."""
    members = [byte for first, last in expected for byte in range(first, last + 1)]
    plain = [byte for byte in members if 0x20 <= byte < 0x7F or byte == 0x0A] or members
    if not plain:
        return None
    return draw.choices(plain, [_weight(byte) for byte in plain])[0]


def _weight(byte: int) -> float:
    char = chr(byte)
    if char in '",:{}[]()':
        return 8.0
    if char.islower():
        return 4.0
    if char.isdigit():
        return 2.0
    if char.isupper():
        return 1.0
    return 0.4 if char in " .-_@" else 0.1


def _changes(text: str) -> Iterator[tuple[str, str]]:
    """Yield a text with one change, and a description of the change."""
    if text:
        yield text[:-1], "cut one character short"
    for closer in "}]":
        at = text.rfind(closer)
        if at > 0 and text[at - 1] not in "{[,":
            yield text[:at] + "," + text[at:], "a comma before the end"
    if '"' in text:
        yield text.replace('"', "'"), "single quotes"
    if text.startswith(("{", "[")):
        yield f"```json\n{text}\n```", "in a code fence"
    yield text + " ", "a blank behind it"
    middle = len(text) // 2
    for at in (middle, 0, len(text) - 1):
        if 0 <= at < len(text):
            other = "x" if text[at].isdigit() else "0"
            yield text[:at] + other + text[at + 1 :], f"another character for {visible(text[at].encode())}"
    if len(text) > 2:
        yield text[:middle] + text[middle + 1 :], "a character left out"
    yield text + (text[-1:] or "x"), "one character more"


@dataclass(frozen=True, slots=True)
class _Edge:
    """An edge between two states, over the bytes of `label` or the rule `called`."""

    source: int
    target: int
    label: bytes = b""
    called: int | None = None


class ShortestWitnesses:
    """The shortest witnesses of one grammar: the shortest texts that use a given rule or edge.

    Knuth's generalisation of Dijkstra's algorithm (*A generalization of Dijkstra's algorithm*, Information Processing
    Letters 6(1), 1977) gives the shortest text of each rule from the shortest texts of the rules that it calls. Then
    follow the shortest path from the start rule into each rule, and back out of it. The result is None if only tokens
    matched by id lead on.
    """

    def __init__(self, automata: RuleAutomata) -> None:
        self._automata = automata
        numbers = automata.numbers
        self._edges = [
            [
                *(_Edge(edge.source, edge.target, _legible(edge.ranges)) for edge in rule.dfa.edges),
                *(_Edge(call.source, call.target, called=numbers[call.rule]) for call in rule.calls),
            ]
            for rule in automata.rules
        ]
        self._yields: list[bytes | None] = [None] * len(automata.rules)
        self._find_yields()
        self._heads = [self._shortest_paths(number, backwards=False) for number in range(len(automata.rules))]
        self._tails = [self._shortest_paths(number, backwards=True) for number in range(len(automata.rules))]
        self._around = self._find_surroundings()

    def through_rule(self, rule: int) -> bytes | None:
        """Return the shortest text that uses a rule."""
        found = self.parts_of(rule)
        return None if found is None else b"".join(found)

    def parts_of(self, rule: int) -> tuple[bytes, bytes, bytes] | None:
        """Return the shortest text that uses a rule, in three parts: before the rule, its own, and behind it."""
        inner, around = self._yields[rule], self._around[rule]
        return None if inner is None or around is None else (around[0], inner, around[1])

    def through_edge(self, key: EdgeKey) -> bytes | None:
        """Return the shortest text that uses an edge."""
        around = self._around[key.rule]
        head, tail = self._heads[key.rule].get(key.source), self._tails[key.rule].get(key.target)
        called = self._automata.numbers.get(key.called) if key.called else None
        edge = next(
            (
                one
                for one in self._edges[key.rule]
                if (one.source, one.target, one.called) == (key.source, key.target, called)
            ),
            None,
        )
        text = None if edge is None else self._text_of(edge)
        if around is None or head is None or tail is None or text is None:
            return None
        return around[0] + head + text + tail + around[1]

    def _text_of(self, edge: _Edge) -> bytes | None:
        return edge.label if edge.called is None else self._yields[edge.called]

    def _find_yields(self) -> None:
        """Shorten the rules' texts until a fixpoint; a rule gets its text after the rules that it needs."""
        changed = True
        while changed:
            changed = False
            for number in range(len(self._yields)):
                paths = self._shortest_paths(number, backwards=False)
                states = self._automata.rules[number].dfa.states
                found = [paths[state.id] for state in states if state.accepting and state.id in paths]
                best = min(found, key=len, default=None)
                known = self._yields[number]
                if best is not None and (known is None or len(best) < len(known)):
                    self._yields[number] = best
                    changed = True

    def _shortest_paths(self, number: int, *, backwards: bool) -> dict[int, bytes]:
        """Return the shortest text from a rule's start to each state, or from each state to the rule's end."""
        dfa = self._automata.rules[number].dfa
        following: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
        for edge in self._edges[number]:
            text = self._text_of(edge)
            if text is not None and backwards:
                following[edge.target].append((edge.source, text))
            elif text is not None:
                following[edge.source].append((edge.target, text))
        starts = [state.id for state in dfa.states if state.accepting] if backwards else [dfa.start or 0]
        paths: dict[int, bytes] = {}
        frontier = [(0, state, b"") for state in starts]
        heapq.heapify(frontier)
        while frontier:
            length, state, text = heapq.heappop(frontier)
            if state in paths:
                continue
            paths[state] = text
            for target, label in following[state]:
                if target not in paths:
                    heapq.heappush(frontier, (length + len(label), target, label + text if backwards else text + label))
        return paths

    def _find_surroundings(self) -> list[tuple[bytes, bytes] | None]:
        """Return what comes before and after each rule in the shortest text that calls it."""
        found: list[tuple[bytes, bytes] | None] = [None] * len(self._automata.rules)
        frontier = [(0, 0, b"", b"")] if found else []
        while frontier:
            length, rule, before, behind = heapq.heappop(frontier)
            if found[rule] is not None:
                continue
            found[rule] = before, behind
            for edge in self._edges[rule]:
                if edge.called is None or found[edge.called] is not None:
                    continue
                head, tail = self._heads[rule].get(edge.source), self._tails[rule].get(edge.target)
                if head is not None and tail is not None:
                    more = length + len(head) + len(tail)
                    heapq.heappush(frontier, (more, edge.called, before + head, tail + behind))
        return found


def _legible(ranges: ByteRanges) -> bytes:
    """Return the most readable byte of some ranges."""
    for wanted in ((0x61, 0x7A), (0x30, 0x39), (0x41, 0x5A), (0x21, 0x7E), (0x20, 0x20)):
        for first, last in ranges:
            low, high = max(first, wanted[0]), min(last, wanted[1])
            if low <= high:
                return bytes((low,))
    return bytes((ranges[0][0],))
