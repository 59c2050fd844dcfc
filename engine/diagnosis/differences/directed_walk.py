"""The texts along which two engines are compared: a directed walk over everything that our automaton distinguishes.

A difference is visible at a prefix that both engines accept, so the walk must reach the prefixes where something can
differ. Four generators alternate: shortest texts to every configuration of the automaton, those that read a new part of
the grammar first; texts that a single keyword forbids, which are legal without it; mutants and near misses of legal
texts; random texts. Equal seeds generate equal texts.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Final

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar, compile_grammar
from engine.diagnosis.differences.reference import Reference, allows
from engine.diagnosis.failures.counterfactual import is_keyword, without_keywords
from engine.diagnosis.failures.schema_check import parts_of
from engine.diagnosis.test_strings.json_mutants import JsonMutator
from engine.diagnosis.test_strings.suggestions import near_misses, random_texts
from engine.source import CancelToken, GrammarError, LimitExceededError

LONGEST: Final = 4_000
"""Bytes of a text that is followed."""
_MOST_KEYWORDS: Final = 200
_TEXTS_OF_KEYWORD: Final = 24
_LONGEST_RANDOM: Final = 80
_ROUND: Final = 8  # random texts, and their mutants, at a time
_MUTANTS: Final = 12
_ROUNDS: Final = 400
_EFFORT: Final = 2_000
_LEGIBLE: Final = b"a0bc1d2efghijklmnopqrstuvwxyz3456789ABCDEFGHIJKLMNOPQRSTUVWXYZ _-" + bytes(range(0x21, 0x7F))


def directed_texts(
    reference: Reference, given: Iterable[bytes], seed: int, refused: Collection[bytes] = ()
) -> Iterator[bytes]:
    """Yield distinct texts, those that are given first; the last generators end after very many.

    Args:
        reference: the grammar.
        given: texts to begin with.
        seed: the seed.
        refused: prefixes that an engine refuses, which may grow: nothing behind them can be compared.
    """
    seen = set[bytes]()
    legal: list[bytes] = []
    generators = [
        _remembered(texts_to_configurations(reference.plain, reference.cancel, refused), legal),
        _texts_of_keywords(reference, seed),
        _variants(reference, legal, seed),
        _drawn(reference, seed),
    ]
    for text in (*given, *islice(generators[0], 1)):
        if text not in seen:
            seen.add(text)
            yield text
    while generators:
        for generator in list(generators):
            made = next(generator, None)
            if made is None:
                generators.remove(generator)
            elif made not in seen and len(made) <= LONGEST:
                seen.add(made)
                yield made


def texts_to_configurations(
    grammar: CompiledGrammar, cancel: CancelToken, refused: Collection[bytes] = ()
) -> Iterator[bytes]:
    """Yield legal texts that reach every configuration; parts of the grammar alternate, and shorter texts come first.

    Args:
        grammar: the grammar.
        cancel: cancels the search for a completion.
        refused: prefixes behind which nothing is searched, which may grow.
    """
    automaton = grammar.automaton
    letters = _letters(grammar)
    visits: dict[tuple[object, ...], int] = {}
    seen, expanded = {DEAD, automaton.start}, set[int]()
    pending: list[tuple[int, int, bytes, int]] = [(0, 0, b"", automaton.start)]
    while pending and automaton.start != DEAD:
        _, _, prefix, at = heapq.heappop(pending)
        if any(prefix[:length] in refused for length in range(1, len(prefix) + 1)):
            continue
        try:
            ending = automaton.shortest_completion(at, _EFFORT, cancel).text
            if ending is None:
                continue
            yield prefix + ending
            text = prefix + ending
            for index in range(len(prefix), len(text) + 1):
                row = automaton.row(at) if at not in expanded else ()
                expanded.add(at)
                for byte_class, target in enumerate(row):
                    if target in seen:
                        continue
                    seen.add(target)
                    parts = tuple(automaton.spans(target))
                    visit = visits[parts] = visits.get(parts, -1) + 1
                    reached = text[:index] + letters[byte_class]
                    heapq.heappush(pending, (visit, len(reached), reached, target))
                if index < len(text):
                    at = automaton.run(at, text[index : index + 1])
        except LimitExceededError:
            continue


def _letters(grammar: CompiledGrammar) -> list[bytes]:
    """Return the most readable byte of each class."""
    automaton = grammar.automaton
    found: list[bytes] = [b""] * automaton.n_classes
    for byte in (*_LEGIBLE, *range(256)):
        byte_class = int(automaton.class_of_byte[byte])
        found[byte_class] = found[byte_class] or bytes((byte,))
    return found


def _remembered(texts: Iterable[bytes], legal: list[bytes]) -> Iterator[bytes]:
    for text in texts:
        legal.append(text)
        yield text


def keywords_of(reference: Reference) -> list[str]:
    """Return the JSON Pointers of the keywords of a schema; none in another notation."""
    if not reference.plain.describes_json:
        return []
    schema = json.loads(reference.source)
    found = (pointer for pointer, _ in parts_of(schema) if is_keyword(schema, pointer))
    return list(islice(found, _MOST_KEYWORDS))


def _texts_of_keywords(reference: Reference, seed: int) -> Iterator[bytes]:
    """Yield texts that one keyword forbids, alternating between the keywords."""
    generators = [texts_without(reference, pointer, seed) for pointer in keywords_of(reference)]
    while generators:
        for generator in list(generators):
            text = next(generator, None)
            if text is None:
                generators.remove(generator)
            else:
                yield text


def texts_without(reference: Reference, pointer: str, seed: int) -> Iterator[bytes]:
    """Yield texts that are legal without a keyword, and not with it.

    Args:
        reference: the grammar.
        pointer: the JSON Pointer of the keyword.
        seed: the seed of mutants.
    """
    schema = json.loads(reference.source)
    changed = json.dumps(without_keywords(schema, (pointer,)), ensure_ascii=False)
    try:
        looser = compile_grammar(reference.notation, changed, reference.options(frozenset()), cancel=reference.cancel)
    except GrammarError:
        return
    mutator = JsonMutator(schema, seed)
    found = 0
    for tried, text in enumerate(texts_to_configurations(looser, reference.cancel), 1):
        for one in (text, *(mutant.encode("utf-8", "replace") for mutant in mutator.mutants(text.decode(), 2))):
            if _is_between(reference, looser, one):
                found += 1
                yield one
        if found >= _TEXTS_OF_KEYWORD or tried >= 10 * _TEXTS_OF_KEYWORD:
            return


def _is_between(reference: Reference, looser: CompiledGrammar, text: bytes) -> bool:
    """Return whether a text is legal by a looser grammar only."""
    try:
        return looser.fullmatch(text) and not allows(reference.lenient, text, is_whole=True)
    except LimitExceededError:
        return False


def _variants(reference: Reference, legal: list[bytes], seed: int) -> Iterator[bytes]:
    """Yield mutants of the legal texts that were found so far."""
    grammar = reference.plain
    schema = json.loads(reference.source) if grammar.describes_json else None
    mutator = JsonMutator(schema, seed)
    done = 0
    while done < len(legal):
        text = legal[done].decode("utf-8", "replace")
        done += 1
        if grammar.describes_json:
            yield from (one.encode("utf-8", "replace") for one in mutator.mutants(text, _MUTANTS))
        yield from (one.text.encode() for one in near_misses(reference.lenient, [text]))


def _drawn(reference: Reference, seed: int) -> Iterator[bytes]:
    """Yield random texts, and mutants of them."""
    grammar = reference.plain
    mutator = JsonMutator(json.loads(reference.source) if grammar.describes_json else None, seed + 1)
    for number in range(_ROUNDS):
        drawn = random_texts(grammar, _ROUND, seed * _ROUNDS + number, reference.cancel, longest=_LONGEST_RANDOM)
        for one in drawn:
            yield one.text.encode()
            if grammar.describes_json:
                yield from (mutant.encode("utf-8", "replace") for mutant in mutator.mutants(one.text, 2))
        if not drawn:
            return
