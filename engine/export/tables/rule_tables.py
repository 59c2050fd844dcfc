"""The tables of a grammar's byte automata, one for each rule, which the guide runs.

Every notation is supported: GBNF has rules, a regex is one rule, and a JSON Schema is written as rules in every
spelling, which have exactly its texts. The file, version 2:

    format, version   "turnstile-rule-automata", 2
    generator, notation, source, options, vocabulary    the provenance
    notes             which of its texts the rules do not hold, a sentence each; of a JSON Schema only
    rules             the start rule first; none where no text matches; of each
        name          its name, by which others call it
        states        how many; they are numbered from 0, which is the start
        accepting     the states where the rule may be over, so where it returns to its caller
        edges         [{"source", "target", "bytes": [[first, last]]}]
        calls         [{"source", "target", "rule"}]: from one state to the other by whatever that rule matches
        tokens        [{"source", "target", "names", "ids", "negated"}]: by one token taken whole; with a vocabulary
                      also "listed": the ids that names and ids stand for; where negated, it is all others but the ends
    tokens            with a vocabulary: of each id its bytes, each as the character of its number; null for none

A text matches where a run through the first rule reads it to the end.

Rejected: the engine's own automaton for schemas in the file. It is a product of conditions with a memory, and could not
run without the engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from engine.automata.rtn.rule_automata import RuleAutomata, RuleAutomaton
from engine.compile import CompiledGrammar
from engine.export.provenance import provenance
from engine.export.schema.settings import NumberSpelling
from engine.export.tables.rule_automata import automata_of_rules, schema_automata
from engine.export.target import ExportJob, NotExportableError, named_limit
from engine.export.text.conversion import TOO_LARGE
from engine.grammar import TokenSet
from engine.masking.token_sets import TokenSets
from engine.source import CancelToken, GrammarError, Span
from engine.vocabulary import Vocabulary
from engine.vocabulary.errors import VocabularyError

FORMAT: Final = "turnstile-rule-automata"
VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class Tables:
    """A grammar as an automaton for each rule.

    Attributes:
        automata: the rules, the start first.
        notes: which texts of the grammar they lack, a sentence each; empty if none.
    """

    automata: RuleAutomata
    notes: tuple[str, ...] = ()


_exact: WeakKeyDictionary[CompiledGrammar, Tables] = WeakKeyDictionary()


def tables_of(
    compiled: CompiledGrammar, spelling: NumberSpelling | None = None, cancel: CancelToken | None = None
) -> Tables:
    """Return the automata of any grammar.

    Args:
        compiled: the grammar.
        spelling: for a JSON Schema; None for every spelling, or the plain one if that is too large.
        cancel: cancels the work.

    Raises:
        GrammarError: it is a schema that rules cannot express.
        LimitExceededError: the automata are too large.
        CancelledError: `cancel` was used.
    """
    if spelling is None and compiled in _exact:
        return _exact[compiled]
    with named_limit("table_states", compiled.options.limits.table_states):
        found = _tables(compiled, spelling, cancel)
    if spelling is None:
        _exact[compiled] = found
    return found


def _tables(compiled: CompiledGrammar, spelling: NumberSpelling | None, cancel: CancelToken | None) -> Tables:
    if compiled.describes_json:
        return _of_schema(compiled, spelling, cancel)
    if compiled.has_named_rules:
        return _of_gbnf(compiled, cancel)
    dfa = compiled.materialise(compiled.options.limits.table_states, cancel=cancel)
    whole = RuleAutomaton("root", Span(0, 0), compiled.fullmatch(b""), dfa)
    return Tables(RuleAutomata(() if dfa.start is None else (whole,)))


def _of_schema(compiled: CompiledGrammar, spelling: NumberSpelling | None, cancel: CancelToken | None) -> Tables:
    most_states, is_named = compiled.options.limits.table_states, spelling is not None
    try:
        found = schema_automata(compiled, most_states, spelling or NumberSpelling.ANY, is_named=is_named, cancel=cancel)
    except GrammarError as error:
        if spelling is not None or error.diagnostics[0].code != TOO_LARGE:
            raise
        found = schema_automata(compiled, most_states, NumberSpelling.PLAIN, is_named=is_named, cancel=cancel)
    return Tables(found.automata, found.notes)


def _of_gbnf(compiled: CompiledGrammar, cancel: CancelToken | None) -> Tables:
    assert compiled.grammar is not None
    if compiled.is_empty:
        return Tables(RuleAutomata(()))
    return Tables(
        automata_of_rules(compiled.grammar, compiled.options.limits.table_states, compiled.options.limits, cancel)
    )


def tables_document(job: ExportJob, tables: Tables, *options: str) -> dict[str, Any]:
    """Return the file as data.

    Args:
        job: the export job, with or without a vocabulary.
        tables: the automata.
        options: the names of the export options that were used.

    Raises:
        NotExportableError: the vocabulary lacks a token that the grammar names.
    """
    sets = None
    if job.vocabulary is not None:
        sets = _Listed(job.vocabulary, (edge.tokens for rule in tables.automata.rules for edge in rule.tokens))
    document = {
        "format": FORMAT,
        "version": VERSION,
        **provenance(job, *options),
        "notes": list(tables.notes),
        "rules": [_rule(rule, sets) for rule in tables.automata.rules],
    }
    if job.vocabulary is not None:
        document["tokens"] = [None if token is None else token.decode("latin-1") for token in job.vocabulary.tokens]
    return document


def as_text(document: object) -> bytes:
    """Return data as JSON on one line, the same for the same data."""
    return (json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


class _Listed:
    """The ids of token elements."""

    def __init__(self, vocabulary: Vocabulary, elements: Iterable[TokenSet]) -> None:
        sets = {TokenSet(one.names, one.ids, negated=False) for one in elements}
        try:
            self._sets = TokenSets(vocabulary, sets)
        except VocabularyError as error:
            raise NotExportableError.of(error) from error

    def ids(self, tokens: TokenSet) -> list[int]:
        """Return the ids of an element, sorted."""
        return sorted(self._sets.ids((TokenSet(tokens.names, tokens.ids, negated=False),)))


def _rule(rule: RuleAutomaton, sets: _Listed | None) -> dict[str, object]:
    return {
        "name": rule.name,
        "states": len(rule.dfa.states),
        "accepting": [state.id for state in rule.dfa.states if state.accepting],
        "edges": [
            {"source": edge.source, "target": edge.target, "bytes": [list(pair) for pair in edge.ranges]}
            for edge in rule.dfa.edges
        ],
        "calls": [{"source": call.source, "target": call.target, "rule": call.rule} for call in rule.calls],
        "tokens": [
            {
                "source": edge.source,
                "target": edge.target,
                "names": list(edge.tokens.names),
                "ids": list(edge.tokens.ids),
                "negated": edge.tokens.negated,
                **({"listed": sets.ids(edge.tokens)} if sets else {}),
            }
            for edge in rule.tokens
        ],
    }
