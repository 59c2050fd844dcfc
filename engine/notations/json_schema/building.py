"""Builds the automaton of a JSON Schema."""

from __future__ import annotations

import sys

from engine.grammar.options import CompileOptions
from engine.notations.building import READING, READING_SHARE, SEARCHING, Built
from engine.notations.json_schema.json_tree import pointer_to
from engine.notations.json_schema.parser import parse
from engine.schema_automaton.formula.nodes import span_of_location
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.lexing.whitespace import Whitespace
from engine.schema_automaton.pushdown.automaton import DEEPEST, JsonAutomaton
from engine.schema_automaton.solver.machine import UndecidedError
from engine.schema_automaton.solver.precheck import explore
from engine.schema_automaton.solver.solver import SchemaSolver
from engine.source import CancelToken, GrammarError, SourceText, Span, diagnostic, limited_work


def build(text: SourceText, options: CompileOptions, cancel: CancelToken) -> Built:
    """Parse a schema and build its automaton; see `Notation.build`."""
    cancel.begin("progress.parsing")
    with limited_work(READING, READING_SHARE * options.limits.work):
        model, findings = parse(
            text,
            options.limits,
            draft=options.draft,
            additional=options.additional,
            unenforced=options.unenforced,
            any_numbers=options.numbers == "any",
        )
    cancel.begin("progress.matching")
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
    return Built(automaton, findings.in_source_order, is_regular=False)
