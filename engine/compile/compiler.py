"""`compile_grammar`: parse a text in any notation and build its automaton."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import NoneType
from typing import Final

from engine.automata.byte_automaton import DEAD
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.program import assemble
from engine.automata.nfa.recursion import nests_without_bound
from engine.compile.compiled import CompiledGrammar
from engine.grammar import Grammar, Rule
from engine.grammar.options import NOTATIONS, CompileOptions
from engine.grammar.simplify import simplify_grammar
from engine.notations import json_schema
from engine.notations.gbnf import parse as parse_gbnf
from engine.notations.json_schema.json_tree import pointer_to
from engine.notations.regex import parse as parse_regex
from engine.schema_automaton.formula.nodes import span_of_location
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.lexing.whitespace import Whitespace
from engine.schema_automaton.pushdown.automaton import DEEPEST, JsonAutomaton
from engine.schema_automaton.solver.machine import UndecidedError
from engine.schema_automaton.solver.precheck import explore
from engine.schema_automaton.solver.solver import SchemaSolver
from engine.source import (
    CancelToken,
    Diagnostic,
    GrammarError,
    LimitExceededError,
    SourceText,
    Span,
    diagnostic,
    limited_work,
)
from engine.source.arguments import require
from engine.source.collection import no_collection

# A group has three nodes, and a node needs one or two Python frames; see `Limits.nesting`.
_FRAMES_PER_NESTING = 12
_DEFAULTS: Final = CompileOptions()
_NEVER: Final = CancelToken()
"""The token of a compile that cannot be cancelled."""
_EMPTINESS_CODE = "gbnf-unproductive-rule"  # this diagnostic says already why no text matches


def compile_grammar(
    notation: str,
    source: str | SourceText,
    options: CompileOptions | None = None,
    *,
    cancel: CancelToken | None = None,
) -> CompiledGrammar:
    """Compile a grammar.

    The compile parses the text and finds diagnostics and emptiness; the tables of the automaton are filled with use.

    Args:
        notation: one of `NOTATIONS`.
        source: the grammar's text.
        options: dialect, limits and other options; `CompileOptions()` by default.
        cancel: checked every few milliseconds; receives the progress.

    Raises:
        GrammarError: the text is malformed, not supported by automata, or exceeds a limit.
        CancelledError: `cancel` was used.
        ValueError: the notation is unknown.
        TypeError: an argument has the wrong type.
    """
    require("source", source, (str, SourceText), "a string or a SourceText")
    require("options", options, (CompileOptions, NoneType), "a CompileOptions or None")
    require("cancel", cancel, (CancelToken, NoneType), "a CancelToken or None")
    require("notation", notation, str, "a string")
    if notation not in NOTATIONS:
        raise ValueError(f"there is no notation {notation!r}; there is {', '.join(NOTATIONS)}")
    options = options or _DEFAULTS
    text = source if isinstance(source, SourceText) else SourceText(source)
    cancel_scope = nullcontext() if cancel is None else cancel.scope()
    try:
        with _deep_recursion(options.limits.nesting), no_collection(), cancel_scope:
            return _compile(notation, text, options, cancel or _NEVER)
    except LimitExceededError as error:
        raise GrammarError((_too_large(error, text),), text) from error


def _compile(notation: str, text: SourceText, options: CompileOptions, cancel: CancelToken) -> CompiledGrammar:
    if notation == "json_schema":
        schema, findings = _schema_automaton(text, options, cancel)

        def schema_diagnostics() -> tuple[Diagnostic, ...]:
            return _add_emptiness(findings(), schema.start == DEAD, text)

        return CompiledGrammar(notation, text, options, schema_diagnostics, schema, is_regular=False)
    with limited_work(READING, READING_SHARE * options.limits.work):
        cancel.begin("parsing")
        if notation == "gbnf":
            grammar, diagnostics = parse_gbnf(text, options.limits)
        else:
            node, diagnostics = parse_regex(text, options.dialect, options.limits)
            grammar = Grammar((Rule("root", node, node.span),), "root")
        cancel.begin("assembling")
        program = assemble(simplify_grammar(grammar), options.limits)
    with limited_work(SEARCHING, options.limits.work):
        is_regular = program is None or not nests_without_bound(program)
        cancel.begin("looking for a match")
        automaton = LazyAutomaton(program, options.limits, cancel)
    diagnostics = _add_emptiness(diagnostics, automaton.start == DEAD, text)
    return CompiledGrammar(
        notation, text, options, diagnostics, automaton, is_regular=is_regular, grammar=grammar, program=program
    )


@contextmanager
def _deep_recursion(nesting: int) -> Iterator[None]:
    """Raise the recursion limit for a tree of that depth. Since Python 3.11, Python frames use no C stack."""
    previous = sys.getrecursionlimit()
    sys.setrecursionlimit(previous + _FRAMES_PER_NESTING * nesting)
    try:
        yield
    finally:
        sys.setrecursionlimit(previous)


def _too_large(error: LimitExceededError, text: SourceText) -> Diagnostic:
    """Return the diagnostic of an exceeded limit, at its span or else at the first line of the text."""
    if error.name == "source_length":
        return diagnostic("limit-exceeded.length", _first_line(text), error=error, remedy=error.remedy)
    advice = "here" if error.span else "anywhere"
    span = error.span or _first_line(text)
    if error.remedy:
        return diagnostic(f"limit-exceeded.{advice}-raised", span, error=error, remedy=error.remedy)
    return diagnostic(f"limit-exceeded.{advice}", span, error=error)


def _first_line(text: SourceText) -> Span:
    return Span(0, len(text.text.partition("\n")[0]))


def _add_emptiness(diagnostics: tuple[Diagnostic, ...], is_empty: bool, text: SourceText) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with one more that says that no text matches, unless one says so already."""
    if not is_empty or any(found.code == _EMPTINESS_CODE for found in diagnostics):
        return diagnostics
    return (*diagnostics, diagnostic("matches-nothing", Span(0, len(text.text))))


