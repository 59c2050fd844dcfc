"""The one way from text to automaton."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from engine.automata.lazy import LazyAutomaton
from engine.automata.program import assemble
from engine.compile.compiled import CompiledGrammar
from engine.compile.options import NOTATIONS, CompileOptions
from engine.grammar.simplify import simplify
from engine.notations.regex import parse
from engine.source import CancelToken, Diagnostic, GrammarError, LimitExceededError, Severity, SourceText, Span

# A group takes three nodes and a node takes a frame or two; see `Limits.nesting`.
_FRAMES_PER_NESTING = 12


def compile_grammar(
    notation: str,
    source: str | SourceText,
    options: CompileOptions | None = None,
    *,
    cancel: CancelToken | None = None,
) -> CompiledGrammar:
    """Compile a grammar.

    Parsing, diagnostics and emptiness are decided here; tables are filled as the grammar is used.

    Args:
        notation: one of `NOTATIONS`.
        source: the grammar's text.
        options: dialect and limits; defaults are those of `CompileOptions()`.
        cancel: asked between the stages, and told how far the work is.

    Raises:
        GrammarError: the text is malformed, asks for what no automaton can do, or outgrows a limit.
        CancelledError: `cancel` was used.
        ValueError: there is no such notation.
    """
    if notation not in NOTATIONS:
        raise ValueError(f"there is no notation {notation!r}; there is {', '.join(NOTATIONS)}")
    options = options or CompileOptions()
    text = source if isinstance(source, SourceText) else SourceText(source)
    cancel = cancel or CancelToken()
    try:
        with _deep_recursion(options.limits.nesting):
            cancel.report("parsing", 0)
            node, diagnostics = parse(text, options.dialect, options.limits)
            cancel.report("assembling", 0)
            program = assemble(simplify(node), options.limits)
            cancel.report("looking for a match", 0)
            automaton = LazyAutomaton(program, options.limits, cancel)
    except LimitExceededError as error:
        raise GrammarError((_too_large(error, text),), text) from error
    if automaton.is_empty:
        diagnostics = (*diagnostics, _matches_nothing(text))
    return CompiledGrammar(notation, text, options, diagnostics, automaton)


@contextmanager
def _deep_recursion(nesting: int) -> Iterator[None]:
    """Room for recursion over a tree of that depth; since 3.11 Python's own frames take no C stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + _FRAMES_PER_NESTING * nesting)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _too_large(error: LimitExceededError, text: SourceText) -> Diagnostic:
    return Diagnostic(
        "limit-exceeded",
        Severity.ERROR,
        Span(0, len(text.text)),
        f"the grammar is too large: {error}",
        "Use smaller counts or fewer alternatives, or raise the limit in the options.",
    )


def _matches_nothing(text: SourceText) -> Diagnostic:
    return Diagnostic(
        "matches-nothing",
        Severity.WARNING,
        Span(0, len(text.text)),
        "no text matches this grammar, so no token is ever allowed",
        "Look for conditions that contradict each other, such as text after $ or an empty class.",
    )
