"""The byte automaton and the token index of a grammar that needs no stack, including a JSON Schema that does not nest.

A schema always runs as a product over one JSON parse. Written as rules it shows whether they nest: if not, they are one
automaton.

A token matched by id, such as `<think>`, is no string of bytes, so a byte automaton has no edge for it. But the
configurations are finite: they are what bytes and tokens reach, and a token leads where its bytes do, where its element
does, or to both at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from engine.automata.byte_automaton import DEAD
from engine.automata.byte_classes import join_ranges
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.automata.dfa.materialise import minimal_dfa
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.program import Program, assemble
from engine.automata.nfa.recursion import nests_without_bound
from engine.compile import CompiledGrammar
from engine.export.schema.settings import NumberSpelling
from engine.export.tables.token_index import (
    MOST_TRANSITIONS,
    RowOf,
    RowSize,
    SpelledTokens,
    TokenIndex,
    forecast_of,
    forecast_of_rows,
    heaviest_first,
    index_of,
    too_many,
)
from engine.export.target import ExportJob, ExportOptions, Forecast, NotExportableError, named_limit, no_vocabulary
from engine.export.text.conversion import needs_closing, recurses
from engine.export.text.plain_grammar import converted, schema_refusal
from engine.grammar.simplify import simplify_grammar
from engine.masking.token_sets import TokenSets
from engine.source import CancelToken, GrammarError, LimitExceededError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary
from engine.vocabulary.errors import VocabularyError

_Known = dict[NumberSpelling, tuple[Program | None, bool]]
_PROGRAMS: Final[WeakKeyDictionary[CompiledGrammar, _Known]] = WeakKeyDictionary()
"""A schema's rules as instructions, and whether they nest: shared by three targets of a list and the export itself."""


def rules_nest() -> str:
    """Return why rules that nest have no token index."""
    return catalogue_text("export.refusal.fragment.rules_nest")


def index_refusal(compiled: CompiledGrammar, vocabulary: Vocabulary | None, options: ExportOptions) -> str:
    """Return why a grammar has no token index; empty if it has one.

    An index that is too large is found only by `make`.

    For a JSON Schema this writes its rules, once for all targets of a list.

    Args:
        compiled: the grammar.
        vocabulary: the vocabulary, if given.
        options: the export options.
    """
    if compiled.describes_json:
        try:
            if not compiled.is_empty and recurses(compiled, options.spelling):
                return str(_nests(compiled))
        except GrammarError as error:
            return error.diagnostics[0].message
        except LimitExceededError as error:
            return str(error)
        if refusal := schema_refusal(compiled, options):
            return refusal
        try:
            if _program(compiled, options.spelling, CancelToken())[1]:
                return str(_nests(compiled))
        except LimitExceededError as error:
            return str(error)
    elif not compiled.is_regular:
        return rules_nest()
    return "" if vocabulary is not None else no_vocabulary()


def _nests(compiled: CompiledGrammar, cancel: CancelToken | None = None) -> NotExportableError:
    """Return the error of a schema without a finite automaton, which says what to do if that is known."""
    if needs_closing(compiled, cancel):
        return NotExportableError("export.refusal.fragment.close_objects")
    return NotExportableError("export.refusal.fragment.schema_nests")


def _program(compiled: CompiledGrammar, spelling: NumberSpelling, cancel: CancelToken) -> tuple[Program | None, bool]:
    known = _PROGRAMS.setdefault(compiled, {})
    if spelling not in known:
        grammar = simplify_grammar(converted(compiled, spelling, cancel).grammar)
        program = assemble(grammar, compiled.options.limits)
        known[spelling] = program, program is not None and nests_without_bound(program)
    return known[spelling]


