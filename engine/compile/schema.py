"""Compilation of a JSON Schema to the automaton over JSON texts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from engine.grammar.options import CompileOptions
from engine.notations import json_schema
from engine.notations.json_schema.json_tree import pointer_to
from engine.schema_automaton.formula.nodes import span_at
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.lexing.whitespace import Whitespace
from engine.schema_automaton.pushdown.automaton import DEEPEST, JsonAutomaton
from engine.schema_automaton.solver.array_machine import UndecidedError
from engine.schema_automaton.solver.precheck import explore
from engine.schema_automaton.solver.solver import SchemaSolver
from engine.source import CancelToken, Diagnostic, GrammarError, Severity, SourceText, Span, limited_work

READING: Final = "work of reading the grammar"
SEARCHING: Final = "work of the search for a match"
READING_SHARE: Final = 4
"""The factor by which reading a text may exceed the limit of work: its passes are many, short and linear."""


def schema_automaton(
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
        found = Diagnostic(
            "schema-undecided",
            Severity.ERROR,
            span_at(error.place),
            f"{pointer_to(error.place)}: {error}",
            "Remove the keyword, or bound what it is about",
        )
        raise GrammarError((*findings.in_source_order(), found), text) from error
    except RecursionError as error:
        raise GrammarError((*findings.in_source_order(), _too_deep(text)), text) from error
    finally:
        sys.setrecursionlimit(previous)
    return automaton, findings.in_source_order


def _too_deep(text: SourceText) -> Diagnostic:
    return Diagnostic(
        "limit-exceeded",
        Severity.ERROR,
        Span(0, len(text.text)),
        "values that satisfy this schema are nested too deep to look for",
        "Use less nesting of required members",
    )
