"""The smallest set of keywords, rules or options whose removal makes an output legal.

An engine that enforces a grammar cannot write an illegal text. So if an output becomes legal once some keywords are
removed from its schema, these are the ones that the engine did not enforce. Candidates come from the violations of the
output and from the automaton, which names the keywords that forbid the first illegal byte. All are removed, and then
put back one after another as long as the output stays legal. What remains is minimal; for small sets, all subsets are
tried, so that it is a smallest one.

Rejected: trust in the violations alone. A schema may forbid what none of its keywords forbids by itself.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.diagnosis.failures.schema_check import COMPOSITE, KeywordViolation, Schema, parts_of
from engine.diagnosis.verdicts.replay_walk import reach
from engine.notations.json_schema.json_tree import pointers
from engine.source import CancelToken, GrammarError, LimitExceededError
from engine.source.json_pointer import resolve_pointer, unescape_step

MOST_CANDIDATES: Final = 24
MOST_ROUNDS: Final = 8
MOST_CHECKS: Final = 160
MOST_EFFORT: Final = 800_000
"""The effort of a search, in estimated microseconds: the result depends on the input, and not on the machine."""
_COMPILE: Final = 1_000  # the estimate of a compile without its text
_NEW_STATES: Final = 4_000  # bytes in which the automaton makes its states, which takes ten times as long
LARGEST_PROVED: Final = 3
ORDER: Final = "property-order"
"""The candidate for the order of properties, which has no JSON Pointer."""
_NO_KEYWORDS: Final = frozenset(("properties", "patternProperties", "$defs", "definitions", "$ref", "then", "else"))


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A set of parts of a grammar whose removal makes an output legal.

    Attributes:
        removed: JSON Pointers of keywords, names of rules, or names of options, in the order of the grammar.
        is_complete: whether the output is then complete; otherwise it is a legal prefix.
        is_smallest: whether no smaller set of the candidates makes it legal.
        checks: the number of grammars that were compiled.
    """

    removed: tuple[str, ...]
    is_complete: bool
    is_smallest: bool
    checks: int


class _EffortError(Exception):
    """The search took too long."""


class KeywordSearch:
    """A search among candidates for a smallest set that makes an output legal."""

    def __init__(
        self,
        judge: Callable[[frozenset[str]], CompiledGrammar | None],
        data: bytes,
        *,
        is_whole: bool = False,
        most_effort: int = MOST_EFFORT,
    ) -> None:
        self._judge, self._data, self._is_whole = judge, data, is_whole
        self._most_effort = most_effort
        self._known: dict[frozenset[str], bool] = {}
        self._effort = 0
        self.checks = 0

    @property
    def may_check(self) -> bool:
        """Return whether there is effort left for another check."""
        return self.checks < MOST_CHECKS and self._effort <= self._most_effort

    def grammar(self, removed: frozenset[str]) -> CompiledGrammar | None:
        """Compile the grammar without some parts; return None if that is not possible."""
        if not self.may_check:
            raise _EffortError
        self.checks += 1
        self._effort += _COMPILE
        try:
            grammar = self._judge(removed)
        except (GrammarError, LimitExceededError, RecursionError):
            return None
        self._effort += 0 if grammar is None else len(grammar.source.text)
        return grammar

    def is_legal(self, removed: frozenset[str]) -> bool:
        """Return whether the output is legal without some parts of the grammar."""
        if removed not in self._known:
            grammar = self.grammar(removed)
            self._known[removed] = grammar is not None and self.reaches_end(grammar)
        return self._known[removed]

    def reaches_end(self, grammar: CompiledGrammar) -> bool:
        """Return whether a grammar allows the output, and as a complete text where that is required."""
        if grammar.is_empty:
            return False
        legal = reach(grammar.automaton, self._data)
        self._effort += 20 * min(legal, _NEW_STATES) + 2 * legal
        return legal == len(self._data) and (not self._is_whole or grammar.fullmatch(self._data))

    def smallest(self, candidates: Sequence[str]) -> Counterfactual | None:
        """Return the smallest set that was found; None if not even all candidates suffice.

        Args:
            candidates: the candidates; those that are put back first come first.
        """
        try:
            removed = frozenset(candidates)
            if not self.is_legal(removed):
                return None
        except _EffortError:
            return None
        is_smallest = False
        try:
            for one in candidates:
                if self.is_legal(removed - {one}):
                    removed -= {one}
            smaller = self._smaller(candidates, len(removed)) if len(removed) <= LARGEST_PROVED else None
            removed = smaller or removed
            is_smallest = len(removed) <= LARGEST_PROVED
        except _EffortError:
            if ORDER in removed:  # the first that is put back, so nothing is known of the others
                return None
        ordered = tuple(one for one in reversed(candidates) if one in removed)
        return Counterfactual(ordered, False, is_smallest, self.checks)

    def _smaller(self, candidates: Sequence[str], size: int) -> frozenset[str] | None:
        for count in range(1, size):
            for chosen in combinations(reversed(candidates), count):
                if self.is_legal(frozenset(chosen)):
                    return frozenset(chosen)
        return None