def token_index(
    job: ExportJob, row_size: RowSize, content: Callable[[TokenIndex, tuple[str, ...]], bytes]
) -> tuple[TokenIndex, tuple[str, ...]]:
    """Return the token index of a job, and which texts of a schema it lacks.

    Args:
        job: the export job; it receives a forecast of the size before the index is made.
        row_size: returns the bytes that the target needs for a row.
        content: returns the target's file; for the forecast, that of an index without transitions.

    Raises:
        NotExportableError: the grammar needs a stack, or a token that the vocabulary lacks.
        GrammarError: it is a schema that rules cannot express.
        LimitExceededError: it is too large.
        CancelledError: the job was cancelled.
    """
    vocabulary, limits = job.need_vocabulary(), job.compiled.options.limits
    most_states, most_transitions = limits.table_states, limits.table_transitions

    def announce(dfa: ByteDfa, notes: tuple[str, ...], rows: Forecast) -> None:
        assert job.on_forecast is not None
        none = (np.zeros(0, np.int32),) * len(dfa.states)
        job.on_forecast(replace(rows, size=rows.size + len(content(TokenIndex(dfa, none, none), notes))))

    def announce_rows(dfa: ByteDfa, row: RowOf, order: NDArray[np.int64]) -> None:
        announce(dfa, (), forecast_of_rows(row, order, most_transitions, row_size))

    if job.compiled.is_regular and job.compiled.automaton.token_elements:
        with named_limit("table_states", most_states):
            index = whole_token_index(
                job.compiled,
                vocabulary,
                most_states,
                most_transitions=most_transitions,
                on_rows=announce_rows if job.on_forecast is not None else None,
                cancel=job.cancel,
            )
        return index, ()
    with named_limit("table_states", most_states):
        dfa, notes = finite_automaton(job, most_states)
    if job.on_forecast is not None:
        announce(dfa, notes, forecast_of(dfa, vocabulary, most_transitions, row_size))
    return index_of(dfa, vocabulary, most_transitions=most_transitions, cancel=job.cancel), notes


def finite_automaton(job: ExportJob, most_states: int) -> tuple[ByteDfa, tuple[str, ...]]:
    """Return the minimal automaton, and which texts of a schema it lacks.

    Raises:
        NotExportableError: the grammar needs a stack.
        GrammarError: it is a schema that rules cannot express.
        LimitExceededError: more than `most_states` configurations are reachable.
        CancelledError: the job was cancelled.
    """
    compiled = job.compiled
    if not compiled.describes_json:
        if not compiled.is_regular:
            raise NotExportableError("export.refusal.fragment.rules_nest")
        return compiled.materialise(most_states, cancel=job.cancel), ()
    if recurses(compiled, job.options.spelling, job.cancel):
        raise _nests(compiled, job.cancel)
    notes = converted(compiled, job.options.spelling, job.cancel).notes
    program, nests = _program(compiled, job.options.spelling, job.cancel)
    if nests:
        raise _nests(compiled, job.cancel)
    automaton = LazyAutomaton(program, compiled.options.limits, job.cancel)
    return minimal_dfa(automaton, most_states, job.cancel), notes


# ---------------------------------------------------------------------- tokens matched by id


