"""Conversions to other notations, in the judge's process: one may take seconds, and no diagnostics wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from app.workers.convert_messages import (
    ConvertAnswer,
    ConvertRequest,
    GenerateAnswer,
    GeneratedRule,
    GenerateRequest,
    ReadAnswer,
    ReadRequest,
)
from app.workers.exporting import sentence
from engine.source import CancelledError, CancelToken, Diagnostic, EngineError, GrammarError, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.workers.compile_messages import CompileRequest
    from engine.compile import CompiledGrammar

    Take = Callable[[CompileRequest, CancelToken], CompiledGrammar]

LONGEST = 60_000  # characters of a generated text; a longer one is unreadable and too slow to show


def generate(request: GenerateRequest, compiled: CompiledGrammar, cancel: CancelToken) -> GenerateAnswer:
    """Convert a grammar to GBNF."""
    from engine.export import NumberSpelling, to_gbnf

    revision = request.compiled.revision
    try:
        written = to_gbnf(compiled, NumberSpelling(request.spelling), cancel=cancel)
    except CancelledError:
        raise
    except GrammarError as error:
        found = error.diagnostics[0]
        return GenerateAnswer(revision, request.spelling, error=_error_sentence(found), place=found.span)
    except EngineError as error:
        return GenerateAnswer(revision, request.spelling, error=f"{sentence(error)}.")
    if len(written.text) > LONGEST:
        too_long = f"It has {len(written.text):,} characters, too many to be read here. Export it instead."
        return GenerateAnswer(revision, request.spelling, error=too_long)
    rules = tuple(GeneratedRule(rule.name, rule.span, rule.places) for rule in written.rules)
    return GenerateAnswer(revision, request.spelling, written.text, rules, written.notes)


def convert(request: ConvertRequest, take: Take, cancel: CancelToken) -> ConvertAnswer:
    """Convert the grammar that `take` compiles to another notation."""
    from engine.export import CLOSE_OBJECTS, OPEN_OBJECTS, NumberSpelling
    from engine.export.conversion_preview import ConvertOptions, Notation
    from engine.export.conversion_preview import convert as convert_grammar

    options = ConvertOptions(
        NumberSpelling(request.spelling), request.depth, cast("Literal['python', 'ecma']", request.dialect)
    )
    try:
        compiled = take(request.compiled, cancel)
    except GrammarError as error:
        return ConvertAnswer(request.number, error=f"The grammar has an error: {_error_sentence(error.diagnostics[0])}")
    try:
        found = convert_grammar(compiled, cast("Notation", request.notation), options, cancel)
    except CancelledError:
        raise
    except GrammarError as refused:
        first = refused.diagnostics[0]
        if first.code in ("export-recursive", "export-open"):
            can_close = first.code == "export-open"
            why = first.message.replace(CLOSE_OBJECTS, OPEN_OBJECTS)  # the dialog has a button for it
            advice = f"{why[:1].upper()}{why[1:]}. Say above at how many levels to cut that"
            other = ", or allow declared properties only" if can_close else ""
            return ConvertAnswer(request.number, error=f"{advice}{other}.", can_close=can_close)
        return ConvertAnswer(request.number, error=_error_sentence(first))
    except EngineError as error:
        return ConvertAnswer(request.number, error=f"{sentence(error)}.")
    return ConvertAnswer(request.number, found.text, found.losses, found.check.sentence)


def read(request: ReadRequest, cancel: CancelToken) -> ReadAnswer:
    """Diagnose a text in the requested notation."""
    from engine.compile import compile_grammar

    compiled = request.compiled
    try:
        found = compile_grammar(compiled.notation, compiled.text, compiled.options, cancel=cancel).diagnostics
    except CancelledError:
        raise
    except GrammarError as error:
        found = error.diagnostics
    except EngineError as error:
        found = (Diagnostic("limit-exceeded", Severity.ERROR, Span(0, len(compiled.text)), str(error), ""),)
    return ReadAnswer(request.number, found)


def _error_sentence(found: Diagnostic) -> str:
    text = f"{found.message[:1].upper()}{found.message[1:]}. {found.hint}".rstrip(". ")
    return f"{text}."
