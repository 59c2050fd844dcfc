"""Suggested test strings for a grammar: the shortest, random ones, one for each rule and edge, and near misses.

Each one is checked against the grammar before it is offered, whatever produced it: a suggestion states what the grammar
does.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from engine.automata.byte_automaton import DEAD
from engine.automata.rtn.rule_automata import RuleAutomata
from engine.compile import CompiledGrammar
from engine.diagnosis.test_strings.coverage import uses_of
from engine.diagnosis.test_strings.values import EdgeKey, EdgeRow, RuleRow, Suggestion, SuggestionKind
from engine.diagnosis.test_strings.witnesses import ShortestWitnesses
from engine.source import CancelToken, LimitExceededError
from engine.vocabulary.visible import visible

MOST_NEAR_MISSES = 8
MOST_BY_RULE = 60
_RANDOM_LENGTH = 24
_EFFORT = 2_000
_TRIES = 40


def shortest(grammar: CompiledGrammar, cancel: CancelToken | None = None) -> tuple[Suggestion, ...]:
    """Return the shortest text that matches; none if it is not found."""
    found = grammar.automaton.shortest_completion(grammar.automaton.start, _EFFORT, cancel)
    return _kept(grammar, SuggestionKind.SHORTEST, [(found.text, "the shortest text")], accepts=True)


def at_random(
    grammar: CompiledGrammar, count: int, seed: int, cancel: CancelToken | None = None
) -> tuple[Suggestion, ...]:
    """Return matching texts, drawn byte by byte; the same seed draws the same texts.

    Args:
        grammar: the grammar.
        count: the number of texts.
        seed: the seed of the draws.
        cancel: cancels the search.
    """
    found: dict[str, Suggestion] = {}
    for index in range(_TRIES):
        if len(found) == count or grammar.is_empty:
            break
        draw = random.Random(f"{seed}:{index}")
        text = _random_text(grammar, draw, cancel)
        for made in _kept(grammar, SuggestionKind.RANDOM, [(text, "drawn at random")], accepts=True):
            found.setdefault(made.text, made)
    return tuple(found.values())


def by_rule(
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


def near_misses(grammar: CompiledGrammar, texts: Iterable[str]) -> tuple[Suggestion, ...]:
    """Return texts that nearly match: matching texts with one change."""
    found: dict[str, Suggestion] = {}
    kinds: dict[str, int] = {}
    for text in texts:
        for changed, why in _changes(text):
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


def _random_text(grammar: CompiledGrammar, draw: random.Random, cancel: CancelToken | None) -> bytes | None:
    automaton, text = grammar.automaton, bytearray()
    at = automaton.start
    length = draw.randint(2, _RANDOM_LENGTH)
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