def whole_token_index(
    grammar: CompiledGrammar,
    vocabulary: Vocabulary,
    most_states: int,
    *,
    most_transitions: int = MOST_TRANSITIONS,
    on_rows: Callable[[ByteDfa, RowOf, NDArray[np.int64]], None] | None = None,
    cancel: CancelToken,
) -> TokenIndex:
    """Build the index over the automaton's own configurations, which may be more than the minimum.

    Args:
        grammar: the grammar.
        vocabulary: the vocabulary.
        most_states: the largest number of configurations.
        most_transitions: the largest number of transitions.
        on_rows: called before the rows are made, with what makes one, and with all states, the heaviest first.
        cancel: cancels the work.

    Raises:
        NotExportableError: the vocabulary lacks a token that the grammar names.
        LimitExceededError: it has more than `most_states` configurations or `most_transitions` transitions.
        CancelledError: it was cancelled.
    """
    automaton = grammar.automaton
    assert isinstance(automaton, LazyAutomaton)
    try:
        sets = TokenSets(vocabulary, automaton.token_elements)
    except VocabularyError as error:
        raise NotExportableError.of(error) from error
    found = _Configurations(automaton, vocabulary, sets, most_states, cancel)
    table, spelled = found.table(), SpelledTokens(vocabulary)

    def row_of(state: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        row = np.full(vocabulary.size, -1, np.int32)
        ids, reached = spelled.run(table, state)
        row[ids] = reached
        row[list(found.taken[state])] = list(found.taken[state].values())
        allowed = np.flatnonzero(row >= 0).astype(np.int32)
        return allowed, row[allowed]

    dfa = found.dfa()
    if on_rows is not None:
        on_rows(dfa, row_of, heaviest_first(table, spelled))
    rows: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
    total = 0
    for state in range(len(found.taken)):
        cancel.report("progress.token_index", state, len(found.taken))
        rows.append(row_of(state))
        total += rows[-1][0].shape[0]
        if total > most_transitions:
            raise too_many(total, most_transitions)
    return TokenIndex(dfa, tuple(ids for ids, _ in rows), tuple(targets for _, targets in rows))


class _Configurations:
    """The configurations that bytes and tokens reach.

    Attributes:
        taken: for each, by its number, the targets of the tokens matched by id.
    """

    def __init__(
        self, automaton: LazyAutomaton, vocabulary: Vocabulary, sets: TokenSets, most: int, cancel: CancelToken
    ) -> None:
        self._automaton, self._tokens, self._sets = automaton, vocabulary.tokens, sets
        self._numbers: dict[int, int] = {}
        self._order: list[int] = []
        self._rows: list[list[int]] = []
        self.taken: list[dict[int, int]] = []
        if automaton.start != DEAD:
            self._number(automaton.start)
        for configuration in self._order:
            cancel.report("progress.configurations", len(self._rows), len(self._order))
            if len(self._order) > most:
                raise LimitExceededError("errors.limit.configurations", given=len(self._order), limit=most)
            following = [self._number(one) for one in automaton.row(configuration)]
            self._rows.append([following[byte_class] for byte_class in automaton.classes.of_byte])
            self.taken.append(self._taken(configuration))

    def _number(self, configuration: int) -> int:
        if configuration == DEAD:
            return -1
        if configuration not in self._numbers:
            self._numbers[configuration] = len(self._order)
            self._order.append(configuration)
        return self._numbers[configuration]

    def _taken(self, configuration: int) -> dict[int, int]:
        """Return the targets of tokens matched by id.

        Tokens in the same sets and with the same target by bytes are grouped.
        """
        elements = self._automaton.token_sets(configuration)
        known: dict[tuple[tuple[bool, ...], int], int] = {}
        found: dict[int, int] = {}
        for token_id in sorted(self._sets.ids(elements)):
            token, takes = self._tokens[token_id] or b"", self._sets.holding(token_id)
            spelled = self._automaton.run(configuration, token) if token else DEAD
            key = tuple(map(takes, elements)), spelled
            if key not in known:
                known[key] = self._number(self._automaton.take_token(configuration, token, takes))
            found[token_id] = known[key]
        return found

    def table(self) -> NDArray[np.int32]:
        """Return int32[states, 256], -1 where a byte is refused."""
        return np.array(self._rows, np.int32).reshape(-1, 256)

    def dfa(self) -> ByteDfa:
        """Return the part of it that reads bytes."""
        states = tuple(
            DfaState(number, self._automaton.accepts(configuration)) for number, configuration in enumerate(self._order)
        )
        edges: list[DfaEdge] = []
        for source, row in enumerate(self._rows):
            leading: dict[int, list[int]] = {}
            for byte, target in enumerate(row):
                if target >= 0:
                    leading.setdefault(target, []).append(byte)
            for target, read in sorted(leading.items()):
                edges.append(DfaEdge(source, target, join_ranges(((byte, byte),) for byte in read)))
        return ByteDfa(0 if states else None, states, tuple(edges))