READING: Final = "work of reading the grammar"
SEARCHING: Final = "work of the search for a match"
READING_SHARE: Final = 4
"""The factor by which reading a text may exceed the limit of work: its passes are many, short and linear."""


def _schema_automaton(
    text: SourceText, options: CompileOptions, cancel: CancelToken
) -> tuple[JsonAutomaton, Callable[[], tuple[Diagnostic, ...]]]:
    """Return the automaton of a schema, and a function that builds its diagnostics.

    Args:
        text: the schema.
        options: the options of the compile.
        cancel: checked regularly; receives the progress.

    Raises:
        GrammarError: the text is not a schema, or the schema is not supported.
        LimitExceededError: the schema exceeds a limit.
        CancelledError: `cancel` was used.
    """
    cancel.begin("parsing")
    with limited_work(READING, READING_SHARE * options.limits.work):
        model, findings = json_schema.parse(
            text,
            options.limits,
            draft=options.draft,
            additional=options.additional,
            unenforced=options.unenforced,
            any_numbers=options.numbers == "any",
        )
    cancel.begin("looking for a match")
    any_order = options.property_order == "any"
    solver = SchemaSolver(model.arena, options.limits, Escapes(options.escapes), any_order=any_order)
    previous = sys.getrecursionlimit()
    sys.setrecursionlimit(max(previous, DEEPEST))
    try:
        with limited_work(SEARCHING, options.limits.work):
            automaton = JsonAutomaton(solver, model.goal, options.limits, Whitespace(options.whitespace))
            explore(solver, model.goal, cancel)
    except UndecidedError as error:
        where = pointer_to(error.location)
        found = diagnostic("schema-undecided", span_of_location(error.location), where=where, error=error)
        raise GrammarError((*findings.in_source_order(), found), text) from error
    except RecursionError as error:
        found = diagnostic("limit-exceeded.values", Span(0, len(text.text)))
        raise GrammarError((*findings.in_source_order(), found), text) from error
    finally:
        sys.setrecursionlimit(previous)
    return automaton, findings.in_source_order
