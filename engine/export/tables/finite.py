"""The byte automaton of a grammar that needs no stack, including a JSON Schema that does not nest.

A schema always runs as a product over one JSON parse. Written as rules it shows whether they nest: if not, they are one
automaton.
"""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

from engine.automata.dfa.dfa import ByteDfa
from engine.automata.dfa.materialise import minimal_dfa
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.program import Program, assemble
from engine.automata.nfa.recursion import nests_without_bound
from engine.compile import CompiledGrammar
from engine.export.schema.settings import NumberSpelling
from engine.export.tables.named_limit import named_limit
from engine.export.tables.token_element_index import whole_token_index
from engine.export.tables.token_index import RowSize, TokenIndex, forecast_of, index_of
from engine.export.target import NO_VOCABULARY, ExportJob, ExportOptions, NotExportableError
from engine.export.text.conversion import CLOSE_OBJECTS, needs_closing, recurses
from engine.export.text.plain_grammar import converted, schema_refusal
from engine.grammar.simplify import simplify_grammar
from engine.source import CancelToken, GrammarError, LimitExceededError
from engine.vocabulary import Vocabulary

NESTS: Final = "its rules nest, so there is no finite table of tokens"
SCHEMA_NESTS: Final = f"{NESTS}: an object or array in it may hold any value, or one of its own kind"

_Known = dict[NumberSpelling, tuple[Program | None, bool]]
_PROGRAMS: Final[WeakKeyDictionary[CompiledGrammar, _Known]] = WeakKeyDictionary()
"""A schema's rules as instructions, and whether they nest: shared by three targets of a list and the export itself."""


def index_refusal(compiled: CompiledGrammar, vocabulary: Vocabulary | None, options: ExportOptions) -> str:
    """Return why a grammar has no token index; empty if it has one.

    An index that is too large is found only by `make`.

    For a JSON Schema this writes its rules, once for all targets of a list.

    Args:
        compiled: the grammar.
        vocabulary: the vocabulary, if given.
        options: the export options.
    """
    if compiled.notation == "json_schema":
        try:
            if not compiled.is_empty and recurses(compiled, options.spelling):
                return _why_nested(compiled)
        except GrammarError as error:
            return error.diagnostics[0].message
        except LimitExceededError as error:
            return str(error)
        if refusal := schema_refusal(compiled, options):
            return refusal
        try:
            if _program(compiled, options.spelling, CancelToken())[1]:
                return _why_nested(compiled)
        except LimitExceededError as error:
            return str(error)
    elif not compiled.is_regular:
        return NESTS
    return "" if vocabulary is not None else NO_VOCABULARY


def _why_nested(compiled: CompiledGrammar, cancel: CancelToken | None = None) -> str:
    """Return why a schema has no finite automaton, and what to do if known."""
    return CLOSE_OBJECTS if needs_closing(compiled, cancel) else SCHEMA_NESTS


def _program(compiled: CompiledGrammar, spelling: NumberSpelling, cancel: CancelToken) -> tuple[Program | None, bool]:
    known = _PROGRAMS.setdefault(compiled, {})
    if spelling not in known:
        grammar = simplify_grammar(converted(compiled, spelling, cancel).grammar)
        program = assemble(grammar, compiled.options.limits)
        known[spelling] = program, program is not None and nests_without_bound(program)
    return known[spelling]


def token_index(job: ExportJob, row_size: RowSize) -> tuple[TokenIndex, tuple[str, ...]]:
    """Return the token index of a job, and which texts of a schema it lacks.

    Args:
        job: the export job; it receives a forecast of the size before the index is made.
        row_size: returns the bytes that the target needs for a row.

    Raises:
        NotExportableError: the grammar needs a stack, or a token that the vocabulary lacks.
        GrammarError: it is a schema that rules cannot express.
        LimitExceededError: it is too large.
        CancelledError: the job was cancelled.
    """
    vocabulary, limits = job.need_vocabulary(), job.compiled.options.limits
    most_states, most_transitions = limits.table_states, limits.table_transitions
    if job.compiled.is_regular and job.compiled.automaton.token_elements:
        with named_limit("table_states", most_states):
            index = whole_token_index(
                job.compiled, vocabulary, most_states, most_transitions=most_transitions, cancel=job.cancel
            )
        return index, ()
    with named_limit("table_states", most_states):
        dfa, notes = finite_automaton(job, most_states)
    if job.on_forecast is not None:
        job.on_forecast(forecast_of(dfa, vocabulary, most_transitions, row_size))
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
    if compiled.notation != "json_schema":
        if not compiled.is_regular:
            raise NotExportableError(NESTS)
        return compiled.materialise(most_states, cancel=job.cancel), ()
    if recurses(compiled, job.options.spelling, job.cancel):
        raise NotExportableError(_why_nested(compiled, job.cancel))
    notes = converted(compiled, job.options.spelling, job.cancel).notes
    program, nests = _program(compiled, job.options.spelling, job.cancel)
    if nests:
        raise NotExportableError(_why_nested(compiled, job.cancel))
    automaton = LazyAutomaton(program, compiled.options.limits, job.cancel)
    return minimal_dfa(automaton, most_states, job.cancel), notes