def schema_counterfactual(
    schema: Schema,
    data: bytes,
    options: CompileOptions,
    violations: Sequence[KeywordViolation],
    cancel: CancelToken | None = None,
    *,
    is_whole: bool = False,
) -> Counterfactual | None:
    """Return the smallest set of keywords of a schema without which an output is legal.

    Args:
        schema: the schema, as JSON data.
        data: the output.
        options: the options of the compile.
        violations: the keywords that the output violates, as far as they are known.
        cancel: cancels the search.
        is_whole: whether the output must be complete; otherwise the beginning of a legal text is legal.
    """

    def without(removed: frozenset[str]) -> CompiledGrammar:
        changed = without_keywords(schema, removed - {ORDER})
        used = replace(options, property_order="any") if ORDER in removed else options
        return compile_grammar("json_schema", json.dumps(changed, ensure_ascii=False), used, cancel=cancel)

    search = KeywordSearch(without, data, is_whole=is_whole)
    found = list(dict.fromkeys(one.pointer for one in violations))[:MOST_CANDIDATES]
    try:
        for _ in range(MOST_ROUNDS):
            grammar = search.grammar(frozenset((*found, ORDER)))
            if grammar is None or search.reaches_end(grammar):
                break
            more = [one for one in _forbidding(grammar, data) if one not in found and is_keyword(schema, one)]
            if not more:
                break
            found += more
    except _EffortError:
        return None
    ordered = sorted(found, key=lambda one: (not _is_composite(one), -one.count("/")))
    smallest = search.smallest((ORDER, *ordered))
    if smallest is None:
        return None
    removed = tuple(one for one in smallest.removed if one != ORDER)
    if not removed:
        return replace(smallest, is_complete=without(frozenset(smallest.removed)).fullmatch(data))
    places = {pointer: index for index, (pointer, _) in enumerate(parts_of(schema))}
    removed = tuple(sorted(removed, key=lambda one: places.get(one, 0)))
    last = without(frozenset(smallest.removed))
    return replace(smallest, removed=removed, is_complete=last.fullmatch(data))


def option_counterfactual(
    grammar: CompiledGrammar, data: bytes, changes: Iterable[tuple[str, str, CompileOptions]]
) -> Counterfactual | None:
    """Return the option of a grammar without which an output is legal.

    Args:
        grammar: the grammar.
        data: the output.
        changes: the name of each option, with the grammar's text and the options without it.
    """
    for checks, (name, text, options) in enumerate(changes, 1):
        try:
            changed = compile_grammar(grammar.notation, text, options)
            if _reaches_end(changed, data):
                return Counterfactual((name,), changed.fullmatch(data), is_smallest=True, checks=checks)
        except (GrammarError, LimitExceededError):
            continue
    return None


def rule_counterfactual(
    grammar: CompiledGrammar, data: bytes, without: Callable[[frozenset[str]], str], names: Sequence[str]
) -> Counterfactual | None:
    """Return the smallest set of rules of a grammar without which an output is legal.

    Args:
        grammar: the grammar.
        data: the output.
        without: returns the grammar's text in which some rules match any text.
        names: the names of the rules that may be removed.
    """
    search = KeywordSearch(lambda removed: compile_grammar(grammar.notation, without(removed), grammar.options), data)
    smallest = search.smallest(tuple(names[:MOST_CANDIDATES]))
    if smallest is None or not smallest.removed:
        return None
    last = compile_grammar(grammar.notation, without(frozenset(smallest.removed)), grammar.options)
    return replace(smallest, is_complete=last.fullmatch(data))


def _reaches_end(grammar: CompiledGrammar, data: bytes) -> bool:
    return not grammar.is_empty and reach(grammar.automaton, data) == len(data)


def _forbidding(grammar: CompiledGrammar, data: bytes) -> tuple[str, ...]:
    """Return the pointers of the keywords that are open where an output becomes illegal."""
    automaton = grammar.automaton
    at = automaton.run(automaton.start, data[: reach(automaton, data)])
    return pointers(grammar.source, automaton.spans(at))


def is_keyword(schema: Schema, pointer: str) -> bool:
    """Return whether a pointer names a keyword with an effect, and not a subschema or a map of them."""
    above, _, step = pointer.rpartition("/")
    if not pointer or unescape_step(step) in _NO_KEYWORDS:
        return False
    holder = resolve_pointer(schema, above)
    kind = unescape_step(above.rpartition("/")[2])
    return isinstance(holder, dict) and kind not in _NO_KEYWORDS


def _is_composite(pointer: str) -> bool:
    return pointer.rpartition("/")[2] in COMPOSITE


def without_keywords(schema: Schema, removed: Iterable[str]) -> Schema:
    """Return a copy of a schema without some keywords, which JSON Pointers name."""
    changed = copy.deepcopy(schema)
    for pointer in removed:
        changed = _remove(changed, pointer)
    return changed


def _remove(schema: Any, pointer: str) -> Any:
    """Remove a keyword; a false subschema in a map or a list becomes true."""
    above, _, step = pointer.rpartition("/")
    if not pointer:
        return True
    holder, name = resolve_pointer(schema, above), unescape_step(step)
    if isinstance(holder, dict):
        if holder.get(name) is False and above.rpartition("/")[2] in _NO_KEYWORDS:
            holder[name] = True
        else:
            holder.pop(name, None)
            for other in {"if": ("then", "else"), "contains": ("minContains", "maxContains")}.get(name, ()):
                holder.pop(other, None)
    elif isinstance(holder, list) and name.isdigit() and int(name) < len(holder):
        holder[int(name)] = True
    return schema
