"""One byte automaton for a grammar that needs no stack, a JSON Schema that does not nest included.

A schema runs as a product over one JSON parse, whatever it asks for. Written as
rules it shows whether they nest: where they do not, they are one automaton.
"""

from __future__ import annotations

from engine.automata.dfa import ByteDfa
from engine.automata.lazy import LazyAutomaton
from engine.automata.materialise import minimal_dfa
from engine.automata.program import assemble
from engine.automata.recursion import nests_without_bound
from engine.compile import CompiledGrammar
from engine.export.tables.token_index import TokenIndex, index_of
from engine.export.tables.whole_tokens import whole_token_index
from engine.export.target import NO_VOCABULARY, ExportJob, NotExportableError
from engine.export.text.conversion import to_gbnf
from engine.grammar.simplify import simplify_grammar
from engine.vocabulary import Vocabulary

NESTS = "its rules nest, so there is no finite table of tokens"


def index_refusal(compiled: CompiledGrammar, vocabulary: Vocabulary | None) -> str:
    """Why a grammar has no token index; empty where it has one, or where only writing its rules can tell."""
    if compiled.notation != "json_schema" and not compiled.is_regular:
        return NESTS
    return "" if vocabulary is not None else NO_VOCABULARY


def token_index(job: ExportJob, most_states: int) -> tuple[TokenIndex, tuple[str, ...]]:
    """The token index of a job, and which texts of a schema it does not hold.

    Raises:
        NotExportableError: the grammar needs a stack, or a token that the vocabulary lacks.
        GrammarError: it is a schema that rules cannot say.
        LimitExceededError: it is too large.
        CancelledError: the job was cancelled.
    """
    vocabulary = job.need_vocabulary()
    if job.compiled.is_regular and job.compiled.automaton.token_elements:
        return whole_token_index(job.compiled, vocabulary, most_states, cancel=job.cancel), ()
    dfa, notes = finite_automaton(job, most_states)
    return index_of(dfa, vocabulary, cancel=job.cancel), notes


def finite_automaton(job: ExportJob, most_states: int) -> tuple[ByteDfa, tuple[str, ...]]:
    """The minimal automaton, and which texts of a schema it does not hold.

    Raises:
        NotExportableError: the grammar needs a stack.
        GrammarError: it is a schema that rules cannot say.
        LimitExceededError: more than `most_states` configurations can be reached.
        CancelledError: the job was cancelled.
    """
    compiled = job.compiled
    if compiled.notation != "json_schema":
        if not compiled.is_regular:
            raise NotExportableError(NESTS)
        return compiled.materialise(most_states, cancel=job.cancel), ()
    conversion = to_gbnf(compiled, job.options.spelling, cancel=job.cancel)
    limits = compiled.options.limits
    program = assemble(simplify_grammar(conversion.grammar), limits)
    if program is not None and nests_without_bound(program):
        raise NotExportableError(f"{NESTS}: an object or array in it may hold any value, or one of its own kind")
    automaton = LazyAutomaton(program, limits, job.cancel)
    return minimal_dfa(automaton, most_states, job.cancel), conversion.notes
